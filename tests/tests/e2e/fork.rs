//! Agents that copy themselves, over real sockets (03 §5.1, §5.4).

use serde_json::{Value, json};
use tests::gateway::{Answer, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::failed;
use crate::exec::{asked_of, cast, dispositions, endings, last_told, list, profile, store};
use crate::memories::memories;

fn fork(prompt: &str) -> Answer {
    Answer::call("fork", json!({ "prompt": prompt }))
}

fn is_copy(request: &Request) -> bool {
    let messages = request.messages();
    let told = messages.iter().filter(|it| it["role"] == "user");
    let mut texts = told.map(|it| tests::gateway::content_text(&it["content"]));
    texts.any(|text| text.starts_with("Task: you are a copy of "))
}

fn one(more: &[Value], tools: &[&str]) -> Launch {
    cast([profile("a", &["a"], more, tools)])
}

#[test]
fn a_copy_is_real_from_the_call_and_a_child_from_the_next_turn() {
    let run = Run::builder()
        .launch(one(&[], &[]).limit("maxParallel", 1))
        .answers(
            |request: &Request, _| match (is_copy(request), request.turn()) {
                (false, 0) => fork("Look left.")
                    .and_call("wait_for_subagents", json!({ "ids": ["agent-1"] }))
                    .and_call("send_message", json!({ "id": "agent-1", "message": "Hi." }))
                    .and_call("wait_for_subagents", json!({})),
                (false, 1) => Answer::call("wait_for_subagents", json!({ "ids": ["agent-1"] })),
                (false, _) => Answer::finish("Both."),
                (true, _) => Answer::finish("Looked left."),
            },
        )
        .run();
    run.ended(0, "completed");
    let waits = run.results("wait_for_subagents");
    failed(
        &run,
        waits[0],
        "refused",
        &["`agent-1`", "when this turn ends"],
    );
    failed(
        &run,
        run.results("send_message")[0],
        "refused",
        &["`agent-1`"],
    );
    assert_eq!(
        waits[1]["preview"],
        "there is nobody to wait for: all you started are collected"
    );
    assert_eq!(waits[2]["preview"], "`agent-1` (a) finished:\nLooked left.");
    let spawned = run.events("agent_spawned")[1];
    assert_eq!(
        spawned["origin"],
        json!({ "kind": "fork", "parent": "root", "ordinal": 0 })
    );
    assert_eq!(
        (&spawned["depth"], &spawned["agentKind"]),
        (&json!(1), &json!("subagent"))
    );
    let requests = run.gateway.as_ref().unwrap().requests();
    let copied = requests.iter().find(|it| is_copy(it)).unwrap();
    let note = last_told(copied);
    for part in [
        "copy of `root`, made at the end of its turn 1",
        "carries on in parallel",
        "not yours to wait for",
        "Look left.",
    ] {
        assert!(note.contains(part), "{part:?} in {note}");
    }
    let summary = run.summary();
    assert_eq!(
        (&summary["forks"], &summary["spawns"]),
        (&json!(1), &json!(0))
    );
}

#[test]
fn copies_are_made_even_where_the_turn_ends_the_session() {
    let run = Run::builder()
        .launch(one(&[], &[]))
        .answers(|request: &Request, _| {
            if is_copy(request) {
                Answer::finish("Mine.")
            } else {
                fork("One.")
                    .and_call("fork", json!({ "prompt": "Two." }))
                    .and_call("finish", json!({ "summary": "Root is done." }))
            }
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(endings(&run).len(), 3);
    assert_eq!(run.summary()["forks"], 2);
}

#[test]
fn a_copy_holds_the_window_that_a_successor_gets_and_is_the_lineage_s() {
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[], &[]),
            profile("b", &["a"], &[], &[]),
        ]))
        .answers(|request: &Request, _| {
            match (is_copy(request), asked_of(request).as_str(), request.turn()) {
                (false, "a", _) => fork("Left.").and_call("exec", json!({ "agent": "b" })),
                (false, "b", 1) => Answer::call("wait_for_subagents", json!({})),
                (false, _, _) => Answer::finish("All."),
                (true, _, _) => Answer::finish("Left done."),
            }
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(
        run.results("wait_for_subagents")[0]["preview"],
        "`agent-1` (a) finished:\nLeft done."
    );
    let kinds: Vec<_> = run
        .events("agent_transition")
        .iter()
        .map(|it| it["kind"].clone())
        .collect();
    assert_eq!(kinds, [json!("fork"), json!("exec")]);
}

#[test]
fn a_copy_owns_none_of_its_maker_s_children() {
    let run = Run::builder()
        .launch(one(&[], &[]))
        .answers(|request: &Request, _| {
            let task = tests::gateway::content_text(&request.messages()[1]["content"]);
            match (task == "Look.", is_copy(request), request.turn()) {
                (true, _, _) => Answer::finish("Looked."),
                (_, false, 0) => {
                    Answer::call("spawn_subagent", json!({ "agent": "a", "prompt": "Look." }))
                }
                (_, false, 1) => fork("Try."),
                (_, false, 2) => Answer::call("wait_for_subagents", json!({})),
                (_, true, 2) => Answer::call("wait_for_subagents", json!({ "ids": ["agent-1"] })),
                _ => Answer::finish("Done."),
            }
        })
        .run();
    run.ended(0, "completed");
    let refused = run
        .results("wait_for_subagents")
        .into_iter()
        .find(|it| it["agentId"] == "agent-2")
        .unwrap();
    failed(&run, refused, "not-found", &["you have started nobody"]);
}

fn scoped(scope: &str) -> Value {
    let mut memories = memories("scratchpad");
    memories["params"]["scope"] = json!(scope);
    memories
}

#[test]
fn memories_follow_their_scope() {
    for (scope, disposition, written) in [
        ("isolated", "copied", "one"),
        ("shared", "linked", "one two"),
        ("inherited", "linked", "one two"),
    ] {
        let run = Run::builder()
            .launch(one(&[scoped(scope)], &["write_memory"]).limit("maxParallel", 1))
            .answers(|request: &Request, _| {
                let write = |name: &str| {
                    Answer::call(
                        "write_memory",
                        json!({ "name": name, "description": "x", "body": "y" }),
                    )
                };
                match (is_copy(request), request.turn()) {
                    (false, 0) => write("one"),
                    (false, 1) => fork("Write."),
                    (false, 2) => Answer::call("wait_for_subagents", json!({})),
                    (true, 2) => write("two"),
                    _ => Answer::finish("Done."),
                }
            })
            .run();
        run.ended(0, "completed");
        let rows = dispositions(&run, 0);
        let memories = rows.iter().find(|(kind, _)| kind == "memories").unwrap();
        assert_eq!(memories.1, disposition, "{scope}");
        let same = store(&run, "root", "memories") == store(&run, "agent-1", "memories");
        assert_eq!(same, disposition == "linked", "{scope}");
        let states = run.events("memory_state");
        let names = |agent: &str| {
            let last = states.iter().rfind(|it| it["agentId"] == agent).unwrap();
            let rows = last["memories"].as_array().unwrap();
            let names: Vec<_> = rows.iter().map(|it| it["slug"].as_str().unwrap()).collect();
            names.join(" ")
        };
        assert_eq!(names("agent-1"), "one two", "{scope}");
        assert_eq!(names("root"), written, "{scope}");
    }
}

#[test]
fn a_copy_gets_what_its_maker_s_turns_leave_of_the_allowance() {
    let run = Run::builder()
        .launch(one(&[], &[]).limit("maxTurns", 4))
        .answers(
            |request: &Request, _| match (is_copy(request), request.turn()) {
                (false, 1) => fork("Go on."),
                (false, 2) => Answer::call("wait_for_subagents", json!({})),
                (false, 3) => Answer::finish("Done."),
                _ => list(),
            },
        )
        .run();
    run.ended(3, "completed");
    let of_copy: Vec<_> = run
        .events("turn_outcome")
        .into_iter()
        .filter(|it| it["agentId"] == "agent-1")
        .map(|it| it["turn"].as_u64().unwrap())
        .collect();
    assert_eq!(of_copy, [3, 4]);
    assert_eq!(
        run.results("wait_for_subagents")[0]["preview"],
        "`agent-1` (a) did not finish, exhausted:\nits 4 turns were spent"
    );
}

#[test]
fn depth_and_number_bound_copies_too() {
    let run = Run::builder()
        .launch(one(&[], &[]).limit("maxAgents", 2))
        .answers(
            |request: &Request, _| match (is_copy(request), request.turn()) {
                (false, 0) => fork("One.").and_call("fork", json!({ "prompt": "Two." })),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    failed(
        &run,
        run.results("fork")[1],
        "limit-exceeded",
        &["2 agents"],
    );

    let run = Run::builder()
        .launch(one(&[], &[]))
        .answers(|request: &Request, _| match request.turn() {
            turn @ 0..=2 => fork(&format!("{turn}.")),
            _ => Answer::finish("Done."),
        })
        .run();
    run.ended(0, "completed");
    let refused: Vec<_> = run
        .results("fork")
        .into_iter()
        .filter(|it| it["ok"] == false)
        .collect();
    assert!(!refused.is_empty());
    for result in refused {
        failed(&run, result, "limit-exceeded", &["2 levels"]);
    }
    assert_eq!(run.summary()["maxDepth"], 2);
}

#[test]
fn without_the_capability_there_is_no_call_and_no_word() {
    let mut profile = profile("a", &["a"], &[], &[]);
    profile["capabilities"]
        .as_array_mut()
        .unwrap()
        .retain(|it| it["id"] != "fork");
    profile["tools"]
        .as_array_mut()
        .unwrap()
        .retain(|it| it != "fork");
    let run = Run::builder()
        .launch(cast([profile]))
        .answers(|_: &Request, _| Answer::finish("Done."))
        .run();
    run.ended(0, "completed");
    let body = run.gateway.as_ref().unwrap().requests()[0].text();
    assert!(
        !body.contains("fork") && !body.contains("copy of yourself"),
        "{body}"
    );
}

#[test]
fn a_fork_without_anybody_on_the_roster_still_has_somebody_to_wait_for() {
    let mut profile = profile("a", &[], &[], &[]);
    profile["capabilities"]
        .as_array_mut()
        .unwrap()
        .retain(|it| it["id"] != "exec");
    profile["tools"]
        .as_array_mut()
        .unwrap()
        .retain(|it| it != "exec");
    let run = Run::builder()
        .launch(cast([profile]))
        .answers(
            |request: &Request, _| match (is_copy(request), request.turn()) {
                (false, 0) => fork("Go."),
                (false, 1) => Answer::call("wait_for_subagents", json!({})),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let surface = run.events("agent_surface")[0];
    assert_eq!(
        surface["tools"],
        json!([
            "list_dir",
            "wait_for_subagents",
            "send_message",
            "fork",
            "finish"
        ])
    );
}
