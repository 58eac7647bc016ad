//! The supervisor: what belongs to the run rather than to an agent (03 §10.1).
//!
//! It owns the ceilings, the latches and the registry of agents. Agents ask it before every model
//! call; whatever ends the run goes through it, so that each agent is told once and every end is
//! recorded once.
//!
//! Always true: a latch never clears; an agent's end is recorded once, whoever reports it; the run
//! ends when the last agent has and nothing is under way on the board.

mod ceilings;
mod delegating;
mod desks;
mod dispatching;
mod hooks;
mod lineages;
mod stores;
mod succeeding;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, ResponseFuture};
use config::limits::Limits;
use context::modules::RosterRow;
use record::event::LogLevel;
use record::journal::Entry;
use tokio::sync::oneshot;
use vocab::ids::{AgentId, ModelId, Slug};
use vocab::outcome::EndStatus;

use crate::agent::{Agent, AgentSpec, LoopEnd};
use crate::board::{BOARD, Board};
use crate::clock::{RunClock, millis};
use crate::flow::Tap;
use crate::link::{Link, Named, Receive, SHARED_MAILBOX, routes};
use crate::messages::{
    AddCost, Begin, Boundary, Busy, Cancel, CommitFork, DeadlineMet, Deliver, Dispatch, Ended,
    FindDesk, Forget, Join, Keep, Leave, LeaveDesk, MayStart, Quiet, RaiseDefect, RecordTurn,
    ReserveFork, RunEnd, RunHook, RunStopping, Spawn, Succeed,
};
use crate::panics;
use crate::provider_client::ProviderClient;
use crate::scheduler::Scheduler;
use crate::shared::Shared;
use crate::stop::StopCause;
use crate::telemetry::{Telemetry, Voice};
pub use ceilings::Verdict;
use ceilings::{Ceilings, Latches};
use delegating::{Began, Waits};
use desks::Desks;
use dispatching::Dispatched;
use lineages::Lineages;
pub use lineages::{MessageRefusal, SpawnRefusal, WaitRefusal};
use stores::Stores;
pub(crate) use stores::{Holdings, memory_policy};

/// How often agents that died without a word are looked for. Every other net reports at once.
const SWEEP: Duration = Duration::from_secs(1);

/// The shared actors an agent is introduced to.
#[derive(Clone, Debug)]
pub(crate) struct Cast {
    pub(crate) scheduler: Link<Scheduler>,
    pub(crate) telemetry: Link<Telemetry>,
    pub(crate) clients: HashMap<ModelId, Link<ProviderClient>>,
    /// The run's board, where there is one.
    pub(crate) board: Option<Link<Board>>,
}

/// See the module.
pub struct Supervisor {
    ceilings: Ceilings,
    latches: Latches,
    defect: Option<String>,
    /// What the first hook that judged nothing failed of, once one has.
    hook_failed: Option<String>,
    mismatch: bool,
    any_breach: bool,
    /// How the root ended, once it has.
    root_end: Option<LoopEnd>,
    clock: RunClock,
    cancel_file: Option<Arc<Path>>,
    registry: HashMap<AgentId, Row>,
    lineages: Lineages,
    waits: Waits,
    /// Agents of the board's that are awaited.
    dispatched: Dispatched,
    /// Whether anything is under way on the board.
    board_busy: bool,
    /// Whether the run's money is spent, and whoever has to know was told.
    cost_told: bool,
    stores: Stores,
    desks: Desks,
    root: AgentSpec,
    run_ended: Option<oneshot::Sender<RunEnd>>,
    shared: Arc<Shared>,
    cast: Cast,
    own: Link<Self>,
    tap: Option<Tap>,
    voice: Voice,
}

/// An agent that has not ended.
#[derive(Debug)]
struct Row {
    spec: AgentSpec,
    link: Link<Agent>,
    /// The modules it holds.
    roster: Vec<RosterRow>,
    /// How its lineage began.
    began: Began,
}

/// What a supervisor is made of.
pub(crate) struct Setup {
    pub(crate) limits: Limits,
    pub(crate) cancel_file: Option<PathBuf>,
    pub(crate) root: AgentSpec,
    pub(crate) shared: Arc<Shared>,
}

