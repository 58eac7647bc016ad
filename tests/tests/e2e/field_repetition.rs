//! F113: a reply that goes round in circles is dropped, asked again and paid for (01 §7, R4, R60).

use std::fmt::Write as _;

use serde_json::{Value, json};
use tests::gateway::{
    Answer, End, Family, Fault, Gateway, Lookups, Market, Provider, Reply, Request,
};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::{moves, retries};

const MODEL: &str = "acme/coder-1";

/// The seed's knobs, the run of saturated words as given.
pub(crate) fn armed(names: &[&str], min_saturated_run: u64) -> Launch {
    Launch::on(MODEL, names)
        .limit("maxModelRetries", 1)
        .limit("modelStreamIdleSecs", 10)
        .root(
            "/loopDetection",
            json!({
                "enabled": true, "windowWords": 256, "repeatThreshold": 32, "minOffenders": 2,
                "minSaturatedRun": min_saturated_run, "maxResponseChars": 250_000,
            }),
        )
}

/// Streams what `make` makes of the answer and stays: only a reader that hangs up ends it.
fn endless(make: impl Fn(Answer) -> Answer + Send + Sync + 'static) -> Fault {
    Fault::sent(move |answer| {
        let mut reply = Reply::from(make(Answer {
            calls: Vec::new(),
            delta_chars: 1_000,
            ..answer
        }));
        // Without finish reason, usage and end.
        let kept = reply.steps.len() - 3;
        reply.said = None;
        reply.take(kept).ending(End::HoldOpen)
    })
}

pub(crate) fn looping_content(unit: &'static str, times: usize) -> Fault {
    endless(move |answer| Answer {
        text: Some(unit.repeat(times)),
        finish_reason: Some("stop".to_owned()),
        ..answer
    })
}

fn played(market: &Market, launch: Launch) -> Run {
    let script = |request: &Request, _: usize| match request.turn() {
        0 => Answer::call("list_dir", json!({})),
        _ => Answer::finish("Done."),
    };
    Run::builder()
        .launch(launch)
        .gateway(Gateway::start(market.serve(script)))
        .run()
}

/// One reply of these sizes was dropped, asked again, told and paid for.
#[track_caller]
fn dropped_once(fault: Fault, min_saturated_run: u64, words: u64, chars: u64) -> Run {
    let market = Market::new([Provider::new("Acme", Family::OpenAi).fault(1, fault)])
        .with_lookups(Lookups::After(1));
    let run = played(&market, armed(&["Acme"], min_saturated_run));
    run.ended(0, "completed");
    let gateway = run.gateway.as_ref().unwrap();
    assert_eq!(
        gateway.sent_whole(1, crate::common::CEILING),
        Some(false),
        "the connection was dropped"
    );
    assert_eq!(run.outcomes(), ["progressed", "finished"]);
    let outcome = run.events("turn_outcome")[1];
    for (field, expected) in [
        ("loopAborts", 1),
        ("loopAbortWords", words),
        ("loopAbortChars", chars),
    ] {
        assert_eq!(outcome[field], expected, "{field}\n{}", run.describe());
        assert_eq!(run.summary()["errors"][field], expected, "{field}");
        assert!(run.events("turn_outcome")[0].get(field).is_none());
    }
    assert_eq!(retries(&run).len(), 1, "{}", run.describe());
    let told = run
        .logs("warn")
        .into_iter()
        .filter(|text| text.contains(&words.to_string()) && text.contains(&chars.to_string()));
    assert!(told.count() >= 1, "{:?}", run.logs("warn"));
    assert_eq!(run.summary()["errors"]["errors"], 0);
    priced(&run, &market);
    // Not a word of it is in a window, in the stream or among the journal's replies.
    let requests = gateway.requests();
    let asked: Vec<&[u8]> = requests
        .iter()
        .filter(|request| request.method == "POST")
        .map(|request| &*request.body)
        .collect();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[1], asked[2]);
    assert!(!run.stdout.contains("void"));
    run
}

