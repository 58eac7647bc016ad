//! Where the work on one issue is: at most one thing is asked for at a time.

use vocab::ids::{AgentId, Slug};

use crate::issue::Verdict;
use crate::protocol::{Committed, Ticket};

/// What is under way for an issue, and what is remembered of it between two steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) phase: Phase,
    /// Implementers dispatched since it was filed or revived.
    pub(crate) dispatched: u32,
    /// Retries spent since then.
    pub(crate) retries: u64,
    /// What the last round asks for, until a further attempt has finished.
    pub(crate) fix: Option<Verdict>,
    /// What the last attempt that finished came to.
    pub(crate) committed: Option<Committed>,
    /// Who approved in the round under way.
    pub(crate) approved_by: Vec<(AgentId, Slug)>,
    /// Merge agents dispatched, over the issue's whole life.
    pub(crate) mergers: u32,
    /// The conflict that is open, until its merge agent is told.
    pub(crate) conflict: Option<Conflict>,
    /// That merge agent.
    pub(crate) merger: Option<AgentId>,
    /// How it ended, where it made no declaration.
    pub(crate) last_word: Option<String>,
    /// The record knows what became of its branch.
    pub(crate) landed: bool,
    /// The operator was told that it cannot be started.
    pub(crate) held: bool,
}

/// What is asked for, by the ticket it is asked under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing: it is blocked, settled, or cannot be started.
    #[default]
    Idle,
    /// A slot for its implementer.
    Queued(Ticket),
    /// Its worktree; the implementer's slot is held.
    Cutting { slot: Ticket },
    /// Its implementer's end.
    Implementing,
    /// What that one left, as a commit.
    Committing,
    /// A slot for a reviewer.
    ReviewerQueued(Ticket),
    /// A reviewer's end.
    Reviewing,
    /// The worktree as it was before the reviewer, who said this.
    Resetting(Verdict),
    /// Nothing, until the merge token is free.
    InLine,
    /// The merge.
    Merging,
    /// A slot for a merge agent.
    MergerQueued(Ticket),
    /// A merge agent's end.
    Resolving,
    /// Whether that resolved the conflict.
    Checking,
    /// The workspace as it was before the merge, to fail for this reason then.
    Restoring(String),
    /// Its worktree put away. Its status is settled.
    PuttingAway,
}

impl Phase {
    /// The ticket of a slot that is queued for.
    pub(crate) const fn queued(&self) -> Option<Ticket> {
        match self {
            Self::Queued(ticket) | Self::ReviewerQueued(ticket) | Self::MergerQueued(ticket) => {
                Some(*ticket)
            }
            _ => None,
        }
    }
}

/// A merge that git left open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) paths: Vec<String>,
    pub(crate) into: String,
    pub(crate) output: String,
}
