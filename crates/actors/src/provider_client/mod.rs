//! The provider client: one model's way to its replies (03 §10.1).
//!
//! Many calls may be in flight. Each is a future of its own: attempts as `provider::call` decides
//! them, a warning for each retry and each move on the asking agent's stream, and an end at once
//! where the run stops. What all calls of the model share stands here: the candidate in force,
//! what the server turned out not to take, and what each agent's last request left in a cache.
//!
//! Always true: a move is the whole run's, and is told once, by the call that made it.

mod abandoned;
mod calling;
mod source;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, ResponseFuture};
use provider::cache::CacheMemory;
use provider::call::CallError;
use provider::candidates::{Candidates, Position};
use provider::degraded::Degraded;
use provider::openrouter::AttemptLimits;
use provider::request::{CacheLifetime, ReasoningSetting};
use tokio::sync::Notify;
use vocab::candidate::Candidate;
use vocab::ids::{AgentId, ModelId, RoutingKey};
use vocab::looping::Knobs;

use crate::clock::RunClock;
use crate::flow::Tap;
use crate::link::{Link, Named, Receive, SHARED_MAILBOX, routes};
use crate::messages::{Complete, Completion, Forget, RaiseDefect};
use crate::panics::DeathWatch;
use crate::stop::StopCause;
use crate::supervisor::Supervisor;
use crate::telemetry::Telemetry;
pub(crate) use abandoned::{Abandoned, Ledger};
use source::Sender;
pub(crate) use source::Source;

/// Why an agent gets no reply.
#[derive(Clone, Debug)]
pub enum CallFailure {
    /// The run stopped first.
    Stopped(StopCause),
    /// The call failed for good, or in a way the loop asks again for.
    Failed(Box<Failure>),
}

/// A call that failed for good.
#[derive(Clone, Debug)]
pub struct Failure {
    /// How, and where.
    pub error: CallError,
    /// Tokens its last attempt should have found in the provider's cache.
    pub expected_cached_tokens: Option<u64>,
}

/// The launch's figures for model calls (01 §5).
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    /// Bound on one attempt.
    pub attempt: AttemptLimits,
    /// Retries after the first attempt.
    pub max_retries: u32,
    /// Cap of one backoff delay.
    pub max_delay: Duration,
    /// Cache misses at which a provider is left.
    pub miss_limit: u64,
}

/// How an agent's requests are made rather than what they say.
#[derive(Clone, Debug, Default)]
pub struct CallSettings {
    /// How much the model shall reason.
    pub reasoning: Option<ReasoningSetting>,
    /// How long what it writes into a cache shall live.
    pub lifetime: CacheLifetime,
    /// The loop detector its replies are read by.
    pub knobs: Option<Knobs>,
}

/// What all calls of one client share.
#[derive(Debug)]
struct Shared {
    sender: Sender,
    source: Source,
    max_retries: u32,
    max_delay: Duration,
    clock: RunClock,
    telemetry: Link<Telemetry>,
    name: String,
    candidates: RefCell<Candidates>,
    degraded: RefCell<Degraded>,
    /// What each agent's last request left in a provider's cache.
    memories: RefCell<HashMap<AgentId, CacheMemory>>,
    /// Where each agent was last told of reasoning that stays behind.
    left_out_at: RefCell<HashMap<AgentId, Position>>,
    /// Wakes calls that wait for a candidate the run has left.
    left: Arc<Notify>,
    abandoned: Arc<Ledger>,
}

/// See the module.
#[derive(Debug)]
pub struct ProviderClient {
    shared: Rc<Shared>,
    _death: DeathWatch,
}

/// What a client is made of.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) model: ModelId,
    pub(crate) source: Source,
    /// Who may serve the model, in order; empty sends no routing.
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) limits: CallLimits,
    pub(crate) routing_key: RoutingKey,
    pub(crate) clock: RunClock,
    pub(crate) abandoned: Arc<Ledger>,
}

impl ProviderClient {
    pub(crate) fn start(
        setup: Setup,
        supervisor: &Link<Supervisor>,
        telemetry: &Link<Telemetry>,
        tap: Option<&Tap>,
    ) -> Link<Self> {
        let name = format!("client {}", setup.model);
        let mut context = Context::new();
        context.set_mailbox_capacity(SHARED_MAILBOX);
        let link = Link::new(context.address(), &name, tap);
        let supervisor = supervisor.held_by(&name);
        let model = setup.model.clone();
        let death = DeathWatch::new(move |text| {
            supervisor.tell(RaiseDefect {
                agent: None,
                profile: None,
                cause: format!("the client of model `{model}` panicked: {text}"),
            });
        });
        context.run(Self {
            shared: Rc::new(Shared::new(setup, telemetry.held_by(&name), name)),
            _death: death,
        });
        link
    }
}

impl Shared {
    fn new(setup: Setup, telemetry: Link<Telemetry>, name: String) -> Self {
        let degraded = Degraded::new(setup.source.keeps_fields());
        Self {
            sender: Sender {
                model: setup.model,
                routing_key: setup.routing_key,
                limits: setup.limits.attempt,
            },
            source: setup.source,
            max_retries: setup.limits.max_retries,
            max_delay: setup.limits.max_delay,
            clock: setup.clock,
            telemetry,
            name,
            candidates: RefCell::new(Candidates::new(setup.candidates, setup.limits.miss_limit)),
            degraded: RefCell::new(degraded),
            memories: RefCell::default(),
            left_out_at: RefCell::default(),
            left: Arc::new(Notify::new()),
            abandoned: setup.abandoned,
        }
    }
}

impl Actor for ProviderClient {
    type Context = Context<Self>;
}

impl Named for ProviderClient {
    fn name(&self) -> &str {
        &self.shared.name
    }
}

routes!(ProviderClient: Complete, Forget);

impl Receive<Complete> for ProviderClient {
    type Reply = ResponseFuture<Result<Completion, CallFailure>>;

    fn receive(&mut self, call: Complete, _: &mut Context<Self>) -> Self::Reply {
        Box::pin(Rc::clone(&self.shared).complete(call))
    }
}

impl Receive<Forget> for ProviderClient {
    type Reply = ();

    fn receive(&mut self, Forget { agent }: Forget, _: &mut Context<Self>) {
        self.shared.memories.borrow_mut().remove(&agent);
        self.shared.left_out_at.borrow_mut().remove(&agent);
        self.shared.source.forget(&agent);
    }
}
