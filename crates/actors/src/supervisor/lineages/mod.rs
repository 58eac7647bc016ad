//! Who put whom to work: handles, children, depth, messages, return values and waits for them
//! (03 §3), whatever incarnation a lineage has reached (03 §5).
//!
//! A pure state machine that knows no actor, clock or channel. The supervisor feeds it what agents
//! ask and how they end, and carries out what it answers. A lineage is addressed by its handle,
//! the id of its first incarnation; its agents ask under the ids of their own.
//!
//! Always true: a lineage ends once, and its value is kept for the run; children, inbox, waits and
//! value are the lineage's, so that a succession changes none of them; a wait is answered once, by
//! the values it asked for or by the run's stop; no wait stands once the run is stopping, and none
//! is begun; a message that was accepted is drained once, or handed back as its reader ends; a
//! copy that is reserved is nobody's child before it is made.
//!
//! A wait counts the children it lacks, so that a child's end costs the same however many others
//! are awaited with it.

mod answers;
mod forks;
mod succession;
mod waits;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use board::Refusal;
use vocab::ids::AgentId;

use crate::delegation::{Letter, ReturnValue};
pub(super) use answers::{Departure, Grant, Wait};
pub use answers::{MessageRefusal, SpawnRefusal, WaitRefusal};
pub(super) use succession::Heir;

/// The lineages of a run.
#[derive(Debug)]
pub(super) struct Lineages {
    max_depth: u64,
    max_agents: Option<u64>,
    /// Ids minted of the run-global counter.
    minted: u64,
    /// By handle.
    known: HashMap<AgentId, Lineage>,
    /// The handles of those that succeeded another.
    successors: HashMap<AgentId, AgentId>,
    /// Copies that were promised and not made yet, with the handles of their makers.
    reserved: HashMap<AgentId, AgentId>,
    /// Lineages that have not ended, by the top-level one they come of.
    live: HashMap<AgentId, usize>,
    stopping: bool,
}

#[derive(Debug)]
struct Lineage {
    parent: Option<AgentId>,
    /// The handle of the top-level lineage it comes of; its own where it is one.
    top: AgentId,
    /// Its place among the parent's children.
    place: u64,
    depth: u64,
    /// The incarnation that runs, or ran last.
    current: AgentId,
    /// How many came before that.
    succeeded: u64,
    /// Agents that the current incarnation has started.
    started: u64,
    /// In order of their starts.
    children: Vec<AgentId>,
    /// Those whose value no wait has brought, by their place.
    uncollected: BTreeMap<u64, AgentId>,
    /// Whether its parent's wait is for it.
    awaited: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Live {
        /// Messages it has not read, in order.
        inbox: Vec<Letter>,
        /// The wait it is in.
        wait: Option<Standing>,
    },
    Ended(ReturnValue),
}

/// A wait that stands.
#[derive(Debug)]
struct Standing {
    /// The children it is for, in asked order.
    asked: Vec<AgentId>,
    /// How many of them have not ended.
    lacking: usize,
}

impl Lineages {
    /// Nobody yet. `max_depth` is 0 where nobody may spawn.
    pub(super) fn new(max_depth: u64, max_agents: Option<u64>) -> Self {
        Self {
            max_depth,
            max_agents,
            minted: 0,
            known: HashMap::new(),
            successors: HashMap::new(),
            reserved: HashMap::new(),
            live: HashMap::new(),
            stopping: false,
        }
    }

    /// Whether a top-level agent may begin now.
    pub(super) fn may_begin(&self) -> Result<(), Refusal> {
        if self.stopping {
            return Err(Refusal::Stopping);
        }
        match self.max_agents {
            Some(max) if self.promised_and_started() >= max => Err(Refusal::Agents { max }),
            _ => Ok(()),
        }
    }

    /// A top-level agent begins.
    pub(super) fn begin(&mut self, id: AgentId) {
        self.add(id, None, 0);
    }

    /// Lineages started so far, the root's among them.
    pub(super) fn started(&self) -> u64 {
        self.known.len() as u64
    }

    /// The same, and copies that will be.
    fn promised_and_started(&self) -> u64 {
        self.started() + self.reserved.len() as u64
    }

    /// The handle of an agent's lineage.
    pub(super) fn handle<'a>(&'a self, agent: &'a AgentId) -> &'a AgentId {
        self.successors.get(agent).unwrap_or(agent)
    }

    /// Whether another has taken an agent's place.
    pub(super) fn has_handed_on(&self, agent: &AgentId) -> bool {
        self.of(agent).is_some_and(|it| it.current != *agent)
    }

    /// The lineage of an agent that may ask.
    fn of(&self, agent: &AgentId) -> Option<&Lineage> {
        self.known.get(self.handle(agent))
    }

    fn of_mut(&mut self, agent: &AgentId) -> Option<&mut Lineage> {
        let handle = self.successors.get(agent).unwrap_or(agent);
        self.known.get_mut(handle)
    }

