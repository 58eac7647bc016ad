//! The rules of providers, each broken by the smallest change of the good stream.

use serde_json::json;

use super::*;

#[test]
fn every_rule_of_providers_is_broken_by_a_small_change() {
    let table = [
        (Drop("provider_switch", 0), rule::SWITCH),
        (Twice("provider_switch", 0), rule::SWITCH),
        (Set("provider_switch", 0, "/to", json!("R")), rule::SWITCH),
        (
            Set("provider_switch", 0, "/modelId", json!("n")),
            rule::SWITCH,
        ),
        (
            Set("provider_switch", 0, "/fault", json!("mood")),
            rule::SWITCH,
        ),
        (
            Set("provider_switch", 0, "/fault", json!("unavailable")),
            rule::SWITCH,
        ),
        (
            Set("provider_switch", 0, "/fault", json!("cache_miss")),
            rule::SWITCH,
        ),
        (Drop("log", 0), rule::SWITCH),
        (Drop("log", 1), rule::SWITCH),
        (Drop("log", 2), rule::SWITCH),
        (Set("log", 0, "/agentId", json!("agent-1")), rule::SWITCH),
        (Drop("provider_fault", 0), rule::SWITCH),
        (
            Set("provider_fault", 0, "/provider", json!("P")),
            rule::SWITCH,
        ),
        (
            Set("provider_fault", 0, "/kind", json!("stall")),
            rule::SWITCH,
        ),
        (
            Set(
                "session_started",
                0,
                "/limits/providerCacheMissLimit",
                json!(2),
            ),
            rule::SWITCH,
        ),
        (
            Set("session_started", 0, "/limits/maxModelRetries", json!(2)),
            rule::SWITCH,
        ),
        (Set("prompt", 0, "/provider", json!("Q")), rule::SWITCH),
        (Set("prefix_broken", 0, "/message", json!(6)), rule::PREFIX),
        (Set("prefix_broken", 0, "/act", json!("mood")), rule::PREFIX),
        (
            Set("provider_switch", 0, "/turn", json!(null)),
            rule::ENVELOPE,
        ),
        (Set("usage", 5, "/turn", json!(3)), rule::AFTER_END),
        (Set("usage", 5, "/figure", json!("work")), rule::AFTER_END),
        // Sums.
        (Drop("usage", 5), rule::SUMMARY_SUMS),
        (
            Set("session_summary", 0, "/loopAbortUnpriced", json!(0)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/providerSwitches", json!(1)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/prefixBreaks", json!(0)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/providerFaults/cacheMiss", json!(2)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/modelRetries", json!(0)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/errors/loopAbortWords", json!(79)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/providerStats/1/calls", json!(1)),
            rule::SUMMARY_SUMS,
        ),
    ];
    assert_breaks(&table);
}
