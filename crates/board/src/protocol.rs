//! What the board asks the world for, and what the world answers.
//!
//! Whatever takes time is an [`Ask`] under a [`Ticket`]; exactly one [`Answer`] comes back under
//! that ticket, in whatever order. What an ask needs is in it: whoever carries it out looks
//! nothing up.

use vocab::board::{IssueStatus, MergeOutcome, ReviewOutcome};
use vocab::ids::{AgentId, IssueId, Slug};
use vocab::outcome::EndStatus;

use crate::brief::Brief;
use crate::changes::ChangeMap;
use crate::issue::Worktree;
use crate::waits::WaitId;

/// The number of an ask, unique in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What an agent of the board's is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duty {
    /// It works on an issue. Role `Standard`.
    Implement {
        /// Its place among all that were dispatched for the issue, from 0.
        ordinal: u32,
    },
    /// It judges an issue's work. Role `Review`.
    Review {
        /// The round, from 1.
        round: u32,
        /// Its place in the round, from 0.
        position: u32,
    },
    /// It resolves a conflict, in the workspace itself. Role `Standard`.
    Merge {
        /// Its place among the issue's merge agents, from 0.
        ordinal: u32,
    },
}

/// Who is to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The id it will have: `UI-2.0i`, `UI-2.0i.1r`, `UI-2.0m` (03 §3.4).
    pub agent: AgentId,
    /// Its profile.
    pub profile: Slug,
    /// What for.
    pub duty: Duty,
}

/// Something that takes time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A slot for an agent, queued as one that starts. Answered [`Answer::Granted`] or
    /// [`Answer::Refused`]; the permit is kept under this ticket until it is run with or given
    /// back.
    Slot(Seat),
    /// A worktree, cut from the workspace's HEAD. Answered [`Answer::Cut`].
    Cut {
        /// The name its branch has, or begins with where that is taken.
        branch_stem: String,
    },
    /// Starts the agent with the permit of an earlier ticket, and waits until it and all it
    /// started have ended. Answered [`Answer::Ended`], or [`Answer::Refused`] where it could not
    /// start; either way the permit is gone.
    Run {
        /// The ticket of its slot.
        slot: Ticket,
        /// Who.
        seat: Seat,
        /// All it is told.
        brief: Box<Brief>,
        /// Where it works; `None` is the workspace itself.
        worktree: Option<Worktree>,
    },
    /// Commits whatever a worktree holds. Answered [`Answer::Committed`].
    Commit {
        /// Which.
        worktree: Worktree,
        /// The commit's message.
        message: String,
    },
    /// Puts a worktree back to a commit. Answered [`Answer::Reset`].
    Reset {
        /// Which.
        worktree: Worktree,
        /// The commit.
        commit: String,
    },
    /// Merges a commit into the workspace's HEAD, and leaves a conflict open. Answered
    /// [`Answer::Merged`]. Asked by one issue at a time, until nothing of it is open.
    Merge {
        /// The branch, as conflict markers name it.
        branch: String,
        /// The commit that was approved.
        commit: String,
        /// The merge's message.
        message: String,
    },
    /// Looks whether the open conflict is resolved. Answered [`Answer::Checked`].
    Check,
    /// Undoes the open merge. Answered [`Answer::Restored`].
    Restore,
    /// Removes the folder and the branch of what was merged. Answered [`Answer::PutAway`].
    Remove {
        /// Which.
        worktree: Worktree,
        /// The commit that was merged; the branch goes only where it is still there.
        commit: String,
    },
    /// Commits whatever a worktree holds to its branch, then removes the folder (R44). Answered
    /// [`Answer::PutAway`].
    Discard {
        /// Which.
        worktree: Worktree,
        /// The commit's message.
        message: String,
    },
}

/// What became of an ask. Errors are sentences for whoever reads of the issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// See [`Ask::Slot`].
    Granted,
    /// See [`Ask::Slot`] and [`Ask::Run`].
    Refused(Refusal),
    /// See [`Ask::Cut`].
    Cut(Result<Worktree, String>),
    /// See [`Ask::Run`].
    Ended(AgentEnd),
    /// See [`Ask::Commit`].
    Committed(Result<Committed, String>),
    /// See [`Ask::Reset`].
    Reset(Result<(), String>),
    /// See [`Ask::Merge`].
    Merged(MergeEnd),
    /// See [`Ask::Check`].
    Checked(Resolution),
    /// See [`Ask::Restore`]: the branches that keep what was committed while the merge was open.
    Restored(Result<Vec<String>, String>),
    /// See [`Ask::Remove`] and [`Ask::Discard`].
    PutAway {
        /// What became of it.
        end: PutAway,
        /// Commits made in it that nothing keeps once it is gone, newest first.
        given_up: Vec<String>,
    },
    /// Whoever was to carry the ask out is gone, and what became of it is not known. Fits every
    /// ask.
    Lost(String),
}

