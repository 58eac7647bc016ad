//! Bad days at the gateway: every fault of the right kind in the record, every move justified, and
//! the end as the specification says (01 §6, 06 §6).

use std::time::{Duration, SystemTime};

use serde_json::json;
use tests::gateway::{Answer, Family, Fault, Gateway, Market, Provider, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::{asked_in_turn, moves, provider_faults, retries};

pub(crate) const MODEL: &str = "acme/coder-1";

/// A first turn that makes the prefix long enough for a miss to count, then listings.
fn reading(turns: usize) -> impl FnMut(&Request, usize) -> Answer + Send + 'static {
    move |request, _| match request.turn() {
        0 => Answer::call("read_file", json!({ "path": "long.txt" })),
        n if n + 1 < turns => Answer::call("list_dir", json!({})),
        _ => Answer::finish("Done."),
    }
}

/// Some 10,000 tokens of text.
fn long_text() -> String {
    format!("{}\n", "word ".repeat(40)).repeat(200)
}

/// A run of `turns` at these providers, in their order, each retried once before a move.
pub(crate) fn play(names: &[&str], market: &Market, turns: usize) -> Run {
    play_with(names, market, turns, |launch| launch)
}

pub(crate) fn play_with(
    names: &[&str],
    market: &Market,
    turns: usize,
    change: impl FnOnce(Launch) -> Launch,
) -> Run {
    let launch = Launch::on(MODEL, names).limit("maxModelRetries", 1);
    Run::builder()
        .file("long.txt", long_text())
        .launch(change(launch))
        .gateway(Gateway::start(market.serve(reading(turns))))
        .run()
}

fn provider(name: &str) -> Provider {
    Provider::new(name, Family::OpenAi)
}

pub(crate) fn in_stream(code: u16) -> Fault {
    Fault::InStream {
        code,
        message: "upstream fell over".to_owned(),
    }
}

#[test]
fn a_bad_day_is_told_fault_by_fault() {
    let ahead = SystemTime::now() + Duration::from_secs(4);
    let date = httpdate::fmt_http_date(ahead);
    let market = Market::new([
        provider("Acme")
            .fault(1, Fault::Stall)
            .fault(3, Fault::slow_down(&date))
            .fault(5, Fault::bad_gateway_page())
            .fault(6, in_stream(502)),
        provider("Bolt").always(Fault::excluded()),
        provider("Coda").fault(1, Fault::Miss).fault(3, Fault::Miss),
        provider("Dyna").fault(2, Fault::ServedBy("Elsewhere".to_owned())),
    ]);
    let names = ["Acme", "Bolt", "Coda", "Dyna"];
    let run = play_with(&names, &market, 30, |launch| {
        launch.limit("modelStreamIdleSecs", 3)
    });
    assert_eq!(run.code, Some(1), "{}", run.describe());

    assert_eq!(
        provider_faults(&run),
        [
            ["stall", "Acme"],
            ["cache_miss", "Coda"],
            ["cache_miss", "Coda"]
        ]
    );
    assert_eq!(
        moves(&run),
        [
            ["Acme", "Bolt", "failed_call"],
            ["Bolt", "Coda", "unavailable"],
            ["Coda", "Dyna", "cache_miss"],
        ]
    );
    for event in run.events("provider_switch") {
        assert_eq!(event["modelId"], MODEL);
    }
    assert_eq!(asked_in_turn(&run), names);
    // Acme: three good ones, a stall, a 429, a page and an error in a stream. Bolt is asked once,
    // Coda four times, with two misses; Dyna serves two and has the third served elsewhere.
    assert_eq!(names.map(|name| market.asked(name)), [7, 1, 4, 3]);

    let retries = retries(&run);
    assert_eq!(retries.len(), 3, "{retries:?}");
    for (retry, cause) in retries.iter().zip(["stall", "429", "502"]) {
        assert!(retry.contains(cause) && retry.contains("Acme"), "{retry}");
        assert!(retry.contains("1 of 1"), "{retry}");
    }
    let outcomes = run.outcomes();
    let (last, before) = outcomes.split_last().unwrap();
    assert_eq!(*last, "model_provider_mismatch");
    assert!(before.iter().all(|outcome| *outcome == "progressed"));
    assert_eq!(before.len(), 9);
    assert!(run.stderr.contains("Dyna") && run.stderr.contains("Elsewhere"));

    let summary = run.summary();
    assert_eq!(
        summary["providerFaults"],
        json!({ "stall": 1, "cacheMiss": 2 })
    );
    assert_eq!(summary["providerSwitches"], 3);
    assert_eq!(summary["modelRetries"], 3);
    assert_eq!(summary["errors"]["errors"], 1);
    let served: Vec<&str> = summary["providerStats"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|row| row["provider"].as_str())
        .collect();
    for name in ["Acme", "Coda", "Dyna"] {
        assert!(served.contains(&name), "{served:?}");
    }
}

