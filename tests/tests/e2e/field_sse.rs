//! F01–F13: what a provider's event stream may look like.

use std::time::Duration;

use serde_json::{Value, json};
use tests::gateway::answer::{events, usage};
use tests::gateway::{Answer, End, Reply, Step, script};
use tests::run::Run;

use crate::common::{CEILING, play, retries};

const NOTE: &str = "price: 5 € — ключ 鍵 🔑🇪🇺\n";

fn writing() -> Answer {
    let arguments = json!({ "path": "ключ-鍵-🔑.txt", "contents": NOTE }).to_string();
    Answer::text(NOTE)
        .thinking(NOTE)
        .and_call_as("call-a", "write_file", &arguments)
}

fn finishing() -> Answer {
    let arguments = json!({ "summary": NOTE }).to_string();
    Answer::default().and_call_as("call-b", "finish", &arguments)
}

/// What the two replies left in stream and journal, without what differs between any two runs.
fn traces(first: Reply, second: Reply) -> (Vec<Value>, Vec<Value>) {
    let run = play([first, second]);
    run.ended(0, "completed");
    assert_eq!(run.file("ключ-鍵-🔑.txt"), NOTE);
    for text in [&run.stdout, &String::from_utf8(run.journal()).unwrap()] {
        assert!(!text.contains('\u{FFFD}'), "{text}");
    }
    let said = run
        .lines
        .iter()
        .filter(|line| {
            ["assistant_message", "tool_call", "context_message", "usage"]
                .contains(&line["type"].as_str().unwrap())
        })
        .map(|line| without(line, &["ts", "seq"]))
        .collect();
    let pools = run
        .journal_lines()
        .into_iter()
        .filter(|line| ["message", "text", "toolset"].contains(&line["t"].as_str().unwrap()))
        .map(|line| without(&line, &["run"]))
        .collect();
    (said, pools)
}

fn without(line: &Value, fields: &[&str]) -> Value {
    let mut line = line.clone();
    for field in fields {
        line.as_object_mut().unwrap().shift_remove(*field);
    }
    line
}

/// Byte places inside the first and the last character of more than one byte of each width.
fn inside_wide_characters(bytes: &[u8]) -> Vec<usize> {
    [0xE0, 0xF0]
        .iter()
        .flat_map(|lead| {
            let found = bytes.iter().position(|byte| byte & 0xF0 == *lead).unwrap();
            let width = if *lead == 0xE0 { 3 } else { 4 };
            (1..width).map(move |step| found + step)
        })
        .collect()
}

#[test]
fn f01_a_cut_inside_a_character_changes_nothing() {
    let whole = traces(
        Reply::from(writing()).joined(),
        Reply::from(finishing()).joined(),
    );
    let bytes = Reply::from(writing()).bytes();
    for place in inside_wide_characters(&bytes) {
        let cut = traces(Reply::from(writing()).cut_at(place), finishing().into());
        assert_eq!(cut, whole, "cut at byte {place}");
    }
    let single = traces(
        Reply::from(writing()).cut_each(1),
        Reply::from(finishing()).cut_each(1),
    );
    assert_eq!(single, whole, "single bytes");
}

#[test]
fn f03_lines_may_end_in_carriage_returns() {
    let plain = traces(writing().into(), finishing().into());
    for line_end in ["\r\n", "\r"] {
        for size in [usize::MAX, 1] {
            let ended = |answer: Answer| {
                let reply = Reply::from(answer).line_ends(line_end);
                if size == 1 { reply.cut_each(1) } else { reply }
            };
            assert_eq!(
                traces(ended(writing()), ended(finishing())),
                plain,
                "{line_end:?} in writes of {size}"
            );
        }
    }
}

#[test]
fn f05_keep_alives_do_not_keep_a_silent_stream_alive() {
    let mut silent = Reply::from(Answer::text("Let me think")).take(2);
    for _ in 0..60 {
        silent = silent
            .then(Step::Pause(Duration::from_secs(1)))
            .then(Step::Bytes(b": keepalive\n\n".to_vec()));
    }
    let run = Run::builder()
        .with(|launch| {
            launch
                .limit("modelStreamIdleSecs", 3)
                .limit("maxModelRetries", 2)
        })
        .answers(script([silent, Answer::finish("Done.").into()]))
        .run();
    run.ended(0, "completed");
    let fault = run.event("provider_fault");
    assert_eq!(fault["kind"], "stall");
    assert_eq!(fault["provider"], "Acme");
    let retries = retries(&run);
    assert_eq!(retries.len(), 1, "{}", run.describe());
    assert!(
        retries[0].contains('3') && retries[0].contains("Acme"),
        "{retries:?}"
    );
    let gateway = run.gateway.as_ref().unwrap();
    assert_eq!(gateway.sent_whole(0, CEILING), Some(false));
    assert_eq!(run.summary()["providerFaults"]["stall"], 1);
}

#[test]
fn f07_a_reply_without_a_finish_reason_counts() {
    let run = play([
        Answer::text("All of it.")
            .and_call("list_dir", json!({}))
            .ending(None),
        Answer::finish("Done."),
    ]);
    run.ended(0, "completed");
    assert_eq!(run.results("list_dir").len(), 1);
    assert_eq!(run.events("prompt")[0]["finishReason"], Value::Null);
    assert_eq!(run.events("prompt")[1]["finishReason"], "tool_calls");
}

