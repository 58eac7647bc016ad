//! What each agent was when: its states over time, and whom it waited for.
//!
//! Read off `agent_spawned` and `agent_status`, as [`Timing`](super::Timing) is, which sums what
//! stands here span by span.
//!
//! Always true: an agent's spans follow each other without a gap, from its spawn to its end, or to
//! the last moment the stream tells of where it has none.

use std::collections::HashMap;

use serde::Deserialize;
use vocab::ids::{AgentId, Slug};

use super::timing::{moment, since, state};
use crate::event::AgentState;
use crate::lines::Line;

/// The lives of a stream's agents, in order of their first line.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    agents: Vec<Life>,
    places: HashMap<AgentId, usize>,
    cap: Option<u64>,
    started_ms: Option<i64>,
    last_ms: i64,
}

/// One agent. Times are milliseconds from the run's start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// The agent.
    pub id: AgentId,
    /// Its profile.
    pub profile: Option<Slug>,
    /// Who started it.
    pub parent: Option<AgentId>,
    /// What it was, in order.
    pub spans: Vec<Span>,
    /// When and as what it ended; `None` while it has not.
    pub ended: Option<(u64, String)>,
}

/// One state, and how long it lasted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The state: queued, running or blocked.
    pub state: AgentState,
    /// When it began.
    pub from_ms: u64,
    /// When it ended.
    pub to_ms: u64,
    /// Whom a blocked agent waited for.
    pub waits_for: Vec<AgentId>,
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
    max_parallel: Option<f64>,
}

#[derive(Deserialize)]
struct Spawned {
    #[serde(rename = "profileId")]
    profile: Option<Slug>,
    #[serde(rename = "parentId")]
    parent: Option<AgentId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changed {
    #[serde(rename = "status")]
    state: String,
    waiting_on: Option<WaitingOn>,
    ended_as: Option<String>,
}

#[derive(Default, Deserialize)]
struct WaitingOn {
    #[serde(default)]
    agents: Vec<AgentId>,
}

impl Lives {
    /// Takes the next line of a stream; most say nothing of states.
    pub fn take(&mut self, line: &Line) -> serde_json::Result<()> {
        let kind = line.kind.as_str();
        if !matches!(kind, "session_started" | "agent_spawned" | "agent_status") {
            return Ok(());
        }
        let Some(at_ms) = moment(&line.fields::<Moment>()?.ts) else {
            return Ok(());
        };
        let started = *self.started_ms.get_or_insert(at_ms);
        self.last_ms = self.last_ms.max(at_ms);
        let at = since(started, at_ms);
        match kind {
            "session_started" => self.cap = cap(&line.fields::<Started>()?),
            "agent_spawned" => {
                let fields: Spawned = line.fields()?;
                if let Some(life) = self.of(line, at) {
                    life.profile = fields.profile;
                    life.parent = fields.parent;
                }
            }
            _ => {
                let fields: Changed = line.fields()?;
                // A state this build does not know changes nothing it can tell of.
                if let Some(state) = state(&fields.state)
                    && let Some(life) = self.of(line, at)
                {
                    life.change(state, at, fields);
                }
            }
        }
        Ok(())
    }

    fn of(&mut self, line: &Line, at: u64) -> Option<&mut Life> {
        let id = line.agent.as_ref()?;
        let agents = &mut self.agents;
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            agents.push(Life {
                id: id.clone(),
                profile: None,
                parent: None,
                spans: vec![Span::begin(AgentState::Queued, at)],
                ended: None,
            });
            agents.len() - 1
        });
        agents.get_mut(place)
    }

    /// Every agent. Who has not ended lives to the last moment told of.
    pub fn agents(&self) -> impl Iterator<Item = Life> {
        let last = self.until_ms();
        self.agents.iter().map(move |life| {
            let mut life = life.clone();
            if life.ended.is_none() {
                life.close(last);
            }
            life
        })
    }

    /// From the run's start to the last moment told of.
    pub fn until_ms(&self) -> u64 {
        since(self.started_ms.unwrap_or(self.last_ms), self.last_ms)
    }

    /// `maxParallel` of the run, where its first line says.
    pub const fn cap(&self) -> Option<u64> {
        self.cap
    }
}

#[expect(
    clippy::cast_sign_loss,
    reason = "a negative cap is none, and saturates"
)]
fn cap(started: &Started) -> Option<u64> {
    let cap = started.limits.as_ref()?.max_parallel?;
    Some(cap as u64).filter(|cap| *cap > 0)
}

impl Life {
    fn change(&mut self, state: AgentState, at: u64, fields: Changed) {
        if self.ended.is_some() {
            return;
        }
        self.close(at);
        if matches!(state, AgentState::Done | AgentState::Failed) {
            let ending = fields.ended_as.unwrap_or_default();
            self.ended = Some((at, ending));
            return;
        }
        // An agent says it is queued as it begins, which its spawn has said already.
        if self.spans.last().is_some_and(|span| span.state == state) {
            return;
        }
        let waits_for = fields.waiting_on.unwrap_or_default().agents;
        self.spans.push(Span {
            waits_for,
            ..Span::begin(state, at)
        });
    }

