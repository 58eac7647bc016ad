//! The provider clients of a run, one a bound model.

use std::collections::HashMap;
use std::sync::Arc;

use config::profile::Profile;
use provider::openrouter::{AttemptLimits, Endpoint};
use vocab::ids::{ModelId, RoutingKey};

use crate::clock::RunClock;
use crate::flow::Tap;
use crate::launch::Prepared;
use crate::link::Link;
use crate::provider_client::{self, CallLimits, Ledger, ProviderClient, Source};
use crate::supervisor::Supervisor;
use crate::telemetry::Telemetry;

/// What the clients of a run have in common.
pub(super) struct Common<'a> {
    pub(super) routing_key: &'a RoutingKey,
    pub(super) clock: RunClock,
    pub(super) endpoint: Option<&'a Endpoint>,
    pub(super) abandoned: &'a Arc<Ledger>,
}

/// One client for each model that a profile is bound to.
pub(super) fn start_clients(
    prepared: &Prepared,
    common: &Common<'_>,
    supervisor: &Link<Supervisor>,
    telemetry: &Link<Telemetry>,
    tap: Option<&Tap>,
) -> HashMap<ModelId, Link<ProviderClient>> {
    let launch = &prepared.launch;
    let limits = &launch.capability_set.limits;
    let call_limits = CallLimits {
        attempt: AttemptLimits {
            whole: limits.model_call_timeout(),
            idle: limits.model_stream_idle(),
        },
        max_retries: limits.max_model_retries(),
        max_delay: limits.model_retry_max_delay(),
        miss_limit: limits.provider_cache_miss_limit(),
    };
    let bound = launch
        .capability_set
        .agents
        .iter()
        .flat_map(Profile::models);
    let mut clients = HashMap::new();
    for model in bound {
        if clients.contains_key(model) {
            continue;
        }
        let source = match (prepared.scripts.get(model), common.endpoint) {
            (Some(script), _) => Source::mock(Arc::clone(script)),
            (None, Some(endpoint)) => Source::gateway(endpoint.clone()),
            // A launch with a live model carries a gateway; an agent that finds no client for its
            // model ends as a defect.
            (None, None) => continue,
        };
        let setup = provider_client::Setup {
            model: model.clone(),
            source,
            candidates: launch
                .model_providers
                .get(model)
                .cloned()
                .unwrap_or_default(),
            limits: call_limits,
            routing_key: common.routing_key.clone(),
            clock: common.clock,
            abandoned: Arc::clone(common.abandoned),
        };
        let link = ProviderClient::start(setup, supervisor, telemetry, tap);
        clients.insert(model.clone(), link);
    }
    clients
}
