//! The files of the brief, read before the first turn (02 §4).

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request};
use tests::launch::{Launch, MODEL};
use tests::run::{Builder, Run};

use crate::compaction::read;
use crate::windowed::{breaks, by_turn, compaction, edited, own_requests, prose, texts, window};

fn png() -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0".to_vec();
    png.resize(1_500, 7);
    png
}

/// 600 lines: more than a read shows where reads are capped.
fn long() -> String {
    let lines = (1..=600).map(|line| format!("Line {line} of the specification.\n"));
    lines.collect::<Vec<_>>().concat()
}

fn autoload(implementation: Option<&str>, images: Option<bool>) -> Value {
    let mut declaration = json!({ "id": "autoload-specifications", "enabled": true, "params": {} });
    if let Some(word) = implementation {
        declaration["implementation"] = word.into();
    }
    if let Some(images) = images {
        declaration["params"]["images"] = images.into();
    }
    declaration
}

fn brief(launch: Launch) -> Builder {
    Run::builder()
        .launch(launch.set("/specFiles", json!(["spec.md", "docs/mock \"1\".png"])))
        .file("spec.md", long())
        .file("docs/mock \"1\".png", png())
}

fn first(launch: Launch) -> (Run, Vec<Value>) {
    let run = brief(launch)
        .answers(|_: &Request, _: usize| Answer::finish("Done."))
        .run();
    run.ended(0, "completed");
    let messages = own_requests(&run)[0].messages();
    (run, messages)
}

#[test]
fn each_file_is_read_whole_as_if_the_agent_had_asked_for_it() {
    let (run, messages) = first(Launch::live().granting(autoload(None, Some(true)), &[]));
    assert_eq!(messages.len(), 6);
    let call = &messages[2]["tool_calls"][0];
    assert_eq!(call["function"]["name"], "read_file");
    assert_eq!(call["function"]["arguments"], "{\"path\":\"spec.md\"}");
    assert_eq!(messages[3]["tool_call_id"], call["id"]);
    assert_eq!(messages[3]["content"], long());
    assert_eq!(
        messages[4]["tool_calls"][0]["function"]["arguments"],
        "{\"path\":\"docs/mock \\\"1\\\".png\"}"
    );
    let picture = messages[5]["content"].to_string();
    assert!(picture.contains("data:image/png;base64,"), "{picture}");
    assert!(
        picture.contains("image/png, 640x480, 1,500 bytes"),
        "{picture}"
    );
    let system = tests::gateway::content_text(&messages[0]["content"]);
    assert!(
        system.contains("The files the task rests on have been read for you"),
        "{system}"
    );
    assert!(
        system.contains("They are like any other file you read."),
        "{system}"
    );
    let labels: Vec<_> = run
        .events("context_message")
        .into_iter()
        .filter(|message| message["band"] == "file_view")
        .map(|message| message["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["spec.md", "docs/mock \"1\".png"]);
    // No call was made, so none is told of.
    assert_eq!(run.events("tool_call").len(), 1);
}

#[test]
fn pictures_are_described_where_they_are_off_or_not_seen() {
    let on = |images| Launch::live().granting(autoload(None, images), &[]);
    let blind = on(Some(true)).set("/modelModalities", json!({ MODEL: ["text"] }));
    for (launch, why) in [
        (
            on(None),
            "pictures among the files of the task are described",
        ),
        (
            on(Some(false)),
            "pictures among the files of the task are described",
        ),
        (blind, "the model takes no pictures"),
    ] {
        let (_, messages) = first(launch);
        let described = messages[5]["content"].as_str().unwrap();
        let expected =
            format!("docs/mock \"1\".png: image/png, 640x480, 1,500 bytes; not attached: {why}");
        assert_eq!(described, expected);
    }
}

#[test]
fn a_file_that_cannot_be_read_ends_the_run_and_is_named() {
    let run = brief(Launch::live().granting(autoload(None, None), &[]))
        .prepare(|workspace| std::fs::remove_file(workspace.join("spec.md")).unwrap())
        .answers(|_: &Request, _: usize| Answer::finish("Done."))
        .run();
    run.ended(1, "internal_error");
    assert!(run.gateway.as_ref().unwrap().requests().is_empty());
    let errors = run.logs("error").join("\n");
    assert!(
        errors.contains("`spec.md`, which the task rests on, cannot be read"),
        "{errors}"
    );
}

#[test]
fn files_that_nobody_opens_on_are_not_even_looked_at() {
    let run = Run::builder()
        .launch(Launch::live().set("/specFiles", json!(["nowhere.md"])))
        .answers(|_: &Request, _: usize| Answer::finish("Done."))
        .run();
    run.ended(0, "completed");
    assert_eq!(own_requests(&run)[0].messages().len(), 2);
}

#[test]
fn a_compaction_keeps_what_is_locked_and_sweeps_what_is_not() {
    for (implementation, kept) in [(Some("locked"), true), (None, false)] {
        let launch = window(24_000)
            .granting(compaction("handoff-summarization", 0.25, &json!({})), &[])
            .granting(autoload(implementation, Some(true)), &[]);
        let builder = (0..20).fold(brief(launch), |builder, file| {
            builder.file(&format!("f{file}.txt"), prose(file, 1_000))
        });
        let run = builder
            .gateway(Gateway::with_checker(
                Some(edited()),
                by_turn(
                    |_, n| {
                        if n < 20 {
                            read(n)
                        } else {
                            Answer::finish("Done.")
                        }
                    },
                    |_, _| Answer::text("S"),
                ),
            ))
            .run();
        run.ended(0, "completed");
        crate::kill9::agrees(&run);
        let boundary = run.events("compaction")[0];
        assert_eq!(boundary["retained"]["specs"], if kept { 2 } else { 0 });
        assert!(breaks(&run).iter().all(|act| act == "compaction"));
        let turn = usize::try_from(boundary["turn"].as_u64().unwrap()).unwrap();
        let own = own_requests(&run);
        let restarted = texts(&own[turn - 1]);
        let spec = format!("File: spec.md\n----\n{}", long());
        assert_eq!(restarted.contains(&spec), kept, "{implementation:?}");
        let pictures = own[turn - 1].text().matches("data:image/png").count();
        assert_eq!(pictures, usize::from(kept));
        // What was read before is gone from both.
        assert_eq!(restarted.len(), if kept { 5 } else { 3 });
        let system = &texts(&own[0])[0];
        let words = "They stay in your window, word for word.";
        assert_eq!(system.contains(words), kept);
    }
}

#[test]
fn a_word_that_is_no_implementation_is_refused() {
    let run = brief(Launch::live().granting(autoload(Some("pinned"), None), &[]))
        .answers(|_: &Request, _: usize| Answer::finish("Done."))
        .run();
    run.ended(1, "launch_refused");
}
