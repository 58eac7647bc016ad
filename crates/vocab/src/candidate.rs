//! Who may serve a model, and why a run leaves it (01 §6.2).

use serde::{Deserialize, Serialize};

use crate::ids::ProviderName;
use crate::words::words;

/// One provider a model may be served by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Candidate {
    /// The provider, spelled as the gateway's endpoints listing spells `provider_name`.
    pub provider: ProviderName,
    /// The quantization its endpoint serves, such as `fp8`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub quantization: String,
}

words! {
    /// The fault that decided a move to the next candidate.
    CandidateFault ("candidate fault") {
        /// Its retry schedule was spent.
        FailedCall = "failed_call",
        /// The gateway answered 404: nothing serves the model there.
        Unavailable = "unavailable",
        /// It ignored its own cache as often as the run allows.
        CacheMiss = "cache_miss",
    }
}