/// Why an agent was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The run starts no more agents (R33).
    Agents {
        /// As many as it may.
        max: u64,
    },
    /// The run is stopping.
    Stopping,
    /// gg cannot stand the profile up: a defect.
    Impossible(String),
}

/// How an agent of the board's ended, with all it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    /// It finished.
    Finished,
    /// It approved.
    Approved,
    /// It wants changes, at least one.
    RequestedChanges(Vec<String>),
    /// It made no declaration.
    Stopped {
        /// How its loop ended.
        status: EndStatus,
        /// Its final word.
        text: Option<String>,
    },
}

/// A worktree whose changes are committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The tip of its branch now.
    pub commit: String,
    /// What it changes since the baseline.
    pub changes: ChangeMap,
    /// Ignored files and folders that stay behind in it.
    pub ignored: Vec<String>,
}

/// How a merge went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeEnd {
    /// It is in, in this commit.
    Merged {
        /// HEAD now.
        commit: String,
    },
    /// It is open in the workspace.
    Conflict {
        /// The paths in conflict.
        paths: Vec<String>,
        /// What is merged into: a branch, or `HEAD` where none is checked out.
        into: String,
        /// Git's own words.
        output: String,
    },
    /// Git would not; the workspace is as it was.
    Failed(String),
}

/// Whether a conflict is resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It is, in this commit.
    Resolved {
        /// HEAD now.
        commit: String,
    },
    /// It is not, for this reason.
    Unresolved(String),
}

/// What became of a worktree that is not needed any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutAway {
    /// The folder is gone.
    Removed,
    /// It stays where it is, for this reason.
    Kept(String),
    /// The folder is gone, and its branch stays, for this reason.
    BranchKept(String),
}

/// Why the whole run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// Its time is up.
    Deadline,
    /// Its money is.
    Cost,
    /// The operator, a failed hook or a failed root ends it.
    Cancel,
    /// A defect of gg's own does.
    Defect,
}

impl StopCause {
    /// Whether worktrees stay as they are (03 §7.4).
    pub(crate) const fn keeps_worktrees(self) -> bool {
        matches!(self, Self::Cancel | Self::Defect)
    }

    /// As an issue's reason names it.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Deadline => "the run's time was up",
            Self::Cost => "the run's cost ceiling was met",
            Self::Cancel => "the run was stopped",
            Self::Defect => "gg had a defect",
        }
    }
}

/// What the caller does next, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Start this; answer under its ticket.
    Ask {
        /// The number to answer under.
        ticket: Ticket,
        /// Whose.
        issue: IssueId,
        /// What.
        ask: Ask,
    },
    /// A slot is not wanted any more: leave the queue. No answer is expected; one under way is
    /// answered by [`Effect::GiveBack`].
    Withdraw(Ticket),
    /// A granted slot is not used: drop its permit.
    GiveBack(Ticket),
    /// A suspended agent's wait is over: it takes a slot again, then asks
    /// [`Board::resumed`](crate::Board::resumed).
    Wake(WaitId),
    /// gg moved an issue: tell the record.
    Moved(Moved),
    /// A round of review is over: tell the record.
    Reviewed(Reviewed),
    /// A branch came to its end: tell the record.
    Landed(Landed),
    /// Tell the operator.
    Warn {
        /// The issue it concerns.
        issue: IssueId,
        /// A sentence.
        message: String,
    },
    /// Raise the defect latch.
    Defect(String),
}

/// An issue changed its status by gg's doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Which.
    pub issue: IssueId,
    /// Where it stands.
    pub status: IssueStatus,
    /// Implementers dispatched so far.
    pub attempts: u32,
    /// What had to be done before.
    pub blocked_by: Vec<IssueId>,
    /// Where it is worked on, where that is.
    pub worktree: Option<Worktree>,
    /// Why it failed, is tried again, or is not begun.
    pub reason: Option<String>,
}

/// A round of review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reviewed {
    /// The issue.
    pub issue: IssueId,
    /// The round, from 1.
    pub round: u32,
    /// What it came to.
    pub outcome: ReviewOutcome,
    /// What is to be changed.
    pub items: Vec<String>,
    /// Who ended the round.
    pub by: (AgentId, Slug),
    /// Who approved in it, in order.
    pub approved_by: Vec<(AgentId, Slug)>,
}

/// What became of an issue's branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// The issue.
    pub issue: IssueId,
    /// Its branch.
    pub branch: String,
    /// What became of it.
    pub outcome: MergeOutcome,
    /// HEAD behind it, where it was merged.
    pub commit: Option<String>,
    /// The merge agent, where there was one.
    pub merge_agent: Option<AgentId>,
}
