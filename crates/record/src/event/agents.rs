//! Agents and what passes between them (06 §2.2).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vocab::ids::{AgentId, IssueId, ModelId, Slug};
use vocab::outcome::EndStatus;

use super::board::WorktreeRow;

/// See [`Event::AgentSpawned`](super::Event::AgentSpawned).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSpawned {
    /// Its whole task.
    pub brief: Arc<str>,
    /// Its working directory.
    pub cwd: String,
    /// The worktree it works in, where it works for an issue and not in the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<WorktreeRow>,
    /// The agent that dispatched it, or that it succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<AgentId>,
    /// Its profile.
    pub profile_id: Slug,
    /// The profile's display name.
    pub profile_name: String,
    /// Where it comes from, as a function of the run's structure (06 §8.5).
    pub origin: Origin,
    /// `root`, `subagent`, `issue-implementer`, `issue-reviewer`, `issue-merger`.
    pub agent_kind: &'static str,
    /// 0 for a top-level agent.
    pub depth: u32,
    /// Its model.
    pub model_id: ModelId,
    /// Its working window, tokens.
    pub window_limit: u64,
}

/// Where an incarnation comes from (06 §8.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// The session's first agent.
    Root,
    /// An agent started it.
    Spawn {
        /// Which.
        parent: AgentId,
        /// Its place among all that agent started, copies of it included, from 0.
        ordinal: u64,
    },
    /// It is a copy of the agent that started it.
    Fork {
        /// Which.
        parent: AgentId,
        /// Its place among all that agent started, from 0.
        ordinal: u64,
    },
    /// It goes on in another's place.
    Succession {
        /// In whose.
        predecessor: AgentId,
        /// Its place in the lineage, whose first agent has 0.
        ordinal: u64,
    },
    /// The board dispatched it to work on an issue.
    IssueAttempt {
        /// Which.
        issue: IssueId,
        /// Its place among all that were dispatched for it, retries and rework alike, from 0.
        ordinal: u64,
    },
    /// The board dispatched it to judge an issue's work.
    Reviewer {
        /// Which.
        issue: IssueId,
        /// The round, from 1.
        round: u64,
        /// Its place in the round, from 0.
        position: u64,
    },
    /// The board dispatched it to resolve a conflict of an issue.
    Merge {
        /// Which.
        issue: IssueId,
        /// Its place among all of the issue's merge agents, from 0.
        ordinal: u64,
    },
}

impl Origin {
    /// The agent it comes of.
    pub const fn parent(&self) -> Option<&AgentId> {
        match self {
            Self::Root | Self::IssueAttempt { .. } | Self::Reviewer { .. } | Self::Merge { .. } => {
                None
            }
            Self::Spawn { parent, .. } | Self::Fork { parent, .. } => Some(parent),
            Self::Succession { predecessor, .. } => Some(predecessor),
        }
    }
}

/// See [`Event::AgentStatus`](super::Event::AgentStatus).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatus {
    /// Its place now.
    pub status: AgentState,
    /// What it waits for, on `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_on: Option<WaitingOn>,
    /// How its loop ended, on `done` and `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_as: Option<EndStatus>,
    /// Its final word, on `done` and `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl AgentStatus {
    /// A place that says nothing more.
    pub const fn of(status: AgentState) -> Self {
        Self {
            status,
            waiting_on: None,
            ended_as: None,
            result: None,
        }
    }
}

/// What a suspended agent waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WaitingOn {
    /// Agents it started that have not ended, in asked order.
    Agents(Vec<AgentId>),
    /// An issue.
    Issue(IssueId),
    /// Several issues, all of which have to end, in the order they were named.
    Issues(Vec<IssueId>),
}

impl WaitingOn {
    /// Issues, one or several.
    pub fn issues(mut issues: Vec<IssueId>) -> Self {
        match issues.pop() {
            Some(issue) if issues.is_empty() => Self::Issue(issue),
            last => {
                issues.extend(last);
                Self::Issues(issues)
            }
        }
    }
}

/// An agent's place in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Waiting for a slot.
    Queued,
    /// Holding a slot.
    Running,
    /// Suspended on children or an issue.
    Blocked,
    /// Ended without a failure.
    Done,
    /// Ended in a failure.
    Failed,
}

/// See [`Event::AgentMessage`](super::Event::AgentMessage). It stands on the sender's stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentMessage {
    /// Who is to read it.
    pub to: AgentId,
    /// Its length.
    pub chars: u64,
    /// At most 500 characters of it, from the start.
    pub preview: String,
}
