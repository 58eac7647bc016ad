//! Tokens and money, as reported (06 §5).

use serde::{Deserialize, Serialize};

use crate::words::words;

/// Token counts by class. `None` is "not reported", `Some(0)` is "zero reported".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tokens {
    /// Input billed in full, cache writes included.
    pub uncached_input: Option<u64>,
    /// Input read from the provider's cache.
    pub cached_input: Option<u64>,
    /// Output without reasoning.
    pub output: Option<u64>,
    /// Reasoning output.
    pub reasoning: Option<u64>,
    /// Tokens written to the cache; an annotation inside `uncached_input`.
    pub cache_write: Option<u64>,
}

impl Tokens {
    /// Adds class by class; a class is `None` only where neither side reported it. Figures come from
    /// servers and files: a sum that no count can hold is the largest there is.
    pub fn add(&mut self, other: &Self) {
        fn sum(a: &mut Option<u64>, b: Option<u64>) {
            if let Some(b) = b {
                *a = Some(a.unwrap_or(0).saturating_add(b));
            }
        }
        sum(&mut self.uncached_input, other.uncached_input);
        sum(&mut self.cached_input, other.cached_input);
        sum(&mut self.output, other.output);
        sum(&mut self.reasoning, other.reasoning);
        sum(&mut self.cache_write, other.cache_write);
    }

    /// Uncached and cached input; `None` where neither was reported.
    pub fn input(&self) -> Option<u64> {
        either(self.uncached_input, self.cached_input)
    }

    /// Output and reasoning; `None` where neither was reported.
    pub fn completion(&self) -> Option<u64> {
        either(self.output, self.reasoning)
    }
}

fn either(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    }
}

/// What a call cost, in USD, on both bases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// At the list prices given at launch; `None` where a part has no price (R52).
    pub comparable: Option<f64>,
    /// As the gateway reported it; `None` where it reported none.
    pub actual: Option<f64>,
}

/// List prices of a model, in USD per million tokens (R52).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListPrices {
    /// Input billed in full.
    pub uncached_input: f64,
    /// Input read from the cache.
    pub cached_input: f64,
    /// Output; reasoning is charged at the same rate.
    pub output: f64,
}

words! {
    /// Which of the two money figures a usage delta belongs to (06 §5).
    Figure ("figure") {
        /// In both: the turn produced a call or a program that gg ran.
        Work = "work",
        /// In the total alone: errors, rejections, abandoned replies.
        Total = "total",
    }
}
