//! The provider client: one model's way to its replies (03 §10.1).
//!
//! Many calls may be in flight. Each is a future of its own: attempts on the schedule of
//! `provider::schedule`, a warning for each retry on the asking agent's stream, and an end at once
//! where the run stops. What is decided about a fault is decided in the provider crate.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, ResponseFuture};
use provider::call::{Asks, Call, CallError, Next};
use provider::candidates::Candidates;
use provider::degraded::Degraded;
use provider::fault::Fault;
use provider::mock::{Outcome, Player, Script, Step};
use provider::openrouter::{self, AttemptLimits, Endpoint, Terms};
use provider::reply::Reply;
use provider::request::{self, CacheLifetime, Candidate, Dropped, Head};
use record::event::{Event, LogLevel, ProviderFault};
use vocab::ids::{AgentId, ModelId, ProviderName, RoutingKey};

use crate::clock::RunClock;
use crate::flow::Tap;
use crate::link::{Link, Named, Receive, SHARED_MAILBOX, routes};
use crate::messages::{Complete, Completion, RaiseDefect};
use crate::panics::{self, DeathWatch};
use crate::stop::StopCause;
use crate::supervisor::Supervisor;
use crate::telemetry::{Telemetry, Voice};

/// Why an agent gets no reply.
#[derive(Clone, Debug)]
pub enum CallFailure {
    /// The run stopped first.
    Stopped(StopCause),
    /// The call failed for good, or in a way the loop asks again for.
    Failed(Box<CallError>),
}

/// Where a model's replies come from.
#[derive(Debug)]
pub enum Source {
    /// A gateway over HTTP.
    Gateway {
        /// Where it stands, and what it is shown.
        endpoint: Endpoint,
        /// The provider asked for.
        candidate: Option<Candidate>,
        /// The client, made at the first call.
        http: RefCell<Option<reqwest::Client>>,
    },
    /// A script in the process.
    Mock {
        /// The replies, by profile.
        script: Arc<Script>,
        /// How far each incarnation has come (R47).
        players: RefCell<HashMap<AgentId, Player>>,
    },
}

impl Source {
    /// A gateway, asked for one provider.
    pub(crate) fn gateway(endpoint: Endpoint, candidate: Option<Candidate>) -> Self {
        Self::Gateway {
            endpoint,
            candidate,
            http: RefCell::default(),
        }
    }

    /// The provider asked for.
    const fn candidate(&self) -> Option<&Candidate> {
        match self {
            Self::Gateway { candidate, .. } => candidate.as_ref(),
            Self::Mock { .. } => None,
        }
    }

    /// A script.
    pub(crate) fn mock(script: Arc<Script>) -> Self {
        Self::Mock {
            script,
            players: RefCell::default(),
        }
    }
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
}

/// What all calls of one client share.
#[derive(Debug)]
struct Shared {
    model: ModelId,
    source: Source,
    limits: CallLimits,
    routing_key: RoutingKey,
    clock: RunClock,
    telemetry: Link<Telemetry>,
    name: String,
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
    pub(crate) limits: CallLimits,
    pub(crate) routing_key: RoutingKey,
    pub(crate) clock: RunClock,
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
        context.run(Self {
            shared: Rc::new(Shared {
                model: setup.model,
                source: setup.source,
                limits: setup.limits,
                routing_key: setup.routing_key,
                clock: setup.clock,
                telemetry: telemetry.held_by(&name),
                name,
            }),
            _death: DeathWatch::new(move |text| {
                supervisor.tell(RaiseDefect {
                    agent: None,
                    profile: None,
                    cause: format!("the client of model `{model}` panicked: {text}"),
                });
            }),
        });
        link
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

routes!(ProviderClient: Complete);

impl Receive<Complete> for ProviderClient {
    type Reply = ResponseFuture<Result<Completion, CallFailure>>;

