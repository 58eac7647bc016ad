//! Who put whom to work: handles, children, depth, messages, return values and waits for them
//! (03 §3).
//!
//! A pure state machine that knows no actor, clock or channel. The supervisor feeds it what agents
//! ask and how they end, and carries out what it answers. A lineage is addressed by its handle,
//! the id of its first incarnation.
//!
//! Always true: a lineage ends once, and its value is kept for the run; a wait is answered once,
//! by the values it asked for or by the run's stop; no wait stands once the run is stopping, and
//! none is begun; a message that was accepted is drained once, or handed back as its reader ends.

use std::collections::HashMap;
use std::sync::Arc;

use vocab::ids::AgentId;
use vocab::outcome::EndStatus;

use crate::delegation::{Letter, ReturnValue};

/// The lineages of a run.
#[derive(Debug)]
pub(super) struct Lineages {
    max_depth: u64,
    max_agents: Option<u64>,
    /// Ids minted of the run-global counter.
    minted: u64,
    known: HashMap<AgentId, Lineage>,
    stopping: bool,
}

#[derive(Debug)]
struct Lineage {
    parent: Option<AgentId>,
    depth: u64,
    /// In order of their spawns.
    children: Vec<AgentId>,
    /// Whether a wait has brought its value to its parent.
    collected: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Live {
        /// Messages it has not read, in order.
        inbox: Vec<Letter>,
        /// The children its wait is for, in asked order.
        wait: Option<Vec<AgentId>>,
    },
    Ended(ReturnValue),
}

/// Leave to start a child, and what it will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    pub(super) id: AgentId,
    pub(super) parent: AgentId,
    pub(super) depth: u64,
    /// Its place among the parent's spawns, from 0.
    pub(super) ordinal: u64,
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
pub(super) enum Wait {
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
pub(super) struct Departure {
    /// Whose wait is over, and its values.
    pub(super) answered: Option<(AgentId, Vec<ReturnValue>)>,
    /// Messages nobody will read.
    pub(super) dropped: Vec<Letter>,
}

impl Lineages {
    /// Nobody yet. `max_depth` is 0 where nobody may spawn.
    pub(super) fn new(max_depth: u64, max_agents: Option<u64>) -> Self {
        Self {
            max_depth,
            max_agents,
            minted: 0,
            known: HashMap::new(),
            stopping: false,
        }
    }

    /// A top-level agent begins.
    pub(super) fn begin(&mut self, id: AgentId) {
        self.add(id, None, 0);
    }

    /// Agents started so far, the root among them.
    pub(super) fn started(&self) -> u64 {
        self.known.len() as u64
    }

    /// Whether an agent may start a child now. Nothing changes before [`spawn`](Self::spawn).
    pub(super) fn grant(&self, by: &AgentId) -> Result<Grant, SpawnRefusal> {
        let Some(parent) = self.known.get(by).filter(|_| !self.stopping) else {
            return Err(SpawnRefusal::Stopping);
        };
        if parent.depth >= self.max_depth {
            let max = self.max_depth;
            return Err(SpawnRefusal::Depth { max });
        }
        if let Some(max) = self.max_agents
            && self.started() >= max
        {
            return Err(SpawnRefusal::Agents { max });
        }
        Ok(Grant {
            id: AgentId::from(format!("agent-{}", self.minted + 1)),
            parent: by.clone(),
            depth: parent.depth + 1,
            ordinal: parent.children.len() as u64,
        })
    }

    /// The child of the last grant begins.
    pub(super) fn spawn(&mut self, grant: &Grant) {
        self.minted += 1;
        if let Some(parent) = self.known.get_mut(&grant.parent) {
            parent.children.push(grant.id.clone());
        }
        self.add(grant.id.clone(), Some(grant.parent.clone()), grant.depth);
    }

    fn add(&mut self, id: AgentId, parent: Option<AgentId>, depth: u64) {
        let lineage = Lineage {
            parent,
            depth,
            children: Vec::new(),
            collected: false,
            stage: Stage::Live {
                inbox: Vec::new(),
                wait: None,
            },
        };
        self.known.insert(id, lineage);
    }

