//! The messages of the board, of its issues and of their git (03 §10.2).
//!
//! They stand with all others in [`crate::messages`], which says how to read their docs.

use std::sync::Arc;

use actix::Message;
use board::{
    Answer, Ask, BoardCall, BoardError, Caller, Duty, Refusal, Reply, Settled, StopCause, Ticket,
    Worktree,
};
use record::event::BoardState;
use tokio::sync::oneshot;
use vocab::ids::{AgentId, IssueId, Slug};

use crate::delegation::ReturnValue;
use crate::scheduler::Permit;

/// Carries out a call on the board. From an agent; ack.
///
/// A wait is only tried: where it would suspend, the reply says so and nothing stands of it.
/// [`AwaitIssue`] begins one.
#[derive(Debug, Message)]
#[rtype(result = "Result<Reply, BoardError>")]
pub struct CallBoard {
    /// Who calls.
    pub caller: Caller,
    /// What.
    pub call: BoardCall,
}

/// Waits for an issue. From an agent; ack, and where the issue is not settled yet, later what
/// [`IssueWait`] says.
#[derive(Debug, Message)]
#[rtype(result = "Result<IssueWait, BoardError>")]
pub struct AwaitIssue {
    /// Who asks. Its wait is forgotten when it is gone.
    pub agent: AgentId,
    /// The same, as the board sees it.
    pub caller: Caller,
    /// For which.
    pub issue: IssueId,
}

/// What becomes of a wait for an issue.
#[derive(Debug)]
pub enum IssueWait {
    /// It is settled already: nothing is given up for it.
    Settled(Settled),
    /// It is not. Resolves once it may be, or once nothing will settle it; closed where the board
    /// is gone. Whoever waits takes a slot again and then asks [`LookAgain`].
    Later(oneshot::Receiver<()>),
}

/// Asks how an issue stands that was waited for. From an agent that has its slot again; ack.
#[derive(Debug, Message)]
#[rtype(result = "Result<Settled, BoardError>")]
pub struct LookAgain {
    /// The agent, as the board sees it.
    pub caller: Caller,
    /// Which.
    pub issue: IssueId,
}

/// Asks for the board as a holder's record shows it. From a holder as it opens, and behind its
/// writes; ack.
#[derive(Debug, Message)]
#[rtype(result = "BoardState")]
pub struct DescribeBoard;

/// The run stops: nothing is dispatched any more, and every wait is over. From the supervisor;
/// one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct StopBoard {
    /// Why.
    pub cause: StopCause,
}

/// What became of something the board asked for. From an issue's actor; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Answered {
    /// The number it was asked under.
    pub ticket: Ticket,
    /// What.
    pub answer: Answer,
}

/// An issue's actor died. From its guard to the board; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct IssueDied {
    /// Whose.
    pub issue: IssueId,
    /// A sentence.
    pub why: String,
}

/// Something is under way on the board. From the board to the supervisor, before whoever made it
/// so is answered; one-way. The run does not end before [`Quiet`].
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Busy;

/// Nothing is under way on the board any more. From the board to the supervisor; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Quiet;

/// Carries out what the board asks for on an issue's behalf. From the board to the issue's actor;
/// one-way, [`Answered`] once.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Perform {
    /// The number to answer under.
    pub ticket: Ticket,
    /// What.
    pub ask: Ask,
}

/// A slot is not wanted: it is queued for no more, or given back. From the board to the issue's
/// actor; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct DropSlot {
    /// The number it was asked for under.
    pub ticket: Ticket,
}

/// Asks whether the run starts another agent, before a slot is asked for it. From an issue's
/// actor; ack.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), Refusal>")]
pub struct MayStart;

/// Starts an agent of the board's. From an issue's actor; ack, and later its lineage's value, once
/// it and all it started have ended.
#[derive(Debug, Message)]
#[rtype(result = "Result<oneshot::Receiver<ReturnValue>, Refusal>")]
pub struct Dispatch {
    /// The id it will have.
    pub agent: AgentId,
    /// Its profile.
    pub profile: Slug,
    /// What for.
    pub duty: Duty,
    /// For which issue.
    pub issue: IssueId,
    /// All it is told.
    pub brief: Arc<str>,
    /// Where it works; `None` is the workspace itself.
    pub worktree: Option<Worktree>,
    /// Its slot.
    pub permit: Permit,
}

/// Has git do what the board asks of it. From an issue's actor; later, an error where it could not
/// be carried out and what became of it is not known.
#[derive(Debug, Message)]
#[rtype(result = "Result<Answer, String>")]
pub struct CarryOut {
    /// What.
    pub ask: Ask,
}