    fn receive(&mut self, call: Complete, _: &mut Context<Self>) -> Self::Reply {
        Box::pin(Rc::clone(&self.shared).complete(call))
    }
}

impl Shared {
    /// Attempts until there is a reply, the schedule is spent, or the run stops.
    async fn complete(self: Rc<Self>, mut call: Complete) -> Result<Completion, CallFailure> {
        let voice = Voice {
            telemetry: self.telemetry.clone(),
            agent: Some(call.agent.clone()),
        };
        // One candidate and no choice of tools: nothing is learned that another call must know.
        let mut candidates = Candidates::new(self.source.candidate().cloned(), u64::MAX);
        let mut degraded = Degraded::new(true);
        let asks = Asks::of(&call.request, false);
        let mut decided = Call::new(asks, self.limits.max_retries, self.limits.max_delay);
        loop {
            match decided.next(&mut candidates, &mut degraded) {
                Next::Attempt(_) => {
                    let mut stop = call.stop.clone();
                    let attempt = tokio::select! {
                        biased;
                        cause = stop.drops_model_calls() => {
                            return Err(CallFailure::Stopped(cause));
                        }
                        attempt = self.attempt(&call) => attempt,
                    };
                    let fault = match attempt {
                        Ok(reply) => {
                            let retries = decided.retries().into();
                            return Ok(Completion { reply, retries });
                        }
                        Err(fault) => fault,
                    };
                    if let Fault::Stall { provider, .. } = &fault {
                        voice.say_in_turn(call.turn, self.stall(provider.clone()));
                    }
                    decided.failed(fault, self.clock.left());
                }
                Next::Wait(wait) => {
                    let sentence = wait.sentence(&self.model);
                    voice.log(LogLevel::Warn, Some("retry"), sentence);
                    tokio::select! {
                        biased;
                        cause = call.stop.thrown() => return Err(CallFailure::Stopped(cause)),
                        () = tokio::time::sleep(wait.delay) => {}
                    }
                }
                Next::Tell(notice) => {
                    voice.log(LogLevel::Warn, None, notice.sentence(&self.model));
                }
                Next::GiveUp(error) => return Err(CallFailure::Failed(error)),
            }
        }
    }

    async fn attempt(&self, call: &Complete) -> Result<Reply, Fault> {
        panics::trip("client");
        match &self.source {
            Source::Gateway {
                endpoint,
                candidate,
                http,
            } => {
                let http = Self::client(http, endpoint)?;
                let body = request::body(
                    &Head {
                        model: &self.model,
                        candidate: candidate.as_ref(),
                        routing_key: &self.routing_key,
                        reasoning: None,
                        lifetime: CacheLifetime::Default,
                        dropped: &Dropped::default(),
                    },
                    &call.request,
                );
                let asked = candidate.as_ref().map(|candidate| &candidate.provider);
                let terms = Terms {
                    asked,
                    limits: self.limits.attempt,
                    knobs: None,
                };
                openrouter::attempt(&http, endpoint, body, terms).await
            }
            Source::Mock { script, players } => {
                let step = players
                    .borrow_mut()
                    .entry(call.agent.clone())
                    .or_insert_with(|| Player::new(Arc::clone(script), &call.profile))
                    .step();
                play(step).await
            }
        }
    }

    fn client(
        made: &RefCell<Option<reqwest::Client>>,
        endpoint: &Endpoint,
    ) -> Result<reqwest::Client, Fault> {
        if let Some(client) = &*made.borrow() {
            return Ok(client.clone());
        }
        let client = openrouter::client(endpoint)?;
        *made.borrow_mut() = Some(client.clone());
        Ok(client)
    }

    fn stall(&self, provider: Option<ProviderName>) -> Event {
        Event::ProviderFault(ProviderFault {
            provider,
            model_id: self.model.clone(),
            kind: "stall",
            shared_prefix_tokens: None,
            cached_tokens: None,
        })
    }
}

async fn play(step: Step) -> Result<Reply, Fault> {
    // A timer rounds up to its next tick: no delay must not cost one.
    if !step.delay.is_zero() {
        tokio::time::sleep(step.delay).await;
    }
    match step.outcome {
        Outcome::Reply(reply) => Ok(*reply),
        Outcome::Fault(fault) => Err(fault),
        Outcome::Panic => panic!("the mock script raises a panic here"),
    }
}
