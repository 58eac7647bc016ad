//! The waiters of one class, first come first served, with a lane for each key.
//!
//! A waiter whose key is held is not looked at when a slot comes free, however many there are: a
//! release costs the same behind one waiter as behind a thousand.
//!
//! Always true: of those that wait for one key at most the first is ready, and only while nobody
//! holds the key; whoever asks for none is ready.

use std::collections::{BTreeSet, HashMap};

use vocab::ids::{AgentId, Slug};

/// The order in which agents asked.
pub(super) type Serial = u64;

/// One that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) agent: AgentId,
    pub(super) key: Option<Slug>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiters: HashMap<Serial, Waiter>,
    /// Those that may run as soon as there is a slot.
    ready: BTreeSet<Serial>,
    /// Those that wait for a key.
    lanes: HashMap<Slug, BTreeSet<Serial>>,
}

impl Queue {
    /// Whether a slot would find somebody.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Puts one at the end. `held`: whether somebody holds its key.
    pub(super) fn push(&mut self, serial: Serial, waiter: Waiter, held: bool) {
        let first = match &waiter.key {
            Some(key) => {
                let lane = self.lanes.entry(key.clone()).or_default();
                lane.insert(serial);
                lane.len() == 1
            }
            None => true,
        };
        if first && !held {
            self.ready.insert(serial);
        }
        self.waiters.insert(serial, waiter);
    }

    /// Takes the first that may run. Its key is held from here on: [`hold`](Self::hold) says so to
    /// the others.
    pub(super) fn take_first(&mut self) -> Option<Waiter> {
        let serial = self.ready.pop_first()?;
        let waiter = self.waiters.remove(&serial)?;
        if let Some(key) = &waiter.key {
            self.leave_lane(serial, key);
        }
        Some(waiter)
    }

    /// Takes one out, wherever it stands. `held`: whether somebody holds its key.
    pub(super) fn remove(&mut self, serial: Serial, held: impl FnOnce(&Slug) -> bool) {
        let Some(waiter) = self.waiters.remove(&serial) else {
            return;
        };
        self.ready.remove(&serial);
        if let Some(key) = &waiter.key {
            self.leave_lane(serial, key);
            if !held(key) {
                self.free(key);
            }
        }
    }

    /// A key is held now: who waits for it is passed over, and keeps its place.
    pub(super) fn hold(&mut self, key: &Slug) {
        if let Some(first) = self.first_of(key) {
            self.ready.remove(&first);
        }
    }

    /// Nobody holds a key any more: the first that waits for it may run.
    pub(super) fn free(&mut self, key: &Slug) {
        self.ready.extend(self.first_of(key));
    }

    fn first_of(&self, key: &Slug) -> Option<Serial> {
        self.lanes.get(key)?.first().copied()
    }

    fn leave_lane(&mut self, serial: Serial, key: &Slug) {
        if let Some(lane) = self.lanes.get_mut(key) {
            lane.remove(&serial);
            if lane.is_empty() {
                self.lanes.remove(key);
            }
        }
    }
}
