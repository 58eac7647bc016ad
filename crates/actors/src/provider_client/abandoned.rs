//! The replies a run abandoned as loops, until their prices are asked for (01 §7).
//!
//! Always true: a reply is noted when it is abandoned, so that one of a call that a cancel drops
//! later is paid for as well.

use std::sync::{Mutex, PoisonError};

use vocab::ids::{AgentId, GenerationId, ModelId, ProviderName, Slug};

/// One abandoned reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Abandoned {
    /// Who had asked.
    pub(crate) agent: AgentId,
    /// Its profile.
    pub(crate) profile: Slug,
    /// The model.
    pub(crate) model: ModelId,
    /// Who served it, where known.
    pub(crate) provider: Option<ProviderName>,
    /// The gateway's id of it; without one its price cannot be learned.
    pub(crate) generation: Option<GenerationId>,
}

/// All of a run.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<Vec<Abandoned>>);

impl Ledger {
    pub(crate) fn note(&self, reply: Abandoned) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(reply);
    }

    /// Everything noted so far; nothing of it stays.
    pub(crate) fn take(&self) -> Vec<Abandoned> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
