//! Where a model's replies come from: a gateway over HTTP, or a script in the process.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use provider::call::Attempt;
use provider::fault::Fault;
use provider::mock::{Outcome, Player, Script, Step};
use provider::openrouter::{self, AttemptLimits, Endpoint, Terms};
use provider::reply::Reply;
use provider::request::{self, Head, ToolChoice};
use vocab::ids::{AgentId, ModelId, RoutingKey};

use crate::messages::Complete;
use crate::panics;

/// Where a model's replies come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// A gateway over HTTP.
    Gateway {
        /// Where it stands, and what it is shown.
        endpoint: Endpoint,
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

/// What every request of a model says of the run.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) model: ModelId,
    pub(super) routing_key: RoutingKey,
    pub(super) limits: AttemptLimits,
}

/// What came of one attempt.
pub(super) struct Answer {
    pub(super) reply: Result<Reply, Fault>,
    /// Reasoning items that the candidate cannot read and was not sent.
    pub(super) left_out: usize,
}

impl From<Fault> for Answer {
    fn from(fault: Fault) -> Self {
        Self {
            reply: Err(fault),
            left_out: 0,
        }
    }
}

impl Source {
    /// A gateway.
    pub(crate) fn gateway(endpoint: Endpoint) -> Self {
        Self::Gateway {
            endpoint,
            http: RefCell::default(),
        }
    }

    /// A script.
    pub(crate) fn mock(script: Arc<Script>) -> Self {
        Self::Mock {
            script,
            players: RefCell::default(),
        }
    }

    /// Whether the server is OpenRouter's own, which is always sent every routing field (R14).
    pub(super) fn keeps_fields(&self) -> bool {
        match self {
            Self::Gateway { endpoint, .. } => endpoint.is_openrouter(),
            Self::Mock { .. } => true,
        }
    }

    /// Sends one request and reads its answer to the end.
    pub(super) async fn attempt(
        &self,
        sender: &Sender,
        call: &Complete,
        attempt: &Attempt,
    ) -> Answer {
        panics::trip("client");
        match self {
            Self::Gateway { endpoint, http } => {
                let http = match client(http, endpoint) {
                    Ok(http) => http,
                    Err(fault) => return fault.into(),
                };
                let head = Head {
                    model: &sender.model,
                    candidate: attempt.candidate.as_ref(),
                    routing_key: &sender.routing_key,
                    reasoning: call.settings.reasoning.as_ref(),
                    lifetime: call.settings.lifetime,
                    dropped: attempt.concessions.dropped,
                };
                let body = if attempt.concessions.auto {
                    let mut request = call.request.clone();
                    request.tool_choice = ToolChoice::Auto;
                    request::body(&head, &request)
                } else {
                    request::body(&head, &call.request)
                };
                let left_out = body.left_out();
                let asked = attempt.candidate.as_ref();
                let terms = Terms {
                    asked: asked.map(|candidate| &candidate.provider),
                    limits: sender.limits,
                    knobs: call.settings.knobs,
                };
                Answer {
                    reply: openrouter::attempt(&http, endpoint, body, terms).await,
                    left_out,
                }
            }
            Self::Mock { script, players } => {
                let step = players
                    .borrow_mut()
                    .entry(call.agent.clone())
                    .or_insert_with(|| {
                        Player::new(Arc::clone(script), &call.profile).watched(call.settings.knobs)
                    })
                    .step();
                Answer {
                    reply: play(step).await,
                    left_out: 0,
                }
            }
        }
    }

    /// An agent's loop has ended: it asks no more.
    pub(super) fn forget(&self, agent: &AgentId) {
        if let Self::Mock { players, .. } = self {
            players.borrow_mut().remove(agent);
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
