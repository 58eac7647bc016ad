//! What holds of waits for issues: nobody waits for the issue they work for, whoever merges waits
//! for none, and a wait is over once its issues have ended, unless something made it vain (03
//! §7.7).

use std::collections::{HashMap, HashSet};

use super::line::Line;
use super::{Found, delegation, rule};

/// Calls by which a wait may lose its issue, or its hope.
const REVISING: [&str; 3] = ["update_issue", "set_issue_blocked_by", "remove_issue"];

pub(super) fn check(lines: &[Line], found: &mut Found) {
    let mut waits = Waits::default();
    for line in lines {
        waits.take(line, found);
    }
}

#[derive(Default)]
struct Waits<'a> {
    /// The issue an agent works for, and whether it resolves its conflict; of all its subtree.
    works_for: HashMap<&'a str, (&'a str, bool)>,
    settled: HashSet<&'a str>,
    /// What each waits for, and how many revisions and failures there were as it began.
    waiting: HashMap<&'a str, (Vec<&'a str>, u64)>,
    /// Revisions of the board and failures of issues so far.
    upsets: u64,
    stopping: bool,
}

impl<'a> Waits<'a> {
    fn take(&mut self, line: &'a Line, found: &mut Found) {
        let agent = line.agent.as_deref().unwrap_or_default();
        match line.kind.as_str() {
            "log" => self.stopping |= delegation::STOPS.contains(&line.text("code")),
            "agent_spawned" => {
                let origin = line.get("origin");
                let own = origin["issue"].as_str();
                let own = own.map(|issue| (issue, origin["kind"] == "merge"));
                let above = || self.works_for.get(line.text("parentId")).copied();
                if let Some(works_for) = own.or_else(above) {
                    self.works_for.insert(agent, works_for);
                }
            }
            "issue_status" => {
                let (id, status) = (line.text("issueId"), line.text("status"));
                match status {
                    "done" | "failed" => drop(self.settled.insert(id)),
                    _ => drop(self.settled.remove(id)),
                }
                self.upsets += u64::from(status == "failed");
            }
            "tool_call" => self.upsets += u64::from(REVISING.contains(&line.text("tool"))),
            "api_call" => {
                let call = line.text("operation").strip_prefix("board.");
                self.upsets += u64::from(call.is_some_and(|call| REVISING.contains(&call)));
            }
            "agent_status" if line.text("status") == "blocked" => self.begins(agent, line, found),
            "agent_status" => self.goes_on(agent, line, found),
            _ => {}
        }
    }

    fn begins(&mut self, agent: &'a str, line: &'a Line, found: &mut Found) {
        let on = line.get("waitingOn");
        let several = on["issues"].as_array().into_iter().flatten();
        let issues = several.chain([&on["issue"]]);
        let issues: Vec<&str> = issues.filter_map(serde_json::Value::as_str).collect();
        let own = self.works_for.get(agent);
        for issue in &issues {
            let message = match own {
                Some((_, true)) => format!("`{agent}` merges, and waits for `{issue}`"),
                Some((own, false)) if own == issue => {
                    format!("`{agent}` waits for `{issue}`, which it works for")
                }
                _ => continue,
            };
            found.add(line.number, rule::WAITS, message);
        }
        if !issues.is_empty() {
            self.waiting.insert(agent, (issues, self.upsets));
        }
    }

    fn goes_on(&mut self, agent: &'a str, line: &Line, found: &mut Found) {
        let Some((issues, upsets)) = self.waiting.remove(agent) else {
            return;
        };
        let ended = matches!(line.text("status"), "done" | "failed");
        if self.stopping || ended || self.upsets > upsets {
            return;
        }
        if let Some(issue) = issues.iter().find(|issue| !self.settled.contains(*issue)) {
            let message = format!("`{agent}` goes on while `{issue}` has not ended");
            found.add(line.number, rule::WAITS, message);
        }
    }
}
