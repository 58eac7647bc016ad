//! What became of the board: each issue and, in the order it was told, who was put to work on it,
//! what its reviewers said, where it went and what became of its branch.
//!
//! Where an issue stands is what the run's own events say; a snapshot says what the issue asks for
//! and who may judge it. A snapshot is taken before it is written, so an event that stands behind
//! it in the stream may be older than it says, and the other way round: only what no event tells
//! is taken from one.

use std::collections::HashMap;

use serde::Deserialize;
use vocab::board::{IssueStatus, MergeOutcome};
use vocab::ids::{AgentId, EpicId, IssueId, Slug};

use crate::event::{
    BoardRow, EpicRow, IssueMoved, IssueReview, Origin, WorktreeMerged, WorktreeRow,
};
use crate::lines::Line;

/// The board of a stream; empty where the run had none.
#[derive(Clone, Debug, Default)]
pub struct BoardFacts {
    epics: Vec<EpicRow>,
    issues: Vec<IssueStory>,
    /// Where each stands among them.
    places: HashMap<IssueId, usize>,
    /// Of each agent of a lineage that the board started: its issue, and its step there.
    lineages: HashMap<AgentId, (usize, usize)>,
    merges: Vec<WorktreeMerged>,
    told: bool,
}

/// One issue.
#[derive(Clone, Debug)]
pub struct IssueStory {
    /// Which.
    pub id: IssueId,
    /// Where it stands.
    pub status: IssueStatus,
    /// Its epic.
    pub epic: Option<EpicId>,
    /// One line; empty where no snapshot has it.
    pub title: String,
    /// The profile that implements it.
    pub agent: Option<Slug>,
    /// The profiles that review it, in order.
    pub reviewers: Vec<Slug>,
    /// What has to be done before.
    pub blocked_by: Vec<IssueId>,
    /// Why it failed, is tried again, or is not begun.
    pub reason: Option<String>,
    /// Where it was worked on last.
    pub worktree: Option<WorktreeRow>,
    /// The last snapshot does not have it any more.
    pub removed: bool,
    /// What happened to it, in order.
    pub steps: Vec<Step>,
}

/// Something that happened to an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An agent was put to work on it.
    Dispatched(Dispatched),
    /// It went somewhere.
    Moved {
        /// Where it came from.
        from: IssueStatus,
        /// Where it stands then.
        to: IssueStatus,
        /// Why, where that is told.
        reason: Option<String>,
    },
    /// A round of review ended.
    Reviewed(IssueReview),
    /// Its branch came to an end.
    Landed(WorktreeMerged),
}

/// An agent of the board's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatched {
    /// The agent.
    pub agent: AgentId,
    /// Who ended its work: itself, or the last that went on in its place.
    pub last: AgentId,
    /// Its profile.
    pub profile: Option<Slug>,
    /// What for.
    pub duty: Duty,
}

/// What an agent of the board's is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// It works on the issue.
    Implement,
    /// It judges the work, in a round counted from 1.
    Review {
        /// The round.
        round: u64,
    },
    /// It resolves a conflict.
    Merge,
}

#[derive(Deserialize)]
pub(super) struct Snapshot {
    #[serde(default)]
    epics: Vec<EpicRow>,
    #[serde(default)]
    issues: Vec<BoardRow>,
}

#[derive(Deserialize)]
pub(super) struct Started {
    #[serde(rename = "profileId")]
    profile: Option<Slug>,
    // An origin that this build does not know is none of the board's.
    origin: Option<serde_json::Value>,
}

impl BoardFacts {
    /// Whether anything of a board is told.
    pub const fn is_told(&self) -> bool {
        self.told
    }

    /// The epics, as the last snapshot has them.
    pub fn epics(&self) -> &[EpicRow] {
        &self.epics
    }

    /// The issues, in the order they were first told of.
    pub fn issues(&self) -> &[IssueStory] {
        &self.issues
    }

    /// One of them.
    pub fn issue(&self, id: &IssueId) -> Option<&IssueStory> {
        self.places
            .get(id)
            .and_then(|place| self.issues.get(*place))
    }

    /// What was merged, in order: that of the first parents of the branch merged into.
    pub fn merges(&self) -> &[WorktreeMerged] {
        &self.merges
    }

