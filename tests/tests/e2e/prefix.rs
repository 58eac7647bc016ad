//! What breaks the prefix of a request, and what the record says of it; and a request that has
//! outgrown its window.

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::gateway::{
    Answer, Family, Fault, Gateway, Lookups, Market, Provider, Reply, Request, Strict,
};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::common::{CEILING, moves, provider_faults};
use crate::field_repetition::{armed, looping_content};

fn plain(turns: usize) -> impl FnMut(&Request, usize) -> Answer + Send + 'static {
    move |request: &Request, _: usize| match request.turn() {
        0 => Answer::call("read_file", json!({ "path": "long.txt" })),
        turn if turn < turns => Answer::call("list_dir", json!({})),
        _ => Answer::finish("Done."),
    }
}

fn provider(name: &str) -> Provider {
    Provider::new(name, Family::OpenAi)
}

/// The prompt of a turn.
fn prompt(run: &Run, turn: &Value) -> Value {
    let mut prompts = run.events("prompt").into_iter();
    prompts
        .find(|prompt| prompt["turn"] == *turn)
        .unwrap()
        .clone()
}

#[test]
fn a_run_that_only_appends_breaks_no_prefix_though_it_moves() {
    let market = Market::new([
        provider("Acme").faults([3, 4], &Fault::status(503, "overloaded")),
        provider("Bolt"),
    ]);
    let run = Run::builder()
        .file("long.txt", "word ".repeat(8_000))
        .launch(Launch::on(MODEL, &["Acme", "Bolt"]).limit("maxModelRetries", 1))
        .gateway(Gateway::start(market.serve(plain(8))))
        .run();
    run.ended(0, "completed");
    assert_eq!(moves(&run).len(), 1);
    assert_eq!(run.events("prefix_broken").len(), 0);
    assert_eq!(run.summary()["prefixBreaks"], 0);
    // The first request at a provider finds nothing there, and nothing was to be expected.
    assert_eq!(provider_faults(&run), Vec::<[&str; 2]>::new());
    let first_at_bolt = run
        .events("usage")
        .into_iter()
        .find(|usage| usage["provider"] == "Bolt")
        .unwrap();
    assert!(first_at_bolt["expectedCachedTokens"].is_null());
    let warm = run.events("usage").last().unwrap()["expectedCachedTokens"].clone();
    assert!(warm.as_u64().unwrap() > 4_096, "{warm}");
}

#[test]
fn sealed_reasoning_left_behind_by_a_move_is_what_broke_the_prefix() {
    let market = Market::new([
        provider("Acme").faults([2, 3], &Fault::status(503, "overloaded")),
        provider("Bolt"),
    ]);
    let mut answers = plain(5);
    let thinking = move |request: &Request, n: usize| Answer {
        reasoning_details: Some(json!([
            { "type": "reasoning.encrypted", "data": format!("sealed {}", request.turn()) },
        ])),
        ..answers(request, n)
    };
    let run = Run::builder()
        .file("long.txt", "word ".repeat(8_000))
        .launch(Launch::on(MODEL, &["Acme", "Bolt"]).limit("maxModelRetries", 1))
        .gateway(Gateway::start(market.serve(thinking)))
        .run();
    run.ended(0, "completed");
    let broken = run.event("prefix_broken");
    assert_eq!(broken["act"], "provider_move", "{broken}");
    assert_eq!(broken["provider"], "Bolt");
    // System, task, the first reply: the item that Bolt is not sent was in it.
    assert_eq!(broken["message"], 2, "{broken}");
    assert!(broken["byte"].as_u64().unwrap() > 0, "{broken}");
    assert!(broken["lostTokens"].as_u64().unwrap() > 0, "{broken}");
    let prompt = prompt(&run, &broken["turn"]);
    assert_eq!(prompt["provider"], "Bolt");
    assert_eq!(run.summary()["prefixBreaks"], 1);
    assert_eq!(provider_faults(&run), Vec::<[&str; 2]>::new());
}

