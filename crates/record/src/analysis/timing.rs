//! Where the agents of a run spent their time: queued for a slot, waiting for others, at work.
//!
//! Read off the times of `agent_spawned` and `agent_status`. An agent is queued from its spawn, and
//! again from the moment its wait is over, until it is `running`; it waits while it is `blocked`.
//! Who has not ended, because the run was killed or goes on, is counted up to the last moment the
//! stream tells of.
//!
//! Always true: an agent's three times sum to the time from its spawn to its end, and the active
//! times of all sum to the number of running agents over time. So a run whose agents kept to the
//! cap has a utilisation of at most 1.

use std::collections::HashMap;

use serde::Deserialize;
use vocab::ids::AgentId;

use crate::event::AgentState;
use crate::lines::Line;

/// The times of a stream's agents, in order of their first line.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    agents: Vec<Clock>,
    /// Where each stands among them.
    places: HashMap<AgentId, usize>,
    cap: Option<u64>,
    started_ms: Option<i64>,
    /// The last moment told of.
    last_ms: i64,
    running: u64,
    peak: u64,
}

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

#[derive(Clone, Debug)]
struct Clock {
    id: AgentId,
    spawned_ms: i64,
    state: AgentState,
    since_ms: i64,
    queued_ms: u64,
    waiting_ms: u64,
    active_ms: u64,
}

#[derive(Deserialize)]
struct Moment {
    #[serde(default)]
    ts: String,
}

#[derive(Deserialize)]
struct Started {
    limits: Option<Limits>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    // As a stream has it, a figure among others that are no whole numbers.
    max_parallel: Option<f64>,
}

#[derive(Deserialize)]
struct Status {
    status: String,
}

impl Timing {
    /// Takes the next line of a stream; most say nothing of time.
    pub fn take(&mut self, line: &Line) -> serde_json::Result<()> {
        let kind = line.kind.as_str();
        let tells = matches!(
            kind,
            "session_started"
                | "agent_spawned"
                | "agent_status"
                | "turn_outcome"
                | "slot_usage"
                | "session_ended"
        );
        if !tells {
            return Ok(());
        }
        let Some(at_ms) = moment(&line.fields::<Moment>()?.ts) else {
            return Ok(());
        };
        match kind {
            "session_started" => {
                let started: Started = line.fields()?;
                self.begin(at_ms, started.limits.and_then(|it| it.max_parallel));
            }
            "agent_spawned" => {
                if let Some(id) = &line.agent {
                    self.spawned(id, at_ms);
                }
            }
            "agent_status" => {
                let status: Status = line.fields()?;
                // A state this build does not know changes nothing it can tell of.
                let state = state(&status.status);
                if let (Some(id), Some(state)) = (&line.agent, state) {
                    self.changed(id, state, at_ms);
                }
            }
            _ => self.pass(at_ms),
        }
        Ok(())
    }

