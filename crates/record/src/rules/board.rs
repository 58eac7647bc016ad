//! What holds of the board's issues: each goes the way it may, starts behind its blockers, is
//! tried no more often than it may be, and is done by one merge that every reviewer it names has
//! approved (03 §7).
//!
//! Where an issue stands is what the run's own events say. What it names, its reviewers and its
//! blockers, snapshots say; one is taken before it is written, so an event may stand before or
//! behind a snapshot that knows nothing of it. Only what cannot change while an issue is worked on
//! is therefore held against a snapshot, and only once the stream has ended.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::line::Line;
use super::{Ending, Found, rule};

/// The capability whose figures bound a board.
const CAPABILITY: &str = "project-management";

pub(super) fn check(lines: &[Line], ending: Ending, found: &mut Found) {
    let mut board = Board {
        issues: HashMap::new(),
        limits: Limits::default(),
        merging: None,
        found,
    };
    for line in lines {
        match line.kind.as_str() {
            "session_started" => board.limits = Limits::of(line.get("capabilitySet")),
            "issue_status" => board.moved(line),
            "issue_review" => board.reviewed(line),
            "worktree_merged" => board.landed(line),
            "board_state" => board.shown(line),
            "agent_spawned" => board.spawned(line),
            _ => {}
        }
    }
    board.conclude(ending);
}

/// The run's figures; those that the first line does not tell bound nothing.
#[derive(Default)]
struct Limits {
    retries: Option<f64>,
    issues: Option<f64>,
    epics: Option<f64>,
}

impl Limits {
    /// Of the first profile that has the board on: all write the same.
    fn of(set: &Value) -> Self {
        let agents = set["agents"].as_array().into_iter().flatten();
        let mut capabilities =
            agents.flat_map(|agent| agent["capabilities"].as_array().into_iter().flatten());
        let board = capabilities.find(|it| it["id"] == CAPABILITY && it["enabled"] == true);
        let params = board.map_or(&Value::Null, |it| &it["params"]);
        // As it was written, a figure may be a whole number with a point.
        let figure = |key: &str| params[key].as_f64();
        Self {
            retries: figure("maxRetries"),
            issues: figure("maxIssues"),
            epics: figure("maxEpics"),
        }
    }
}

struct Board<'a, 'f> {
    issues: HashMap<&'a str, Issue<'a>>,
    limits: Limits,
    /// The issue whose conflict a merge agent works on.
    merging: Option<&'a str>,
    found: &'f mut Found,
}