#[test]
fn pictures_taken_out_are_what_broke_the_prefix() {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0".to_vec();
    png.resize(1_500, 7);
    // The edit is what is looked at here.
    let strict = Some(Strict {
        prefix: false,
        ..Strict::default()
    });
    let run = Run::builder()
        .file("a.png", &png)
        .file("b.png", &png[..1_400])
        .gateway(Gateway::with_checker(
            strict,
            move |request: &Request, _: usize| -> Reply {
                // One picture is taken, two are too many.
                if request.text().matches("data:image/png").count() > 1 {
                    return Reply::status(400, "too many images in one request");
                }
                match request.turn() {
                    0 => Answer::call("read_file", json!({ "path": "a.png" })).into(),
                    1 => Answer::call("read_file", json!({ "path": "b.png" })).into(),
                    _ => Answer::finish("Seen.").into(),
                }
            },
        ))
        .run();
    run.ended(0, "completed");
    let broken = run.event("prefix_broken");
    assert_eq!(broken["act"], "pictures_refused", "{broken}");
    // System, task, the call, its result with the picture.
    assert_eq!(broken["message"], 3, "{broken}");
    assert_eq!(broken["turn"], 3, "{broken}");
    assert_eq!(run.summary()["prefixBreaks"], 1);
}

#[test]
fn f63_an_overflow_ends_the_agent_and_the_summary_says_so() {
    let body = json!({ "error": { "code": 400,
        "message": "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000." } });
    let body = body.to_string();
    let run = Run::builder()
        .answers(move |request: &Request, _: usize| -> Reply {
            match request.turn() {
                0 => Answer::call("list_dir", json!({})).into(),
                _ => Reply::status(400, &body),
            }
        })
        .run();
    run.ended(1, "model_error");
    assert_eq!(run.outcomes(), ["progressed", "model_rejected"]);
    assert_eq!(run.summary()["ranOutOfContext"], true);
    // Not asked again: it would be as long.
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 2);
}

#[test]
fn a_run_that_is_stopped_does_not_wait_for_prices_that_do_not_come() {
    let market = Market::new([provider("Acme").fault(0, looping_content("void 0;\n", 30_000))])
        .with_lookups(Lookups::Never);
    let running = Run::builder()
        .launch(armed(&["Acme"], 3_000))
        .gateway(Gateway::start(market.serve(|_: &Request, _: usize| {
            Answer::shell("echo begun; sleep 90")
        })))
        .start();
    running.wait_for_event("tool_call");
    running.signal(Signal::TERM);
    let run = running.finish();
    run.ended(0, "canceled");
    assert_eq!(run.summary()["loopAbortUnpriced"], 1);
    assert!(!market.looked_up().is_empty());
    let told = run.logs("warn");
    let unpriced = |line: &&&str| line.contains("without a price");
    assert_eq!(told.iter().filter(unpriced).count(), 1, "{told:?}");
}

#[test]
fn a_signal_hurries_the_prices_asked_for_at_the_end_and_a_second_one_ends_the_asking() {
    for (signals, why) in [
        (1, "the run was stopped while they were asked for"),
        (2, "a second signal ended the run"),
    ] {
        let market = Market::new([provider("Acme").fault(0, looping_content("void 0;\n", 30_000))])
            .with_lookups(Lookups::Never);
        let running = Run::builder()
            .launch(armed(&["Acme"], 3_000))
            .gateway(Gateway::start(
                market.serve(|_: &Request, _: usize| Answer::finish("Done.")),
            ))
            .start();
        // Two calls, then look-ups. Signals that meet are one: the second comes once the asking
        // has gone on behind the first.
        for signal in 0..signals {
            assert!(running.gateway().wait_for(3 + signal, CEILING));
            running.signal(Signal::TERM);
        }
        let run = running.finish();
        run.ended(0, "completed");
        assert_eq!(run.summary()["loopAbortUnpriced"], 1);
        let warned = run.logs("warn").join("\n");
        assert!(
            warned.contains(&format!("without a price: {why}")),
            "{warned}"
        );
    }
}

#[test]
fn a_cancel_file_hurries_the_prices_that_are_asked_for_at_the_end() {
    let market = Market::new([provider("Acme").fault(0, looping_content("void 0;\n", 30_000))])
        .with_lookups(Lookups::Never);
    let builder = Run::builder();
    let cancel = builder.folder().join("cancel");
    let running = builder
        .launch(armed(&["Acme"], 3_000).set("/cancelFile", cancel.display().to_string()))
        .gateway(Gateway::start(
            market.serve(|_: &Request, _: usize| Answer::finish("Done.")),
        ))
        .start();
    running.wait_for("the root's end", |line| {
        line["type"] == "agent_status" && line["status"] == "done"
    });
    std::fs::write(&cancel, "").unwrap();
    let run = running.finish();
    // It had ended by itself; what is hurried is the rest.
    run.ended(0, "completed");
    assert_eq!(run.summary()["loopAbortUnpriced"], 1);
    let warned = run.logs("warn").join("\n");
    assert!(
        warned.contains("without a price: the run was stopped while they were asked for"),
        "{warned}"
    );
}
