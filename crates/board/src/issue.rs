//! Epics and issues as the board keeps them (03 §7.2).

use std::path::PathBuf;

use vocab::board::{IssueStatus, ReviewOutcome};
use vocab::ids::{AgentId, EpicId, IssueId, Slug};

use crate::work::Work;

/// A group of issues that share a prefix. It has no behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epic {
    /// Its prefix, which its issues' ids begin with.
    pub id: EpicId,
    /// One line.
    pub title: String,
    /// What a title does not say.
    pub description: Option<String>,
}

/// What an issue asks for, in its filer's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueText {
    /// One line.
    pub title: String,
    /// What a title does not say.
    pub description: Option<String>,
    /// What belongs to it.
    pub in_scope: String,
    /// What does not.
    pub out_of_scope: String,
    /// How to see that it is done.
    pub completion_criteria: String,
}

/// One issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Given by gg and never reused.
    pub id: IssueId,
    /// The epic it was filed under.
    pub epic: Option<EpicId>,
    /// What it asks for.
    pub text: IssueText,
    /// The profile that implements it.
    pub agent: Slug,
    /// The profiles that have to approve it, in order, each once.
    pub reviewers: Vec<Slug>,
    /// The issues that have to be done before, each once.
    pub blocked_by: Vec<IssueId>,
    /// Where it stands.
    pub status: IssueStatus,
    /// Implementers dispatched so far, retries and rework alike, over its whole life.
    pub attempts: u32,
    /// Rounds of review begun, over its whole life.
    pub rounds: u32,
    /// What reviewers said, in order.
    pub verdicts: Vec<Verdict>,
    /// Why it failed, or why it cannot be started.
    pub failure: Option<String>,
    /// Where it is worked on, once that was made.
    pub worktree: Option<Worktree>,
    pub(crate) work: Work,
}

/// What one reviewer said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The round, from 1.
    pub round: u32,
    /// The reviewer's profile.
    pub reviewer: Slug,
    /// The reviewer.
    pub by: AgentId,
    /// What it came to.
    pub outcome: ReviewOutcome,
    /// What it wants changed; empty on an approval.
    pub items: Vec<String>,
}

/// Where an issue is worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its folder, outside the workspace.
    pub path: PathBuf,
    /// Its branch, without `refs/heads/`.
    pub branch: String,
    /// The commit it was cut from.
    pub baseline: String,
}

/// A row of a listing (R3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueRow {
    /// The issue.
    pub id: IssueId,
    /// Its epic.
    pub epic: Option<EpicId>,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub status: IssueStatus,
    /// The profile that implements it.
    pub agent: Slug,
    /// The profiles that review it.
    pub reviewers: Vec<Slug>,
    /// What has to be done before.
    pub blocked_by: Vec<IssueId>,
    /// Implementers dispatched so far.
    pub attempts: u32,
}

impl Issue {
    /// It as a row of a listing.
    pub fn row(&self) -> IssueRow {
        IssueRow {
            id: self.id.clone(),
            epic: self.epic.clone(),
            title: self.text.title.clone(),
            status: self.status,
            agent: self.agent.clone(),
            reviewers: self.reviewers.clone(),
            blocked_by: self.blocked_by.clone(),
            attempts: self.attempts,
        }
    }

    /// The stem of its branches: `gg/ui-1` (03 §7.5).
    pub fn branch_stem(&self) -> String {
        format!("gg/{}", self.id.as_str().to_lowercase())
    }
}
