//! What passes when one agent takes another's place, or is a copy of it (03 §5).
//!
//! Exec, a machine's transition and a fork are one operation over the six modules. What becomes
//! of each is decided by [`context::modules::handover`]; here is what travels between the agents
//! by message.
//!
//! Always true: an estate has one owner at a time; whoever hands itself on is told of once, also
//! where its successor dies before it has said a word.

mod estate;
mod farewell;

use std::sync::Arc;

use context::modules::ModuleKind;
use context::modules::handover::{Handover, Passage};
use record::event::TransitionKind;
use tokio::sync::oneshot;
use vocab::ids::{AgentId, Slug};

use crate::scheduler::Permit;
pub use estate::Estate;
pub(crate) use farewell::Farewell;

/// How an agent hands itself on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Succession {
    /// By a call of its own: whatever both profiles have moves.
    Exec,
    /// Out of a machine's state: what the edge names moves.
    Fsm(Edge),
}

/// An edge that a machine goes along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The machine's profile.
    pub machine: Slug,
    /// The state it leaves.
    pub from: String,
    /// The state it enters.
    pub to: String,
    /// What moves.
    pub transfer: Vec<ModuleKind>,
}

impl Succession {
    /// As the modules see it.
    pub(crate) fn passage(&self) -> Passage<'_> {
        match self {
            Self::Exec => Passage::Exec,
            Self::Fsm(edge) => Passage::Transition(&edge.transfer),
        }
    }

    /// As the record names it.
    pub(crate) const fn kind(&self) -> TransitionKind {
        match self {
            Self::Exec => TransitionKind::Exec,
            Self::Fsm(_) => TransitionKind::Fsm,
        }
    }
}

/// Why nobody takes an agent's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuccessionRefusal {
    /// A run-wide stop starts nothing new; the asker's next boundary ends it.
    Stopping,
    /// gg could not do it: a defect of its own.
    Impossible,
}

/// A refused succession, with what was moved.
#[derive(Debug)]
pub struct Returned {
    /// Why.
    pub why: SuccessionRefusal,
    /// What the asker holds again.
    pub estate: Estate,
    /// Its slot.
    pub permit: Option<Permit>,
}

/// What an agent that comes of another starts with.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// What became of each module.
    pub(crate) handover: Handover,
    /// What came along.
    pub(crate) estate: Estate,
    /// What it is told of it.
    pub(crate) opening: Opening,
    /// The end of whoever it succeeds, not told yet.
    pub(crate) farewell: Option<Farewell>,
    /// Fires once it has said that it is there.
    pub(crate) announced: Option<oneshot::Sender<()>>,
}

/// What an agent that comes of another opens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It took the other's place.
    Successor {
        /// Whose.
        predecessor: AgentId,
        /// Of which profile.
        profile: Slug,
        /// How.
        how: Succession,
        /// What the other left it to do.
        note: Option<Arc<str>>,
        /// Whom the lineage put to work, where no wait has brought the value yet.
        children: Vec<Uncollected>,
    },
    /// It is a copy.
    Copy {
        /// Of whom.
        source: AgentId,
        /// Made at the end of this turn.
        turn: u32,
        /// What it is to do.
        prompt: Arc<str>,
    },
}

impl Opening {
    /// Whom it comes of.
    pub(crate) const fn source(&self) -> &AgentId {
        match self {
            Self::Successor { predecessor, .. } => predecessor,
            Self::Copy { source, .. } => source,
        }
    }

    /// As the record names it.
    pub(crate) const fn kind(&self) -> TransitionKind {
        match self {
            Self::Successor { how, .. } => how.kind(),
            Self::Copy { .. } => TransitionKind::Fork,
        }
    }
}

/// A child whose value no wait has brought yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Uncollected {
    /// Its handle.
    pub(crate) id: AgentId,
    /// The profile it runs, or ended under.
    pub(crate) agent: Slug,
    /// Whether it has ended.
    pub(crate) ended: bool,
}
