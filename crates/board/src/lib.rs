//! The board: issues that dispatch themselves, are reviewed and merged (03 §7), and the git behind
//! them.
//!
//! [`Board`] decides: an agent's call, the end of an implementer, a verdict, a merge go in, and
//! what to do next comes out ([`Effect`]). It knows no actor, no clock, no process. [`git`] carries
//! out what of that concerns a repository, by the real `git`, and knows no issue.
//!
//! The rooms: `call` and `edits` are what agents do to the board, `answers` what they are told;
//! `attempt`, `review`, `merge` and `ending` are the way of one issue; `dag` and `waits` say what
//! needs what; `protocol` is what is asked of the world, `brief` what an agent is started with.

mod answers;
mod attempt;
mod board;
mod brief;
mod call;
mod caller;
mod changes;
mod dag;
mod edits;
mod ending;
mod error;
pub mod git;
mod issue;
mod issues;
mod merge;
mod protocol;
mod recorded;
mod review;
mod waits;
mod work;

#[cfg(test)]
mod tests;

pub use answers::{answer, settled};
pub use board::{Board, BoardPolicy, BoardUsage};
pub use brief::{Brief, IssueFacts};
pub use call::{BoardCall, IssueChanges, NewEpic, NewIssue, TextChange, parse};
pub use caller::{Caller, WorksFor};
pub use changes::{ChangeKind, ChangeMap, FileChange};
pub use edits::Reply;
pub use error::{BoardError, Place};
pub use issue::{Epic, Issue, IssueRow, IssueText, Verdict, Worktree};
pub use protocol::{
    AgentEnd, Answer, Ask, Committed, Duty, Effect, Landed, MergeEnd, Moved, PutAway, Refusal,
    Resolution, Reviewed, Seat, StopCause, Ticket,
};
pub use waits::{Hopeless, Settled, WaitId, Waiting};
