//! What an agent of a persistent profile leaves open, and what the next one opens on.

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Reply, Request, Responder, content_text};
use tests::launch::Launch;
use tests::run::{Builder, Run};

use crate::windowed::edited;

use super::{
    And, first_of, house, house_of, opened, persistent, profile, read, spawn, told, turn, who,
};

/// Ten lines, each naming its file.
fn ten(name: &str) -> String {
    let lines: Vec<_> = (1..=10).map(|n| format!("{name} {n}\n")).collect();
    lines.concat()
}

/// A workspace with some files of ten lines.
fn with_files(launch: Launch) -> Builder {
    let builder = Run::builder().launch(launch);
    ["a.txt", "b.txt", "c.txt", "gone.txt"]
        .into_iter()
        .fold(builder, |builder, name| builder.file(name, ten(name)))
}

/// A gateway before which agents edit their windows.
fn evicting(responder: impl Responder) -> Gateway {
    Gateway::with_checker(Some(edited()), responder)
}

/// Starts a keeper and waits for it.
fn one(keeper: &str) -> Answer {
    spawn("keeper", keeper).and_wait()
}

#[test]
fn the_next_agent_opens_on_what_the_last_one_had_open_as_it_is_now() {
    let run = with_files(house(4))
        .gateway(evicting(|request: &Request, _| {
            match (who(request).as_str(), turn(request)) {
                ("root", 0) => one("K1"),
                ("root", 1) => Answer::shell("echo changed > a.txt; rm gone.txt"),
                ("root", 2) => one("K2"),
                ("K1", 0) => read(json!({ "path": "./a.txt" }))
                    .and_read(json!({ "path": "b.txt", "offset": 2, "limit": 3 }))
                    .and_read(json!({ "path": "b.txt", "offset": 9, "limit": 1 }))
                    .and_read(json!({ "path": "gone.txt" }))
                    .and_read(json!({ "path": "c.txt" }))
                    .and_read(json!({ "path": "b.txt", "offset": 2, "limit": 3 })),
                ("K1", 1) => Answer::call("evict_file_view", json!({ "path": "c.txt" })),
                _ => Answer::finish("Done."),
            }
        }))
        .run();
    run.ended(0, "completed");
    let expected = [
        (json!({ "path": "a.txt" }), "changed\n"),
        (
            json!({ "path": "b.txt", "offset": 2, "limit": 3 }),
            "b.txt 2\nb.txt 3\nb.txt 4\n[showing lines 2-4 of 10; continue with offset: 5]",
        ),
        (
            json!({ "path": "b.txt", "offset": 9, "limit": 1 }),
            "b.txt 9\n[showing lines 9-9 of 10; continue with offset: 10]",
        ),
    ];
    let first = first_of(&run, "K2");
    let found = opened(&first);
    let found: Vec<_> = found
        .iter()
        .map(|(a, text)| (a.clone(), text.as_str()))
        .collect();
    assert_eq!(found, expected);
    // Nothing else stands there: the two that every agent opens with, and the pairs.
    assert_eq!(first.messages().len(), 2 + 2 * expected.len());
    assert_eq!(
        told(&run),
        [
            "`gone.txt` was on the desk and is not restored: `gone.txt` does not exist",
            "opened on the desk of `keeper`: 3 of 4 file views, by read_file calls; 1 not restored",
        ]
    );
    let messages = run.events("context_message").into_iter();
    let views = messages.filter(|it| it["agentId"] == "agent-2" && it["band"] == "file_view");
    let labels: Vec<_> = views.map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["a.txt", "b.txt", "b.txt"]);
    // No call was made, so none is told of.
    let calls = run.events("tool_call").into_iter();
    let calls = calls.filter(|call| call["agentId"] == "agent-2");
    assert_eq!(calls.count(), 1);
}

#[test]
fn one_that_queued_sees_the_files_as_they_are_when_it_starts() {
    let run = with_files(house(16))
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => spawn("keeper", "K1").and_spawn("keeper", "K2").and_wait(),
                ("K1", 0) => read(json!({ "path": "a.txt" })),
                ("K1", 1) => Answer::shell("echo later > a.txt"),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(
        opened(&first_of(&run, "K2")),
        [(json!({ "path": "a.txt" }), "later\n".to_owned())]
    );
}

/// Three keepers one after another: the first reads a file, the second is up to the test, and the
/// third opens on the desk that stands then.
fn three(launch: Launch, second: fn(&Request) -> Reply) -> Run {
    with_files(launch)
        .gateway(evicting(move |request: &Request, _| -> Reply {
            match (who(request).as_str(), turn(request)) {
                ("root", 0) => one("K1").into(),
                ("root", 1) => one("K2").into(),
                ("root", 2) => one("K3").into(),
                ("K1", 0) => read(json!({ "path": "a.txt" })).into(),
                ("K2", _) => second(request),
                _ => Answer::finish("Done.").into(),
            }
        }))
        .run()
}

fn paths(run: &Run, keeper: &str) -> Vec<Value> {
    let opened = opened(&first_of(run, keeper)).into_iter();
    opened
        .map(|(arguments, _)| arguments["path"].clone())
        .collect()
}

