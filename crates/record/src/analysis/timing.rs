//! Where the agents of a run spent their time: queued for a slot, waiting for others, at work.
//!
//! Sums of what [`Lives`] tells stretch by stretch.
//!
//! Always true: an agent's three times sum to the time from its spawn to its end, and the active
//! times of all sum to the number of running agents over time. So a run whose agents kept to the
//! cap has a utilisation of at most 1.

use vocab::ids::AgentId;

use super::lives::{Course, Lives, since};
use crate::event::AgentState;

/// How long one agent was what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTime {
    /// The agent.
    pub id: AgentId,
    /// From the run's start to its spawn.
    pub spawned_after_ms: u64,
    /// Without a slot, and ready.
    pub queued_ms: u64,
    /// Suspended on others.
    pub waiting_ms: u64,
    /// Holding a slot.
    pub active_ms: u64,
    /// Whether it ended.
    pub has_ended: bool,
}

impl Lives {
    /// Each agent's times.
    pub fn times(&self) -> impl Iterator<Item = AgentTime> {
        self.agents.iter().map(|course| {
            let spent = |state| {
                let stretches = course.until(self.last_ms);
                stretches
                    .filter(|(stretch, _)| stretch.state == state)
                    .map(|(stretch, to_ms)| since(stretch.from_ms, to_ms))
                    .sum()
            };
            let spawned = course.stretches.first().map(|first| first.from_ms);
            AgentTime {
                id: course.id.clone(),
                spawned_after_ms: spawned.map_or(0, |at_ms| self.since_start(at_ms)),
                queued_ms: spent(AgentState::Queued),
                waiting_ms: spent(AgentState::Blocked),
                active_ms: spent(AgentState::Running),
                has_ended: course.ended.is_some(),
            }
        })
    }

    /// From the run's start to the end of its last agent, or to the last moment told of where one
    /// has not ended. What follows is the run's own work: prices, sums, the last lines.
    pub fn makespan_ms(&self) -> u64 {
        let last = |course: &Course| course.stretches.last().map(|last| last.to_ms);
        let all_ended = self.agents.iter().all(|course| course.ended.is_some());
        let ends = self.agents.iter().filter_map(last).max();
        self.since_start(ends.filter(|_| all_ended).unwrap_or(self.last_ms))
    }

    /// Time of all agents holding a slot.
    pub fn active_ms(&self) -> u64 {
        self.times().map(|agent| agent.active_ms).sum()
    }

