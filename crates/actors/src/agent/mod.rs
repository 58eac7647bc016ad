//! The agent: one actor per incarnation, holding its modules while its loop runs (03 §10.3).
//!
//! The loop is a single future on the actor's context and holds the window exclusively; between
//! its polls the mailbox keeps serving. However the loop ends, by return, by a panic in it, or by
//! a panic in a handler beside it, the supervisor hears of it once.

mod api;
mod arrival;
mod autoload;
mod board_calls;
mod closing;
pub mod code_surface;
mod code_turn;
mod compacting;
mod delegation_calls;
mod desk;
mod ending;
mod file_reads;
mod holdings;
mod hooked;
mod keys;
mod loaded;
mod machine;
mod model_turn;
mod module_calls;
mod offer;
mod opening;
mod outfits;
mod preparation;
mod program;
pub(crate) mod records;
mod seat;
mod spending;
mod succession;
mod summarizer;
mod surface;
mod tool_turn;
mod turn_clock;
mod turns;
mod undone;
mod upkeep;
mod window_calls;
mod written;

use std::path::PathBuf;
use std::sync::Arc;

use actix::{Actor, ActorContext, ActorFutureExt, AsyncContext, Context, WrapFuture};
use board::{WorksFor, Worktree};
use config::profile::Profile;
use record::event::{AgentState, AgentStatus, Event, LogLevel, Origin};
use vocab::ids::AgentId;
use vocab::operations::EndingRole;
use vocab::outcome::{Breach, EndStatus};

use crate::board::Board;
use crate::flow::Tap;
use crate::link::{Link, Named, Receive, routes};
use crate::machine::Position;
use crate::messages::{Ended, KeepAgent, RaiseDefect, RunStopping};
use crate::panics::{self, DeathWatch};
use crate::provider_client::ProviderClient;
use crate::scheduler::{Permit, Scheduler};
use crate::shared::Shared;
use crate::stop::{StopCause, StopSwitch};
use crate::succession::Arrival;
use crate::supervisor::{Cast, Holdings, Supervisor};
use crate::telemetry::Voice;
pub(crate) use code_turn::Openings;
pub(crate) use delegation_calls::dropped;
pub use ending::Ending;
pub(crate) use outfits::Outfits;
use seat::Seat;
use turns::{Life, Turns};

/// What an incarnation is, fixed for its life.
#[derive(Clone, Debug)]
pub struct AgentSpec {
    /// Its id.
    pub id: AgentId,
    /// The handle of its lineage: the id of its first agent, which whoever put it to work knows.
    pub lineage: AgentId,
    /// Its profile.
    pub profile: Arc<Profile>,
    /// `root`, `subagent`, `issue-implementer`, `issue-reviewer`, `issue-merger`.
    pub kind: &'static str,
    /// Where it comes from.
    pub origin: Origin,
    /// Which ending calls it has.
    pub role: EndingRole,
    /// Its whole task.
    pub brief: Arc<str>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// The issue it was dispatched for, or whoever it comes of was.
    pub works_for: Option<WorksFor>,
    /// The worktree it works in, where it works in one.
    pub worktree: Option<Worktree>,
    /// 0 for a top-level agent.
    pub depth: u32,
    /// Its working window, tokens.
    pub window_limit: u64,
    /// Where it stands in a machine, where it does.
    pub position: Option<Position>,
}

/// How an agent's loop ended.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopEnd {
    /// The status it really ended under.
    pub status: EndStatus,
    /// The ceiling that stopped it, if one did.
    pub breach: Option<Breach>,
    /// The typed declaration, if it made one.
    pub ending: Option<Ending>,
    /// What it failed of, for the operator.
    pub error: Option<String>,
    /// Whether a provider outside the candidate answered it.
    pub mismatch: bool,
    /// Whether it died of a panic.
    pub panicked: bool,
}

impl LoopEnd {
    /// An end of a status alone.
    pub(crate) fn of(status: EndStatus) -> Self {
        Self {
            status,
            breach: None,
            ending: None,
            error: None,
            mismatch: false,
            panicked: false,
        }
    }

    /// The end of an agent that gg could not carry on.
    pub(crate) fn internal(error: impl Into<String>) -> Self {
        Self {
            error: Some(error.into()),
            ..Self::of(EndStatus::InternalError)
        }
    }

    /// Tells the record of it: the stream in one event, the journal in one row.
    pub(crate) fn tell(&self, spec: &AgentSpec, voice: &Voice) {
        voice.say(Event::AgentStatus(AgentStatus {
            status: if self.status.is_failure() {
                AgentState::Failed
            } else {
                AgentState::Done
            },
            waiting_on: None,
            ended_as: Some(self.status),
            result: self.ending.as_ref().map(Ending::text),
        }));
        let row = turns::journal_row(spec, Some(self));
        voice.telemetry.tell(KeepAgent(row));
    }

    pub(crate) fn panicked(text: String) -> Self {
        Self {
            panicked: true,
            ..Self::internal(text)
        }
    }
}

/// What an incarnation begins with.
#[derive(Debug)]
pub(crate) struct Outset {
    /// Its modules.
    pub(crate) holdings: Holdings,
    /// Of whom it comes, where it comes of another.
    pub(crate) arrival: Option<Arrival>,
    /// Its slot, where one was taken for it.
    pub(crate) permit: Option<Permit>,
}

