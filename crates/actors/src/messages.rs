//! The cast's public face: every message, who sends it, and how it is answered (03 §10.2).
//!
//! *ack* is answered within the handler; *later* by a one-shot the handler stored; *one-way* is
//! awaited by nobody. Requests are verbs, facts stand in the past tense.

use std::sync::Arc;

use actix::Message;
use config::hooks::HookEvent;
use context::desk::Desk;
use context::modules::memories::{
    MemoryAnswer, MemoryCall, MemoryError, MemoryPolicy, MemoryState, MemoryStore,
};
use context::prompts::PromptError;
use provider::call::LoopAborts;
use provider::reply::Reply;
use provider::request::ModelRequest;
use record::event::Emission;
use record::journal::{AgentRow, Entry, JournalReport, RequestRole, Seed};
use record::stream::StreamReport;
use record::summary::Conclusion;
use tokio::sync::oneshot;
use tokio::time::Instant;
use vocab::ids::{AgentId, ProviderName, Slug};
use vocab::outcome::{Breach, EndStatus, TurnVerdict};

use crate::agent::LoopEnd;
pub use crate::board::messages::*;
use crate::delegation::{Letter, ReturnValue};
use crate::hooks::{Facts, Fired, Who};
use crate::provider_client::{CallFailure, CallSettings};
use crate::scheduler::{Class, Permit, Slot};
use crate::stop::{StopCause, StopWatch};
use crate::succession::{Estate, Returned, Succession};
use crate::supervisor::{MessageRefusal, SpawnRefusal, Verdict, WaitRefusal};

/// Asks whether the agent may make its next model call. From an agent; ack.
#[derive(Debug, Message)]
#[rtype(result = "Leave")]
pub struct Boundary {
    /// Who asks.
    pub agent: AgentId,
    /// Turns it has answered.
    pub turns: u64,
    /// Whether it reads its messages now: a request that is asked again stays as it is.
    pub reads: bool,
}

/// A boundary's answer.
#[derive(Debug)]
pub struct Leave {
    /// Whether the call may be made.
    pub verdict: Verdict,
    /// What was written to the agent since it last read, in order.
    pub letters: Vec<Letter>,
}

/// Starts a child. From an agent; ack: its id. The child runs by itself from then on.
#[derive(Debug, Message)]
#[rtype(result = "Result<AgentId, SpawnRefusal>")]
pub struct Spawn {
    /// Who asks.
    pub agent: AgentId,
    /// The profile, of the asker's roster.
    pub target: Slug,
    /// The child's whole task.
    pub prompt: Arc<str>,
}

/// Hands its place on, with everything it holds. From an agent between two turns; ack: who takes
/// it, and runs by itself from then on, or what was moved and why nobody does. The sender then
/// stops without an ending.
#[derive(Debug, Message)]
#[rtype(result = "Result<AgentId, Box<Returned>>")]
pub struct Succeed {
    /// Who asks.
    pub agent: AgentId,
    /// How.
    pub kind: Succession,
    /// The profile of whoever comes.
    pub target: Slug,
    /// What it is left to do.
    pub note: Option<Arc<str>>,
    /// What moves.
    pub estate: Estate,
    /// The slot, which moves too.
    pub permit: Option<Permit>,
}

/// Promises a copy. From an agent in its turn; ack: the id the copy will have.
#[derive(Debug, Message)]
#[rtype(result = "Result<AgentId, SpawnRefusal>")]
pub struct ReserveFork {
    /// Who asks.
    pub agent: AgentId,
}

/// Makes a promised copy. From an agent as its turn closes; later: the copy is there, and has said
/// so.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), SpawnRefusal>")]
pub struct CommitFork {
    /// Who asks.
    pub agent: AgentId,
    /// The promised id.
    pub id: AgentId,
    /// Copies of what the asker holds.
    pub estate: Estate,
    /// What the copy is to do.
    pub prompt: Arc<str>,
    /// The turn that closes.
    pub turn: u32,
}

/// Asks for the return values of children; of every child not collected yet where none is named.
/// From an agent; ack, and where they have not all ended, later what [`Joined`] says.
#[derive(Debug, Message)]
#[rtype(result = "Result<Joined, WaitRefusal>")]
pub struct Join {
    /// Who asks.
    pub agent: AgentId,
    /// Whose values, each once.
    pub ids: Vec<AgentId>,
}

/// What becomes of a wait.
#[derive(Debug)]
pub enum Joined {
    /// Its condition holds already.
    Met(Vec<ReturnValue>),
    /// It does not.
    Later {
        /// Who has not ended.
        awaited: Vec<AgentId>,
        /// Resolves once they have; closed by the run's stop.
        over: oneshot::Receiver<Resumed>,
    },
}

/// A wait is over.
#[derive(Debug)]
pub struct Resumed {
    /// A value a child, in asked order.
    pub values: Vec<ReturnValue>,
    /// The waiter's place in the queue for a slot, taken as its condition came to hold.
    pub slot: Slot,
}