/// The dropped reply was looked up until it was found, and its price is in the totals.
#[track_caller]
fn priced(run: &Run, market: &Market) {
    let ledger = market.ledger();
    let lost = &ledger[1];
    assert_eq!(market.looked_up(), vec![lost.generation.clone(); 2]);
    let cost: f64 = ledger.iter().map(|account| account.cost).sum();
    let found = run.summary()["cost"].as_f64().unwrap();
    assert!((found - cost).abs() < 1e-9, "{found} and {cost}");
    assert_eq!(run.summary()["loopAbortUnpriced"], 0);
    let deltas: Vec<&Value> = run
        .events("usage")
        .into_iter()
        .filter(|event| event["figure"] == "total")
        .collect();
    assert_eq!(deltas.len(), 1, "{deltas:?}");
    let delta = deltas[0]["cost"]["actual"].as_f64().unwrap();
    assert!((delta - lost.cost).abs() < 1e-12, "{delta}");
    let work = run.summary()["workCost"].as_f64().unwrap();
    assert!((found - work - lost.cost).abs() < 1e-9, "{work}");
}

#[test]
fn f113_a_loop_in_the_text_is_dropped_early() {
    dropped_once(looping_content("void 0;\n", 30_000), 3_000, 3_065, 12_261);
}

#[test]
fn f113_a_loop_without_blanks_is_three_slices() {
    // A run of 128 characters is a word, and 128 is 2 more than a multiple of 6: three words take
    // turns. The second of them passes 32 occurrences at word 98, and 300 words are saturated at
    // word 397, the last character of which is 397 * 128.
    dropped_once(looping_content("void0;", 30_000), 300, 397, 397 * 128);
}

#[test]
fn f113_a_loop_in_reasoning_is_dropped_alike() {
    let fault = endless(|answer| Answer {
        reasoning: Some("void 0;\n".repeat(30_000)),
        ..answer
    });
    dropped_once(fault, 3_000, 3_065, 12_261);
}

#[test]
fn f113_a_loop_in_arguments_is_dropped_with_its_escapes_undone() {
    let market = Market::new([Provider::new("Acme", Family::OpenAi).fault(
        1,
        endless(|answer| {
            let program = "void 0;\n".repeat(30_000);
            answer.and_call("write_file", json!({ "contents": program }))
        }),
    )]);
    let run = played(&market, armed(&["Acme"], 3_000));
    run.ended(0, "completed");
    let outcome = run.events("turn_outcome")[1];
    assert_eq!(outcome["loopAborts"], 1, "{}", run.describe());
    // The key and its quotes are a word more or none, as they are told apart.
    let words = outcome["loopAbortWords"].as_u64().unwrap();
    assert!((3_065..3_070).contains(&words), "{words}");
    let chars = outcome["loopAbortChars"].as_u64().unwrap();
    assert!((12_261..12_300).contains(&chars), "{chars}");
}

#[test]
fn f113_many_different_numbers_are_no_loop() {
    let mut literal = String::from("const TILES = [\n");
    for n in 0..1_504 {
        write!(literal, "  {}, ", n * 7_919 % 100_003).unwrap();
        if n % 8 == 7 {
            literal.push('\n');
        }
    }
    literal.push_str("];\n");
    let market = Market::new([Provider::new("Acme", Family::OpenAi)]);
    let text = literal.clone();
    let script = move |request: &Request, _: usize| match request.turn() {
        0 => Answer::call(
            "write_file",
            json!({ "path": "tiles.js", "contents": text }),
        )
        .saying(&text)
        .thinking(&text)
        .in_deltas_of(7),
        _ => Answer::finish("Done."),
    };
    let run = Run::builder()
        .launch(armed(&["Acme"], 3_000))
        .gateway(Gateway::start(market.serve(script)))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("tiles.js"), literal);
    assert_eq!(retries(&run).len(), 0);
    assert_eq!(run.summary()["errors"]["loopAborts"], 0);
    assert_eq!(market.looked_up(), Vec::<String>::new());
}

