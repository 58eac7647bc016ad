//! What holds between agents: who started whom, who ran beside whom, who waited for whom.

use std::collections::HashMap;

use serde_json::Value;

use super::line::{Line, hand_over_before};
use super::{Found, rule};

/// Codes of the log lines that a run's stop is told by. A wait may end by it.
pub(super) const STOPS: [&str; 7] = [
    "canceled",
    "defect",
    "deadline_met",
    "cost_met",
    "root_failed",
    "provider_mismatch",
    "hook_failed",
];

pub(super) fn check(lines: &[Line], found: &mut Found) {
    let mut family = Family::default();
    for (at, line) in lines.iter().enumerate() {
        match line.kind.as_str() {
            "session_started" => {
                let limits = &line.get("limits")["maxParallel"];
                family.cap = limits.as_f64();
            }
            "agent_spawned" => {
                let succeeds = hand_over_before(lines, at);
                let succeeds = succeeds.is_some_and(|it| it.text("kind") != "fork");
                family.spawned(line, succeeds, found);
            }
            "agent_status" => family.status(line, found),
            "agent_message" => family.message(line, found),
            "log" => family.stopping |= STOPS.contains(&line.text("code")),
            "session_summary" => family.conclude(line, found),
            _ => {}
        }
    }
}

#[derive(Default)]
struct Family<'a> {
    agents: HashMap<&'a str, Member<'a>>,
    cap: Option<f64>,
    running: u64,
    peak: u64,
    stopping: bool,
}

#[derive(Default)]
struct Member<'a> {
    /// The handle of its lineage: the id of that one's first agent.
    lineage: &'a str,
    /// The handle of the lineage that put it to work.
    parent: Option<&'a str>,
    /// Of a lineage's first agent: the one that goes on in its place now.
    last: Option<&'a str>,
    depth: u64,
    place: Place,
    awaited: Vec<&'a str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    None,
    Queued,
    Running,
    Blocked,
    Ended,
}

impl Place {
    fn of(status: &str) -> Option<Self> {
        Some(match status {
            "queued" => Self::Queued,
            "running" => Self::Running,
            "blocked" => Self::Blocked,
            "done" | "failed" => Self::Ended,
            _ => return None,
        })
    }

    /// Whether an agent may go from here to there. What follows an end is told by another rule.
    const fn leads_to(self, next: Self) -> bool {
        match self {
            Self::None => matches!(next, Self::Queued | Self::Running | Self::Ended),
            Self::Queued => matches!(next, Self::Running | Self::Ended),
            Self::Running => matches!(next, Self::Blocked | Self::Ended),
            Self::Blocked => matches!(next, Self::Queued | Self::Running | Self::Ended),
            Self::Ended => true,
        }
    }
}

impl<'a> Family<'a> {
    fn spawned(&mut self, line: &'a Line, succeeds: bool, found: &mut Found) {
        let Some(id) = line.agent.as_deref() else {
            return;
        };
        let depth = line.get("depth").as_u64().unwrap_or_default();
        let source = line.get("parentId").as_str();
        let mut wrong = |message: String| found.add(line.number, rule::LINEAGE, message);
        let (mut lineage, mut parent) = (id, None);
        match source.map(|source| (source, self.agents.get(source))) {
            None if depth > 0 => wrong(format!("`{id}` has no parent and depth {depth}")),
            None => {}
            Some((source, None)) => wrong(format!("`{source}`, the parent of `{id}`, is unknown")),
            Some((source, Some(member))) => {
                if member.place == Place::Ended {
                    wrong(format!("`{source}` had ended as `{id}` was started"));
                }
                let below = u64::from(!succeeds);
                if depth != member.depth + below {
                    let above = member.depth;
                    wrong(format!("`{id}` is of depth {depth}, its parent of {above}"));
                }
                if succeeds {
                    (lineage, parent) = (member.lineage, member.parent);
                } else {
                    parent = Some(member.lineage);
                }
            }
        }
        if lineage != id
            && let Some(first) = self.agents.get_mut(lineage)
        {
            first.last = Some(id);
        }
        let member = Member {
            lineage,
            parent,
            depth,
            ..Member::default()
        };
        self.agents.entry(id).or_insert(member);
    }