    pub(super) fn shown(&mut self, snapshot: Snapshot) {
        self.told = true;
        self.epics = snapshot.epics;
        for issue in &mut self.issues {
            issue.removed = !snapshot.issues.iter().any(|row| row.id == issue.id);
        }
        for row in snapshot.issues {
            let issue = self.of(&row.id);
            issue.epic = row.epic;
            issue.title = row.title;
            issue.agent = Some(row.agent);
            issue.reviewers = row.reviewers;
            issue.blocked_by = row.blocked_by;
        }
    }

    pub(super) fn moved(&mut self, moved: IssueMoved) {
        self.told = true;
        let issue = self.of(&moved.issue_id);
        issue.removed = false;
        issue.steps.push(Step::Moved {
            from: issue.status,
            to: moved.status,
            reason: moved.reason.clone(),
        });
        issue.status = moved.status;
        issue.blocked_by = moved.blocked_by;
        issue.reason = moved.reason;
        if moved.worktree.is_some() {
            issue.worktree = moved.worktree;
        }
    }

    pub(super) fn reviewed(&mut self, review: IssueReview) {
        self.told = true;
        let issue = self.of(&review.issue_id);
        issue.steps.push(Step::Reviewed(review));
    }

    pub(super) fn landed(&mut self, merged: WorktreeMerged) {
        self.told = true;
        if matches!(
            merged.outcome,
            MergeOutcome::Merged | MergeOutcome::Resolved
        ) {
            self.merges.push(merged.clone());
        }
        let issue = self.of(&merged.issue_id);
        issue.steps.push(Step::Landed(merged));
    }

    pub(super) fn spawned(&mut self, line: &Line, started: Started) {
        let origin = started.origin.map(serde_json::from_value::<Origin>);
        let (Some(agent), Some(Ok(origin))) = (line.agent.clone(), origin) else {
            return;
        };
        let (id, duty) = match origin {
            Origin::IssueAttempt { issue, .. } => (issue, Duty::Implement),
            Origin::Reviewer { issue, round, .. } => (issue, Duty::Review { round }),
            Origin::Merge { issue, .. } => (issue, Duty::Merge),
            Origin::Succession { predecessor, .. } => return self.succeeded(agent, &predecessor),
            Origin::Root | Origin::Spawn { .. } | Origin::Fork { .. } => return,
        };
        let issue = self.of(&id);
        issue.steps.push(Step::Dispatched(Dispatched {
            last: agent.clone(),
            agent: agent.clone(),
            profile: started.profile,
            duty,
        }));
        let step = issue.steps.len() - 1;
        if let Some(place) = self.places.get(&id) {
            self.lineages.insert(agent, (*place, step));
        }
    }

    /// An agent goes on in another's place.
    fn succeeded(&mut self, agent: AgentId, predecessor: &AgentId) {
        let Some((place, step)) = self.lineages.get(predecessor).copied() else {
            return;
        };
        let issue = self.issues.get_mut(place);
        if let Some(Step::Dispatched(first)) = issue.and_then(|it| it.steps.get_mut(step)) {
            first.last = agent.clone();
        }
        self.lineages.insert(agent, (place, step));
    }

    fn of(&mut self, id: &IssueId) -> &mut IssueStory {
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            self.issues.push(IssueStory {
                id: id.clone(),
                status: IssueStatus::Open,
                epic: None,
                title: String::new(),
                agent: None,
                reviewers: Vec::new(),
                blocked_by: Vec::new(),
                reason: None,
                worktree: None,
                removed: false,
                steps: Vec::new(),
            });
            self.issues.len() - 1
        });
        &mut self.issues[place]
    }
}

impl IssueStory {
    /// The branch that keeps its unfinished work, where it failed with one.
    pub fn kept_branch(&self) -> Option<&str> {
        let failed = self.status == IssueStatus::Failed;
        let worktree = self.worktree.as_ref().filter(|_| failed)?;
        Some(&worktree.branch)
    }