impl Supervisor {
    /// Opens its mailbox, so that the actors it will command can be introduced to it first.
    pub(crate) fn open(tap: Option<&Tap>) -> (Context<Self>, Link<Self>) {
        let mut context = Context::new();
        context.set_mailbox_capacity(SHARED_MAILBOX);
        let link = Link::new(context.address(), "supervisor", tap);
        (context, link)
    }

    /// Starts it behind an open mailbox.
    pub(crate) fn start(
        context: Context<Self>,
        own: &Link<Self>,
        setup: Setup,
        cast: Cast,
        tap: Option<Tap>,
    ) {
        let name = "supervisor";
        let voice = Voice {
            telemetry: cast.telemetry.held_by(name),
            agent: None,
        };
        context.run(Self {
            ceilings: Ceilings::new(setup.limits),
            latches: Latches::default(),
            defect: None,
            hook_failed: None,
            mismatch: false,
            any_breach: false,
            root_end: None,
            clock: setup.shared.clock,
            cancel_file: setup.cancel_file.map(Into::into),
            registry: HashMap::new(),
            lineages: Lineages::new(
                setup.shared.launch.max_depth(),
                setup.shared.launch.capability_set.limits.max_agents,
            ),
            waits: Waits::new(),
            dispatched: Dispatched::new(),
            board_busy: false,
            cost_told: false,
            stores: Stores::new(cast.board.as_ref().map(|_| BOARD)),
            desks: Desks::default(),
            root: setup.root,
            run_ended: None,
            shared: setup.shared,
            cast,
            own: own.held_by(name),
            tap,
            voice,
        });
    }

    fn broadcast(&mut self, cause: StopCause) {
        self.release_waits();
        self.cast
            .scheduler
            .held_by(self.name())
            .tell(RunStopping { cause });
        self.stop_board(cause.into());
        for row in self.registry.values() {
            row.link.held_by("supervisor").tell(RunStopping { cause });
        }
    }

    fn raise_defect(&mut self, agent: Option<&AgentId>, profile: Option<&Slug>, cause: &str) {
        let met_by = match (agent, profile) {
            (Some(agent), Some(profile)) => format!("agent `{agent}` (profile `{profile}`): "),
            (Some(agent), None) => format!("agent `{agent}`: "),
            (None, _) => String::new(),
        };
        self.voice
            .log(LogLevel::Error, Some("defect"), format!("{met_by}{cause}"));
        if !self.latches.defect {
            self.latches.defect = true;
            self.defect = Some(format!("{met_by}{cause}"));
            self.broadcast(StopCause::Defect);
        }
    }

    fn panicked(&mut self, agent: &AgentId, end: &LoopEnd) {
        let text = end.error.clone().unwrap_or_default();
        self.raise_defect(Some(agent), None, &format!("panicked: {text}"));
    }

    /// What ends an agent and makes the run's result void: its other agents stop as on a cancel
    /// (03 §8; 01 §6.2).
    fn wind_down_after(&mut self, agent: &AgentSpec, end: &LoopEnd) {
        let void = [
            EndStatus::ModelError,
            EndStatus::AuthError,
            EndStatus::CompactionFailed,
        ];
        let failed = agent.lineage == self.root.id && void.contains(&end.status);
        let unjudged = end.status == EndStatus::HookError;
        if unjudged {
            let why = end.error.clone().unwrap_or_default();
            self.hook_failed.get_or_insert(why);
        }
        let (code, why) = match (end.mismatch, unjudged, failed) {
            (true, _, _) => ("provider_mismatch", "another provider answered"),
            (_, true, _) => ("hook_failed", "a hook judged nothing"),
            (_, _, true) => ("root_failed", "the first agent failed"),
            (false, false, false) => return,
        };
        let nobody = self.registry.is_empty() && !self.board_busy;
        if nobody || self.latches.canceled {
            return;
        }
        self.latches.canceled = true;
        let text = format!("{why}: the other agents stop");
        self.voice.log(LogLevel::Warn, Some(code), text);
        self.broadcast(StopCause::Canceled);
    }

