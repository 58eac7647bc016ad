//! How agents are put to work and waited for: the lineages' decisions, carried out (03 §3).
//!
//! Always true: whoever an end lets go on has its place in the queue for a slot before the slot
//! that the end frees is given back.

use std::collections::HashMap;
use std::sync::Arc;

use actix::Context;
use context::modules::memories::StartedAs;
use context::modules::roster::{Start, StrategyClash};
use context::modules::{ModuleKind, RosterRow};
use record::event::{LogLevel, Origin};
use tokio::sync::oneshot;
use vocab::ids::AgentId;
use vocab::operations::EndingRole;

use super::lineages::{Departure, Wait};
use super::{MessageRefusal, Row, SpawnRefusal, Supervisor, WaitRefusal};
use crate::agent::{self, Agent, AgentSpec, LoopEnd, Outset};
use crate::delegation::ReturnValue;
use crate::link::Receive;
use crate::messages::{Acquire, Deliver, Join, Joined, Resumed, Spawn};
use crate::scheduler::{Class, Permit, Slot};
use crate::shared::working_window;

/// Without `maxAgents`, the operator is told each time as many more agents have been started.
const TOLD_EACH: u64 = 100;

/// The waits that stand, by who waits.
pub(super) type Waits = HashMap<AgentId, oneshot::Sender<Resumed>>;

impl Supervisor {
    /// Starts an agent, in the slot that was taken for it where one was; it is of the run from here
    /// on.
    pub(super) fn start_agent(
        &mut self,
        spec: AgentSpec,
        start: Start<'_>,
        permit: Option<Permit>,
    ) -> Result<(), StrategyClash> {
        let (own, tap) = (&self.own, self.tap.as_ref());
        let holdings = self.stores.open(&spec.id, &spec.profile, start, own, tap)?;
        let began = Began::of(start);
        let outset = Outset {
            holdings,
            arrival: None,
            permit,
        };
        self.stand_up(spec, began, outset);
        Ok(())
    }

    /// Starts an agent on what it holds.
    pub(super) fn stand_up(&mut self, spec: AgentSpec, began: Began, outset: Outset) {
        let roster = outset.holdings.roster.clone();
        let link = Agent::start(
            spec.clone(),
            outset,
            Arc::clone(&self.shared),
            &self.cast,
            &self.own,
            self.tap.as_ref(),
        );
        let row = Row {
            spec,
            link,
            roster,
            began,
        };
        self.registry.insert(row.spec.id.clone(), row);
    }

    fn spawn(&mut self, ask: &Spawn) -> Result<AgentId, SpawnRefusal> {
        let grant = self.lineages.grant(&ask.agent)?;
        let parent = self.registry.get(&ask.agent);
        let parent = parent.map(|row| (row.spec.clone(), memories_row(&row.roster)));
        // A parent that is gone asked before it died: nobody is left to work for.
        let (parent, memories) = parent.ok_or(SpawnRefusal::Stopping)?;
        let Some(worker) = self.shared.workers.get(&ask.target) else {
            let cause = format!("no profile is called `{}`", ask.target);
            self.raise_defect(Some(&ask.agent), None, &cause);
            return Err(SpawnRefusal::Impossible);
        };
        let spec = AgentSpec {
            id: grant.id.clone(),
            lineage: grant.id.clone(),
            kind: "subagent",
            origin: Origin::Spawn {
                parent: grant.parent.clone(),
                ordinal: grant.ordinal,
            },
            role: EndingRole::Standard,
            brief: Arc::clone(&ask.prompt),
            cwd: parent.cwd,
            works_for: parent.works_for,
            worktree: parent.worktree,
            depth: u32::try_from(grant.depth).unwrap_or(u32::MAX),
            window_limit: working_window(&self.shared.launch, &worker.profile),
            profile: worker.profile,
            position: worker.position,
        };
        let start = Start {
            started: StartedAs::Subagent,
            spawner: memories.as_ref(),
            board: None,
        };
        if let Err(clash) = self.start_agent(spec, start, None) {
            self.raise_defect(Some(&ask.agent), None, &clash.to_string());
            return Err(SpawnRefusal::Impossible);
        }
        self.lineages.spawn(&grant);
        self.tell_many();
        Ok(grant.id)
    }

