//! How long agents ran, how long they waited, and how many ran at once.
//!
//! Read off the times of `agent_status` events: an agent is active from `running` until it is
//! `blocked` or ends, and waits from `blocked` until it is `running` again, the time it queues for
//! a slot to go on in included. Queueing for a first slot is neither.

use std::collections::BTreeMap;

use vocab::ids::AgentId;

use crate::event::AgentState;

/// An agent's last place.
#[derive(Debug)]
struct Standing {
    state: AgentState,
    since_ms: i64,
    /// Whether it has run.
    ran: bool,
}

/// Sums over the agents of a run.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    standing: BTreeMap<AgentId, Standing>,
    running: u64,
    peak: u64,
    active_ms: u64,
    waiting_ms: u64,
}

impl Clocks {
    /// An agent's state changed.
    pub(super) fn changed(&mut self, agent: &AgentId, state: AgentState, at_ms: i64) {
        let before = self.standing.remove(agent);
        let ran = before.as_ref().is_some_and(|before| before.ran);
        if let Some(before) = before {
            let spent = u64::try_from(at_ms - before.since_ms).unwrap_or_default();
            match before.state {
                AgentState::Running => {
                    self.active_ms += spent;
                    self.running -= 1;
                }
                AgentState::Blocked => self.waiting_ms += spent,
                AgentState::Queued if ran => self.waiting_ms += spent,
                AgentState::Queued | AgentState::Done | AgentState::Failed => {}
            }
        }
        let standing = Standing {
            state,
            since_ms: at_ms,
            ran: ran || state == AgentState::Running,
        };
        self.standing.insert(agent.clone(), standing);
        if state == AgentState::Running {
            self.running += 1;
            self.peak = self.peak.max(self.running);
        }
    }

    pub(super) const fn active_ms(&self) -> u64 {
        self.active_ms
    }

    pub(super) const fn waiting_ms(&self) -> u64 {
        self.waiting_ms
    }

    pub(super) const fn peak_parallel(&self) -> u64 {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocked_time_is_waiting_and_queued_time_is_neither() {
        let mut clocks = Clocks::default();
        let (a, b) = (AgentId::from("a"), AgentId::from("b"));
        clocks.changed(&a, AgentState::Queued, 0);
        clocks.changed(&a, AgentState::Running, 10);
        clocks.changed(&b, AgentState::Running, 15);
        clocks.changed(&a, AgentState::Blocked, 30);
        clocks.changed(&b, AgentState::Done, 45);
        clocks.changed(&a, AgentState::Queued, 46);
        clocks.changed(&a, AgentState::Running, 50);
        clocks.changed(&a, AgentState::Failed, 51);
        assert_eq!(clocks.active_ms(), 20 + 30 + 1);
        assert_eq!(clocks.waiting_ms(), 20);
        assert_eq!(clocks.peak_parallel(), 2);
    }
}
