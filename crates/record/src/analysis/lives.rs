//! What each agent was when: its states over time, and whom it waited for.
//!
//! Read off the times of `agent_spawned` and `agent_status`. An agent is queued from its spawn, and
//! again from the moment its wait is over, until it is `running`; it waits while it is `blocked`.
//! Who has not ended, because the run was killed or goes on, lives to the last moment that any line
//! on time tells of.
//!
//! Always true: an agent's spans follow each other without a gap, from its spawn to its end, or to
//! the last moment the stream tells of where it has none.

use std::collections::HashMap;

use serde::Deserialize;
use vocab::ids::{AgentId, IssueId, Slug};

use crate::event::AgentState;
use crate::lines::Line;

/// The lives of a stream's agents, in order of their first line.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    pub(super) agents: Vec<Course>,
    /// Where each stands among them.
    places: HashMap<AgentId, usize>,
    cap: Option<u64>,
    started_ms: Option<i64>,
    /// The last moment told of.
    pub(super) last_ms: i64,
    running: u64,
    peak: u64,
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
    /// The issues it waited for.
    pub issues: Vec<IssueId>,
}

/// An agent as its lines tell of it, by the wall clock.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) id: AgentId,
    profile: Option<Slug>,
    parent: Option<AgentId>,
    /// Never empty.
    pub(super) stretches: Vec<Stretch>,
    pub(super) ended: Option<(i64, String)>,
}

/// One state of an agent, by the wall clock.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) state: AgentState,
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    waits_for: Vec<AgentId>,
    issues: Vec<IssueId>,
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
    issue: Option<IssueId>,
    #[serde(default)]
    issues: Vec<IssueId>,
}

impl Lives {
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
            "session_started" => self.cap = cap(&line.fields::<Started>()?),
            "agent_spawned" => {
                let fields: Spawned = line.fields()?;
                if let Some(course) = self.of(line, at_ms) {
                    course.profile = fields.profile;
                    course.parent = fields.parent;
                }
            }
            "agent_status" => {
                let fields: Changed = line.fields()?;
                // A state this build does not know changes nothing it can tell of.
                if let Some(state) = state(&fields.state)
                    && let Some(course) = self.of(line, at_ms)
                {
                    let ran = course.runs();
                    course.change(state, at_ms, fields);
                    match (ran, course.runs()) {
                        (false, true) => self.running += 1,
                        (true, false) => self.running -= 1,
                        _ => {}
                    }
                    self.peak = self.peak.max(self.running);
                }
            }
            _ => {}
        }
        self.started_ms.get_or_insert(at_ms);
        self.last_ms = self.last_ms.max(at_ms);
        Ok(())
    }

    fn of(&mut self, line: &Line, at_ms: i64) -> Option<&mut Course> {
        let id = line.agent.as_ref()?;
        let agents = &mut self.agents;
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            agents.push(Course {
                id: id.clone(),
                profile: None,
                parent: None,
                stretches: vec![Stretch::begin(AgentState::Queued, at_ms)],
                ended: None,
            });
            agents.len() - 1
        });
        agents.get_mut(place)
    }

    /// Every agent. Who has not ended lives to the last moment told of.
    pub fn agents(&self) -> impl Iterator<Item = Life> {
        self.agents.iter().map(|course| Life {
            id: course.id.clone(),
            profile: course.profile.clone(),
            parent: course.parent.clone(),
            spans: course
                .until(self.last_ms)
                .map(|(stretch, to_ms)| Span {
                    state: stretch.state,
                    from_ms: self.since_start(stretch.from_ms),
                    to_ms: self.since_start(to_ms),
                    waits_for: stretch.waits_for.clone(),
                    issues: stretch.issues.clone(),
                })
                .collect(),
            ended: course
                .ended
                .as_ref()
                .map(|(at_ms, how)| (self.since_start(*at_ms), how.clone())),
        })
    }

    /// Milliseconds from the run's start to a moment.
    pub(super) fn since_start(&self, at_ms: i64) -> u64 {
        since(self.started_ms.unwrap_or(at_ms), at_ms)
    }

    /// Most agents holding a slot at one time.
    pub const fn peak_parallel(&self) -> u64 {
        self.peak
    }

    /// `maxParallel` of the run; `None` where its first line does not say.
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

impl Course {
    fn change(&mut self, state: AgentState, at_ms: i64, fields: Changed) {
        if self.ended.is_some() {
            return;
        }
        let Some(last) = self.stretches.last_mut() else {
            return;
        };
        // A wall clock that was set back passes no time.
        last.to_ms = last.to_ms.max(at_ms);
        if matches!(state, AgentState::Done | AgentState::Failed) {
            self.ended = Some((at_ms, fields.ended_as.unwrap_or_default()));
            return;
        }
        // An agent says it is queued as it begins, which its spawn has said already.
        if last.state != state {
            let waiting_on = fields.waiting_on.unwrap_or_default();
            let mut issues = waiting_on.issues;
            issues.extend(waiting_on.issue);
            let next = Stretch {
                waits_for: waiting_on.agents,
                issues,
                ..Stretch::begin(state, last.to_ms)
            };
            self.stretches.push(next);
        }
    }

    fn runs(&self) -> bool {
        let last = self.stretches.last();
        self.ended.is_none() && last.is_some_and(|last| last.state == AgentState::Running)
    }

    /// Its states, each with its end: of one that has not ended, the last lasts to a moment.
    pub(super) fn until(&self, last_ms: i64) -> impl Iterator<Item = (&Stretch, i64)> {
        let lasts = self.stretches.len().checked_sub(1);
        let lasts = lasts.filter(|_| self.ended.is_none());
        self.stretches.iter().enumerate().map(move |(at, stretch)| {
            let to_ms = match lasts {
                Some(last) if last == at => stretch.to_ms.max(last_ms),
                _ => stretch.to_ms,
            };
            (stretch, to_ms)
        })
    }
}

impl Stretch {
    const fn begin(state: AgentState, at_ms: i64) -> Self {
        Self {
            state,
            from_ms: at_ms,
            to_ms: at_ms,
            waits_for: Vec::new(),
            issues: Vec::new(),
        }
    }
}

impl Life {
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
    /// How long it lasted.
    pub const fn length_ms(&self) -> u64 {
        self.to_ms.saturating_sub(self.from_ms)
    }
}

/// Milliseconds from one moment to another; none where that was before.
pub(super) fn since(from_ms: i64, to_ms: i64) -> u64 {
    u64::try_from(to_ms.saturating_sub(from_ms)).unwrap_or_default()
}

fn state(word: &str) -> Option<AgentState> {
    AgentState::deserialize(serde::de::value::StrDeserializer::<serde::de::value::Error>::new(word))
        .ok()
}

/// Milliseconds since the Unix epoch of an event's `ts`.
fn moment(ts: &str) -> Option<i64> {
    let time: jiff::Timestamp = ts.parse().ok()?;
    Some(time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::analysis::Analysis;

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
        assert_eq!((lives.cap(), lives.makespan_ms()), (Some(1), 400));
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
            for (life, time) in analysis.lives.agents().zip(analysis.lives.times()) {
                let spent = AgentState::Queued;
                assert_eq!(life.spent_ms(spent), time.queued_ms, "{}", life.id);
                assert_eq!(life.spent_ms(AgentState::Blocked), time.waiting_ms);
                assert_eq!(life.spent_ms(AgentState::Running), time.active_ms);
                assert_eq!(life.spawned_ms(), time.spawned_after_ms);
            }
        }
    }
}