#[test]
fn the_last_ending_replaces_the_whole_record_and_nothing_open_clears_it() {
    let run = three(house(4), |request| match turn(request) {
        0 => read(json!({ "path": "b.txt" })).into(),
        1 => Answer::call("evict_file_view", json!({ "path": "a.txt" })).into(),
        _ => Answer::finish("Done.").into(),
    });
    run.ended(0, "completed");
    assert_eq!(paths(&run, "K2"), ["a.txt"]);
    assert_eq!(paths(&run, "K3"), ["b.txt"]);

    let run = three(house(4), |request| match turn(request) {
        0 => Answer::call("evict_file_view", json!({})).into(),
        _ => Answer::finish("Done.").into(),
    });
    run.ended(0, "completed");
    assert_eq!(paths(&run, "K3"), [""; 0]);
    assert_eq!(told(&run).len(), 1);
}

#[test]
fn an_agent_that_was_stopped_or_failed_leaves_the_record_as_it_was() {
    let run = three(house(4).limit("maxTurns", 5), |request| {
        match turn(request) {
            0 => Answer::call("evict_file_view", json!({})).into(),
            _ => read(json!({ "path": "b.txt" })).into(),
        }
    });
    assert_eq!(run.code, Some(3));
    assert_eq!(paths(&run, "K3"), ["a.txt"]);

    let run = three(house(4), |request| match turn(request) {
        0 => read(json!({ "path": "b.txt" })).into(),
        _ => Reply::error(401, "no such key"),
    });
    run.ended(0, "completed");
    assert_eq!(run.summary()["agentsFailed"], 1);
    assert_eq!(paths(&run, "K3"), ["a.txt"]);
}

#[test]
fn a_file_of_the_task_is_not_opened_twice_and_a_locked_one_is_not_kept() {
    let specs = |implementation: Option<&str>| {
        let mut autoload =
            json!({ "id": "autoload-specifications", "enabled": true, "params": {} });
        if let Some(implementation) = implementation {
            autoload["implementation"] = json!(implementation);
        }
        let keeper = profile("keeper", &[persistent(true), autoload]);
        three(
            house_of(4, keeper).set("/specFiles", json!(["c.txt"])),
            |_| Answer::finish("Done.").into(),
        )
    };
    let run = specs(None);
    run.ended(0, "completed");
    assert_eq!(paths(&run, "K3"), ["c.txt", "a.txt"]);
    let line =
        "opened on the desk of `keeper`: 1 of 2 file views, by read_file calls; 1 open already";
    assert_eq!(told(&run), [line, line]);
    let run = specs(Some("locked"));
    run.ended(0, "completed");
    assert_eq!(paths(&run, "K3"), ["c.txt", "a.txt"]);
    let line = "opened on the desk of `keeper`: 1 of 1 file views, by read_file calls";
    assert_eq!(told(&run), [line, line]);
}

#[test]
fn memories_and_tasks_stand_behind_the_desk_and_are_told_once() {
    let memories = json!({
        "id": "memories", "enabled": true, "implementation": "scratchpad",
        "params": { "scope": "shared", "maxCount": 0, "maxLenPerMemory": 0, "maxTotalLen": 0,
            "maxLenIndex": 0, "maxLenDescription": 0, "maxResults": 0 },
    });
    let mut keeper = profile("keeper", &[persistent(true), memories]);
    let tools = keeper["tools"].as_array_mut().unwrap();
    tools.push(json!("write_memory"));
    let run = with_files(house_of(16, keeper))
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                // The second queues as the first writes.
                ("root", 0) => spawn("keeper", "K1").and_spawn("keeper", "K2").and_wait(),
                ("K1", 0) => Answer::call(
                    "write_memory",
                    json!({ "name": "found", "description": "where", "body": "It is in a.txt." }),
                )
                .and_read(json!({ "path": "a.txt" })),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let first = first_of(&run, "K2");
    let messages = first.messages();
    let roles: Vec<_> = messages
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    let block = content_text(&messages[4]["content"]);
    assert!(block.starts_with("# Your memories\n"), "{block}");
    assert!(block.contains("It is in a.txt."), "{block}");
}

#[test]
fn off_leaves_no_trace_and_on_says_nothing_to_a_model() {
    let first = |more: &[Value]| {
        let run = with_files(house_of(4, profile("keeper", more)))
            .gateway(Gateway::lenient(|request: &Request, _| {
                match (who(request).as_str(), turn(request)) {
                    ("root", 0 | 1) => one("K"),
                    ("K", 0) => read(json!({ "path": "a.txt" })),
                    _ => Answer::finish("Done."),
                }
            }))
            .run();
        run.ended(0, "completed");
        let key = run.lines[0]["routingKey"].as_str().unwrap().to_owned();
        let requests = run.gateway.as_ref().unwrap().requests();
        let of_k: Vec<_> = requests
            .iter()
            .filter(|it| who(it) == "K" && turn(it) == 0)
            .collect();
        assert_eq!(of_k.len(), 2);
        let texts: Vec<_> = of_k
            .iter()
            .map(|it| it.text().replace(&key, "KEY"))
            .collect();
        let told = told(&run).len();
        (texts, told)
    };
    let (out, told_out) = first(&[]);
    let (off, told_off) = first(&[persistent(false)]);
    let (on, told_on) = first(&[persistent(true)]);
    assert_eq!(off, out);
    assert_eq!(out[0], out[1]);
    assert_eq!((told_out, told_off, told_on), (0, 0, 1));
    // A model is told nothing of it: what is added is what lay open.
    assert_eq!(on[0], out[0]);
    assert_ne!(on[1], out[1]);
}
