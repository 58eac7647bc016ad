//! The limits (01 §5).

use super::{Count, Fields, Span};
use crate::limits::Limits;

pub(super) fn read(fields: &Fields<'_>) -> Option<Limits> {
    let positive = |key| fields.whole(key, Count::from(1));
    let max_parallel = positive("maxParallel");
    let replay_max_bytes = positive("replayMaxBytes");
    let limits = Limits {
        max_parallel: max_parallel.unwrap_or_default(),
        replay_max_bytes: replay_max_bytes.unwrap_or_default(),
        max_turns: positive("maxTurns"),
        max_runtime_secs: positive("maxRuntimeSecs"),
        max_consecutive_errors: positive("maxConsecutiveErrors"),
        max_error_rate: fields.number("maxErrorRate", Span::Between(0.0, 1.0)),
        error_rate_window: positive("errorRateWindow"),
        max_cost: fields.number("maxCost", Span::Positive),
        model_call_timeout_secs: positive("modelCallTimeoutSecs"),
        model_stream_idle_secs: positive("modelStreamIdleSecs"),
        max_model_retries: fields.whole("maxModelRetries", Count::from(0)),
        model_retry_max_delay_secs: positive("modelRetryMaxDelaySecs"),
        provider_cache_miss_limit: positive("providerCacheMissLimit"),
        max_agents: positive("maxAgents"),
    };

    for (written, partner) in [
        ("maxErrorRate", "errorRateWindow"),
        ("errorRateWindow", "maxErrorRate"),
    ] {
        if fields.has(written) && !fields.has(partner) {
            fields.report.refuse_with_hint(
                &fields.at(partner),
                format!("is missing; `{written}` is written and the two go together"),
                format!("write `{partner}` too, or leave `{written}` out"),
            );
        }
    }
    if let (Some(window), Some(turns)) = (limits.error_rate_window, limits.max_turns)
        && window >= turns
    {
        fields.report.warn(
            &fields.at("errorRateWindow"),
            format_args!(
                "is {window} and maxTurns is {turns}: the error rate is judged at the last turn \
                 at the earliest"
            ),
        );
    }
    max_parallel.and(replay_max_bytes).map(|_| limits)
}