    /// The last span lasts up to now. A wall clock that was set back passes no time.
    fn close(&mut self, at: u64) {
        if let Some(span) = self.spans.last_mut() {
            span.to_ms = span.to_ms.max(at);
        }
    }

    /// When it was started.
    pub fn spawned_ms(&self) -> u64 {
        self.spans.first().map_or(0, |span| span.from_ms)
    }

    /// When it ended, or was last told of.
    pub fn until_ms(&self) -> u64 {
        self.spans.last().map_or(0, |span| span.to_ms)
    }

    /// How long it was in a state.
    pub fn spent_ms(&self, state: AgentState) -> u64 {
        let spans = self.spans.iter().filter(|span| span.state == state);
        spans.map(Span::length_ms).sum()
    }
}

impl Span {
    const fn begin(state: AgentState, at: u64) -> Self {
        Self {
            state,
            from_ms: at,
            to_ms: at,
            waits_for: Vec::new(),
        }
    }

    /// How long it lasted.
    pub const fn length_ms(&self) -> u64 {
        self.to_ms.saturating_sub(self.from_ms)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::analysis::{Analysis, Timing};

    /// A root that starts two agents at one slot and waits for both.
    fn stream() -> String {
        let line = |ms: u64, agent: &str, kind: &str, fields: Value| {
            let mut line = json!({
                "type": kind, "sessionId": "s",
                "ts": format!("2026-01-31T09:08:{:02}.{:03}Z", ms / 1000, ms % 1000),
            });
            if !agent.is_empty() {
                line["agentId"] = json!(agent);
            }
            line.as_object_mut()
                .unwrap()
                .extend(fields.as_object().unwrap().clone());
            line.to_string()
        };
        let status = |ms, agent: &str, word: &str| {
            line(ms, agent, "agent_status", json!({ "status": word }))
        };
        let spawned = |ms, agent: &str, parent: Value| {
            line(
                ms,
                agent,
                "agent_spawned",
                json!({ "profileId": "p", "parentId": parent }),
            )
        };
        let ended = |ms, agent: &str| {
            let fields = json!({ "status": "done", "endedAs": "completed" });
            line(ms, agent, "agent_status", fields)
        };
        let blocked = json!({ "status": "blocked", "waitingOn": { "agents": ["a", "b"] } });
        [
            line(
                0,
                "",
                "session_started",
                json!({ "limits": { "maxParallel": 1.0 } }),
            ),
            spawned(10, "root", Value::Null),
            status(10, "root", "queued"),
            status(20, "root", "running"),
            spawned(100, "a", json!("root")),
            spawned(110, "b", json!("root")),
            line(120, "root", "agent_status", blocked),
            status(121, "a", "running"),
            ended(200, "a"),
            status(201, "b", "running"),
            ended(300, "b"),
            status(301, "root", "queued"),
            status(302, "root", "running"),
            ended(400, "root"),
        ]
        .join("\n")
    }

    #[test]
    fn spans_follow_each_other_from_spawn_to_end() {
        let lives = Analysis::read(stream().as_bytes()).unwrap().lives;
        assert_eq!((lives.cap(), lives.until_ms()), (Some(1), 400));
        let agents: Vec<Life> = lives.agents().collect();
        let root: Vec<_> = agents[0]
            .spans
            .iter()
            .map(|span| (span.state, span.from_ms, span.to_ms))
            .collect();
        assert_eq!(
            root,
            [
                (AgentState::Queued, 10, 20),
                (AgentState::Running, 20, 120),
                (AgentState::Blocked, 120, 301),
                (AgentState::Queued, 301, 302),
                (AgentState::Running, 302, 400),
            ]
        );
        assert_eq!(agents[0].spans[2].waits_for, ["a".into(), "b".into()]);
        assert_eq!(agents[2].parent, Some("root".into()));
        assert_eq!(agents[2].ended, Some((300, "completed".to_owned())));
    }

    #[test]
    fn lives_and_timing_tell_the_same_times_of_a_whole_run_and_of_a_killed_one() {
        let whole = stream();
        for lines in 2..=whole.lines().count() {
            let text: Vec<&str> = whole.lines().take(lines).collect();
            let analysis = Analysis::read(text.join("\n").as_bytes()).unwrap();
            let timing: &Timing = &analysis.timing;
            for (life, time) in analysis.lives.agents().zip(timing.agents()) {
                let spent = AgentState::Queued;
                assert_eq!(life.spent_ms(spent), time.queued_ms, "{}", life.id);
                assert_eq!(life.spent_ms(AgentState::Blocked), time.waiting_ms);
                assert_eq!(life.spent_ms(AgentState::Running), time.active_ms);
                assert_eq!(life.spawned_ms(), time.spawned_after_ms);
            }
        }
    }
}