/// The actors an agent speaks to.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    pub(crate) supervisor: Link<Supervisor>,
    pub(crate) scheduler: Link<Scheduler>,
    pub(crate) client: Option<Link<ProviderClient>>,
    /// The client of the model that a handoff of its window asks.
    pub(crate) summarizer: Option<Link<ProviderClient>>,
    /// The run's board, where there is one: every agent holds it.
    pub(crate) board: Option<Link<Board>>,
    pub(crate) voice: Voice,
}

/// See the module.
#[derive(Debug)]
pub struct Agent {
    spec: AgentSpec,
    name: String,
    holdings: Holdings,
    shared: Arc<Shared>,
    links: Links,
    stop: StopSwitch,
    /// Of whom it comes, until its loop has begun.
    arrival: Option<Arrival>,
    _death: DeathWatch,
    /// Dropped behind the watch: a death is reported before the slot comes back.
    seat: Seat,
}

impl Agent {
    /// Starts an incarnation; its loop begins at once.
    pub(crate) fn start(
        spec: AgentSpec,
        outset: Outset,
        shared: Arc<Shared>,
        cast: &Cast,
        supervisor: &Link<Supervisor>,
        tap: Option<&Tap>,
    ) -> Link<Self> {
        let Outset {
            holdings,
            arrival,
            permit,
        } = outset;
        let name = format!("agent {}", spec.id);
        let client = |model| cast.clients.get(model).map(|link| link.held_by(&name));
        let links = Links {
            supervisor: supervisor.held_by(&name),
            scheduler: cast.scheduler.held_by(&name),
            client: client(&spec.profile.model_id),
            summarizer: spec
                .profile
                .compaction()
                .filter(|policy| policy.strategy.is_handoff())
                .and_then(|policy| client(policy.model.unwrap_or(&spec.profile.model_id))),
            board: cast.board.as_ref().map(|link| link.held_by(&name)),
            voice: Voice {
                telemetry: cast.telemetry.held_by(&name),
                agent: Some(spec.id.clone()),
            },
        };
        let report = links.supervisor.clone();
        let id = spec.id.clone();
        let death = DeathWatch::new(move |text| {
            report.tell(Ended {
                agent: id,
                end: LoopEnd::panicked(text),
                told: false,
                permit: None,
            });
        });
        let seat = Seat::default();
        if let Some(permit) = permit {
            seat.take(permit);
        }
        let context = Context::new();
        let link = Link::new(context.address(), &name, tap);
        context.run(Self {
            spec,
            name,
            holdings,
            shared,
            links,
            stop: StopSwitch::new(),
            arrival,
            _death: death,
            seat,
        });
        link
    }

    /// Stops; an agent that did not hand itself on says before how its loop ended.
    fn leave(&mut self, life: Life, context: &mut Context<Self>) {
        match life {
            Life::Over(end) => self.end(end, context),
            Life::HandedOn => context.stop(),
        }
    }

    /// Says how the loop ended, to the stream and to the supervisor, and stops.
    fn end(&mut self, end: LoopEnd, context: &mut Context<Self>) {
        // A panic may have come behind a succession: only the supervisor knows whose end is told.
        let told = !end.panicked;
        if told {
            let voice = &self.links.voice;
            if let Some(error) = &end.error {
                voice.log(LogLevel::Error, None, error.clone());
            }
            end.tell(&self.spec, voice);
        }
        if told && end.status == EndStatus::InternalError && end.error.is_some() {
            self.links.supervisor.tell(RaiseDefect {
                agent: Some(self.spec.id.clone()),
                profile: Some(self.spec.profile.slug.clone()),
                cause: end.error.clone().unwrap_or_default(),
            });
        }
        self.links.supervisor.tell(Ended {
            agent: self.spec.id.clone(),
            end,
            told,
            permit: self.seat.leave(),
        });
        context.stop();
    }
}

impl Actor for Agent {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        let turns = Box::new(Turns::new(
            self.spec.clone(),
            Arc::clone(&self.shared),
            self.holdings.clone(),
            self.links.clone(),
            self.stop.watch(),
            self.seat.clone(),
            self.arrival.take(),
        ));
        // One frame above the loop: a panic in it becomes an outcome, not a lost agent.
        let life = panics::outlive(turns.live()).into_actor(self);
        context.spawn(life.map(|end, agent, context| {
            let life = end.unwrap_or_else(|text| Life::Over(LoopEnd::panicked(text)));
            agent.leave(life, context);
        }));
    }
}

impl Named for Agent {
    fn name(&self) -> &str {
        &self.name
    }

    fn agent_id(&self) -> Option<&str> {
        Some(self.spec.id.as_str())
    }
}

routes!(Agent: RunStopping);

impl Receive<RunStopping> for Agent {
    type Reply = ();

    fn receive(&mut self, RunStopping { cause }: RunStopping, _: &mut Context<Self>) {
        panics::trip("agent");
        self.stop.throw(cause);
    }
}

/// While the defect latch is up every failure reads `internal_error` (01 §9.6).
pub(crate) fn under_latch(status: EndStatus, cause: Option<StopCause>) -> EndStatus {
    if cause == Some(StopCause::Defect) && status.is_failure() {
        EndStatus::InternalError
    } else {
        status
    }
}