#[test]
fn a_miss_is_told_with_what_was_shared_and_what_was_read() {
    let market = Market::new([provider("Acme").fault(2, Fault::Miss)]);
    let run = play(&["Acme"], &market, 5);
    run.ended(0, "completed");
    let fault = run.event("provider_fault");
    assert_eq!(fault["modelId"], MODEL);
    assert_eq!(fault["cachedTokens"], 0);
    let shared = fault["sharedPrefixTokens"].as_u64().unwrap();
    let sent = market.ledger()[1].tokens.prompt;
    assert!(shared >= 4_096 && shared <= sent, "{shared} of {sent}");
    assert!(shared * 10 >= sent * 9, "{shared} of {sent}");
}

#[test]
fn a_short_prefix_is_never_missed() {
    let market = Market::new([provider("Acme").faults(0..9, &Fault::Miss)]);
    // Nothing long is read: some 2,000 tokens are all there is.
    let gateway = Gateway::start(market.serve(|request: &Request, _| match request.turn() {
        0..5 => Answer::call("list_dir", json!({})),
        _ => Answer::finish("Done."),
    }));
    let run = Run::builder()
        .launch(Launch::on(MODEL, &["Acme"]))
        .gateway(gateway)
        .run();
    run.ended(0, "completed");
    assert!(
        market
            .ledger()
            .iter()
            .all(|account| account.tokens.prompt < 4_096)
    );
    assert_eq!(provider_faults(&run), Vec::<[&str; 2]>::new());
}

#[test]
fn the_limit_of_misses_is_the_launchs() {
    for (limit, stayed) in [(1, 3), (3, 5)] {
        let market = Market::new([
            provider("Acme").faults(2..20, &Fault::Miss),
            provider("Bolt"),
        ]);
        let run = play_with(&["Acme", "Bolt"], &market, 9, |launch| {
            launch.limit("providerCacheMissLimit", limit)
        });
        run.ended(0, "completed");
        assert_eq!(moves(&run), [["Acme", "Bolt", "cache_miss"]]);
        assert_eq!(market.asked("Acme"), stayed, "limit {limit}");
        assert_eq!(run.summary()["providerFaults"]["cacheMiss"], limit);
        // The replies stood: no turn was asked twice.
        assert_eq!(run.outcomes().len(), 9);
        assert_eq!(run.summary()["modelRetries"], 0);
    }
}

#[test]
fn misses_at_the_last_candidate_are_told_and_nothing_else() {
    let market = Market::new([provider("Acme").faults(2..20, &Fault::Miss)]);
    let run = play(&["Acme"], &market, 8);
    run.ended(0, "completed");
    assert_eq!(run.summary()["providerFaults"]["cacheMiss"], 6);
    assert_eq!(moves(&run), Vec::<[&str; 3]>::new());
}