/// Writes to a child. From an agent; ack. The child reads it at a boundary of its own.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), MessageRefusal>")]
pub struct Deliver {
    /// Who writes.
    pub agent: AgentId,
    /// To whom.
    pub to: AgentId,
    /// What; not blank.
    pub text: Arc<str>,
}

/// An agent of a persistent profile ended by an ending that stands, and this lies open in its
/// window: it replaces what its profile's last one left. From the agent, before [`Ended`]; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct LeaveDesk {
    /// The profile.
    pub profile: Slug,
    /// What lies open; nothing clears it.
    pub desk: Desk,
}

/// Asks what the last agent of a persistent profile left open. From an agent that has its slot and
/// opens on nothing carried over; ack.
#[derive(Debug, Message)]
#[rtype(result = "Desk")]
pub struct FindDesk {
    /// The profile.
    pub profile: Slug,
}

/// Asks the operator's hooks of an event. From an agent, or from the run for its end; later: what
/// they came to, or that the run stopped first.
#[derive(Debug, Message)]
#[rtype(result = "Fired")]
pub struct RunHook {
    /// The event.
    pub event: HookEvent,
    /// Whom it is of.
    pub who: Who,
    /// What it is about.
    pub facts: Facts,
    /// The agent's turn, where it is in one.
    pub turn: Option<u32>,
    /// Ends a hook that runs, and the wait.
    pub stop: StopWatch,
    /// When the time of all of them is up.
    pub deadline: Option<Instant>,
}

/// One model call was judged. From an agent; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct RecordTurn {
    /// Whose call.
    pub agent: AgentId,
    /// The judgement.
    pub verdict: TurnVerdict,
}

/// A reply reported a price. From an agent; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct AddCost {
    /// USD as the gateway reported it.
    pub usd: f64,
}

/// gg met a defect of its own. From any actor; one-way. The latch never clears.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct RaiseDefect {
    /// The agent that met it, where it was one.
    pub agent: Option<AgentId>,
    /// Its profile.
    pub profile: Option<Slug>,
    /// A sentence for the operator.
    pub cause: String,
}

/// An agent's loop ended. From the agent, or from the guard inside it; one-way, and idempotent
/// per agent.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Ended {
    /// Who ended.
    pub agent: AgentId,
    /// How.
    pub end: LoopEnd,
    /// Whether the agent told the record so itself. A dead one could not: the supervisor does.
    pub told: bool,
    /// The slot it held, given back behind whoever this end lets go on.
    pub permit: Option<Permit>,
}

/// The operator stops the run: a signal, or the cancel file was seen. From the run; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Cancel {
    /// What said so, for the log.
    pub origin: String,
}

/// The run's deadline was met. From the supervisor's own timer; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct DeadlineMet;

/// Starts the root agent. From the run; later: how the whole run ended, once every agent has
/// joined.
#[derive(Debug, Message)]
#[rtype(result = "RunEnd")]
pub struct Begin;

/// How a run ended, before its epilogue.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The root's status; `internal_error` where the defect latch is up.
    pub status: EndStatus,
    /// Whether gg met a defect, with its cause.
    pub defect: Option<String>,
    /// Whether a provider outside the candidate answered.
    pub mismatch: bool,
    /// Whether any agent of the tree breached a ceiling.
    pub any_breach: bool,
    /// The root's breach.
    pub limit_hit: Option<Breach>,
    /// What the root failed of, for the closing line.
    pub error: Option<String>,
}

impl RunEnd {
    /// The end of a run whose supervisor is gone.
    pub(crate) fn unsupervised(error: String) -> Self {
        Self {
            status: EndStatus::InternalError,
            defect: Some(error.clone()),
            mismatch: false,
            any_breach: false,
            limit_hit: None,
            error: Some(error),
        }
    }
}

/// Every agent is to stop. From the supervisor to the scheduler and every agent; one-way.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct RunStopping {
    /// Why.
    pub cause: StopCause,
}

/// Asks for a slot. From an agent; later: a permit, or the run stopping.
#[derive(Debug, Message)]
#[rtype(result = "Result<Permit, Stopping>")]
pub struct Acquire {
    /// Who asks.
    pub agent: AgentId,
    /// Whether it ran before.
    pub class: Class,
    /// The name that no two agents run under at once, where it has one.
    pub key: Option<Slug>,
}

/// Goes on in a slot under another key, or under none. From an agent; ack: the permit, or `None`
/// where the key is held by another: then the slot is given up with the old key, and whoever asked
/// queues for both.
#[derive(Debug, Message)]
#[rtype(result = "Option<Permit>")]
pub struct SwapKey {
    /// The slot.
    pub permit: Permit,
    /// The key it is to be held under.
    pub key: Option<Slug>,
}

/// The run stopped before the wait was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopping;

/// A permit was dropped. From the permit itself; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Release {
    /// Which slot comes back.
    pub ticket: u64,
}

/// An agent is gone: it waits for no slot, asks no model and holds no memories any more. From the
/// supervisor to the scheduler, every client and the store it held; one-way.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Forget {
    /// Who.
    pub agent: AgentId,
}

