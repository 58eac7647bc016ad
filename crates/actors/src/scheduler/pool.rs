//! The slot pool: which agent may run now, and which is next (03 §3.5, §4).
//!
//! A pure state machine that knows no actor, clock or channel. The scheduler actor feeds it
//! messages and carries out what it returns.
//!
//! Always true: at most `cap` agents run, and no two under one key; a resuming agent that could
//! run goes before a starting one; within a class the first to ask is the first served, save that
//! one whose key is held is passed over and keeps its place; no slot is idle while a waiter could
//! have it. A step costs the logarithm of how many wait, and what it grants.

mod queue;

use std::collections::{HashMap, HashSet};

use vocab::ids::{AgentId, Slug};

use queue::{Queue, Serial, Waiter};

/// Why an agent asks for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Its wait is over; it ran before.
    Resume,
    /// It has not run yet.
    Start,
}

/// What happened to the pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// An agent asks for a slot, and for a key with it where its profile runs one agent at a time.
    /// One that waits already is a mistake of its own and changes nothing; one whose slot is still
    /// on its way back may ask for the next.
    Acquire(AgentId, Class, Option<Slug>),
    /// A slot came back, and the key that was held with it.
    Release(Ticket),
    /// Whoever holds a slot goes on under another key, or under none.
    Swap(Ticket, Option<Slug>),
    /// A queued agent is gone.
    Forget(AgentId),
}

/// What the caller does next, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Give this agent a slot, and the key it asked for. The ticket brings both back.
    Grant(AgentId, Ticket),
    /// The slot is held under the key that was asked for; the old key is free.
    Swapped(Ticket),
    /// The key is somebody else's: slot and old key are given up together, since two that each
    /// held on to what the other waits for would wait for ever. The ticket brings nothing back any
    /// more.
    Contended(Ticket),
}

/// One slot that was granted; no two are alike in a run.
pub(super) type Ticket = u64;

/// The slots of one run.
#[derive(Debug)]
pub(super) struct Pool {
    cap: u64,
    granted: Ticket,
    asked: Serial,
    running: HashMap<Ticket, Option<Slug>>,
    held: HashSet<Slug>,
    waiting: HashMap<AgentId, (Class, Serial)>,
    resuming: Queue,
    starting: Queue,
}

impl Pool {
    /// A pool of `cap` slots, all free.
    pub(super) fn new(cap: u64) -> Self {
        Self {
            cap,
            granted: 0,
            asked: 0,
            running: HashMap::new(),
            held: HashSet::new(),
            waiting: HashMap::new(),
            resuming: Queue::default(),
            starting: Queue::default(),
        }
    }

    /// Applies one event and returns what the caller does next, in order.
    pub(super) fn step(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Acquire(agent, class, key) => self.enqueue(agent, class, key),
            Event::Release(ticket) => self.release(ticket),
            Event::Swap(ticket, key) => effects.extend(self.swap(ticket, key)),
            Event::Forget(agent) => {
                if let Some((class, serial)) = self.waiting.remove(&agent) {
                    let (queue, held) = match class {
                        Class::Resume => (&mut self.resuming, &self.held),
                        Class::Start => (&mut self.starting, &self.held),
                    };
                    queue.remove(serial, |key| held.contains(key));
                }
            }
        }
        self.grant(&mut effects);
        effects
    }

    fn enqueue(&mut self, agent: AgentId, class: Class, key: Option<Slug>) {
        if self.waiting.contains_key(&agent) {
            return;
        }
        self.asked += 1;
        self.waiting.insert(agent.clone(), (class, self.asked));
        let held = key.as_ref().is_some_and(|key| self.held.contains(key));
        let queue = match class {
            Class::Resume => &mut self.resuming,
            Class::Start => &mut self.starting,
        };
        queue.push(self.asked, Waiter { agent, key }, held);
    }

    fn release(&mut self, ticket: Ticket) {
        if let Some(Some(key)) = self.running.remove(&ticket) {
            self.free(&key);
        }
    }

    /// `None` for a slot that is back already: nobody holds it, so nobody asked.
    fn swap(&mut self, ticket: Ticket, key: Option<Slug>) -> Option<Effect> {
        let old = self.running.get(&ticket)?.clone();
        if old == key {
            return Some(Effect::Swapped(ticket));
        }
        if key.as_ref().is_some_and(|key| self.held.contains(key)) {
            self.release(ticket);
            return Some(Effect::Contended(ticket));
        }
        if let Some(old) = old {
            self.free(&old);
        }
        if let Some(key) = &key {
            self.hold(key);
        }
        self.running.insert(ticket, key);
        Some(Effect::Swapped(ticket))
    }

    /// Slots for whoever can have one. Slot and key are taken in one step or not at all.
    fn grant(&mut self, effects: &mut Vec<Effect>) {
        while (self.running.len() as u64) < self.cap {
            let queue = if self.resuming.has_ready() {
                &mut self.resuming
            } else {
                &mut self.starting
            };
            let Some(Waiter { agent, key }) = queue.take_first() else {
                break;
            };
            self.waiting.remove(&agent);
            if let Some(key) = &key {
                self.hold(key);
            }
            self.granted += 1;
            self.running.insert(self.granted, key);
            effects.push(Effect::Grant(agent, self.granted));
        }
    }

    fn hold(&mut self, key: &Slug) {
        self.held.insert(key.clone());
        self.resuming.hold(key);
        self.starting.hold(key);
    }

    fn free(&mut self, key: &Slug) {
        self.held.remove(key);
        self.resuming.free(key);
        self.starting.free(key);
    }
}

#[cfg(test)]
mod tests;