#[test]
fn f09_usage_comes_with_any_choices_and_once() {
    let tokens = usage(1_000, 400, 20, Some(0.002));
    let without = Answer::finish("Done.").using(None);
    let (last, body) = {
        let mut payloads = without.payloads();
        (payloads.pop().unwrap(), payloads)
    };
    let missing = {
        let mut tail: Value = serde_json::from_str(&without.tail(&json!([]), &tokens)).unwrap();
        tail.as_object_mut().unwrap().shift_remove("choices");
        tail.to_string()
    };
    let variants = [
        (None, without.tail(&json!([]), &tokens)),
        (None, missing),
        (None, without.tail(&Value::Null, &tokens)),
        (
            Some(without.tail(&json!([]), &Value::Null)),
            without.tail(&json!([]), &tokens),
        ),
    ];
    for (n, (head, tail)) in variants.into_iter().enumerate() {
        let payloads = head
            .into_iter()
            .chain(body.clone())
            .chain([tail, last.clone()]);
        let run = play([events(payloads)]);
        run.ended(0, "completed");
        let usage = run.event("usage");
        assert_eq!(usage["tokens"]["cachedInput"], 400, "variant {n}");
        assert_eq!(usage["tokens"]["uncachedInput"], 600, "variant {n}");
        assert_eq!(usage["cost"]["actual"], 0.002, "variant {n}");
        assert_eq!(usage["wire"], tokens, "variant {n}");
        assert_eq!(run.summary()["cost"], 0.002, "variant {n}");
    }
}

#[test]
fn f11_an_error_inside_a_stream_is_a_failed_call() {
    let errors = [
        json!({ "error": { "code": 502, "message": "upstream fell over" }, "choices": [] }),
        json!({ "error": { "code": 429, "message": "slow down" }, "choices": [] }),
        json!({ "error": { "code": "502", "message": "upstream fell over" } }),
        json!({ "error": { "message": "upstream fell over" } }),
    ];
    for error in errors {
        for after_content in [false, true] {
            let mut writes = vec![": OPENROUTER PROCESSING\n\n".to_owned()];
            if after_content {
                let lost = Answer::text("lost").and_call(
                    "write_file",
                    json!({
                        "path": "lost.txt", "contents": "x",
                    }),
                );
                let payloads = lost.payloads();
                writes.extend(payloads[..3].iter().map(|p| format!("data: {p}\n\n")));
            }
            writes.push(format!("data: {error}\n\n"));
            writes.push("data: [DONE]\n\n".to_owned());
            let run = play([Reply::stream(writes), Answer::finish("Done.").into()]);
            run.ended(0, "completed");
            let retries = retries(&run);
            assert_eq!(retries.len(), 1, "{error}\n{}", run.describe());
            assert!(retries[0].contains("Acme"), "{retries:?}");
            let requests = run.gateway.as_ref().unwrap().requests();
            assert_eq!(requests.len(), 2);
            assert_eq!(
                requests[0].body, requests[1].body,
                "nothing entered the window"
            );
            // The first wait of the schedule is a second; a timer never fires early.
            let waited = requests[1].arrived - requests[0].arrived;
            assert!(waited >= Duration::from_millis(900), "{waited:?}");
            assert!(!run.workspace().join("lost.txt").exists());
        }
    }
}

#[test]
fn an_error_of_the_callers_inside_a_stream_is_final() {
    for (code, status) in [(401, "auth_error"), (400, "model_error")] {
        let error = json!({ "error": { "code": code, "message": "no" }, "choices": [] });
        let run = play([events([error.to_string()])]);
        run.ended(1, status);
    }
}

#[test]
fn f13_a_reply_cut_at_the_cap_is_rejected_whole_and_asked_again() {
    let cut = Answer::call("write_file", json!({ "path": "half.txt", "contents": "x" }))
        .ending(Some("length"));
    let run = play([cut, Answer::finish("Done.")]);
    run.ended(0, "completed");
    let rejected = run.event("response_rejected");
    assert!(rejected["chars"].as_u64().unwrap() > 0);
    assert_eq!(rejected["provider"], "Acme");
    assert_eq!(run.outcomes(), ["model_length_capped", "finished"]);
    assert!(!run.workspace().join("half.txt").exists());
    let requests = run.gateway.as_ref().unwrap().requests();
    assert_eq!(requests[0].body, requests[1].body);
    assert_eq!(run.summary()["rejectedResponses"]["count"], 1);
    // Both calls were answered in one turn.
    let turns: Vec<_> = run
        .events("turn_outcome")
        .iter()
        .map(|turn| turn["turns"].as_u64().unwrap())
        .collect();
    assert_eq!(turns, [1, 1]);
}

#[test]
fn a_connection_that_breaks_anywhere_is_retried() {
    let breaks = [
        Reply::hang_up(End::Close),
        Reply::hang_up(End::Reset),
        Reply::from(Answer::finish("lost"))
            .take(0)
            .ending(End::Close),
        Reply::from(Answer::finish("lost"))
            .take(2)
            .ending(End::Close),
        Reply::from(Answer::finish("lost"))
            .take(2)
            .ending(End::Reset),
    ];
    for (n, broken) in breaks.into_iter().enumerate() {
        let run = play([broken, Answer::finish("Done.").into()]);
        run.ended(0, "completed");
        assert_eq!(retries(&run).len(), 1, "case {n}\n{}", run.describe());
        assert_eq!(run.events("assistant_message").len(), 1, "case {n}");
    }
}

#[test]
fn a_line_that_is_no_json_is_an_error_turn() {
    let broken = Reply::stream(["data: {\"choices\":[{\n\n", "data: [DONE]\n\n"]);
    let run = play([broken, Answer::finish("Done.").into()]);
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["model_parse", "finished"]);
}
