//! Succession: another incarnation of the same lineage (03 §1, §5).

use vocab::ids::AgentId;

use super::{Lineages, Stage};

/// Whoever will take an agent's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::supervisor) struct Heir {
    /// Its id.
    pub(in crate::supervisor) id: AgentId,
    /// The lineage's handle.
    pub(in crate::supervisor) lineage: AgentId,
    /// Its place in the lineage, whose first agent has 0.
    pub(in crate::supervisor) ordinal: u64,
}

impl Lineages {
    /// Who would take an agent's place; `None` once the run is stopping, which starts nobody.
    /// Nothing changes before [`succeed`](Self::succeed).
    pub(in crate::supervisor) fn heir(&self, to: &AgentId) -> Option<Heir> {
        let lineage = self.of(to).filter(|_| !self.stopping)?;
        let runs = matches!(&lineage.stage, Stage::Live { wait: None, .. });
        if !runs || lineage.current != *to {
            return None;
        }
        Some(Heir {
            id: self.next_id(),
            lineage: self.handle(to).clone(),
            ordinal: lineage.succeeded + 1,
        })
    }

    /// An heir takes its place.
    pub(in crate::supervisor) fn succeed(&mut self, heir: &Heir) {
        self.minted += 1;
        self.successors
            .insert(heir.id.clone(), heir.lineage.clone());
        if let Some(lineage) = self.known.get_mut(&heir.lineage) {
            lineage.current = heir.id.clone();
            lineage.succeeded = heir.ordinal;
            lineage.started = 0;
        }
    }
}
