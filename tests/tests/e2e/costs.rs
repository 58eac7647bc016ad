//! What a run cost: as reported, as listed, and what nobody priced (06 §5, R35, R52).

use serde_json::{Value, json};
use tests::gateway::{Answer, usage};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::common::turns;

/// A session of listings, one for each usage, and a finish that costs nothing.
fn spending(launch: Launch, usages: impl IntoIterator<Item = Option<Value>>) -> Run {
    let listing = |usage| Answer::call("list_dir", json!({})).using(usage);
    let mut answers: Vec<Answer> = usages.into_iter().map(listing).collect();
    answers.push(Answer::finish("Done.").using(Some(usage(0, 0, 0, Some(0.0)))));
    Run::builder().launch(launch).answers(turns(answers)).run()
}

fn listed() -> Launch {
    Launch::live().set(
        "/modelPrices",
        json!({ MODEL: { "uncachedInput": 100.0, "cachedInput": 10.0, "output": 1000.0 } }),
    )
}

#[track_caller]
fn is_usd(value: &Value, usd: f64) {
    let found = value.as_f64().unwrap_or(f64::NAN);
    assert!((found - usd).abs() < 1e-9, "{value}, expected {usd}");
}

#[test]
fn f87_a_total_says_what_it_lacks() {
    let priced = usage(1_000, 0, 20, Some(0.5));
    let unpriced = usage(2_000, 0, 30, None);
    let run = spending(Launch::live(), [Some(priced), Some(unpriced), None]);
    run.ended(0, "completed");
    let summary = run.summary();
    is_usd(&summary["cost"], 0.5);
    assert_eq!(summary["unpricedCalls"], 2);
    assert_eq!(summary["unpricedTokens"], 2_030);
    assert_eq!(summary["comparableCost"], Value::Null);
    let slot = run.event("slot_usage");
    assert_eq!(slot["unpricedCalls"], 2);
    assert_eq!(slot["cost"]["comparable"], Value::Null);
    assert_eq!(slot["tokens"]["output"], 50);
}

#[test]
fn f88_cached_tokens_lie_inside_the_prompt_and_absurd_ones_are_clamped() {
    let sound = usage(1_000, 900, 10, Some(0.0));
    let absurd = usage(1_000, 5_000, 10, Some(0.0));
    let run = spending(Launch::live(), [Some(sound), Some(absurd.clone())]);
    run.ended(0, "completed");
    let deltas = run.events("usage");
    assert_eq!(deltas[0]["tokens"]["uncachedInput"], 100);
    assert_eq!(deltas[0]["tokens"]["cachedInput"], 900);
    assert!(deltas[0].get("clamped").is_none());
    let sum = deltas[1]["tokens"]["uncachedInput"].as_u64().unwrap()
        + deltas[1]["tokens"]["cachedInput"].as_u64().unwrap();
    assert_eq!(sum, 1_000);
    assert_eq!(deltas[1]["clamped"], true);
    assert_eq!(deltas[1]["wire"], absurd, "as the provider wrote it");
}

#[test]
fn f90_the_gateways_price_rules_the_ceiling_and_the_list_only_compares() {
    // 0.0001 as reported; (100 * 100 + 900 * 10 + 981 * 1000) / 1e6 = 1.0 by the list.
    let cheap = || Some(usage(1_000, 900, 981, Some(0.0001)));
    let run = spending(listed().limit("maxCost", 0.5), [cheap(), cheap()]);
    run.ended(0, "completed");
    is_usd(&run.summary()["cost"], 0.0002);
    is_usd(&run.summary()["comparableCost"], 2.0);
    is_usd(&run.event("slot_usage")["workCost"]["comparable"], 2.0);
}

#[test]
fn work_is_what_was_carried_out_and_the_total_is_everything() {
    let spent = || Some(usage(1_000, 0, 20, Some(0.25)));
    let answers = [
        Answer::call("list_dir", json!({})).using(spent()),
        Answer::text("No call.").using(spent()),
        Answer::call("no_such_tool", json!({})).using(spent()),
        Answer::call("list_dir", json!({}))
            .using(spent())
            .ending(Some("length")),
    ];
    let run = Run::builder()
        .answers(tests::gateway::script(
            answers
                .into_iter()
                .chain([Answer::finish("Done.").using(spent())]),
        ))
        .run();
    run.ended(0, "completed");
    let figures: Vec<&Value> = run.events("usage").iter().map(|it| &it["figure"]).collect();
    assert_eq!(figures, ["work", "total", "total", "total", "work"]);
    is_usd(&run.summary()["cost"], 1.25);
    is_usd(&run.summary()["workCost"], 0.5);
    assert_eq!(run.summary()["rejectedResponses"]["count"], 1);
    is_usd(&run.summary()["rejectedResponses"]["cost"], 0.25);
    let told: Vec<&str> = run.logs("warn");
    assert!(
        told.iter().any(|text| text.contains("called no tool")),
        "{told:?}"
    );
}
