//! Waiting for children: each costs what it asks for, and a child's end costs one step.

use vocab::ids::AgentId;

use super::{Lineages, Stage, Standing, Wait, WaitRefusal};
use crate::delegation::ReturnValue;

impl Lineages {
    /// An agent waits for children, each named once; for none named, for every child not collected
    /// yet. One that is answered at once gives nothing up.
    pub(in crate::supervisor) fn wait(
        &mut self,
        by: &AgentId,
        ids: &[AgentId],
    ) -> Result<Wait, WaitRefusal> {
        let handle = self.handle(by).clone();
        let Some(waiter) = self.known.get(&handle) else {
            return Err(WaitRefusal::Stopping);
        };
        let reserved = |id: &&AgentId| self.reserved.get(*id) == Some(&handle);
        let early: Vec<AgentId> = ids.iter().filter(reserved).cloned().collect();
        let stranger = |id: &&AgentId| self.child(&handle, id).is_none() && !early.contains(id);
        let strangers: Vec<AgentId> = ids.iter().filter(stranger).cloned().collect();
        if !strangers.is_empty() {
            return Err(WaitRefusal::NoChild {
                ids: strangers,
                children: waiter.children.clone(),
            });
        }
        if !early.is_empty() {
            return Err(WaitRefusal::NotYet { ids: early });
        }
        let asked: Vec<AgentId> = if ids.is_empty() {
            waiter.uncollected.values().cloned().collect()
        } else {
            ids.to_vec()
        };
        let live = |id: &&AgentId| !self.has_ended(id);
        let awaited: Vec<AgentId> = asked.iter().filter(live).cloned().collect();
        if awaited.is_empty() {
            return Ok(Wait::Met(self.collect(&handle, &asked)));
        }
        if self.stopping {
            return Err(WaitRefusal::Stopping);
        }
        let lacking = awaited.len();
        match self.known.get_mut(&handle).map(|waiter| &mut waiter.stage) {
            Some(Stage::Live { wait, .. }) => *wait = Some(Standing { asked, lacking }),
            // It died with the question in the post: nobody hears the answer.
            _ => return Err(WaitRefusal::Stopping),
        }
        for id in &awaited {
            if let Some(child) = self.known.get_mut(id) {
                child.awaited = true;
            }
        }
        Ok(Wait::Begun(awaited))
    }

    /// One of those that a lineage waits for has ended: the answer, where it was the last.
    pub(super) fn met(&mut self, waiter: &AgentId) -> Option<(AgentId, Vec<ReturnValue>)> {
        let lineage = self.known.get_mut(waiter)?;
        let Stage::Live { wait, .. } = &mut lineage.stage else {
            return None;
        };
        let standing = wait.as_mut()?;
        standing.lacking -= 1;
        if standing.lacking > 0 {
            return None;
        }
        let asked = wait.take()?.asked;
        let current = lineage.current.clone();
        Some((current, self.collect(waiter, &asked)))
    }

    /// The values of children that have all ended; they count as collected.
    fn collect(&mut self, handle: &AgentId, ids: &[AgentId]) -> Vec<ReturnValue> {
        let mut values = Vec::with_capacity(ids.len());
        let mut places = Vec::with_capacity(ids.len());
        for lineage in ids.iter().filter_map(|id| self.known.get(id)) {
            if let Stage::Ended(value) = &lineage.stage {
                values.push(value.clone());
                places.push(lineage.place);
            }
        }
        if let Some(waiter) = self.known.get_mut(handle) {
            for place in &places {
                waiter.uncollected.remove(place);
            }
        }
        values
    }

    fn has_ended(&self, id: &AgentId) -> bool {
        let lineage = self.known.get(id);
        lineage.is_some_and(|it| matches!(it.stage, Stage::Ended(_)))
    }

    /// Children whose value no wait has brought, in order of their starts; whether each has ended,
    /// and the incarnation it has reached.
    pub(in crate::supervisor) fn uncollected(
        &self,
        agent: &AgentId,
    ) -> Vec<(AgentId, AgentId, Option<&ReturnValue>)> {
        let Some(lineage) = self.of(agent) else {
            return Vec::new();
        };
        let row = |id: &AgentId| {
            let child = self.known.get(id)?;
            let value = match &child.stage {
                Stage::Ended(value) => Some(value),
                Stage::Live { .. } => None,
            };
            Some((id.clone(), child.current.clone(), value))
        };
        lineage.uncollected.values().filter_map(row).collect()
    }
}