    /// Whether an agent may start a child now. Nothing changes before [`spawn`](Self::spawn).
    pub(super) fn grant(&self, by: &AgentId) -> Result<Grant, SpawnRefusal> {
        let Some(parent) = self.of(by).filter(|_| !self.stopping) else {
            return Err(SpawnRefusal::Stopping);
        };
        if parent.depth >= self.max_depth {
            let max = self.max_depth;
            return Err(SpawnRefusal::Depth { max });
        }
        if let Some(max) = self.max_agents
            && self.promised_and_started() >= max
        {
            return Err(SpawnRefusal::Agents { max });
        }
        Ok(Grant {
            id: self.next_id(),
            parent: by.clone(),
            depth: parent.depth + 1,
            ordinal: parent.started,
        })
    }

    /// The child of the last grant begins.
    pub(super) fn spawn(&mut self, grant: &Grant) {
        self.minted += 1;
        self.adopt(grant);
    }

    fn adopt(&mut self, grant: &Grant) {
        let handle = self.handle(&grant.parent).clone();
        if let Some(parent) = self.known.get_mut(&handle) {
            parent.started += 1;
        }
        self.add(grant.id.clone(), Some(handle), grant.depth);
    }

    fn next_id(&self) -> AgentId {
        AgentId::from(format!("agent-{}", self.minted + 1))
    }

    fn add(&mut self, id: AgentId, parent: Option<AgentId>, depth: u64) {
        let mut place = 0;
        let mut top = id.clone();
        if let Some(parent) = parent.as_ref().and_then(|it| self.known.get_mut(it)) {
            top = parent.top.clone();
            place = parent.children.len() as u64;
            parent.children.push(id.clone());
            parent.uncollected.insert(place, id.clone());
        }
        *self.live.entry(top.clone()).or_default() += 1;
        let lineage = Lineage {
            parent,
            top,
            place,
            depth,
            current: id.clone(),
            succeeded: 0,
            started: 0,
            children: Vec::new(),
            uncollected: BTreeMap::new(),
            awaited: false,
            stage: Stage::Live {
                inbox: Vec::new(),
                wait: None,
            },
        };
        self.known.insert(id, lineage);
    }

    /// A lineage by its handle, where it is a child of another.
    fn child(&self, handle: &AgentId, id: &AgentId) -> Option<&Lineage> {
        let child = self.known.get(id)?;
        (child.parent.as_ref() == Some(handle)).then_some(child)
    }

    /// An agent writes to a child. A child that is queued or suspended may be written to.
    pub(super) fn message(
        &mut self,
        by: &AgentId,
        to: &AgentId,
        text: Arc<str>,
    ) -> Result<(), MessageRefusal> {
        let from = self.handle(by).clone();
        if self.reserved.get(to) == Some(&from) {
            return Err(MessageRefusal::NotYet { id: to.clone() });
        }
        if self.child(&from, to).is_none() {
            let children = self.known.get(&from).map(|it| it.children.clone());
            return Err(MessageRefusal::NoChild {
                id: to.clone(),
                children: children.unwrap_or_default(),
            });
        }
        match self.known.get_mut(to).map(|reader| &mut reader.stage) {
            Some(Stage::Live { inbox, .. }) => {
                inbox.push(Letter { from, text });
                Ok(())
            }
            Some(Stage::Ended(value)) => Err(MessageRefusal::Ended {
                id: to.clone(),
                status: value.status,
            }),
            // It was found above.
            None => Ok(()),
        }
    }

    /// What was written to an agent since the last time, in order.
    pub(super) fn drain(&mut self, agent: &AgentId) -> Vec<Letter> {
        match self.of_mut(agent).map(|it| &mut it.stage) {
            Some(Stage::Live { inbox, .. }) => std::mem::take(inbox),
            _ => Vec::new(),
        }
    }

    /// A lineage ended. The first end counts.
    pub(super) fn end(&mut self, value: ReturnValue) -> Departure {
        let id = value.id.clone();
        let Some(lineage) = self.known.get_mut(&id) else {
            return Departure::default();
        };
        let Stage::Live { inbox, .. } = &mut lineage.stage else {
            return Departure::default();
        };
        let dropped = std::mem::take(inbox);
        lineage.stage = Stage::Ended(value);
        let awaited = std::mem::take(&mut lineage.awaited);
        let parent = lineage.parent.clone().filter(|_| awaited);
        let top = lineage.top.clone();
        self.reserved.retain(|_, maker| *maker != id);
        Departure {
            answered: parent.and_then(|parent| self.met(&parent)),
            dropped,
            whole: self.leave(&top),
        }
    }

    /// One of a subtree has ended: the value of the agent on top of it, where it was the last.
    fn leave(&mut self, top: &AgentId) -> Option<ReturnValue> {
        let live = self.live.get_mut(top)?;
        *live -= 1;
        if *live > 0 {
            return None;
        }
        self.live.remove(top);
        match &self.known.get(top)?.stage {
            Stage::Ended(value) => Some(value.clone()),
            Stage::Live { .. } => None,
        }
    }

    /// The run is stopping: nothing new is started or waited for. Whose waits are released.
    pub(super) fn stop(&mut self) -> Vec<AgentId> {
        self.stopping = true;
        let waiting = |lineage: &mut Lineage| match &mut lineage.stage {
            Stage::Live { wait, .. } => wait.take().map(|_| lineage.current.clone()),
            Stage::Ended(_) => None,
        };
        self.known.values_mut().filter_map(waiting).collect()
    }
}

#[cfg(test)]
mod tests;
