//! What holds of the board's issues: each goes the way it may, starts behind its blockers, and is
//! done by one merge (03 §7).

use std::collections::HashMap;

use serde_json::Value;

use super::line::Line;
use super::{Found, rule};

pub(super) fn check(lines: &[Line], found: &mut Found) {
    let mut board = Board {
        issues: HashMap::new(),
        found,
    };
    for line in lines {
        match line.kind.as_str() {
            "issue_status" => board.moved(line),
            "issue_review" => board.reviewed(line),
            "worktree_merged" => board.landed(line),
            _ => {}
        }
    }
}

struct Board<'a, 'f> {
    issues: HashMap<&'a str, Issue<'a>>,
    found: &'f mut Found,
}

#[derive(Default)]
struct Issue<'a> {
    /// Where it stands; empty until the first word of it, which is `open`.
    status: &'a str,
    round: u64,
    /// What became of its branch, until its status says what follows.
    landed: &'a str,
    failed_once: bool,
}

/// Where an issue may go from where it stands; where it stands it may be told of again.
fn ways(status: &str) -> &'static [&'static str] {
    match status {
        "" | "open" => &["open", "in_progress", "failed"],
        "in_progress" => &["in_progress", "in_review", "open", "failed"],
        "in_review" => &["in_progress", "done", "failed"],
        "failed" => &["open"],
        _ => &[],
    }
}

impl<'a> Board<'a, '_> {
    fn moved(&mut self, line: &'a Line) {
        let (id, status) = (line.text("issueId"), line.text("status"));
        let issue = self.issues.entry(id).or_default();
        let mut faults = Vec::new();
        if !ways(issue.status).contains(&status) {
            faults.push(format!("`{id}` goes from {:?} to {status:?}", issue.status));
        }
        let merged = matches!(issue.landed, "merged" | "resolved");
        if (status == "done") != merged || issue.landed == "aborted" && status != "failed" {
            let landed = issue.landed;
            faults.push(format!("`{id}` is {status} behind {landed:?} as its merge"));
        }
        issue.landed = "";
        issue.status = status;
        issue.failed_once |= status == "failed";
        if (status == "failed") && line.get("reason").is_null() {
            faults.push(format!("`{id}` failed for no reason"));
        }
        if status == "in_progress" {
            let blockers = line.get("blockedBy").as_array().into_iter().flatten();
            let unfinished = blockers
                .filter_map(Value::as_str)
                .find(|id| self.issues.get(id).is_none_or(|it| it.status != "done"));
            if let Some(blocker) = unfinished {
                faults.push(format!("`{id}` is begun before `{blocker}` is done"));
            }
        }
        self.tell(line, faults);
    }

    fn reviewed(&mut self, line: &'a Line) {
        let (id, round) = (line.text("issueId"), line.get("round").as_u64());
        let issue = self.issues.entry(id).or_default();
        let mut faults = Vec::new();
        if issue.status != "in_review" {
            faults.push(format!("`{id}` is reviewed and {:?}", issue.status));
        }
        let round = round.unwrap_or_default();
        if round <= issue.round {
            faults.push(format!(
                "round {round} of `{id}` stands behind {}",
                issue.round
            ));
        }
        issue.round = round;
        let items = line.get("items").as_array().map_or(0, Vec::len);
        let approved = line.text("outcome") == "approved";
        if approved != (items == 0) {
            faults.push(format!("round {round} of `{id}` has {items} items"));
        }
        let approvals = line.get("approvedBy").as_array();
        let last = approvals.and_then(|rows| rows.last());
        if approved && last != Some(line.get("by")) {
            faults.push(format!("who ended round {round} of `{id}` did not approve"));
        }
        self.tell(line, faults);
    }

    fn landed(&mut self, line: &'a Line) {
        let (id, outcome) = (line.text("issueId"), line.text("outcome"));
        let issue = self.issues.entry(id).or_default();
        let mut faults = Vec::new();
        match outcome {
            "merged" | "resolved" | "aborted" => {
                if issue.status != "in_review" || !issue.landed.is_empty() {
                    faults.push(format!("`{id}` is {outcome} and {:?}", issue.status));
                }
                issue.landed = outcome;
            }
            // By then it may have been revived.
            _ if !issue.failed_once => {
                faults.push(format!("`{id}` is {outcome} and did not fail"));
            }
            _ => {}
        }
        let agent = !line.get("mergeAgentId").is_null();
        let wanted = match outcome {
            "resolved" => Some(true),
            "merged" | "discarded" => Some(false),
            _ => None,
        };
        if wanted.is_some_and(|wanted| wanted != agent) {
            faults.push(format!("`{id}` is {outcome}, with a merge agent: {agent}"));
        }
        self.tell(line, faults);
    }

    fn tell(&mut self, line: &Line, faults: Vec<String>) {
        for fault in faults {
            self.found.add(line.number, rule::BOARD, fault);
        }
    }
}
