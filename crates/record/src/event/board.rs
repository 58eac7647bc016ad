//! The board: what stands on it, and what becomes of its issues (06 §2.4).
//!
//! A snapshot stands on the stream of the agent that wrote, and of each agent that holds the board
//! as it arrives. What gg does with an issue by itself is told by events of the run, each as long
//! as what it tells: a snapshot for every step of every issue would grow with the board.

use serde::{Deserialize, Serialize};
use vocab::board::{IssueStatus, MergeOutcome, ReviewOutcome};
use vocab::ids::{AgentId, EpicId, IssueId, Slug};

/// See [`Event::BoardState`](super::Event::BoardState).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardState {
    /// The board.
    #[serde(rename = "module_id")]
    pub module_id: String,
    /// Its epics, in the order they were created.
    pub epics: Vec<EpicRow>,
    /// Its issues, in the order they were filed.
    pub issues: Vec<BoardRow>,
}

/// One epic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EpicRow {
    /// Its prefix.
    pub id: EpicId,
    /// One line.
    pub title: String,
    /// What a title does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
}

/// One issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoardRow {
    /// Given by gg.
    pub id: IssueId,
    /// Its epic.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub epic: Option<EpicId>,
    /// One line.
    pub title: String,
    /// What a title does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// What belongs to it.
    pub in_scope: String,
    /// What does not.
    pub out_of_scope: String,
    /// How to see that it is done.
    pub completion_criteria: String,
    /// Where it stands.
    pub status: IssueStatus,
    /// The profile that implements it.
    pub agent: Slug,
    /// The profiles that review it, in order.
    pub reviewers: Vec<Slug>,
    /// What has to be done before.
    pub blocked_by: Vec<IssueId>,
    /// Implementers dispatched so far.
    pub attempts: u32,
}

/// See [`Event::IssueStatus`](super::Event::IssueStatus).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueMoved {
    /// Which.
    pub issue_id: IssueId,
    /// Where it stands now.
    pub status: IssueStatus,
    /// Implementers dispatched so far.
    pub attempts: u32,
    /// What had to be done before.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub blocked_by: Vec<IssueId>,
    /// Where it is worked on, where that is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worktree: Option<WorktreeRow>,
    /// Why it failed, is tried again, or is not begun.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// Where an issue is worked on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeRow {
    /// Its branch.
    pub branch: String,
    /// Its folder.
    pub path: String,
}

/// See [`Event::IssueReview`](super::Event::IssueReview).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueReview {
    /// The issue.
    pub issue_id: IssueId,
    /// The round, from 1.
    pub round: u32,
    /// What it came to.
    pub outcome: ReviewOutcome,
    /// What is to be changed, where something is.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub items: Vec<String>,
    /// Whose verdict ended the round.
    pub by: ReviewerRow,
    /// Who approved in it, in order.
    pub approved_by: Vec<ReviewerRow>,
}

/// One reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewerRow {
    /// The agent.
    pub agent_id: AgentId,
    /// Its profile.
    pub profile_id: Slug,
}

/// See [`Event::WorktreeMerged`](super::Event::WorktreeMerged).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeMerged {
    /// The issue.
    pub issue_id: IssueId,
    /// Its branch.
    pub branch: String,
    /// What became of it.
    pub outcome: MergeOutcome,
    /// HEAD behind it, where it was merged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// The merge agent, where there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merge_agent_id: Option<AgentId>,
}