    /// Whatever is kept of an agent elsewhere, now that it is gone.
    fn forget(&mut self, agent: &AgentId) {
        let forget = Forget {
            agent: agent.clone(),
        };
        for client in self.cast.clients.values() {
            client.held_by("supervisor").tell(forget.clone());
        }
        if let Some(board) = &self.cast.board {
            board.held_by("supervisor").tell(forget.clone());
        }
        self.cast.scheduler.held_by("supervisor").tell(forget);
        self.stores.forget(agent);
        self.ceilings.forget(agent);
    }

    /// Net 3: an agent whose mailbox is closed and whose end nobody reported is gone. What it
    /// reported before it stopped lies ahead in the mailbox, and the first report counts.
    fn sweep(&self) {
        for (agent, row) in &self.registry {
            if !row.link.leads_somewhere() {
                self.own.tell(Ended {
                    agent: agent.clone(),
                    end: LoopEnd::panicked("actor gone".to_owned()),
                    told: false,
                    permit: None,
                });
            }
        }
    }

    /// The run's end, once every agent has ended and nothing is under way on the board.
    fn settle(&mut self) {
        if !self.registry.is_empty() || self.board_busy {
            return;
        }
        let Some(root) = self.root_end.clone() else {
            return;
        };
        let Some(run_ended) = self.run_ended.take() else {
            return;
        };
        let status = match &self.hook_failed {
            _ if self.latches.defect => EndStatus::InternalError,
            Some(_) => EndStatus::HookError,
            None => root.status,
        };
        let error = self.defect.clone();
        let error = error.or_else(|| self.hook_failed.clone()).or(root.error);
        // The run is gone only where its own task died; then nobody is left to tell.
        run_ended
            .send(RunEnd {
                status,
                defect: self.defect.clone(),
                mismatch: self.mismatch,
                any_breach: self.any_breach,
                limit_hit: root.breach,
                error,
            })
            .ok();
    }
}

impl Actor for Supervisor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        if let Some(left) = self.clock.left() {
            let own = self.own.clone();
            context.run_later(left, move |_, _| own.tell(DeadlineMet));
        }
        context.run_interval(SWEEP, |supervisor, _| supervisor.sweep());
    }
}

impl Named for Supervisor {
    fn name(&self) -> &'static str {
        "supervisor"
    }
}

routes!(
    Supervisor: Begin, Boundary, Spawn, Succeed, ReserveFork, CommitFork, Join, Deliver, RunHook, RecordTurn,
    AddCost, RaiseDefect, LeaveDesk, FindDesk, Ended, Cancel, DeadlineMet, MayStart, Dispatch, Busy, Quiet
);

impl Receive<Begin> for Supervisor {
    type Reply = ResponseFuture<RunEnd>;

    fn receive(&mut self, _: Begin, _: &mut Context<Self>) -> Self::Reply {
        let root = self.root.clone();
        let id = root.id.clone();
        if let Err(error) = self.start_agent(root, stores::ROOT, None) {
            let end = RunEnd::unsupervised(error.to_string());
            return Box::pin(async move { end });
        }
        self.lineages.begin(id);
        let (ended, end) = oneshot::channel();
        self.run_ended = Some(ended);
        if self.latches.canceled {
            self.broadcast(StopCause::Canceled);
        }
        if self.latches.defect {
            self.broadcast(StopCause::Defect);
        }
        Box::pin(async move {
            end.await
                .unwrap_or_else(|_| RunEnd::unsupervised(panics::supervisor_died()))
        })
    }
}

impl Receive<Boundary> for Supervisor {
    type Reply = ResponseFuture<Leave>;

    fn receive(&mut self, ask: Boundary, _: &mut Context<Self>) -> Self::Reply {
        panics::trip("supervisor");
        let elapsed = self.clock.elapsed();
        if let Some(left) = self.clock.left() {
            self.voice.telemetry.tell(Keep {
                agent: Some(ask.agent.clone()),
                entry: Entry::Clock {
                    elapsed_ms: millis(elapsed),
                    remaining_ms: Some(millis(left)),
                },
            });
        }
        let verdict = self
            .ceilings
            .boundary(&ask.agent, ask.turns, elapsed, self.latches);
        let letters = if verdict == Verdict::Go && ask.reads {
            self.lineages.drain(&ask.agent)
        } else {
            Vec::new()
        };
        let stopped_already = matches!(
            verdict,
            Verdict::Stop(EndStatus::InternalError | EndStatus::Canceled, _)
        );
        let Some(cancel_file) = self.cancel_file.clone().filter(|_| !stopped_already) else {
            return Box::pin(async move { Leave { verdict, letters } });
        };
        let own = self.own.clone();
        let telemetry = self.voice.telemetry.clone();
        Box::pin(async move {
            let found = exists(Arc::clone(&cancel_file)).await;
            telemetry.tell(Keep {
                agent: Some(ask.agent),
                entry: Entry::CancelProbe { found },
            });
            if !found {
                return Leave { verdict, letters };
            }
            own.tell(Cancel {
                origin: format!("the cancel file {}", cancel_file.display()),
            });
            Leave {
                verdict: Verdict::Stop(EndStatus::Canceled, None),
                letters,
            }
        })
    }
}

