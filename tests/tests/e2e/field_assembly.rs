//! F15–F21: how tool calls are put together from deltas.

use serde_json::json;
use tests::gateway::{Answer, Arguments, Reply};
use tests::run::Run;

use crate::common::{failed, play, result_text};

fn write(n: usize) -> String {
    json!({ "path": format!("{n}.txt"), "contents": format!("file {n}") }).to_string()
}

fn assert_wrote(run: &Run, count: usize) {
    run.ended(0, "completed");
    for n in 0..count {
        assert_eq!(run.file(&format!("{n}.txt")), format!("file {n}"));
    }
}

/// The order in which results came.
fn order(run: &Run) -> Vec<String> {
    run.results("write_file")
        .iter()
        .map(|result| result["callId"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn f15_one_call_without_an_index() {
    let arguments = write(0);
    let answer = |indexed| Answer {
        indexed,
        delta_chars: arguments.chars().count().div_ceil(5),
        ..Answer::default().and_call_as("a", "write_file", &arguments)
    };
    let deltas = answer(false)
        .payloads()
        .iter()
        .filter(|payload| payload.contains("tool_calls\":[{"))
        .count();
    assert_eq!(deltas, 5);
    for indexed in [false, true] {
        let run = play([answer(indexed), Answer::finish("Done.")]);
        assert_wrote(&run, 1);
        assert_eq!(order(&run), ["a"]);
    }
}

#[test]
fn f17_interleaved_deltas_keep_to_their_calls() {
    let two = || {
        Answer::default()
            .and_call_as("a", "write_file", &write(0))
            .and_call_as("b", "write_file", &write(1))
            .in_deltas_of(20)
    };
    let by_id = Answer {
        indexed: false,
        ids_everywhere: true,
        interleaved: true,
        ..two()
    };
    let backwards = Answer {
        order: vec![1, 0],
        ..two()
    };
    let backwards_interleaved = Answer {
        interleaved: true,
        ..backwards.clone()
    };
    for answer in [by_id, backwards, backwards_interleaved] {
        let run = play([answer, Answer::finish("Done.")]);
        assert_wrote(&run, 2);
        assert_eq!(order(&run), ["a", "b"]);
    }
}

#[test]
fn f19_arguments_that_are_not_there_are_an_empty_object() {
    for arguments in [
        Arguments::Text(String::new()),
        Arguments::Text(" \n\t".to_owned()),
        Arguments::Missing,
        Arguments::Null,
        Arguments::Text("null".to_owned()),
    ] {
        let said = format!("{arguments:?}");
        let run = play([
            Answer::default()
                .and_raw_call("a", "list_dir", arguments.clone())
                .and_raw_call("b", "read_file", arguments),
            Answer::finish("Done."),
        ]);
        run.ended(0, "completed");
        assert_eq!(run.results("list_dir")[0]["ok"], true, "{said}");
        failed(
            &run,
            run.results("read_file")[0],
            "invalid-argument",
            &["path"],
        );
        assert_eq!(run.outcomes(), ["progressed", "finished"], "{said}");
        let requests = run.gateway.as_ref().unwrap().requests();
        let echoed = &requests[1].messages()[2]["tool_calls"];
        for call in echoed.as_array().unwrap() {
            assert_eq!(call["function"]["arguments"], "{}", "{said}");
        }
    }
}

#[test]
fn f21_two_calls_of_one_id_both_run() {
    let twice = |id: &str, first: usize| {
        Answer::default()
            .and_call_as(id, "write_file", &write(first))
            .and_call_as(id, "write_file", &write(first + 1))
    };
    // The second reply uses the id again: ids are unique in the window, not in a reply alone.
    let run = play([twice("x:1", 0), twice("x:1", 2), Answer::finish("Done.")]);
    assert_wrote(&run, 4);
    let mut ids = order(&run);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    for n in 0..4 {
        assert!(result_text(&run, n).contains(&format!("{n}.txt")));
    }
}

#[test]
fn a_call_without_an_id_gets_one() {
    let run = play([
        Answer::default()
            .and_call_as("", "write_file", &write(0))
            .and_call_as("", "write_file", &write(1)),
        Answer::finish("Done."),
    ]);
    assert_wrote(&run, 2);
}

#[test]
fn arguments_that_are_no_json_are_an_error_turn_and_asked_again() {
    let run = play([
        Answer::default().and_call_as("a", "list_dir", "{\"path\":"),
        Answer::finish("Done."),
    ]);
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["model_parse", "finished"]);
    let requests = run.gateway.as_ref().unwrap().requests();
    assert_eq!(requests[0].body, requests[1].body);
}

#[test]
fn a_tool_that_is_not_offered_is_unavailable() {
    let run = play([
        Answer::call("submit_program", json!({ "program": "1" })),
        Answer::finish("Done."),
    ]);
    run.ended(0, "completed");
    failed(
        &run,
        run.results("submit_program")[0],
        "unavailable",
        &["read_file", "finish"],
    );
}

#[test]
fn calls_of_one_reply_run_in_order_and_an_ending_counts_wherever_it_stands() {
    let reply = Answer::shell("echo 1 > order")
        .and_call("finish", json!({ "summary": "Done." }))
        .and_call("shell", json!({ "command": "echo 2 >> order" }));
    let run = play([Reply::from(reply)]);
    run.ended(0, "completed");
    assert!(run.file("order").starts_with('1'));
}
