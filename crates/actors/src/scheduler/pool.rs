//! The slot pool: which agent may run now, and which is next (03 §3.5).
//!
//! A pure state machine that knows no actor, clock or channel. The scheduler actor feeds it
//! messages and carries out what it returns.
//!
//! Always true: at most `cap` agents run, a resuming agent goes before a starting one, and within
//! a class the first to ask is the first served.

use std::collections::VecDeque;

use vocab::ids::AgentId;

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
    /// An agent asks for a slot.
    Acquire(AgentId, Class),
    /// A slot came back.
    Release,
    /// A queued agent is gone.
    Forget(AgentId),
}

/// What the caller does next, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Give this agent a slot.
    Grant(AgentId),
}

/// The slots of one run.
#[derive(Debug)]
pub(super) struct Pool {
    cap: u64,
    running: u64,
    resuming: VecDeque<AgentId>,
    starting: VecDeque<AgentId>,
}

impl Pool {
    /// A pool of `cap` slots, all free.
    pub(super) fn new(cap: u64) -> Self {
        Self {
            cap,
            running: 0,
            resuming: VecDeque::new(),
            starting: VecDeque::new(),
        }
    }

    /// Applies one event and returns what the caller does next, in order.
    pub(super) fn step(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Acquire(agent, Class::Resume) => self.resuming.push_back(agent),
            Event::Acquire(agent, Class::Start) => self.starting.push_back(agent),
            Event::Release => self.running = self.running.saturating_sub(1),
            Event::Forget(agent) => {
                self.resuming.retain(|waiter| *waiter != agent);
                self.starting.retain(|waiter| *waiter != agent);
            }
        }
        let mut effects = Vec::new();
        while self.running < self.cap {
            let Some(next) = self
                .resuming
                .pop_front()
                .or_else(|| self.starting.pop_front())
            else {
                break;
            };
            self.running += 1;
            effects.push(Effect::Grant(next));
        }
        effects
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grants(effects: Vec<Effect>) -> Vec<String> {
        effects
            .into_iter()
            .map(|Effect::Grant(agent)| agent.to_string())
            .collect()
    }

    #[test]
    fn second_agent_waits_for_the_only_slot() {
        let mut pool = Pool::new(1);
        assert_eq!(
            grants(pool.step(Event::Acquire("a".into(), Class::Start))),
            ["a"]
        );
        assert!(
            pool.step(Event::Acquire("b".into(), Class::Start))
                .is_empty()
        );
        assert_eq!(grants(pool.step(Event::Release)), ["b"]);
    }

    #[test]
    fn a_resuming_agent_goes_before_one_that_asked_earlier_to_start() {
        let mut pool = Pool::new(1);
        pool.step(Event::Acquire("a".into(), Class::Start));
        pool.step(Event::Acquire("b".into(), Class::Start));
        pool.step(Event::Acquire("c".into(), Class::Resume));
        assert_eq!(grants(pool.step(Event::Release)), ["c"]);
        assert_eq!(grants(pool.step(Event::Release)), ["b"]);
    }

    proptest! {
        /// Random events against the obvious model: one list of waiters, and the cap.
        #[test]
        fn the_pool_never_exceeds_its_cap_and_never_idles(
            cap in prop::sample::select(vec![1_u64, 2, 16]),
            steps in prop::collection::vec((0_u8..4, 0_u8..24), 1..200),
        ) {
            let mut pool = Pool::new(cap);
            let mut running = 0_u64;
            let mut waiting: Vec<(String, Class)> = Vec::new();
            for (serial, (kind, pick)) in steps.into_iter().enumerate() {
                let event = match kind {
                    0 | 1 => {
                        let agent = format!("agent-{serial}");
                        let class = if kind == 0 { Class::Start } else { Class::Resume };
                        waiting.push((agent.clone(), class));
                        Event::Acquire(agent.into(), class)
                    }
                    2 if running > 0 => { running -= 1; Event::Release }
                    _ if !waiting.is_empty() => {
                        let (agent, _) = waiting.remove(pick as usize % waiting.len());
                        Event::Forget(agent.into())
                    }
                    _ => continue,
                };
                for granted in grants(pool.step(event)) {
                    let expected = waiting
                        .iter()
                        .position(|(_, class)| *class == Class::Resume)
                        .unwrap_or(0);
                    let (first, _) = waiting.remove(expected);
                    prop_assert_eq!(granted, first);
                    running += 1;
                }
                prop_assert!(running <= cap);
                prop_assert!(running == cap || waiting.is_empty());
            }
        }
    }
}
