//! What an operator says of a model: the parts of a candidate list no listing can tell.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use vocab::ids::ProviderName;

use super::endpoint::Quantization;

/// Entries by model id: the file `gg candidates` reads.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Catalog(BTreeMap<String, CatalogEntry>);

impl Catalog {
    /// The entry of a model; an empty one where there is none.
    pub fn entry(&self, model: &str) -> CatalogEntry {
        self.0.get(model).cloned().unwrap_or_default()
    }
}

/// What is known of a model beside its listing.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CatalogEntry {
    /// The provider that is the model's developer. Absent: the one spelled like the first part of
    /// the model's id, without case and punctuation.
    pub developer: Option<ProviderName>,
    /// The native level. Absent: the highest any endpoint declares.
    #[serde(deserialize_with = "declared")]
    pub quantization: Option<Quantization>,
    /// Providers taken although they declare no level.
    pub allow: Vec<ProviderName>,
    /// Providers never taken.
    pub ban: Vec<ProviderName>,
    /// The price ceiling where the listing has no developer endpoint.
    pub max_price: Option<Ceiling>,
}

/// The most an endpoint may ask, in USD per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ceiling {
    /// Of input.
    #[serde(deserialize_with = "usd")]
    pub input: f64,
    /// Of output.
    #[serde(deserialize_with = "usd")]
    pub output: f64,
}

/// A level that says what is served: every endpoint is held against it.
fn declared<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Quantization>, D::Error> {
    let level = Option::<Quantization>::deserialize(value)?;
    match level {
        Some(level) if !level.is_declared() => Err(D::Error::custom(format!(
            "`{level}` is no level; expected one with a width, such as `fp8`"
        ))),
        level => Ok(level),
    }
}

fn usd<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    let usd = f64::deserialize(value)?;
    if usd < 0.0 {
        return Err(D::Error::custom(format!(
            "{usd} is no price; expected USD per million tokens, not negative"
        )));
    }
    Ok(usd)
}

impl CatalogEntry {
    /// Whether a provider is the developer of a model.
    pub(super) fn is_developer(&self, model: &str, provider: &ProviderName) -> bool {
        match &self.developer {
            Some(developer) => developer.same_as(provider),
            None => model
                .split_once('/')
                .is_some_and(|(author, _)| ProviderName::from(author).same_as(provider)),
        }
    }

    pub(super) fn allows(&self, provider: &ProviderName) -> bool {
        self.allow.iter().any(|name| name.same_as(provider))
    }

    pub(super) fn bans(&self, provider: &ProviderName) -> bool {
        self.ban.iter().any(|name| name.same_as(provider))
    }
}
