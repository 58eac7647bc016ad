//! The facts of a brief: all that an agent the board starts is told (03 §7.4). `context` words
//! them.

use vocab::ids::{IssueId, Slug};

use crate::changes::ChangeMap;
use crate::issue::{Issue, IssueText, Verdict, Worktree};

/// What one agent is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brief {
    /// To an implementer, at a first attempt and at a further one.
    Issue(IssueFacts),
    /// To an implementer, once a reviewer wants changes.
    Fix {
        /// The issue.
        issue: IssueFacts,
        /// Who wants them.
        reviewer: Slug,
        /// The round they were asked for in, from 1.
        round: u32,
        /// What is to be changed.
        items: Vec<String>,
    },
    /// To a reviewer.
    Review {
        /// The issue.
        issue: IssueFacts,
        /// The round, from 1.
        round: u32,
        /// Every verdict so far, of all rounds.
        verdicts: Vec<Verdict>,
        /// Where the work is.
        worktree: Worktree,
        /// The commit that would be merged.
        commit: String,
        /// What it changes since the baseline.
        changes: ChangeMap,
        /// Ignored files that are there and would not be merged.
        ignored: Vec<String>,
    },
    /// To a merge agent.
    Merge {
        /// The issue.
        issue: IssueId,
        /// Its title.
        title: String,
        /// The branch being merged.
        branch: String,
        /// What it is merged into.
        into: String,
        /// The paths in conflict.
        paths: Vec<String>,
        /// Git's own words.
        output: String,
    },
}

/// An issue as a brief tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueFacts {
    /// Its id.
    pub id: IssueId,
    /// What it asks for.
    pub text: IssueText,
    /// Whether anybody reviews it.
    pub reviewed: bool,
}

impl IssueFacts {
    pub(crate) fn of(issue: &Issue) -> Self {
        Self {
            id: issue.id.clone(),
            text: issue.text.clone(),
            reviewed: !issue.reviewers.is_empty(),
        }
    }
}
