//! Copies: promised when they are asked for, made at the end of their maker's turn (03 §5.1).

use vocab::ids::AgentId;

use super::{Grant, Lineages, SpawnRefusal};

impl Lineages {
    /// Promises an agent a copy of itself: the id it will have.
    pub(in crate::supervisor) fn reserve(&mut self, by: &AgentId) -> Result<AgentId, SpawnRefusal> {
        let Grant { id, .. } = self.grant(by)?;
        self.minted += 1;
        let maker = self.handle(by).clone();
        self.reserved.insert(id.clone(), maker);
        Ok(id)
    }

    /// What a promised copy will be. Nothing changes before [`fork`](Self::fork).
    pub(in crate::supervisor) fn promised(
        &self,
        by: &AgentId,
        id: &AgentId,
    ) -> Result<Grant, SpawnRefusal> {
        let maker = self.handle(by);
        let parent = self.known.get(maker).filter(|_| !self.stopping);
        let Some(parent) = parent else {
            return Err(SpawnRefusal::Stopping);
        };
        if self.reserved.get(id) != Some(maker) {
            return Err(SpawnRefusal::Impossible);
        }
        Ok(Grant {
            id: id.clone(),
            parent: by.clone(),
            depth: parent.depth + 1,
            ordinal: parent.started,
        })
    }

    /// A promised copy begins: from here on it is a child like any other.
    pub(in crate::supervisor) fn fork(&mut self, grant: &Grant) {
        self.reserved.remove(&grant.id);
        self.adopt(grant);
    }
}