/// Asks a model. From an agent; later: its reply, or why there is none.
#[derive(Debug, Message)]
#[rtype(result = "Result<Completion, CallFailure>")]
pub struct Complete {
    /// Whom it is made for: a summarizer's request extends nothing the agent sent before.
    pub role: RequestRole,
    /// Who asks: retries are logged on its stream.
    pub agent: AgentId,
    /// Its profile, which picks a mock's replies.
    pub profile: Slug,
    /// Its turn, for what is logged.
    pub turn: u32,
    /// What is asked.
    pub request: ModelRequest,
    /// Whether it carries pictures: a refusal of them is the asker's to mend.
    pub pictures: bool,
    /// How it is made.
    pub settings: CallSettings,
    /// Ends the wait: a backoff at any cause, a call in flight at those that drop it.
    pub stop: StopWatch,
}

/// A usable reply.
#[derive(Clone, Debug)]
pub struct Completion {
    /// What the model said.
    pub reply: Reply,
    /// Whom it was asked of; `None` where no provider was named.
    pub asked: Option<ProviderName>,
    /// Attempts that failed before this one.
    pub retries: u64,
    /// What was discarded before it of replies that repeated themselves.
    pub loops: LoopAborts,
    /// Tokens that the agent's last request should have left in the provider's cache; `None`
    /// where nothing can be expected.
    pub expected_cached_tokens: Option<u64>,
}

/// An agent holds a store of memories from now on; what was written before is no news to it. From
/// the supervisor, before the agent starts; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Attach {
    /// Who.
    pub agent: AgentId,
    /// Whether it may write.
    pub writable: bool,
}

/// A holder takes another's place: it is told what that one was not yet, and caps are its own
/// where it holds the store alone. From the supervisor, before it starts; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct HandOver {
    /// Who held it.
    pub from: AgentId,
    /// Who holds it now.
    pub to: AgentId,
    /// Whether that one may write.
    pub writable: bool,
    /// What its profile says of memories.
    pub policy: MemoryPolicy,
}

/// Asks for a copy of the store. From a holder that makes a copy of itself; ack.
#[derive(Debug, Message)]
#[rtype(result = "MemoryStore")]
pub struct CopyMemories;

/// Carries out a call on memories. From a holder; ack.
#[derive(Debug, Message)]
#[rtype(result = "Result<CarriedOut, MemoryError>")]
pub struct CallMemories {
    /// Who calls.
    pub agent: AgentId,
    /// What.
    pub call: MemoryCall,
}

/// A call on memories that was carried out.
#[derive(Clone, Debug)]
pub struct CarriedOut {
    /// What it answers.
    pub answer: MemoryAnswer,
    /// The store afterwards, where it was written to.
    pub state: Option<MemoryState>,
}

/// Asks what others have written since the last time. From a holder at its turn boundary; ack.
#[derive(Debug, Message)]
#[rtype(result = "Result<MemoryNews, PromptError>")]
pub struct TakeNews {
    /// Who asks.
    pub agent: AgentId,
    /// How it spells the call that reads a memory, where it has one.
    pub read: Option<&'static str>,
}

/// What a boundary has to tell a holder, once.
#[derive(Clone, Debug)]
pub struct MemoryNews {
    /// The notice, where there is something to tell.
    pub notice: Option<String>,
    /// The store as it is, where others wrote.
    pub state: Option<MemoryState>,
    /// Whether the holder wrote itself, so that its block is rebuilt (R5).
    pub wrote: bool,
}

/// Asks for the block of memories as it would be now. From a holder; ack.
#[derive(Debug, Message)]
#[rtype(result = "Result<Option<String>, PromptError>")]
pub struct ShowMemories;

/// Asks for the store as a holder's record shows it. From a holder as it opens; ack.
#[derive(Debug, Message)]
#[rtype(result = "MemoryState")]
pub struct DescribeMemories {
    /// Who asks.
    pub agent: AgentId,
}

/// Something happened. From any actor to telemetry; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Emit(pub Emission);

/// An input was consumed. From any actor to telemetry; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Keep {
    /// Whose input.
    pub agent: Option<AgentId>,
    /// What it was.
    pub entry: Entry,
}

/// An agent was created, or its loop ended. From any actor to telemetry; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct KeepAgent(pub AgentRow);

/// Values of the launch that the journal keeps. From the run to telemetry; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct KeepSeed(pub Seed);

/// Asks for room in the stream. From an agent whose stream is full, at its turn boundary, and from a
/// program every so many calls; later (R53).
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Room;

/// The writer has room again, or has broken. From the stream's own thread; one-way.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct RoomAgain;

/// Ends the journal. From the run, once every agent has joined; later.
#[derive(Debug, Message)]
#[rtype(result = "JournalReport")]
pub struct CloseJournal;

/// Writes the closing lines and ends the stream. From the run; later.
#[derive(Debug, Message)]
#[rtype(result = "StreamReport")]
pub struct Conclude {
    /// How the run ended, and the figures telemetry has not seen.
    pub conclusion: Conclusion,
    /// What it failed of.
    pub error: Option<String>,
}
