//! How an agent hands itself on, and how it is copied: the lineages' decisions, carried out
//! (03 §5).
//!
//! Always true: an agent that handed itself on has no row here any more, and its lineage has the
//! row of its successor; what is refused is given back whole.

use std::sync::Arc;

use actix::{Context, ResponseFuture};
use context::modules::memories::StartedAs;
use record::event::Origin;
use tokio::sync::oneshot;
use vocab::ids::AgentId;
use vocab::operations::EndingRole;

use super::delegating::{Began, memories_row};
use super::lineages::{Grant, Heir};
use super::stores::Coming;
use super::{SpawnRefusal, Supervisor};
use crate::agent::{AgentSpec, Outset};
use crate::link::Receive;
use crate::messages::{CommitFork, ReserveFork, Succeed};
use crate::shared::working_window;
use crate::succession::{Arrival, Farewell, Opening, Returned, SuccessionRefusal, Uncollected};

/// Why a copy is not made, and what to wait for where it is.
type Forked = Result<oneshot::Receiver<()>, SpawnRefusal>;

impl Supervisor {
    fn succeed(&mut self, ask: Succeed) -> Result<AgentId, Box<Returned>> {
        let Succeed {
            agent,
            kind,
            target,
            note,
            estate,
            permit,
        } = ask;
        let refused = |why, estate, permit| {
            Err(Box::new(Returned {
                why,
                estate,
                permit,
            }))
        };
        let Some(heir) = self.lineages.heir(&agent) else {
            return refused(SuccessionRefusal::Stopping, estate, permit);
        };
        let Some(row) = self.registry.get(&agent) else {
            return refused(SuccessionRefusal::Stopping, estate, permit);
        };
        let (before, began) = (row.spec.clone(), row.began.clone());
        let roster = row.roster.clone();
        let position = before.position.as_ref();
        let Some(worker) = self.shared.workers.heir(&kind, &target, position) else {
            let cause = format!("nobody can take its place as `{target}`");
            self.raise_defect(Some(&agent), None, &cause);
            return refused(SuccessionRefusal::Impossible, estate, permit);
        };
        let coming = Coming {
            profile: &worker.profile,
            passage: kind.passage(),
            start: began.start(),
            notebook: None,
        };
        let handed = self.stores.hand_over(
            (&agent, &roster),
            &heir.id,
            coming,
            &self.own,
            self.tap.as_ref(),
        );
        let (holdings, handover) = match handed {
            Ok(handed) => handed,
            Err(fault) => {
                self.raise_defect(Some(&agent), None, &fault.to_string());
                return refused(SuccessionRefusal::Impossible, estate, permit);
            }
        };
        let children = self.uncollected(&agent);
        self.registry.remove(&agent);
        self.forget(&agent);
        self.lineages.succeed(&heir);
        let Heir {
            id,
            lineage,
            ordinal,
        } = heir;
        let spec = AgentSpec {
            id: id.clone(),
            lineage,
            origin: Origin::Succession {
                predecessor: agent.clone(),
                ordinal,
            },
            window_limit: working_window(&self.shared.launch, &worker.profile),
            profile: worker.profile,
            position: worker.position,
            ..before.clone()
        };
        let voice = self.voice.of(&agent);
        let arrival = Arrival {
            handover,
            estate,
            opening: Opening::Successor {
                predecessor: agent,
                profile: before.profile.slug.clone(),
                how: kind,
                note,
                children,
            },
            farewell: Some(Farewell::of(before, voice)),
            announced: None,
        };
        let outset = Outset {
            holdings,
            arrival: Some(arrival),
            permit,
        };
        self.stand_up(spec, began, outset);
        Ok(id)
    }

    /// The children of an agent's lineage that no wait has brought the value of.
    fn uncollected(&self, agent: &AgentId) -> Vec<Uncollected> {
        let rows = self.lineages.uncollected(agent).into_iter();
        rows.filter_map(|(id, current, value)| {
            let ended = value.is_some();
            let agent = match value {
                Some(value) => value.agent.clone(),
                None => self.registry.get(&current)?.spec.profile.slug.clone(),
            };
            Some(Uncollected { id, agent, ended })
        })
        .collect()
    }

    fn fork(&mut self, ask: CommitFork) -> Forked {
        let CommitFork {
            agent,
            id,
            mut estate,
            prompt,
            turn,
        } = ask;
        let grant = self.lineages.promised(&agent, &id)?;
        let row = self.registry.get(&agent).ok_or(SpawnRefusal::Stopping)?;
        let (maker, roster) = (row.spec.clone(), row.roster.clone());
        // A lineage of its own, that began as its maker's child.
        let began = Began {
            started: StartedAs::Subagent,
            spawner: memories_row(&roster),
        };
        let coming = Coming {
            profile: &maker.profile,
            passage: context::modules::handover::Passage::Fork,
            start: began.start(),
            notebook: estate.notebook.take(),
        };
        let handed =
            self.stores
                .hand_over((&agent, &roster), &id, coming, &self.own, self.tap.as_ref());
        let (holdings, handover) = match handed {
            Ok(handed) => handed,
            Err(fault) => {
                self.raise_defect(Some(&agent), None, &fault.to_string());
                return Err(SpawnRefusal::Impossible);
            }
        };
        self.lineages.fork(&grant);
        let Grant { depth, ordinal, .. } = grant;
        let spec = AgentSpec {
            id: id.clone(),
            lineage: id,
            kind: "subagent",
            origin: Origin::Fork {
                parent: agent.clone(),
                ordinal,
            },
            role: EndingRole::Standard,
            brief: Arc::clone(&prompt),
            depth: u32::try_from(depth).unwrap_or(u32::MAX),
            // It works beside the machine, without steering it.
            position: None,
            ..maker
        };
        let (announced, announcement) = oneshot::channel();
        let arrival = Arrival {
            handover,
            estate,
            opening: Opening::Copy {
                source: agent,
                turn,
                prompt,
            },
            farewell: None,
            announced: Some(announced),
        };
        let outset = Outset {
            holdings,
            arrival: Some(arrival),
            permit: None,
        };
        self.stand_up(spec, began, outset);
        self.tell_many();
        Ok(announcement)
    }
}

impl Receive<Succeed> for Supervisor {
    type Reply = Result<AgentId, Box<Returned>>;

    fn receive(&mut self, ask: Succeed, _: &mut Context<Self>) -> Self::Reply {
        self.succeed(ask)
    }
}

impl Receive<ReserveFork> for Supervisor {
    type Reply = Result<AgentId, SpawnRefusal>;

    fn receive(&mut self, ask: ReserveFork, _: &mut Context<Self>) -> Self::Reply {
        self.lineages.reserve(&ask.agent)
    }
}

impl Receive<CommitFork> for Supervisor {
    type Reply = ResponseFuture<Result<(), SpawnRefusal>>;

    fn receive(&mut self, ask: CommitFork, _: &mut Context<Self>) -> Self::Reply {
        let forked = self.fork(ask);
        Box::pin(async {
            // A copy that died first drops its end: its death is reported, and nobody waits on.
            forked?.await.ok();
            Ok(())
        })
    }
}