#[test]
fn a_404_moves_at_once_and_is_final_at_the_last() {
    let market = Market::new([
        provider("Acme").always(Fault::excluded()),
        provider("Bolt").always(Fault::excluded()),
    ]);
    let run = play(&["Acme", "Bolt"], &market, 3);
    run.ended(1, "model_error");
    assert_eq!(run.outcomes(), ["model_rejected"]);
    assert_eq!(moves(&run), [["Acme", "Bolt", "unavailable"]]);
    assert_eq!([market.asked("Acme"), market.asked("Bolt")], [1, 1]);
    assert_eq!(retries(&run).len(), 0, "{}", run.describe());
}

#[test]
fn a_provider_that_is_not_there_is_a_404() {
    let market = Market::new([provider("Bolt")]);
    let run = play(&["Acme", "Bolt"], &market, 3);
    run.ended(0, "completed");
    assert_eq!(moves(&run), [["Acme", "Bolt", "unavailable"]]);
}

#[test]
fn every_candidate_has_a_schedule_of_its_own_and_the_last_one_ends_it() {
    let market = Market::new([
        provider("Acme").always(Fault::status(503, "overloaded")),
        provider("Bolt").always(Fault::reset()),
    ]);
    let run = play(&["Acme", "Bolt"], &market, 3);
    run.ended(1, "model_error");
    assert_eq!(run.outcomes(), ["model_retry_exhausted"]);
    assert_eq!(moves(&run), [["Acme", "Bolt", "failed_call"]]);
    assert_eq!([market.asked("Acme"), market.asked("Bolt")], [2, 2]);
    assert_eq!(run.summary()["modelRetries"], 2);
}

#[test]
fn a_status_that_is_final_moves_nothing() {
    for (status, ended) in [
        (401, "auth_error"),
        (400, "model_error"),
        (402, "model_error"),
    ] {
        let market = Market::new([
            provider("Acme").always(Fault::status(status, "no")),
            provider("Bolt"),
        ]);
        let run = play(&["Acme", "Bolt"], &market, 3);
        run.ended(1, ended);
        assert_eq!(moves(&run), Vec::<[&str; 3]>::new(), "{status}");
        assert_eq!([market.asked("Acme"), market.asked("Bolt")], [1, 0]);
    }
}

#[test]
fn a_silent_change_of_provider_ends_the_run_and_its_spelling_does_not() {
    let market = Market::new([
        provider("Z.AI")
            .saying("z-ai")
            .fault(2, Fault::ServedBy("Bolt".to_owned())),
        provider("Bolt"),
    ]);
    let run = play(&["Z.AI", "Bolt"], &market, 5);
    assert_eq!(run.code, Some(1), "{}", run.describe());
    assert_eq!(
        run.outcomes(),
        ["progressed", "progressed", "model_provider_mismatch"]
    );
    assert_eq!(moves(&run), Vec::<[&str; 3]>::new());
    let journal = String::from_utf8(run.journal()).unwrap();
    assert!(journal.contains("provider_mismatch"));
    assert!(run.stderr.contains("Z.AI") && run.stderr.contains("Bolt"));
}

#[test]
fn a_provider_that_changes_its_spelling_is_one_in_every_sum() {
    let market = Market::new([provider("Z.AI")
        .fault(1, Fault::ServedBy("z-ai".to_owned()))
        .fault(2, Fault::ServedBy("Z AI".to_owned()))
        .fault(3, Fault::Miss)]);
    let run = play(&["Z.AI"], &market, 6);
    run.ended(0, "completed");
    let rows = run.summary()["providerStats"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (&rows[0]["provider"], &rows[0]["calls"]),
        (&json!("Z.AI"), &json!(6))
    );
    // Its cache is one as well: what it left under one name is missed under another.
    assert_eq!(provider_faults(&run), [["cache_miss", "Z.AI"]]);
    assert_eq!(run.events("prefix_broken").len(), 0);
}