    /// An agent waits for children, each named once; for none named, for every child not collected
    /// yet. One that is answered at once gives nothing up.
    pub(super) fn wait(&mut self, by: &AgentId, ids: &[AgentId]) -> Result<Wait, WaitRefusal> {
        let Some(waiter) = self.known.get(by) else {
            return Err(WaitRefusal::Stopping);
        };
        let strangers: Vec<AgentId> = ids
            .iter()
            .filter(|id| !waiter.children.contains(id))
            .cloned()
            .collect();
        if !strangers.is_empty() {
            return Err(WaitRefusal::NoChild {
                ids: strangers,
                children: waiter.children.clone(),
            });
        }
        let asked: Vec<AgentId> = if ids.is_empty() {
            let uncollected = |id: &&AgentId| self.known.get(*id).is_some_and(|it| !it.collected);
            waiter
                .children
                .iter()
                .filter(uncollected)
                .cloned()
                .collect()
        } else {
            ids.to_vec()
        };
        if let Some(values) = self.collect(&asked) {
            return Ok(Wait::Met(values));
        }
        if self.stopping {
            return Err(WaitRefusal::Stopping);
        }
        let awaited = asked.iter().filter(|id| !self.has_ended(id));
        let awaited = awaited.cloned().collect();
        match self.known.get_mut(by).map(|waiter| &mut waiter.stage) {
            Some(Stage::Live { wait, .. }) => {
                *wait = Some(asked);
                Ok(Wait::Begun(awaited))
            }
            // It died with the question in the post: nobody hears the answer.
            _ => Err(WaitRefusal::Stopping),
        }
    }

    /// The values of lineages that have all ended; they count as collected.
    fn collect(&mut self, ids: &[AgentId]) -> Option<Vec<ReturnValue>> {
        let value = |id: &AgentId| match &self.known.get(id)?.stage {
            Stage::Ended(value) => Some(value.clone()),
            Stage::Live { .. } => None,
        };
        let values = ids.iter().map(value).collect::<Option<Vec<_>>>()?;
        for id in ids {
            if let Some(lineage) = self.known.get_mut(id) {
                lineage.collected = true;
            }
        }
        Some(values)
    }

    fn has_ended(&self, id: &AgentId) -> bool {
        let lineage = self.known.get(id);
        lineage.is_some_and(|it| matches!(it.stage, Stage::Ended(_)))
    }

    /// An agent writes to a child. A child that is queued or suspended may be written to.
    pub(super) fn message(
        &mut self,
        by: &AgentId,
        to: &AgentId,
        text: Arc<str>,
    ) -> Result<(), MessageRefusal> {
        let children = self.known.get(by).map(|it| it.children.as_slice());
        let children = children.unwrap_or_default();
        let child = children.contains(to);
        let children = children.to_vec();
        match self.known.get_mut(to).filter(|_| child) {
            None => Err(MessageRefusal::NoChild {
                id: to.clone(),
                children,
            }),
            Some(reader) => match &mut reader.stage {
                Stage::Ended(value) => Err(MessageRefusal::Ended {
                    id: to.clone(),
                    status: value.status,
                }),
                Stage::Live { inbox, .. } => {
                    let from = by.clone();
                    inbox.push(Letter { from, text });
                    Ok(())
                }
            },
        }
    }

    /// What was written to an agent since the last time, in order.
    pub(super) fn drain(&mut self, agent: &AgentId) -> Vec<Letter> {
        match self.known.get_mut(agent).map(|it| &mut it.stage) {
            Some(Stage::Live { inbox, .. }) => std::mem::take(inbox),
            _ => Vec::new(),
        }
    }

    /// A lineage ended. The first end counts.
    pub(super) fn end(&mut self, value: ReturnValue) -> Departure {
        let Some(lineage) = self.known.get_mut(&value.id) else {
            return Departure::default();
        };
        let Stage::Live { inbox, .. } = &mut lineage.stage else {
            return Departure::default();
        };
        let dropped = std::mem::take(inbox);
        lineage.stage = Stage::Ended(value);
        let parent = lineage.parent.clone();
        Departure {
            answered: parent.and_then(|parent| self.answer(parent)),
            dropped,
        }
    }

    /// The answer to a lineage's wait, where its condition now holds.
    fn answer(&mut self, waiter: AgentId) -> Option<(AgentId, Vec<ReturnValue>)> {
        let asked = match &self.known.get(&waiter)?.stage {
            Stage::Live { wait, .. } => wait.clone()?,
            Stage::Ended(_) => return None,
        };
        let values = self.collect(&asked)?;
        if let Some(Stage::Live { wait, .. }) = self.known.get_mut(&waiter).map(|it| &mut it.stage)
        {
            *wait = None;
        }
        Some((waiter, values))
    }

    /// The run is stopping: nothing new is started or waited for. Whose waits are released.
    pub(super) fn stop(&mut self) -> Vec<AgentId> {
        self.stopping = true;
        let waiting = |(id, lineage): (&AgentId, &mut Lineage)| match &mut lineage.stage {
            Stage::Live { wait, .. } => wait.take().map(|_| id.clone()),
            Stage::Ended(_) => None,
        };
        self.known.iter_mut().filter_map(waiting).collect()
    }
}

#[cfg(test)]
mod tests;