#[derive(Default)]
struct Issue<'a> {
    /// Where it stands; empty until the first word of it, which is `open`.
    status: &'a str,
    /// The line that said so.
    line: usize,
    round: u64,
    /// What became of its branch, until its status says what follows.
    landed: &'a str,
    failed_once: bool,
    /// Attempts that led back to `open`, since it was filed or revived.
    retries: u64,
    /// Implementers that were started.
    started: u64,
    /// Who approved in the last round of its review.
    approvals: Vec<&'a str>,
    /// The reviewers it names, as a snapshot has them that was taken while it was worked on.
    reviewers: Option<Vec<&'a str>>,
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
        match (issue.status, status) {
            ("in_progress", "open") => {
                issue.retries += 1;
                if self
                    .limits
                    .retries
                    .is_some_and(|max| issue.retries as f64 > max)
                {
                    let retries = issue.retries;
                    faults.push(format!("`{id}` is tried again {retries} times"));
                }
                if line.get("reason").is_null() {
                    faults.push(format!("`{id}` is tried again for no reason"));
                }
            }
            ("failed", _) => {
                issue.retries = 0;
                issue.reviewers = None;
            }
            (_, "in_review") => issue.approvals.clear(),
            _ => {}
        }
        issue.landed = "";
        issue.status = status;
        issue.line = line.number;
        issue.failed_once |= status == "failed";
        if (status == "failed") && line.get("reason").is_null() {
            faults.push(format!("`{id}` failed for no reason"));
        }
        if status == "failed" && self.merging == Some(id) {
            // What became of the merge is not known: nothing is merged behind it.
            self.merging = None;
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
        self.tell(line.number, faults);
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
        let rows = line.get("approvedBy").as_array();
        let last = rows.and_then(|rows| rows.last());
        if approved != (last == Some(line.get("by"))) {
            faults.push(format!(
                "round {round} of `{id}` was ended by somebody who did not say so"
            ));
        }
        let profiles = rows.into_iter().flatten();
        let profiles = profiles.filter_map(|row| row["profileId"].as_str());
        issue.approvals = profiles.filter(|_| approved).collect();
        self.tell(line.number, faults);
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
                if let Some(other) = self.merging.filter(|other| *other != id) {
                    faults.push(format!("`{id}` is {outcome} while `{other}` is merged"));
                }
                self.merging = None;
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
        self.tell(line.number, faults);
    }

    /// An agent of the board's is started: for an issue that stands where its work is due.
    fn spawned(&mut self, line: &'a Line) {
        let origin = line.get("origin");
        let Some(id) = origin["issue"].as_str() else {
            return;
        };
        let agent = line.agent.as_deref().unwrap_or_default();
        let issue = self.issues.entry(id).or_default();
        let mut faults = Vec::new();
        let due = match origin["kind"].as_str().unwrap_or_default() {
            "issue_attempt" => {
                let ordinal = origin["ordinal"].as_u64();
                if ordinal != Some(issue.started) {
                    let started = issue.started;
                    faults.push(format!("`{agent}` is started behind {started} of `{id}`"));
                }
                issue.started += 1;
                "in_progress"
            }
            "reviewer" => {
                if origin["round"].as_u64().is_none_or(|it| it <= issue.round) {
                    let round = issue.round;
                    faults.push(format!("`{agent}` is started behind round {round}"));
                }
                "in_review"
            }
            "merge" => {
                if let Some(other) = self.merging {
                    faults.push(format!("`{agent}` is started while `{other}` is merged"));
                }
                self.merging = Some(id);
                "in_review"
            }
            _ => return,
        };
        if issue.status != due {
            faults.push(format!(
                "`{agent}` is started and `{id}` {:?}",
                issue.status
            ));
        }
        self.tell(line.number, faults);
    }

    /// A snapshot: the issues block each other without a cycle, and what is worked on is behind
    /// nothing that is not done.
    fn shown(&mut self, line: &'a Line) {
        let rows = |field: &str| line.get(field).as_array().map_or(&[][..], Vec::as_slice);
        let (issues, epics) = (rows("issues"), rows("epics"));
        let mut faults = Vec::new();
        for (found, max, what) in [
            (issues.len(), self.limits.issues, "issues"),
            (epics.len(), self.limits.epics, "epics"),
        ] {
            if max.is_some_and(|max| found as f64 > max) {
                faults.push(format!("the board holds {found} {what}"));
            }
        }
        let edges: HashMap<&str, Vec<&str>> = (issues.iter())
            .map(|row| (id(row), texts(&row["blockedBy"])))
            .collect();
        let statuses: HashMap<&str, &str> = (issues.iter())
            .map(|row| (id(row), row["status"].as_str().unwrap_or_default()))
            .collect();
        if edges.len() != issues.len() {
            faults.push("an issue stands twice".to_owned());
        }
        for row in issues {
            let (id, status) = (id(row), row["status"].as_str().unwrap_or_default());
            for blocker in texts(&row["blockedBy"]) {
                match statuses.get(blocker) {
                    None => faults.push(format!("`{id}` is blocked by `{blocker}`, which is gone")),
                    Some(other) if worked_on(status) && *other != "done" => {
                        faults.push(format!("`{id}` is {status}, and its blocker {other}"));
                    }
                    Some(_) => {}
                }
            }
            if let Some(epic) = row["epic"].as_str()
                && !epics.iter().any(|it| it["id"] == epic)
            {
                faults.push(format!("`{id}` is of `{epic}`, which is no epic"));
            }
            // While it may be revised, what it names is not what it will be judged by.
            let reviewers = worked_on(status).then(|| texts(&row["reviewers"]));
            self.issues.entry(id).or_default().reviewers = reviewers;
        }
        if let Some(id) = in_a_cycle(&edges) {
            faults.push(format!("`{id}` is behind itself"));
        }
        self.tell(line.number, faults);
    }

    /// What only a whole stream shows.
    fn conclude(&mut self, ending: Ending) {
        let mut faults = Vec::new();
        for (id, issue) in &self.issues {
            if ending == Ending::Finished && matches!(issue.status, "in_progress" | "in_review") {
                faults.push((issue.line, format!("`{id}` is left {}", issue.status)));
            }
            if issue.status == "done"
                && let Some(reviewers) = &issue.reviewers
                && *reviewers != issue.approvals
            {
                let approvals = &issue.approvals;
                let message =
                    format!("`{id}` is done, approved by {approvals:?}, named {reviewers:?}");
                faults.push((issue.line, message));
            }
        }
        for (line, fault) in faults {
            self.tell(line, vec![fault]);
        }
    }

    fn tell(&mut self, line: usize, faults: Vec<String>) {
        for fault in faults {
            self.found.add(line, rule::BOARD, fault);
        }
    }
}

/// Whether an issue of a snapshot is, or was, worked on as it stands: no call changes it then.
fn worked_on(status: &str) -> bool {
    matches!(status, "in_progress" | "in_review" | "done")
}

fn id(row: &Value) -> &str {
    row["id"].as_str().unwrap_or_default()
}

fn texts(list: &Value) -> Vec<&str> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

/// An issue that its own blockers lead back to.
fn in_a_cycle<'a>(edges: &HashMap<&'a str, Vec<&'a str>>) -> Option<&'a str> {
    let mut settled: HashSet<&str> = HashSet::new();
    for start in edges.keys() {
        // The way from the start, each with the blockers of it that are still to be looked at.
        let mut way: Vec<(&str, &[&str])> = vec![(start, &edges[start])];
        while let Some((at, rest)) = way.pop() {
            let Some((next, rest)) = rest.split_first() else {
                settled.insert(at);
                continue;
            };
            way.push((at, rest));
            if way.iter().any(|(open, _)| open == next) {
                return edges.get_key_value(next).map(|(id, _)| *id);
            }
            if let Some(blockers) = edges.get(next).filter(|_| !settled.contains(next)) {
                way.push((next, blockers));
            }
        }
    }
    None
}
