//! What holds between agents: who started whom, who ran beside whom, who waited for whom.

use std::collections::HashMap;

use serde_json::Value;

use super::line::Line;
use super::{Found, rule};

/// Codes of the log lines that a run's stop is told by. A wait may end by it.
const STOPS: [&str; 7] = [
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
                let before = at.checked_sub(1).and_then(|before| lines.get(before));
                let handed_over = before.is_some_and(|it| it.kind == "agent_transition");
                family.spawned(line, handed_over, found);
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
    parent: Option<&'a str>,
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
    fn spawned(&mut self, line: &'a Line, handed_over: bool, found: &mut Found) {
        let Some(id) = line.agent.as_deref() else {
            return;
        };
        let depth = line.get("depth").as_u64().unwrap_or_default();
        let parent = line.get("parentId").as_str();
        let mut wrong = |message: String| found.add(line.number, rule::LINEAGE, message);
        match parent.map(|parent| (parent, self.agents.get(parent))) {
            None if depth > 0 && !handed_over => {
                wrong(format!("`{id}` has no parent and depth {depth}"));
            }
            None => {}
            Some((parent, None)) => wrong(format!("`{parent}`, the parent of `{id}`, is unknown")),
            Some((parent, Some(member))) => {
                if member.place == Place::Ended {
                    wrong(format!("`{parent}` had ended as `{id}` was started"));
                }
                if depth != member.depth + 1 {
                    let above = member.depth;
                    wrong(format!("`{id}` is of depth {depth}, its parent of {above}"));
                }
            }
        }
        let member = Member {
            parent,
            depth,
            ..Member::default()
        };
        self.agents.entry(id).or_insert(member);
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
        if awaited.is_empty() && on["issue"].is_null() {
            found.add(
                line.number,
                rule::WAITS,
                format!("`{id}` waits for nothing"),
            );
        }
        // One of them may have ended as the wait began: its end crosses the answer in the post.
        for other in &awaited {
            let child = self.agents.get(other);
            if child.is_none_or(|child| child.parent != Some(id)) {
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
        let lives = |other: &&&str| {
            let member = self.agents.get(**other);
            member.is_none_or(|member| member.place != Place::Ended)
        };
        if let Some(other) = awaited.iter().find(lives)
            && !self.stopping
        {
            let message = format!("`{id}` goes on while `{other}` has not ended");
            found.add(line.number, rule::WAITS, message);
        }
    }

    fn message(&self, line: &Line, found: &mut Found) {
        let to = line.text("to");
        let child = self.agents.get(to);
        if child.is_none_or(|child| child.parent != line.agent.as_deref()) {
            let from = line.agent.as_deref().unwrap_or_default();
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
