//! F86–F92, as far as they do not stand beside what they belong to: costs that somebody reports,
//! and limits that nobody can misread.

use serde_json::{Value, json};
use tests::gateway::prices::Prices;
use tests::gateway::{Answer, Family, Fault, Gateway, Market, Provider, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::provider_day::{MODEL, play};

fn listing(turns: usize) -> impl FnMut(&Request, usize) -> Answer + Send + 'static {
    move |request, _| match request.turn() {
        n if n < turns => Answer::call("list_dir", json!({})),
        _ => Answer::finish("Done."),
    }
}

#[test]
fn f86_fifty_turns_without_a_price_are_one_warning_and_counted() {
    let market =
        Market::new([Provider::new("Acme", Family::OpenAi).faults(0..50, &Fault::NoPrice)]);
    let run = Run::builder()
        .launch(Launch::on(MODEL, &["Acme"]).limit("maxCost", 0.01))
        .gateway(Gateway::start(market.serve(listing(50))))
        .run();
    run.ended(0, "completed");
    let told = run.logs("warn");
    let told = told.iter().filter(|text| text.contains("maxCost")).count();
    assert_eq!(told, 1, "{:?}", run.logs("warn"));
    let summary = run.summary();
    assert_eq!(summary["unpricedCalls"], 50);
    let unpriced: u64 = market.ledger()[..50]
        .iter()
        .map(|account| account.tokens.prompt + account.tokens.completion)
        .sum();
    assert_eq!(summary["unpricedTokens"], unpriced);
    // The one that was priced is the total.
    let cost = summary["cost"].as_f64().unwrap();
    assert!((cost - market.ledger()[50].cost).abs() < 1e-12, "{cost}");
}

#[test]
fn a_move_changes_the_prices_and_each_provider_has_its_own_sum() {
    let market = Market::new([
        Provider::new("Acme", Family::OpenAi)
            .charging(Prices::automatic(10.0, 40.0))
            .faults([2, 3], &Fault::status(503, "overloaded")),
        Provider::new("Bolt", Family::OpenAi).charging(Prices::automatic(0.5, 2.0)),
    ]);
    let run = play(&["Acme", "Bolt"], &market, 5);
    run.ended(0, "completed");
    let ledger = market.ledger();
    let rows = run.summary()["providerStats"].as_array().unwrap();
    for (name, calls) in [("Acme", 2), ("Bolt", 3)] {
        let row = rows.iter().find(|row| row["provider"] == name).unwrap();
        assert_eq!(row["calls"], calls, "{name}");
        let own: f64 = ledger
            .iter()
            .filter(|account| account.provider == name)
            .map(|account| account.cost)
            .sum();
        let found = row["cost"]["actual"].as_f64().unwrap();
        assert!((found - own).abs() < 1e-9, "{name}: {found} and {own}");
    }
    // The price list is one for the whole model; nobody gave one.
    assert_eq!(run.summary()["comparableCost"], Value::Null);
}

/// Every key of `limits`, and the value of the six that it takes.
const LIMITS: [(&str, &[&str]); 14] = [
    ("maxParallel", &[]),
    ("replayMaxBytes", &[]),
    ("maxTurns", &[]),
    ("maxRuntimeSecs", &[]),
    ("maxConsecutiveErrors", &[]),
    ("maxErrorRate", &["0"]),
    ("errorRateWindow", &[]),
    ("maxCost", &["1.5"]),
    ("modelCallTimeoutSecs", &[]),
    ("modelStreamIdleSecs", &[]),
    ("maxModelRetries", &["0"]),
    ("modelRetryMaxDelaySecs", &[]),
    ("providerCacheMissLimit", &[]),
    ("maxAgents", &[]),
];

#[test]
fn f92_every_limit_refuses_every_bad_value_and_all_at_once() {
    for value in ["0", "-1", "1.5", "\"3\"", "1e400", "null"] {
        let text = Launch::live()
            .set("/workspaceDir", std::env::temp_dir().display().to_string())
            .set("/capabilitySet/limits", json!("LIMITS"))
            .json()
            .to_string();
        let limits: Vec<String> = LIMITS
            .iter()
            .map(|(key, _)| format!("\"{key}\":{value}"))
            .collect();
        let text = text.replace("\"LIMITS\"", &format!("{{{}}}", limits.join(",")));
        let run = Run::builder()
            .document(text)
            .gateway(Gateway::start(|_: &Request, _| Answer::finish("never")))
            .run();
        run.ended(1, "launch_refused");
        let refusals: Vec<&str> = run
            .events("log")
            .into_iter()
            .filter(|log| log["code"] == "refusal")
            .filter_map(|log| log["message"].as_str())
            .collect();
        for (key, legal) in LIMITS {
            // A refusal names its place with the key last.
            let named = refusals
                .iter()
                .filter(|text| text.contains(&format!("limits.{key}")))
                .count();
            let expected = usize::from(!legal.contains(&value));
            assert_eq!(named, expected, "{key}: {value}\n{refusals:#?}");
        }
    }
}