/// Whether the cancel file is there. A file system that does not answer yes is a no.
pub(crate) async fn exists(path: Arc<Path>) -> bool {
    tokio::task::spawn_blocking(move || path.exists())
        .await
        .unwrap_or(false)
}

impl Receive<RecordTurn> for Supervisor {
    type Reply = ();

    fn receive(&mut self, message: RecordTurn, _: &mut Context<Self>) {
        self.ceilings.record(&message.agent, message.verdict);
    }
}

impl Receive<AddCost> for Supervisor {
    type Reply = ();

    fn receive(&mut self, AddCost { usd }: AddCost, _: &mut Context<Self>) {
        self.ceilings.add_cost(usd);
        if !self.ceilings.cost_met() || self.cost_told {
            return;
        }
        self.cost_told = true;
        self.stop_board(board::StopCause::Cost);
        // Each agent stops at its own boundary, and one that waits has none before its wait ends.
        if self.release_waits() || self.cast.board.is_some() {
            self.voice.log(
                LogLevel::Warn,
                Some("cost_met"),
                "maxCost is met: nobody is waited for any more",
            );
        }
    }
}

impl Receive<RaiseDefect> for Supervisor {
    type Reply = ();

    fn receive(&mut self, message: RaiseDefect, _: &mut Context<Self>) {
        self.raise_defect(
            message.agent.as_ref(),
            message.profile.as_ref(),
            &message.cause,
        );
    }
}

impl Receive<Ended> for Supervisor {
    type Reply = ();

    fn receive(&mut self, message: Ended, _: &mut Context<Self>) {
        panics::trip("supervisor_ended");
        let Ended {
            agent,
            end,
            told,
            permit,
        } = message;
        let Some(row) = self.registry.remove(&agent) else {
            // The end of an agent that handed itself on is told by its successor; a panic of it
            // behind that is gg's defect all the same.
            if end.panicked && self.lineages.has_handed_on(&agent) {
                self.panicked(&agent, &end);
            }
            return;
        };
        if !told {
            let voice = self.voice.of(&agent);
            end.tell(&row.spec, &voice);
        }
        self.any_breach |= end.breach.is_some();
        self.mismatch |= end.mismatch;
        self.forget(&agent);
        self.depart(&row.spec, &end);
        // Behind whoever goes on by this end: it stands in the queue by now.
        drop(permit);
        if end.panicked {
            self.panicked(&agent, &end);
        }
        self.wind_down_after(&row.spec, &end);
        if row.spec.lineage == self.root.id {
            self.root_end = Some(end);
        }
        self.settle();
    }
}

impl Receive<Cancel> for Supervisor {
    type Reply = ();

    fn receive(&mut self, Cancel { origin }: Cancel, _: &mut Context<Self>) {
        if self.latches.canceled {
            return;
        }
        self.latches.canceled = true;
        self.voice.log(
            LogLevel::Warn,
            Some("canceled"),
            format!("run canceled by {origin}"),
        );
        self.broadcast(StopCause::Canceled);
    }
}

impl Receive<DeadlineMet> for Supervisor {
    type Reply = ();

    fn receive(&mut self, _: DeadlineMet, _: &mut Context<Self>) {
        if self.release_waits() || self.cast.board.is_some() {
            self.voice.log(
                LogLevel::Warn,
                Some("deadline_met"),
                "the run's time is spent: nobody is waited for any more",
            );
        }
        self.broadcast(StopCause::Deadline);
    }
}
