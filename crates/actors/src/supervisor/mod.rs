//! The supervisor: what belongs to the run rather than to an agent (03 §10.1).
//!
//! It owns the ceilings, the latches and the registry of agents. Agents ask it before every model
//! call; whatever ends the run goes through it, so that each agent is told once and every end is
//! recorded once.
//!
//! Always true: a latch never clears; an agent's end is recorded once, whoever reports it; the run
//! ends when the last agent has.

mod ceilings;
mod stores;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, ResponseFuture};
use config::limits::Limits;
use record::event::LogLevel;
use record::journal::Entry;
use tokio::sync::oneshot;
use vocab::ids::{AgentId, ModelId, Slug};
use vocab::outcome::EndStatus;

use crate::agent::{Agent, AgentSpec, LoopEnd};
use crate::clock::{RunClock, millis};
use crate::flow::Tap;
use crate::link::{Link, Named, Receive, SHARED_MAILBOX, routes};
use crate::messages::{
    AddCost, Begin, Boundary, Cancel, DeadlineMet, Ended, Forget, Keep, RaiseDefect, RecordTurn,
    RunEnd, RunStopping,
};
use crate::panics;
use crate::provider_client::ProviderClient;
use crate::scheduler::Scheduler;
use crate::shared::Shared;
use crate::stop::StopCause;
use crate::telemetry::{Telemetry, Voice};
pub use ceilings::Verdict;
use ceilings::{Ceilings, Latches};
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
}

/// See the module.
pub struct Supervisor {
    ceilings: Ceilings,
    latches: Latches,
    defect: Option<String>,
    mismatch: bool,
    any_breach: bool,
    clock: RunClock,
    cancel_file: Option<Arc<Path>>,
    registry: HashMap<AgentId, Row>,
    stores: Stores,
    root: AgentSpec,
    run_ended: Option<oneshot::Sender<RunEnd>>,
    shared: Arc<Shared>,
    cast: Cast,
    own: Link<Self>,
    tap: Option<Tap>,
    voice: Voice,
}

#[derive(Debug)]
struct Row {
    spec: AgentSpec,
    link: Link<Agent>,
    ended: Option<LoopEnd>,
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
            mismatch: false,
            any_breach: false,
            clock: setup.shared.clock,
            cancel_file: setup.cancel_file.map(Into::into),
            registry: HashMap::new(),
            stores: Stores::default(),
            root: setup.root,
            run_ended: None,
            shared: setup.shared,
            cast,
            own: own.held_by(name),
            tap,
            voice,
        });
    }

    fn broadcast(&self, cause: StopCause) {
        self.cast
            .scheduler
            .held_by(self.name())
            .tell(RunStopping { cause });
        for row in self.registry.values().filter(|row| row.ended.is_none()) {
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

    /// Net 3: an agent whose mailbox is closed and whose end nobody reported is gone. What it
    /// reported before it stopped lies ahead in the mailbox, and the first report counts.
    fn sweep(&self) {
        let standing = self.registry.iter().filter(|(_, row)| row.ended.is_none());
        for (agent, row) in standing {
            if !row.link.leads_somewhere() {
                self.own.tell(Ended {
                    agent: agent.clone(),
                    end: LoopEnd::panicked("actor gone".to_owned()),
                    told: false,
                });
            }
        }
    }

    /// The run's end, once every agent has ended.
    fn settle(&mut self) {
        if self.registry.values().any(|row| row.ended.is_none()) {
            return;
        }
        let Some(root) = self
            .registry
            .get(&self.root.id)
            .and_then(|row| row.ended.clone())
        else {
            return;
        };
        let Some(run_ended) = self.run_ended.take() else {
            return;
        };
        let status = if self.latches.defect {
            EndStatus::InternalError
        } else {
            root.status
        };
        let error = self.defect.clone().or(root.error);
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
    Supervisor: Begin, Boundary, RecordTurn, AddCost, RaiseDefect, Ended, Cancel, DeadlineMet
);

impl Receive<Begin> for Supervisor {
    type Reply = ResponseFuture<RunEnd>;

    fn receive(&mut self, _: Begin, _: &mut Context<Self>) -> Self::Reply {
        let (id, profile) = (self.root.id.clone(), Arc::clone(&self.root.profile));
        let (own, tap) = (&self.own, self.tap.as_ref());
        let holdings = match self.stores.open(&id, &profile, stores::ROOT, own, tap) {
            Ok(holdings) => holdings,
            Err(error) => {
                let end = RunEnd::unsupervised(error.to_string());
                return Box::pin(async move { end });
            }
        };
        let (ended, end) = oneshot::channel();
        self.run_ended = Some(ended);
        let link = Agent::start(
            self.root.clone(),
            holdings,
            Arc::clone(&self.shared),
            &self.cast,
            &self.own,
            self.tap.as_ref(),
        );
        let row = Row {
            spec: self.root.clone(),
            link,
            ended: None,
        };
        self.registry.insert(id, row);
        if self.latches.canceled {
            self.broadcast(StopCause::Canceled);
        }
        if self.latches.defect {
            self.broadcast(StopCause::Defect);
        }
        Box::pin(async move {
            end.await.unwrap_or_else(|_| {
                RunEnd::unsupervised(format!("the supervisor died: {}", panics::last()))
            })
        })
    }
}

impl Receive<Boundary> for Supervisor {
    type Reply = ResponseFuture<Verdict>;

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
        let stopped_already = matches!(
            verdict,
            Verdict::Stop(EndStatus::InternalError | EndStatus::Canceled, _)
        );
        let Some(cancel_file) = self.cancel_file.clone().filter(|_| !stopped_already) else {
            return Box::pin(async move { verdict });
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
                return verdict;
            }
            own.tell(Cancel {
                origin: format!("the cancel file {}", cancel_file.display()),
            });
            Verdict::Stop(EndStatus::Canceled, None)
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

    fn receive(&mut self, Ended { agent, end, told }: Ended, _: &mut Context<Self>) {
        let Some(row) = self.registry.get_mut(&agent) else {
            return;
        };
        if row.ended.is_some() {
            return;
        }
        if !told {
            let voice = Voice {
                agent: Some(agent.clone()),
                ..self.voice.clone()
            };
            end.tell(&row.spec, &voice);
        }
        self.any_breach |= end.breach.is_some();
        self.mismatch |= end.mismatch;
        let panicked = end.panicked.then(|| end.error.clone().unwrap_or_default());
        row.ended = Some(end);
        let forget = Forget {
            agent: agent.clone(),
        };
        for client in self.cast.clients.values() {
            client.held_by("supervisor").tell(forget.clone());
        }
        self.cast.scheduler.held_by("supervisor").tell(forget);
        self.stores.forget(&agent);
        if let Some(text) = panicked {
            self.raise_defect(Some(&agent), None, &format!("panicked: {text}"));
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
        self.broadcast(StopCause::Deadline);
    }
}
