//! A model's endpoints as the gateway lists them.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use vocab::candidate::Candidate;
use vocab::ids::ProviderName;

use super::catalog::Ceiling;
use crate::fault::excerpt;

/// What a gateway's `models/<id>/endpoints` answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The model's id.
    pub model: String,
    /// In the gateway's order.
    pub endpoints: Vec<Endpoint>,
}

/// One way to a model: a provider, what it serves and what it asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    /// Its position in the listing, from 0: tells two endpoints of one provider apart.
    pub index: usize,
    /// As the listing spells `provider_name`.
    pub provider: ProviderName,
    /// The gateway's own name of the endpoint, where it gives one.
    pub tag: Option<String>,
    /// What it declares to serve.
    pub quantization: Quantization,
    /// USD per million input tokens; `None` where not published.
    pub input: Option<f64>,
    /// USD per million output tokens.
    pub output: Option<f64>,
    /// USD per million tokens read from the cache.
    pub cache_read: Option<f64>,
    /// Request parameters it supports.
    pub parameters: Vec<String>,
}

impl Endpoint {
    /// What a launch calls it.
    pub(super) fn candidate(&self) -> Candidate {
        Candidate {
            provider: self.provider.clone(),
            quantization: self.quantization.as_str().to_owned(),
        }
    }

    /// What tells it from every other endpoint of its listing.
    pub(super) const fn identity(&self) -> usize {
        self.index
    }

    /// Its own prices as a ceiling, where both are published.
    pub(super) fn ceiling(&self) -> Option<Ceiling> {
        Some(Ceiling {
            input: self.input?,
            output: self.output?,
        })
    }
}

/// A quantization level.
///
/// Levels the gateway may add one day are kept as written; their width is the first number in them,
/// which is that of a weight in `fp8_e4m3` and in `w4a16` alike.
#[derive(Clone, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Quantization(String);

impl Quantization {
    /// As the listing spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Bits of a weight; 0 where nothing is declared.
    pub fn bits(&self) -> u32 {
        let digit = |c: char| c.is_ascii_digit();
        let from = self.0.trim_start_matches(|c| !digit(c));
        let width = from.split(|c| !digit(c)).next().unwrap_or_default();
        width.parse().unwrap_or(0)
    }

    /// Whether the level says what is served at all.
    pub fn is_declared(&self) -> bool {
        self.bits() > 0
    }

    /// Whether two spellings are one level: both 16-bit forms are what a model is released in.
    pub(super) fn is_level_of(&self, other: &Self) -> bool {
        self.is_declared() && self.rank() == other.rank()
    }

    /// Width first; a float loses less than an integer of its width, but 16 bits are 16 bits.
    pub(super) fn rank(&self) -> (u32, bool) {
        let bits = self.bits();
        (bits, bits >= 16 || !self.0.contains("int"))
    }
}

impl From<String> for Quantization {
    fn from(text: String) -> Self {
        let text = text.trim().to_lowercase();
        Self(if text.is_empty() {
            "unknown".to_owned()
        } else {
            text
        })
    }
}

impl From<&str> for Quantization {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Quantization> for String {
    fn from(level: Quantization) -> Self {
        level.0
    }
}

impl fmt::Display for Quantization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Endpoints whose fault is told; of a text that is no listing at all, the rest says no more.
const FAULTS_TOLD: usize = 10;

/// Why a text is no listing: what was found and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(String);

impl Listing {
    /// Reads the gateway's answer, whole or its `data` alone.
    ///
    /// Every fault is named at its place; a listing that is half understood is refused, because a
    /// list built on it would leave providers out for no reason anybody wrote.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let value: Value = serde_json::from_slice(bytes)
            .map_err(|error| Unreadable(format!("it is no JSON: {error}")))?;
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            let said = error.get("message").and_then(Value::as_str);
            let said = said.map_or_else(|| error.to_string(), str::to_owned);
            return Err(Unreadable(format!(
                "it is an error of the gateway: {}",
                excerpt(said.as_bytes())
            )));
        }
        let data = value.get("data").unwrap_or(&value);
        let model = text(data, "id").ok_or_else(|| {
            Unreadable("it names no model: expected `data.id`, a model id".to_owned())
        })?;
        let listed = data.get("endpoints").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| {
            Unreadable(
                "it holds no `data.endpoints`: expected the answer of models/<id>/endpoints"
                    .to_owned(),
            )
        })?;
        let mut faults = Vec::new();
        let endpoints = listed
            .iter()
            .enumerate()
            .filter_map(|(index, value)| match endpoint(index, value) {
                Ok(endpoint) => Some(endpoint),
                Err(fault) => {
                    faults.push(format!("`endpoints[{index}]`: {fault}"));
                    None
                }
            })
            .collect();
        if faults.is_empty() {
            return Ok(Self { model, endpoints });
        }
        let more = faults.len().saturating_sub(FAULTS_TOLD);
        faults.truncate(FAULTS_TOLD);
        if more > 0 {
            faults.push(format!("{more} more endpoints cannot be read"));
        }
        Err(Unreadable(faults.join("; ")))
    }
}

fn endpoint(index: usize, value: &Value) -> Result<Endpoint, String> {
    let provider = text(value, "provider_name").ok_or("`provider_name` is missing or blank")?;
    let prices = value.get("pricing").unwrap_or(&Value::Null);
    let price = |key| {
        per_million(prices, key).map_err(|found| {
            format!("`pricing.{key}` is {found}; expected USD per token, not negative")
        })
    };
    let parameters = match value.get("supported_parameters") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        Some(other) => {
            let found = excerpt(other.to_string().as_bytes());
            return Err(format!(
                "`supported_parameters` is {found}; expected a list"
            ));
        }
    };
    Ok(Endpoint {
        index,
        provider: provider.as_str().into(),
        tag: text(value, "tag"),
        quantization: text(value, "quantization").unwrap_or_default().into(),
        input: price("prompt")?,
        output: price("completion")?,
        cache_read: price("input_cache_read")?,
        parameters,
    })
}

fn text(value: &Value, key: &str) -> Option<String> {
    let text = value.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A price per token, as a number or as the string the gateway writes, per million of them.
fn per_million(prices: &Value, key: &str) -> Result<Option<f64>, String> {
    let usd = match prices.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    // Twelve decimals of a dollar: what a division by a million may blur is not a price.
    let usd = usd.map(|usd: f64| (usd * 1e12).round() / 1e6);
    let usd = usd.filter(|usd| usd.is_finite() && *usd >= 0.0);
    usd.map(Some).ok_or_else(|| {
        let found = prices.get(key).map(Value::to_string).unwrap_or_default();
        excerpt(found.as_bytes())
    })
}
