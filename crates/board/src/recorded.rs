//! The board as the record tells of it (06 §2.4).

use record::event::{
    BoardRow, BoardState, EpicRow, Event, IssueMoved, IssueReview, ReviewerRow, WorktreeMerged,
    WorktreeRow,
};
use vocab::ids::{AgentId, Slug};

use crate::board::Board;
use crate::issue::{Epic, Issue};
use crate::protocol::{Effect, Landed, Moved, Reviewed};

impl Board {
    /// A snapshot, for the stream of whoever wrote or arrives.
    pub fn snapshot(&self, module_id: impl Into<String>) -> BoardState {
        BoardState {
            module_id: module_id.into(),
            epics: self.epics().iter().map(epic).collect(),
            issues: self.issues().map(row).collect(),
        }
    }
}

impl Effect {
    /// The run's event that tells of it; `None` for what is no news, or is told otherwise.
    pub fn event(&self) -> Option<Event> {
        match self {
            Self::Moved(moved) => Some(Event::IssueStatus(Box::new(status(moved)))),
            Self::Reviewed(reviewed) => Some(Event::IssueReview(Box::new(review(reviewed)))),
            Self::Landed(landed) => Some(Event::WorktreeMerged(Box::new(merge(landed)))),
            Self::Ask { .. }
            | Self::Withdraw(_)
            | Self::GiveBack(_)
            | Self::Wake(_)
            | Self::Warn { .. }
            | Self::Defect(_) => None,
        }
    }
}

fn epic(epic: &Epic) -> EpicRow {
    EpicRow {
        id: epic.id.clone(),
        title: epic.title.clone(),
        description: epic.description.clone(),
    }
}

fn row(issue: &Issue) -> BoardRow {
    let text = issue.text.clone();
    BoardRow {
        id: issue.id.clone(),
        epic: issue.epic.clone(),
        title: text.title,
        description: text.description,
        in_scope: text.in_scope,
        out_of_scope: text.out_of_scope,
        completion_criteria: text.completion_criteria,
        status: issue.status,
        agent: issue.agent.clone(),
        reviewers: issue.reviewers.clone(),
        blocked_by: issue.blocked_by.clone(),
        attempts: issue.attempts,
    }
}

fn status(moved: &Moved) -> IssueMoved {
    IssueMoved {
        issue_id: moved.issue.clone(),
        status: moved.status,
        attempts: moved.attempts,
        blocked_by: moved.blocked_by.clone(),
        worktree: moved.worktree.as_ref().map(|worktree| WorktreeRow {
            branch: worktree.branch.clone(),
            path: worktree.path.display().to_string(),
        }),
        reason: moved.reason.clone(),
    }
}

fn review(reviewed: &Reviewed) -> IssueReview {
    IssueReview {
        issue_id: reviewed.issue.clone(),
        round: reviewed.round,
        outcome: reviewed.outcome,
        items: reviewed.items.clone(),
        by: reviewer(&reviewed.by),
        approved_by: reviewed.approved_by.iter().map(reviewer).collect(),
    }
}

fn reviewer((agent_id, profile_id): &(AgentId, Slug)) -> ReviewerRow {
    ReviewerRow {
        agent_id: agent_id.clone(),
        profile_id: profile_id.clone(),
    }
}

fn merge(landed: &Landed) -> WorktreeMerged {
    WorktreeMerged {
        issue_id: landed.issue.clone(),
        branch: landed.branch.clone(),
        outcome: landed.outcome,
        commit: landed.commit.clone(),
        merge_agent_id: landed.merge_agent.clone(),
    }
}