    /// Agents that were put to work on it so.
    pub fn dispatched(&self, wanted: impl Fn(Duty) -> bool) -> impl Iterator<Item = &Dispatched> {
        self.steps.iter().filter_map(move |step| match step {
            Step::Dispatched(it) if wanted(it.duty) => Some(it),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::analysis::Analysis;

    fn read(lines: &[serde_json::Value]) -> Analysis {
        let text: Vec<String> = (lines.iter())
            .map(|line| {
                let mut line = line.clone();
                line["sessionId"] = json!("s");
                line["ts"] = json!("2026-01-31T09:08:07.000Z");
                line.to_string()
            })
            .collect();
        let analysis = Analysis::read(text.join("\n").as_bytes()).unwrap();
        assert_eq!(analysis.damaged, []);
        analysis
    }

    fn row(id: &str, status: &str) -> serde_json::Value {
        json!({"id": id, "title": format!("Title of {id}"), "inScope": "a", "outOfScope": "b",
            "completionCriteria": "c", "status": status, "agent": "coder",
            "reviewers": ["critic"], "blockedBy": [], "attempts": 0})
    }

    fn moved(id: &str, status: &str) -> serde_json::Value {
        json!({"type": "issue_status", "issueId": id, "status": status, "attempts": 1})
    }

    fn state(rows: &[serde_json::Value]) -> serde_json::Value {
        json!({"type": "board_state", "agentId": "root", "module_id": "board-0", "epics": [],
            "issues": rows})
    }

    fn spawned(id: &str, origin: serde_json::Value) -> serde_json::Value {
        json!({"type": "agent_spawned", "agentId": id, "profileId": "p", "origin": origin})
    }

    #[test]
    fn events_say_where_an_issue_stands_and_snapshots_what_it_asks_for() {
        let board = read(&[
            moved("A-1", "in_progress"),
            // Taken before the event above was told.
            state(&[row("A-1", "open"), row("A-2", "open")]),
            moved("A-1", "in_review"),
        ])
        .board;
        let issue = board.issue(&"A-1".into()).unwrap();
        assert_eq!(issue.status, IssueStatus::InReview);
        assert_eq!(issue.title, "Title of A-1");
        assert_eq!(issue.reviewers, ["critic".into()]);
        assert_eq!(board.issues().len(), 2);
    }

    #[test]
    fn an_issue_that_a_later_snapshot_lacks_is_removed_unless_it_goes_on() {
        let gone = [
            state(&[row("A-1", "open"), row("A-2", "open")]),
            state(&[row("A-2", "open")]),
        ];
        let board = read(&gone).board;
        assert!(board.issue(&"A-1".into()).unwrap().removed);
        assert!(!board.issue(&"A-2".into()).unwrap().removed);
        let goes_on = [
            gone[0].clone(),
            gone[1].clone(),
            moved("A-1", "in_progress"),
        ];
        assert!(!read(&goes_on).board.issue(&"A-1".into()).unwrap().removed);
    }

    #[test]
    fn a_lineage_is_one_step_that_its_last_agent_ends() {
        let attempt = json!({"kind": "issue_attempt", "issue": "A-1", "ordinal": 0});
        let after = |id: &str| json!({"kind": "succession", "predecessor": id, "ordinal": 1});
        let board = read(&[
            spawned("root", json!({"kind": "root"})),
            spawned("A-1.0i", attempt),
            spawned("agent-1", after("A-1.0i")),
            spawned("agent-2", after("agent-1")),
            spawned("agent-3", after("root")),
            spawned("agent-4", json!({"kind": "of_tomorrow"})),
        ])
        .board;
        let issue = board.issue(&"A-1".into()).unwrap();
        let all: Vec<_> = issue.dispatched(|_| true).collect();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].last, "agent-2".into());
        assert_eq!(all[0].duty, Duty::Implement);
    }

    #[test]
    fn merges_stand_in_their_order_and_a_failed_issues_branch_is_kept() {
        let landed = |id: &str, outcome: &str| json!({"type": "worktree_merged", "issueId": id, "branch": "b", "outcome": outcome});
        let mut begun = moved("A-3", "in_progress");
        begun["worktree"] = json!({"branch": "gg/a-3", "path": "/t/a-3"});
        let board = read(&[
            begun,
            landed("A-2", "merged"),
            landed("A-3", "aborted"),
            landed("A-1", "resolved"),
            moved("A-3", "failed"),
        ])
        .board;
        let order: Vec<&str> = board
            .merges()
            .iter()
            .map(|it| it.issue_id.as_str())
            .collect();
        assert_eq!(order, ["A-2", "A-1"]);
        assert_eq!(
            board.issue(&"A-3".into()).unwrap().kept_branch(),
            Some("gg/a-3")
        );
        assert_eq!(board.issue(&"A-2".into()).unwrap().kept_branch(), None);
    }

    #[test]
    fn a_run_without_a_board_tells_of_none() {
        let analysis = read(&[spawned("root", json!({"kind": "root"}))]);
        assert!(!analysis.board.is_told());
        assert!(analysis.board.issues().is_empty());
    }
}