    /// The run starts, with a cap where one is told.
    #[expect(
        clippy::cast_sign_loss,
        reason = "a negative cap is none, and saturates"
    )]
    fn begin(&mut self, at_ms: i64, cap: Option<f64>) {
        self.pass(at_ms);
        self.cap = cap.map(|cap| cap as u64).filter(|cap| *cap > 0);
    }

    fn pass(&mut self, at_ms: i64) {
        self.started_ms.get_or_insert(at_ms);
        self.last_ms = self.last_ms.max(at_ms);
    }

    fn spawned(&mut self, id: &AgentId, at_ms: i64) -> &mut Clock {
        self.pass(at_ms);
        let agents = &mut self.agents;
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            agents.push(Clock::new(id.clone(), at_ms));
            agents.len() - 1
        });
        &mut agents[place]
    }

    fn changed(&mut self, id: &AgentId, state: AgentState, at_ms: i64) {
        let clock = self.spawned(id, at_ms);
        if clock.has_ended() {
            return;
        }
        let ran = clock.state == AgentState::Running;
        let runs = state == AgentState::Running;
        clock.pass(at_ms);
        clock.state = state;
        match (ran, runs) {
            (false, true) => self.running += 1,
            (true, false) => self.running -= 1,
            _ => {}
        }
        self.peak = self.peak.max(self.running);
    }

    /// Each agent's times.
    pub fn agents(&self) -> impl Iterator<Item = AgentTime> {
        self.agents.iter().map(|clock| {
            let mut clock = clock.clone();
            clock.pass(self.last_ms);
            AgentTime {
                spawned_after_ms: since(self.started_ms.unwrap_or_default(), clock.spawned_ms),
                has_ended: clock.has_ended(),
                id: clock.id,
                queued_ms: clock.queued_ms,
                waiting_ms: clock.waiting_ms,
                active_ms: clock.active_ms,
            }
        })
    }

    /// From the run's start to the end of its last agent, or to the last moment told of where one
    /// has not ended. What follows is the run's own work: prices, sums, the last lines.
    pub fn makespan_ms(&self) -> u64 {
        let all_ended = self.agents.iter().all(Clock::has_ended);
        let ends = self.agents.iter().map(|clock| clock.since_ms).max();
        let end = ends.filter(|_| all_ended).unwrap_or(self.last_ms);
        since(self.started_ms.unwrap_or(end), end)
    }

    /// Time of all agents holding a slot.
    pub fn active_ms(&self) -> u64 {
        self.agents().map(|agent| agent.active_ms).sum()
    }

    /// Most agents holding a slot at one time.
    pub const fn peak_parallel(&self) -> u64 {
        self.peak
    }

    /// `maxParallel` of the run; `None` where its first line does not say.
    pub const fn cap(&self) -> Option<u64> {
        self.cap
    }

    /// The share of the cap's slots that was held, over the makespan; `None` of nothing.
    pub fn utilisation(&self) -> Option<f64> {
        let slots = self.cap? as f64 * self.makespan_ms() as f64;
        (slots > 0.0).then(|| self.active_ms() as f64 / slots)
    }
}

impl Clock {
    const fn new(id: AgentId, at_ms: i64) -> Self {
        Self {
            id,
            spawned_ms: at_ms,
            state: AgentState::Queued,
            since_ms: at_ms,
            queued_ms: 0,
            waiting_ms: 0,
            active_ms: 0,
        }
    }

    const fn has_ended(&self) -> bool {
        matches!(self.state, AgentState::Done | AgentState::Failed)
    }

    /// Time passes in the state it is in. A wall clock that was set back passes none.
    fn pass(&mut self, at_ms: i64) {
        let spent = since(self.since_ms, at_ms);
        match self.state {
            AgentState::Queued => self.queued_ms += spent,
            AgentState::Running => self.active_ms += spent,
            AgentState::Blocked => self.waiting_ms += spent,
            AgentState::Done | AgentState::Failed => return,
        }
        self.since_ms = self.since_ms.max(at_ms);
    }
}

pub(super) fn since(from_ms: i64, to_ms: i64) -> u64 {
    u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or_default()
}

pub(super) fn state(word: &str) -> Option<AgentState> {
    AgentState::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(word))
        .ok()
}

/// Milliseconds since the Unix epoch of an event's `ts`.
pub(super) fn moment(ts: &str) -> Option<i64> {
    let time: jiff::Timestamp = ts.parse().ok()?;
    Some(time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::lines::lines;

    fn read(events: &[Value]) -> Timing {
        let text: Vec<_> = events.iter().map(Value::to_string).collect();
        let mut timing = Timing::default();
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

    fn times(timing: &Timing) -> Vec<(String, [u64; 3])> {
        let row = |it: AgentTime| {
            let name = it.id.to_string();
            (name, [it.queued_ms, it.waiting_ms, it.active_ms])
        };
        timing.agents().map(row).collect()
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
        let spawned: Vec<_> = timing.agents().map(|it| it.spawned_after_ms).collect();
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
        let ended: Vec<_> = timing.agents().map(|it| it.has_ended).collect();
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
        assert_eq!(Timing::default().makespan_ms(), 0);
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
            for agent in timing.agents() {
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
                let held: u64 = timing.agents().map(|it| it.active_ms).sum();
                prop_assert!((utilisation * timing.makespan_ms() as f64 * cap as f64 - held as f64).abs() < 1e-6);
            }
        }
    }
}
