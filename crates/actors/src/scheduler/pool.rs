//! The slot pool: which agent may run now, and which is next (03 §3.5).
//!
//! A pure state machine that knows no actor, clock or channel. The scheduler actor feeds it
//! messages and carries out what it returns.
//!
//! Always true: at most `cap` agents run, and no two under one key; a resuming agent that could
//! run goes before a starting one; within a class the first to ask is the first served, save that
//! one whose key is held is passed over and keeps its place; no slot is idle while a waiter could
//! have it.

use std::collections::{HashMap, HashSet, VecDeque};

use vocab::ids::{AgentId, Slug};

/// Why an agent asks for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// A queued agent is gone.
    Forget(AgentId),
}

/// What the caller does next, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Give this agent a slot, and the key it asked for. The ticket brings both back.
    Grant(AgentId, Ticket),
}

/// One slot that was granted; no two are alike in a run.
pub(super) type Ticket = u64;

/// One that waits.
#[derive(Debug)]
struct Waiter {
    agent: AgentId,
    key: Option<Slug>,
}

/// The slots of one run.
#[derive(Debug)]
pub(super) struct Pool {
    cap: u64,
    granted: Ticket,
    running: HashMap<Ticket, Option<Slug>>,
    held: HashSet<Slug>,
    resuming: VecDeque<Waiter>,
    starting: VecDeque<Waiter>,
}

impl Pool {
    /// A pool of `cap` slots, all free.
    pub(super) fn new(cap: u64) -> Self {
        Self {
            cap,
            granted: 0,
            running: HashMap::new(),
            held: HashSet::new(),
            resuming: VecDeque::new(),
            starting: VecDeque::new(),
        }
    }

    /// Applies one event and returns what the caller does next, in order.
    pub(super) fn step(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Acquire(agent, class, key) => {
                if self.waits(&agent) {
                    return Vec::new();
                }
                let queue = match class {
                    Class::Resume => &mut self.resuming,
                    Class::Start => &mut self.starting,
                };
                queue.push_back(Waiter { agent, key });
            }
            Event::Release(ticket) => {
                if let Some(Some(key)) = self.running.remove(&ticket) {
                    self.held.remove(&key);
                }
            }
            Event::Forget(agent) => {
                self.resuming.retain(|waiter| waiter.agent != agent);
                self.starting.retain(|waiter| waiter.agent != agent);
            }
        }
        self.grant()
    }

    /// Slots for whoever can have one. Slot and key are taken in one step or not at all.
    fn grant(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while (self.running.len() as u64) < self.cap {
            let next = next(&mut self.resuming, &self.held)
                .or_else(|| next(&mut self.starting, &self.held));
            let Some(Waiter { agent, key }) = next else {
                break;
            };
            self.held.extend(key.clone());
            self.granted += 1;
            self.running.insert(self.granted, key);
            effects.push(Effect::Grant(agent, self.granted));
        }
        effects
    }

    fn waits(&self, agent: &AgentId) -> bool {
        let mut waiters = self.resuming.iter().chain(&self.starting);
        waiters.any(|waiter| waiter.agent == *agent)
    }
}

/// The first of a class whose key, if it asks for one, nobody holds.
fn next(queue: &mut VecDeque<Waiter>, held: &HashSet<Slug>) -> Option<Waiter> {
    let free = |waiter: &Waiter| waiter.key.as_ref().is_none_or(|key| !held.contains(key));
    let place = queue.iter().position(free)?;
    queue.remove(place)
}

#[cfg(test)]
mod tests;
