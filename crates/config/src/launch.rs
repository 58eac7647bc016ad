//! The launch document, typed (01 §2, §3).

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocab::candidate::Candidate;
use vocab::ids::{ModelId, SessionId, Slug};
use vocab::usage::ListPrices;

use crate::hooks::Hook;
use crate::limits::Limits;
use crate::number;
use crate::profile::Profile;
use crate::validate::Shape;

/// Everything one run is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Launch {
    /// The caller's name for the run, stamped on every event and never sent to a provider.
    pub session_id: SessionId,
    /// Absolute directory the agents work in.
    pub workspace_dir: PathBuf,
    /// The root agent's first user message.
    #[schemars(length(min = 1))]
    pub prompt: String,
    /// Context window of each bound model, in tokens.
    #[serde(deserialize_with = "number::read_wholes")]
    #[schemars(with = "BTreeMap<ModelId, std::num::NonZeroU64>")]
    pub model_windows: BTreeMap<ModelId, u64>,
    /// Input modalities of a model. A list without `image` means it is never sent a picture.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub model_modalities: BTreeMap<ModelId, Vec<String>>,
    /// For each live model the providers a run may use, in the order it tries them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub model_providers: BTreeMap<ModelId, Vec<Candidate>>,
    /// List prices by model, the basis of comparable cost.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub model_prices: BTreeMap<ModelId, ListPrices>,
    /// Path whose existence cancels the run. Absent: nothing but a signal cancels it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub cancel_file: Option<PathBuf>,
    /// The brief's files, specifications first, then reference images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spec_files: Vec<String>,
    /// Who works, with what, and within which limits.
    pub capability_set: CapabilitySet,
}

impl Launch {
    pub(crate) const SHAPE: Shape = Shape {
        name: "Launch",
        keys: &[
            "sessionId",
            "workspaceDir",
            "prompt",
            "modelWindows",
            "modelModalities",
            "modelProviders",
            "modelPrices",
            "cancelFile",
            "specFiles",
            "capabilitySet",
        ],
        required: &[
            "sessionId",
            "workspaceDir",
            "prompt",
            "modelWindows",
            "capabilitySet",
        ],
    };

    /// The root's profile: the first one, or where that is a machine, its entry state's. A launch
    /// that passed its check has one.
    pub fn root(&self) -> &Profile {
        self.worker(&self.capability_set.agents[0]).profile
    }

    /// A declared profile by its slug.
    pub fn profile(&self, slug: &Slug) -> Option<&Profile> {
        self.capability_set
            .agents
            .iter()
            .find(|profile| profile.slug == *slug)
    }

    /// Whether a model may be sent pictures: a model without an entry is tried.
    pub fn sees_images(&self, model: &ModelId) -> bool {
        takes_images(self.model_modalities.get(model))
    }
}

/// Whether pictures may be sent where these are the modalities; none known is yes.
pub fn takes_images(modalities: Option<&Vec<String>>) -> bool {
    modalities.is_none_or(|kinds| kinds.iter().any(|kind| kind == "image"))
}

pub(crate) const PRICES: Shape = Shape {
    name: "ListPrices",
    keys: &["uncachedInput", "cachedInput", "output"],
    required: &["uncachedInput", "cachedInput", "output"],
};

pub(crate) const CANDIDATE: Shape = Shape {
    name: "Candidate",
    keys: &["provider", "quantization"],
    required: &["provider", "quantization"],
};

/// The configuration under study: profiles, limits and the run's own hooks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CapabilitySet {
    /// The saved configuration's name, recorded so that runs can be grouped by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub preset: Option<String>,
    /// Ceilings and the model client's figures.
    pub limits: Limits,
    /// The profiles. The first is the root's and the default for dispatched work.
    #[schemars(length(min = 1))]
    pub agents: Vec<Profile>,
    /// Hooks of the run: `session-start` and `session-end` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<Hook>,
}

impl CapabilitySet {
    pub(crate) const SHAPE: Shape = Shape {
        name: "CapabilitySet",
        keys: &["preset", "limits", "agents", "hooks"],
        required: &["limits", "agents"],
    };
}