    /// Tells the operator of the number of agents, now and then.
    pub(super) fn tell_many(&self) {
        let started = self.lineages.started();
        let bounded = self
            .shared
            .launch
            .capability_set
            .limits
            .max_agents
            .is_some();
        if !bounded && started.is_multiple_of(TOLD_EACH) {
            self.voice.log(
                LogLevel::Warn,
                Some("many_agents"),
                format!("{started} agents have been started; `maxAgents` would bound them"),
            );
        }
    }

    /// An agent's lineage ended: its value is kept, and whoever waited for it last goes on.
    pub(super) fn depart(&mut self, spec: &AgentSpec, end: &LoopEnd) {
        // A wait of its own is answered by nobody any more.
        self.waits.remove(&spec.id);
        let value = ReturnValue::of(spec.lineage.clone(), spec.profile.slug.clone(), end);
        let Departure {
            answered,
            dropped,
            whole,
        } = self.lineages.end(value);
        if let Some(value) = whole
            && let Some(over) = self.dispatched.remove(&value.id)
        {
            // An issue's actor that died has told the board so.
            over.send(value).ok();
        }
        for letter in &dropped {
            let voice = self.voice.of(&spec.id);
            let text = agent::dropped(letter);
            voice.log(LogLevel::Warn, Some("message_dropped"), text);
        }
        let Some((waiter, values)) = answered else {
            return;
        };
        let Some(over) = self.waits.remove(&waiter) else {
            return;
        };
        let key = self.registry.get(&waiter);
        let key = key.and_then(|row| row.spec.profile.slot_key().cloned());
        let acquire = Acquire {
            agent: waiter,
            class: Class::Resume,
            key,
        };
        let slot = Slot::ask(&self.cast.scheduler.held_by("supervisor"), acquire);
        // A waiter that died takes no slot: the unread permit gives it back.
        over.send(Resumed { values, slot }).ok();
    }

    /// A run-wide stop: nobody is started or waited for any more. Whether a wait stood.
    pub(super) fn release_waits(&mut self) -> bool {
        let released = self.lineages.stop();
        for waiter in &released {
            // Closing it is the answer.
            self.waits.remove(waiter);
        }
        !released.is_empty()
    }
}

/// How a lineage began: what a module that is not handed over starts as.
#[derive(Clone, Debug)]
pub(super) struct Began {
    pub(super) started: StartedAs,
    /// The memories of whoever started it.
    pub(super) spawner: Option<RosterRow>,
}

impl Began {
    pub(super) fn of(start: Start<'_>) -> Self {
        Self {
            started: start.started,
            spawner: start.spawner.cloned(),
        }
    }

    pub(super) fn start(&self) -> Start<'_> {
        Start {
            started: self.started,
            spawner: self.spawner.as_ref(),
            board: None,
        }
    }
}

/// Whose memories an agent holds, for those it starts.
pub(super) fn memories_row(roster: &[RosterRow]) -> Option<RosterRow> {
    let row = roster.iter().find(|row| row.kind == ModuleKind::Memories);
    row.cloned()
}

impl Receive<Spawn> for Supervisor {
    type Reply = Result<AgentId, SpawnRefusal>;

    fn receive(&mut self, ask: Spawn, _: &mut Context<Self>) -> Self::Reply {
        self.spawn(&ask)
    }
}

impl Receive<Join> for Supervisor {
    type Reply = Result<Joined, WaitRefusal>;

    fn receive(&mut self, ask: Join, _: &mut Context<Self>) -> Self::Reply {
        Ok(match self.lineages.wait(&ask.agent, &ask.ids)? {
            Wait::Met(values) => Joined::Met(values),
            Wait::Begun(awaited) => {
                let (answer, over) = oneshot::channel();
                self.waits.insert(ask.agent, answer);
                Joined::Later { awaited, over }
            }
        })
    }
}

impl Receive<Deliver> for Supervisor {
    type Reply = Result<(), MessageRefusal>;

    fn receive(&mut self, message: Deliver, _: &mut Context<Self>) -> Self::Reply {
        let Deliver { agent, to, text } = message;
        self.lineages.message(&agent, &to, text)
    }
}
