//! Execution limits: the ceilings of a run and the figures of its model client (01 §5).

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number;
use crate::validate::Shape;

/// Ceilings and the model client's figures. An absent ceiling is unarmed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limits {
    /// Agents running at once, of every kind. Past it they queue; it never stops a run.
    #[serde(deserialize_with = "number::read_whole")]
    #[schemars(range(min = 1))]
    pub max_parallel: u64,
    /// Bytes of the capture journal. Crossing it stops the capture, never the run.
    #[serde(deserialize_with = "number::read_whole")]
    #[schemars(range(min = 1))]
    pub replay_max_bytes: u64,
    /// Answered turns of one agent, its successors included.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub max_turns: Option<u64>,
    /// Wall clock of the run, in seconds.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub max_runtime_secs: Option<u64>,
    /// Error turns in a row of one agent.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub max_consecutive_errors: Option<u64>,
    /// Share of error turns among an agent's last `errorRateWindow`; the two are written together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0.0, max = 1.0))]
    pub max_error_rate: Option<f64>,
    /// Turns over which `maxErrorRate` is taken.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub error_rate_window: Option<u64>,
    /// Spend of the run, in USD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub max_cost: Option<f64>,
    /// Seconds one attempt at a model call may take in all. Absent: 900.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub model_call_timeout_secs: Option<u64>,
    /// Seconds of silence after which an attempt is given up. Absent: 60.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub model_stream_idle_secs: Option<u64>,
    /// Retries after a failed first attempt. Absent: 10; 0 gives up on the first failure.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_model_retries: Option<u64>,
    /// Longest delay between two attempts, in seconds. Absent: 60.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub model_retry_max_delay_secs: Option<u64>,
    /// Cache misses before a provider is left. Absent: 2.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub provider_cache_miss_limit: Option<u64>,
    /// Agents started over the whole run; a spawn beyond it is refused.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub max_agents: Option<u64>,
}

impl Limits {
    pub(crate) const SHAPE: Shape = Shape {
        name: "Limits",
        keys: &[
            "maxParallel",
            "replayMaxBytes",
            "maxTurns",
            "maxRuntimeSecs",
            "maxConsecutiveErrors",
            "maxErrorRate",
            "errorRateWindow",
            "maxCost",
            "modelCallTimeoutSecs",
            "modelStreamIdleSecs",
            "maxModelRetries",
            "modelRetryMaxDelaySecs",
            "providerCacheMissLimit",
            "maxAgents",
        ],
        required: &["maxParallel", "replayMaxBytes"],
    };

    /// How long one attempt at a model call may take in all; 900 s where the document is silent.
    pub fn model_call_timeout(&self) -> Duration {
        Duration::from_secs(self.model_call_timeout_secs.unwrap_or(900))
    }

    /// How long an attempt may be silent; 60 s where the document is silent.
    pub fn model_stream_idle(&self) -> Duration {
        Duration::from_secs(self.model_stream_idle_secs.unwrap_or(60))
    }

    /// Retries after the first attempt; 10 where the document is silent. A figure past `u32` is
    /// as good as endless and reads as `u32::MAX`.
    pub fn max_model_retries(&self) -> u32 {
        u32::try_from(self.max_model_retries.unwrap_or(10)).unwrap_or(u32::MAX)
    }

    /// The cap of one backoff delay; 60 s where the document is silent.
    pub fn model_retry_max_delay(&self) -> Duration {
        Duration::from_secs(self.model_retry_max_delay_secs.unwrap_or(60))
    }

    /// Cache misses at which a provider is left; 2 where the document is silent.
    pub fn provider_cache_miss_limit(&self) -> u64 {
        self.provider_cache_miss_limit.unwrap_or(2)
    }

    /// Every figure in force by its key: armed ceilings, the two required figures, and the model
    /// client's, written or not. Unarmed ceilings are absent.
    pub fn in_force(&self) -> BTreeMap<&'static str, f64> {
        let counts = [
            ("maxParallel", Some(self.max_parallel)),
            ("replayMaxBytes", Some(self.replay_max_bytes)),
            ("maxTurns", self.max_turns),
            ("maxRuntimeSecs", self.max_runtime_secs),
            ("maxConsecutiveErrors", self.max_consecutive_errors),
            ("errorRateWindow", self.error_rate_window),
            (
                "modelCallTimeoutSecs",
                Some(self.model_call_timeout().as_secs()),
            ),
            (
                "modelStreamIdleSecs",
                Some(self.model_stream_idle().as_secs()),
            ),
            (
                "maxModelRetries",
                Some(self.max_model_retries.unwrap_or(10)),
            ),
            (
                "modelRetryMaxDelaySecs",
                Some(self.model_retry_max_delay().as_secs()),
            ),
            (
                "providerCacheMissLimit",
                Some(self.provider_cache_miss_limit()),
            ),
            ("maxAgents", self.max_agents),
        ];
        let figures = [
            ("maxErrorRate", self.max_error_rate),
            ("maxCost", self.max_cost),
        ];
        let counts = counts
            .into_iter()
            .filter_map(|(key, count)| Some((key, count? as f64)));
        let figures = figures
            .into_iter()
            .filter_map(|(key, figure)| Some((key, figure?)));
        counts.chain(figures).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_names_a_figure_for_the_model_client_alone() {
        let limits = Limits {
            max_parallel: 4,
            replay_max_bytes: 1024,
            max_turns: Some(80),
            ..Limits::default()
        };
        assert_eq!(limits.model_call_timeout(), Duration::from_secs(900));
        assert_eq!(limits.model_stream_idle(), Duration::from_secs(60));
        assert_eq!(limits.max_model_retries(), 10);
        assert_eq!(limits.model_retry_max_delay(), Duration::from_secs(60));
        let in_force = limits.in_force();
        assert_eq!(in_force.get("maxTurns"), Some(&80.0));
        assert!(!in_force.contains_key("maxCost"));
        assert_eq!(limits.provider_cache_miss_limit(), 2);
        assert_eq!(in_force.get("providerCacheMissLimit"), Some(&2.0));
        assert_eq!(in_force.len(), 8);
    }
}