    /// The share of the cap's slots that was held, over the makespan; `None` of nothing.
    pub fn utilisation(&self) -> Option<f64> {
        let slots = self.cap()? as f64 * self.makespan_ms() as f64;
        (slots > 0.0).then(|| self.active_ms() as f64 / slots)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::lines::lines;

    fn read(events: &[Value]) -> Lives {
        let text: Vec<_> = events.iter().map(Value::to_string).collect();
        let mut timing = Lives::default();
        for line in lines(text.join("\n").as_bytes()) {
            timing.take(&line.unwrap().unwrap()).unwrap();
        }
        timing
    }

    fn at(ms: u64, kind: &str, agent: Option<&str>, more: Value) -> Value {
        let mut line = json!({
            "type": kind,
            "ts": format!("2026-01-31T09:08:{:02}.{:03}Z", ms / 1000, ms % 1000),
        });
        if let Some(agent) = agent {
            line["agentId"] = json!(agent);
        }
        let fields = more.as_object().unwrap().clone();
        line.as_object_mut().unwrap().extend(fields);
        line
    }

    fn started(cap: u64) -> Value {
        at(
            0,
            "session_started",
            None,
            json!({ "limits": { "maxParallel": cap as f64 } }),
        )
    }

    fn spawned(ms: u64, agent: &str) -> Value {
        at(ms, "agent_spawned", Some(agent), json!({}))
    }

    fn status(ms: u64, agent: &str, status: &str) -> Value {
        at(ms, "agent_status", Some(agent), json!({ "status": status }))
    }

    fn times(timing: &Lives) -> Vec<(String, [u64; 3])> {
        let row = |it: AgentTime| {
            let name = it.id.to_string();
            (name, [it.queued_ms, it.waiting_ms, it.active_ms])
        };
        timing.times().map(row).collect()
    }

    /// A root that spawns two children at a cap of 2, waits for both, and ends.
    fn fan_out() -> Vec<Value> {
        vec![
            started(2),
            spawned(10, "root"),
            status(10, "root", "queued"),
            status(10, "root", "running"),
            spawned(100, "a"),
            status(100, "a", "queued"),
            status(100, "a", "running"),
            spawned(110, "b"),
            status(110, "b", "queued"),
            status(150, "root", "blocked"),
            status(150, "b", "running"),
            status(300, "a", "done"),
            status(550, "b", "failed"),
            status(550, "root", "queued"),
            status(560, "root", "running"),
            status(600, "root", "done"),
            at(900, "session_ended", None, json!({})),
        ]
    }

    #[test]
    fn queueing_waiting_and_working_are_told_apart_per_agent() {
        let timing = read(&fan_out());
        assert_eq!(
            times(&timing),
            [
                ("root".to_owned(), [10, 400, 180]),
                ("a".to_owned(), [0, 0, 200]),
                ("b".to_owned(), [40, 0, 400]),
            ]
        );
        assert_eq!((timing.peak_parallel(), timing.cap()), (2, Some(2)));
        assert_eq!((timing.makespan_ms(), timing.active_ms()), (600, 780));
        assert_eq!(timing.utilisation(), Some(780.0 / 1200.0));
        let spawned: Vec<_> = timing.times().map(|it| it.spawned_after_ms).collect();
        assert_eq!(spawned, [10, 100, 110]);
    }

    #[test]
    fn an_agent_that_handed_itself_on_gives_its_slot_to_its_successor() {
        let timing = read(&[
            started(1),
            spawned(0, "root"),
            status(0, "root", "running"),
            status(40, "root", "done"),
            spawned(40, "next"),
            status(40, "next", "running"),
            status(100, "next", "done"),
        ]);
        assert_eq!(timing.peak_parallel(), 1);
        assert_eq!(timing.utilisation(), Some(1.0));
    }

    #[test]
    fn a_killed_run_counts_to_the_last_moment_told_of() {
        let mut events = fan_out();
        events.truncate(12);
        events.push(at(400, "turn_outcome", Some("b"), json!({})));
        let timing = read(&events);
        assert_eq!(
            times(&timing),
            [
                ("root".to_owned(), [0, 250, 140]),
                ("a".to_owned(), [0, 0, 200]),
                ("b".to_owned(), [40, 0, 250]),
            ]
        );
        let ended: Vec<_> = timing.times().map(|it| it.has_ended).collect();
        assert_eq!(ended, [false, true, false]);
        assert_eq!(timing.makespan_ms(), 400);
    }

    #[test]
    fn odd_streams_give_no_odd_times() {
        let timing = read(&[
            at(500, "session_started", None, json!({ "limits": null })),
            status(400, "a", "running"),
            status(450, "a", "asleep"),
            status(450, "a", "running"),
            status(300, "a", "done"),
            status(900, "a", "running"),
            json!({ "type": "agent_status", "agentId": "a", "ts": "yesterday", "status": "done" }),
        ]);
        assert_eq!(times(&timing), [("a".to_owned(), [0, 0, 50])]);
        assert_eq!((timing.utilisation(), timing.peak_parallel()), (None, 1));
        assert_eq!(Lives::default().makespan_ms(), 0);
    }

    const STATES: [&str; 5] = ["queued", "running", "blocked", "done", "failed"];

    /// What an agent is at each millisecond, by a state's place in [`STATES`]; `None` outside its
    /// life.
    type Life = Vec<Option<usize>>;

    proptest! {
        #[test]
        fn times_are_what_a_count_of_every_millisecond_gives(
            steps in proptest::collection::vec((0_u64..40, 0_usize..4, 0_usize..5), 0..60),
            cap in 1_u64..5,
        ) {
            let names = ["root", "a", "b", "c"];
            let mut events = vec![started(cap)];
            let mut lives: [Life; 4] = Default::default();
            let mut states: [Option<usize>; 4] = [None; 4];
            let (mut now, mut peak) = (0, 0);
            for (passed, agent, to) in steps {
                for (life, state) in lives.iter_mut().zip(&states) {
                    let counted = state.filter(|it| *it < 3);
                    life.extend(std::iter::repeat_n(counted, passed as usize));
                }
                now += passed;
                if states[agent].is_some_and(|state| state >= 3) {
                    continue;
                }
                if states[agent].is_none() {
                    events.push(spawned(now, names[agent]));
                }
                states[agent] = Some(to);
                events.push(status(now, names[agent], STATES[to]));
                peak = peak.max(states.iter().filter(|it| **it == Some(1)).count() as u64);
            }
            events.push(at(now, "session_ended", None, json!({})));
            let timing = read(&events);
            for agent in timing.times() {
                let place = names.iter().position(|name| *name == agent.id.as_str()).unwrap();
                let count = |state: usize| lives[place].iter().filter(|it| **it == Some(state)).count() as u64;
                prop_assert_eq!(
                    [agent.queued_ms, agent.active_ms, agent.waiting_ms],
                    [count(0), count(1), count(2)]
                );
            }
            prop_assert_eq!(timing.peak_parallel(), peak);
            prop_assert!(timing.makespan_ms() <= now);
            if let Some(utilisation) = timing.utilisation() {
                prop_assert!(peak > cap || utilisation <= 1.0, "{utilisation}");
                let held: u64 = timing.times().map(|it| it.active_ms).sum();
                prop_assert!((utilisation * timing.makespan_ms() as f64 * cap as f64 - held as f64).abs() < 1e-6);
            }
        }
    }
}
