//! What the lineages answer: leaves, refusals, what an end leaves to do.

use vocab::ids::AgentId;
use vocab::outcome::EndStatus;

use crate::delegation::{Letter, ReturnValue};

/// Leave to start a child, and what it will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::supervisor) struct Grant {
    pub(in crate::supervisor) id: AgentId,
    /// The incarnation that starts it.
    pub(in crate::supervisor) parent: AgentId,
    pub(in crate::supervisor) depth: u64,
    /// Its place among all that incarnation starts, from 0.
    pub(in crate::supervisor) ordinal: u64,
}

/// Why a child is not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpawnRefusal {
    /// The caller is as deep as agents go.
    Depth {
        /// `maxDepth`.
        max: u64,
    },
    /// As many agents as may be have been started.
    Agents {
        /// `maxAgents`.
        max: u64,
    },
    /// A run-wide stop starts nothing new.
    Stopping,
    /// gg could not stand it up: a defect of its own.
    Impossible,
}

/// What becomes of a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::supervisor) enum Wait {
    /// Its condition holds: a value a child, in asked order.
    Met(Vec<ReturnValue>),
    /// It will be answered; these have not ended.
    Begun(Vec<AgentId>),
}

/// Why nobody is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitRefusal {
    /// Somebody else's children, or nobody's.
    NoChild {
        /// Those asked for that are none.
        ids: Vec<AgentId>,
        /// The caller's children.
        children: Vec<AgentId>,
    },
    /// Copies of the caller that are made at the end of its turn.
    NotYet {
        /// Those asked for.
        ids: Vec<AgentId>,
    },
    /// The run is stopping.
    Stopping,
}

/// Why a message is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageRefusal {
    /// The caller's no child.
    NoChild {
        /// The addressee.
        id: AgentId,
        /// The caller's children.
        children: Vec<AgentId>,
    },
    /// A copy of the caller that is made at the end of its turn.
    NotYet {
        /// The addressee.
        id: AgentId,
    },
    /// It has ended.
    Ended {
        /// The addressee.
        id: AgentId,
        /// How.
        status: EndStatus,
    },
}

/// What an agent's end leaves to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::supervisor) struct Departure {
    /// Whose wait is over, the incarnation that is in it, and its values.
    pub(in crate::supervisor) answered: Option<(AgentId, Vec<ReturnValue>)>,
    /// Messages nobody will read.
    pub(in crate::supervisor) dropped: Vec<Letter>,
    /// The value of a top-level agent, where this was the last of all that come of it.
    pub(in crate::supervisor) whole: Option<ReturnValue>,
}
