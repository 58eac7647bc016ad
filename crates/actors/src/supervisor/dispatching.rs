//! Agents that the board has started: top-level, on the slot that was taken for them, awaited with
//! all they start (03 §7.4, §8).
//!
//! Always true: the run does not end while anything is under way on the board; whoever asked for
//! an agent is answered once nobody of its subtree is left.

use std::collections::HashMap;

use actix::Context;
use board::{Duty, Refusal, WorksFor};
use context::modules::memories::StartedAs;
use context::modules::roster::Start;
use record::event::Origin;
use tokio::sync::oneshot;
use vocab::ids::AgentId;
use vocab::operations::EndingRole;

use super::Supervisor;
use crate::agent::AgentSpec;
use crate::delegation::ReturnValue;
use crate::link::Receive;
use crate::messages::{Busy, Dispatch, MayStart, Quiet, StopBoard};
use crate::panics;
use crate::shared::working_window;
use crate::stop::StopCause;

/// Whoever awaits a subtree, by the agent on top of it.
pub(super) type Dispatched = HashMap<AgentId, oneshot::Sender<ReturnValue>>;

impl Supervisor {
    /// Tells the board why the run stops.
    pub(super) fn stop_board(&self, cause: board::StopCause) {
        if let Some(link) = &self.cast.board {
            link.held_by("supervisor").tell(StopBoard { cause });
        }
    }

    fn dispatch(&mut self, ask: Dispatch) -> Result<oneshot::Receiver<ReturnValue>, Refusal> {
        panics::trip("supervisor_dispatch");
        self.lineages.may_begin()?;
        let Dispatch {
            agent: id,
            profile,
            duty,
            issue,
            brief,
            worktree,
            permit,
        } = ask;
        let Some(worker) = self.shared.workers.get(&profile) else {
            let why = format!("no profile is called `{profile}`");
            return Err(Refusal::Impossible(why));
        };
        let works_for = WorksFor {
            issue: issue.clone(),
            merges: matches!(duty, Duty::Merge { .. }),
        };
        let (kind, role, origin) = match duty {
            Duty::Implement { ordinal } => (
                "issue-implementer",
                EndingRole::Standard,
                Origin::IssueAttempt {
                    issue,
                    ordinal: ordinal.into(),
                },
            ),
            Duty::Review { round, position } => (
                "issue-reviewer",
                EndingRole::Review,
                Origin::Reviewer {
                    issue,
                    round: round.into(),
                    position: position.into(),
                },
            ),
            Duty::Merge { ordinal } => (
                "issue-merger",
                EndingRole::Standard,
                Origin::Merge {
                    issue,
                    ordinal: ordinal.into(),
                },
            ),
        };
        let launch = &self.shared.launch;
        let cwd = match &worktree {
            Some(worktree) => worktree.path.clone(),
            None => launch.workspace_dir.clone(),
        };
        let spec = AgentSpec {
            id: id.clone(),
            lineage: id.clone(),
            kind,
            origin,
            role,
            brief,
            cwd,
            works_for: Some(works_for),
            worktree,
            depth: 0,
            window_limit: working_window(launch, &worker.profile),
            profile: worker.profile,
            position: worker.position,
        };
        let start = Start {
            started: StartedAs::Board,
            spawner: None,
            board: None,
        };
        self.start_agent(spec, start, Some(permit))
            .map_err(|clash| Refusal::Impossible(clash.to_string()))?;
        self.lineages.begin(id.clone());
        let (ended, over) = oneshot::channel();
        self.dispatched.insert(id, ended);
        self.tell_many();
        Ok(over)
    }
}

impl From<StopCause> for board::StopCause {
    fn from(cause: StopCause) -> Self {
        match cause {
            StopCause::Deadline => Self::Deadline,
            StopCause::Canceled => Self::Cancel,
            StopCause::Defect => Self::Defect,
        }
    }
}

impl Receive<MayStart> for Supervisor {
    type Reply = Result<(), Refusal>;

    fn receive(&mut self, _: MayStart, _: &mut Context<Self>) -> Self::Reply {
        self.lineages.may_begin()
    }
}

impl Receive<Dispatch> for Supervisor {
    type Reply = Result<oneshot::Receiver<ReturnValue>, Refusal>;

    fn receive(&mut self, ask: Dispatch, _: &mut Context<Self>) -> Self::Reply {
        self.dispatch(ask)
    }
}

impl Receive<Busy> for Supervisor {
    type Reply = ();

    fn receive(&mut self, _: Busy, _: &mut Context<Self>) {
        self.board_busy = true;
    }
}

impl Receive<Quiet> for Supervisor {
    type Reply = ();

    fn receive(&mut self, _: Quiet, _: &mut Context<Self>) {
        self.board_busy = false;
        self.settle();
    }
}