#[test]
fn a_reply_that_is_too_long_is_dropped_whatever_it_says() {
    // Words that do not repeat: only the backstop ends them.
    let fault = endless(|answer| Answer {
        text: Some((0..60_000).fold(String::new(), |mut text, n| {
            write!(text, "w{n} ").unwrap();
            text
        })),
        ..answer
    });
    let market = Market::new([Provider::new("Acme", Family::OpenAi).fault(1, fault)]);
    let run = played(&market, armed(&["Acme"], 3_000));
    run.ended(0, "completed");
    let outcome = run.events("turn_outcome")[1];
    assert_eq!(outcome["loopAborts"], 1, "{}", run.describe());
    let chars = outcome["loopAbortChars"].as_u64().unwrap();
    assert!((250_001..251_001).contains(&chars), "{chars}");
}

#[test]
fn an_unarmed_detector_lets_a_loop_through() {
    let market = Market::new([Provider::new("Acme", Family::OpenAi)]);
    let script = |request: &Request, _: usize| match request.turn() {
        0 => Answer::call("list_dir", json!({})).saying(&"void 0;\n".repeat(30_000)),
        _ => Answer::finish("Done."),
    };
    for launch in [
        Launch::on(MODEL, &["Acme"]),
        armed(&["Acme"], 3_000).root("/loopDetection/enabled", false),
    ] {
        let run = Run::builder()
            .launch(launch)
            .gateway(Gateway::start(market.serve(script)))
            .run();
        run.ended(0, "completed");
        assert_eq!(retries(&run).len(), 0);
    }
}

#[test]
fn a_loop_on_every_attempt_is_an_error_turn_and_moves_nothing() {
    let market = Market::new([
        Provider::new("Acme", Family::OpenAi).faults([1, 2], &looping_content("void 0;\n", 30_000)),
        Provider::new("Bolt", Family::OpenAi),
    ]);
    let run = played(&market, armed(&["Acme", "Bolt"], 3_000));
    run.ended(0, "completed");
    assert_eq!(
        run.outcomes(),
        ["progressed", "model_response_loop", "finished"]
    );
    assert_eq!(moves(&run), Vec::<[&str; 3]>::new());
    assert_eq!([market.asked("Acme"), market.asked("Bolt")], [4, 0]);
    assert_eq!(run.summary()["errors"]["loopAborts"], 2);
    assert_eq!(run.summary()["errors"]["modelApi"], 1);
    assert_eq!(run.summary()["loopAbortUnpriced"], 0);
    let cost: f64 = market.ledger().iter().map(|account| account.cost).sum();
    let found = run.summary()["cost"].as_f64().unwrap();
    assert!((found - cost).abs() < 1e-9, "{found} and {cost}");
}

#[test]
fn a_dropped_reply_without_a_price_is_counted() {
    let market = Market::new([
        Provider::new("Acme", Family::OpenAi).fault(1, looping_content("void 0;\n", 30_000))
    ])
    .with_lookups(Lookups::Refused(403));
    let run = played(&market, armed(&["Acme"], 3_000));
    run.ended(0, "completed");
    assert_eq!(run.summary()["loopAbortUnpriced"], 1);
    let reported: f64 = [0, 2].map(|n: usize| market.ledger()[n].cost).iter().sum();
    let found = run.summary()["cost"].as_f64().unwrap();
    assert!((found - reported).abs() < 1e-9, "{found} and {reported}");
}

#[test]
fn an_armed_detector_tells_its_figures_at_launch() {
    let market = Market::new([Provider::new("Acme", Family::OpenAi)]);
    let run = played(&market, armed(&["Acme"], 2_999));
    run.ended(0, "completed");
    let told = run.logs("info").into_iter().any(|text| {
        ["256", "32", "2", "2999", "250000"]
            .iter()
            .all(|figure| text.replace([',', '_'], "").contains(figure))
    });
    assert!(told, "{:?}", run.logs("info"));
}