    /// The lineage an agent is of.
    fn lineage(&self, agent: &str) -> Option<&'a str> {
        self.agents.get(agent).map(|member| member.lineage)
    }

    /// Whether a handle is that of a child of an agent's lineage.
    fn is_child(&self, handle: &str, of: &str) -> bool {
        let parent = self.agents.get(handle).and_then(|child| child.parent);
        parent.is_some() && parent == self.lineage(of) && self.lineage(handle) == Some(handle)
    }

    /// Whether a lineage has ended, by its handle.
    fn has_ended(&self, handle: &str) -> bool {
        let last = self.agents.get(handle).and_then(|first| first.last);
        let last = self.agents.get(last.unwrap_or(handle));
        last.is_some_and(|member| member.place == Place::Ended)
    }

    fn status(&mut self, line: &'a Line, found: &mut Found) {
        let (Some(id), Some(next)) = (line.agent.as_deref(), Place::of(line.text("status"))) else {
            return;
        };
        let member = self.agents.entry(id).or_default();
        let before = std::mem::replace(&mut member.place, next);
        if !before.leads_to(next) {
            found.add(
                line.number,
                rule::PLACES,
                format!("`{id}` goes from {before:?} to {next:?}"),
            );
        }
        if before == Place::Running {
            self.running -= 1;
        }
        if next == Place::Running {
            self.running += 1;
            self.peak = self.peak.max(self.running);
            if self.cap.is_some_and(|cap| self.running as f64 > cap) {
                let running = self.running;
                found.add(line.number, rule::PARALLEL, format!("{running} agents run"));
            }
        }
        if before == Place::Blocked && next != Place::Ended {
            self.resumed(id, line, found);
        }
        if next == Place::Blocked {
            self.blocked(id, line, found);
        } else if line.get("waitingOn") != &Value::Null {
            let status = line.text("status");
            let message = format!("`{id}` is {status} and waits for something");
            found.add(line.number, rule::WAITS, message);
        }
    }

    fn blocked(&mut self, id: &'a str, line: &'a Line, found: &mut Found) {
        let on = line.get("waitingOn");
        let awaited = on["agents"].as_array().into_iter().flatten();
        let awaited: Vec<&str> = awaited.filter_map(Value::as_str).collect();
        let issues = on["issues"].as_array().is_some_and(|them| !them.is_empty());
        if awaited.is_empty() && on["issue"].is_null() && !issues {
            found.add(
                line.number,
                rule::WAITS,
                format!("`{id}` waits for nothing"),
            );
        }
        // One of them may have ended as the wait began: its end crosses the answer in the post.
        for other in &awaited {
            if !self.is_child(other, id) {
                let message = format!("`{id}` waits for `{other}`, which is no child of it");
                found.add(line.number, rule::WAITS, message);
            }
        }
        if let Some(member) = self.agents.get_mut(id) {
            member.awaited = awaited;
        }
    }

    fn resumed(&mut self, id: &str, line: &Line, found: &mut Found) {
        let Some(member) = self.agents.get_mut(id) else {
            return;
        };
        let awaited = std::mem::take(&mut member.awaited);
        if let Some(other) = awaited.iter().find(|other| !self.has_ended(other))
            && !self.stopping
        {
            let message = format!("`{id}` goes on while `{other}` has not ended");
            found.add(line.number, rule::WAITS, message);
        }
    }

    fn message(&self, line: &Line, found: &mut Found) {
        let (to, from) = (line.text("to"), line.agent.as_deref().unwrap_or_default());
        if !self.is_child(to, from) {
            let message = format!("`{from}` writes to `{to}`, no child of it");
            found.add(line.number, rule::MESSAGES, message);
        }
    }

    fn conclude(&self, summary: &Line, found: &mut Found) {
        let told = summary.get("peakParallel");
        if !told.is_null() && told.as_u64() != Some(self.peak) {
            found.add(
                summary.number,
                rule::PARALLEL,
                format!("peakParallel is {told}, the stream has {}", self.peak),
            );
        }
    }
}
