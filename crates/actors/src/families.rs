//! Agents that start others, against whole sessions in the process (03 §3, §8, §10).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use record::rules;
use serde_json::{Value, json};
use vocab::outcome::EndStatus;

use crate::nets::{Played, document, session};
use crate::panics::tripping;

/// A root that may start workers, and workers that may start workers.
fn family(folder: &Path, cap: u64, max_depth: u64) -> Value {
    let mut document = document(folder, false);
    let set = &mut document["capabilitySet"];
    set["limits"]["maxParallel"] = json!(cap);
    let roster = json!([
        { "agentId": "worker", "description": "Works.", "scopes": ["subagent"] },
    ]);
    let calls = ["spawn_subagent", "wait_for_subagents", "send_message"];
    let root = &mut set["agents"][0];
    root["capabilities"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": max_depth } }));
    root["tools"]
        .as_array_mut()
        .unwrap()
        .extend(calls.map(Value::from));
    root["subagents"] = roster;
    let mut worker = root.clone();
    worker["slug"] = json!("worker");
    worker["name"] = json!("Worker");
    set["agents"].as_array_mut().unwrap().push(worker);
    document
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

fn spawn(prompt: &str) -> Value {
    call(
        "spawn_subagent",
        &json!({ "agent": "worker", "prompt": prompt }),
    )
}

fn wait(ids: &[&str]) -> Value {
    call("wait_for_subagents", &json!({ "ids": ids }))
}

fn turn(calls: &[Value]) -> Value {
    json!({ "calls": calls })
}

fn finish(summary: &str) -> Value {
    json!({ "finish": summary })
}

fn play(cap: u64, max_depth: u64, root: &[Value], worker: &[Value]) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let document = family(folder.path(), cap, max_depth);
    session(
        &document,
        &json!({ "profiles": { "root": root, "worker": worker } }),
    )
}

#[track_caller]
fn sound(played: &Played, status: EndStatus, code: u8) {
    let report = played.report.as_ref().unwrap();
    assert_eq!(
        (report.status, report.exit_code),
        (status, code),
        "{}",
        played.stream
    );
    assert_eq!(rules::check(&played.stream), [], "{}", played.stream);
    let journal = record::journal::read(&played.journal).unwrap();
    assert!(journal.agents.iter().all(|agent| agent.ended_as.is_some()));
}

fn summary(played: &Played) -> Value {
    played.lines("session_summary")[0].clone()
}

/// The results of a tool, in order.
fn results(played: &Played, tool: &str) -> Vec<String> {
    let lines = played.lines("tool_result").into_iter();
    lines
        .filter(|line| line["tool"] == tool)
        .map(|line| line["preview"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn at_one_slot_a_root_spawns_waits_and_completes() {
    for cap in [1, 2, 16] {
        let played = play(
            cap,
            1,
            &[
                turn(&[spawn("one"), spawn("two"), wait(&[])]),
                finish("all done"),
            ],
            &[turn(&[call("list_dir", &json!({}))]), finish("mine done")],
        );
        sound(&played, EndStatus::Completed, 0);
        assert_eq!(
            results(&played, "wait_for_subagents"),
            ["`agent-1` (worker) finished:\nmine done\n\n`agent-2` (worker) finished:\nmine done"]
        );
        let summary = summary(&played);
        assert_eq!(
            (&summary["agents"], &summary["spawns"]),
            (&json!(3), &json!(2))
        );
        assert_eq!(summary["maxDepth"], 1);
        assert_eq!(summary["peakParallel"], json!(cap.min(2)), "{cap}");
    }
}

#[test]
fn a_child_is_told_its_prompt_alone_and_works_where_its_parent_does() {
    let played = play(
        2,
        1,
        &[
            turn(&[spawn("Look around."), wait(&["agent-1"])]),
            finish("ok"),
        ],
        &[finish("seen")],
    );
    sound(&played, EndStatus::Completed, 0);
    let spawned = played.lines("agent_spawned");
    assert_eq!(spawned[1]["brief"], "Look around.");
    assert_eq!(spawned[1]["parentId"], "root");
    assert_eq!(spawned[1]["agentKind"], "subagent");
    assert_eq!(
        spawned[1]["origin"],
        json!({ "kind": "spawn", "parent": "root", "ordinal": 0 })
    );
    assert_eq!(spawned[1]["cwd"], spawned[0]["cwd"]);
    let told: Vec<_> = played
        .lines("context_message")
        .into_iter()
        .filter(|line| line["agentId"] == "agent-1" && line["role"] == "user")
        .map(|line| line["content"].clone())
        .collect();
    assert_eq!(told, ["Look around."]);
}

#[test]
fn a_message_is_read_before_the_next_turn_and_an_ended_child_reads_none() {
    let send = |id: &str, text: &str| call("send_message", &json!({ "id": id, "message": text }));
    let played = play(
        1,
        1,
        &[
            turn(&[
                spawn("Wait for word."),
                send("agent-1", "first"),
                send("agent-1", "second"),
                wait(&[]),
                send("agent-1", "too late"),
                send("agent-7", "to nobody"),
            ]),
            finish("ok"),
        ],
        &[finish("read")],
    );
    sound(&played, EndStatus::Completed, 0);
    let told: Vec<_> = played
        .lines("context_message")
        .into_iter()
        .filter(|line| line["agentId"] == "agent-1" && line["band"] == "user_prompt")
        .map(|line| line["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        told,
        [
            "Wait for word.",
            "Task: message from `root`\n----\nfirst",
            "Task: message from `root`\n----\nsecond",
        ]
    );
    let sent = results(&played, "send_message");
    assert!(
        sent[2].contains("(refused): `agent-1` has ended, completed"),
        "{sent:?}"
    );
    assert!(
        sent[3].contains("(not-found)") && sent[3].contains("`agent-1`"),
        "{sent:?}"
    );
    assert_eq!(played.lines("agent_message").len(), 2);
}

#[test]
fn depth_and_targets_are_kept_and_the_model_is_told() {
    let played = play(
        4,
        2,
        &[
            turn(&[
                call(
                    "spawn_subagent",
                    &json!({ "agent": "baker", "prompt": "x" }),
                ),
                wait(&["root"]),
                spawn("deeper"),
                wait(&[]),
            ]),
            finish("ok"),
        ],
        &[turn(&[spawn("deeper"), wait(&[])]), finish("deep enough")],
    );
    sound(&played, EndStatus::Completed, 0);
    let spawns = results(&played, "spawn_subagent");
    assert!(spawns[0].contains("(invalid-argument)") && spawns[0].contains("`worker`"));
    assert_eq!(
        spawns
            .iter()
            .filter(|text| text.contains("(limit-exceeded)"))
            .count(),
        1,
        "{spawns:?}"
    );
    assert_eq!(summary(&played)["maxDepth"], 2);
    let waits = results(&played, "wait_for_subagents");
    assert!(waits[0].contains("(not-found)"), "{waits:?}");
    assert!(
        waits
            .iter()
            .any(|text| text.starts_with("there is nobody to wait for"))
    );
}

#[test]
fn a_run_drains_behind_its_root() {
    let played = play(
        1,
        1,
        &[turn(&[spawn("go on without me")]), finish("ok")],
        &[
            turn(&[call("shell", &json!({ "command": "true" }))]),
            turn(&[call("list_dir", &json!({}))]),
            finish("done later"),
        ],
    );
    sound(&played, EndStatus::Completed, 0);
    let ends: Vec<_> = played
        .lines("agent_status")
        .into_iter()
        .filter(|line| !line["endedAs"].is_null())
        .map(|line| (line["agentId"].clone(), line["endedAs"].clone()))
        .collect();
    assert_eq!(
        ends,
        [
            (json!("root"), json!("completed")),
            (json!("agent-1"), json!("completed"))
        ]
    );
}

#[test]
fn a_child_that_dies_is_one_failed_row_and_a_defect_of_the_run() {
    // The script raises a panic where the model would answer.
    let played = play(
        2,
        1,
        &[turn(&[spawn("die"), wait(&[])]), finish("never")],
        &[json!({ "fault": "panic" })],
    );
    sound(&played, EndStatus::InternalError, 1);
}

#[test]
fn a_panic_in_a_child_s_turn_wakes_its_parent_and_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut document = family(folder.path(), 1, 1);
    // The root's first turn is over before the place is armed: the child trips it.
    document["capabilitySet"]["limits"]["maxTurns"] = json!(50);
    let script = json!({ "profiles": {
        "root": [turn(&[spawn("trip"), wait(&[])]), finish("never")],
        "worker": [turn(&[call("list_dir", &json!({}))]), finish("never")],
    }});
    tripping::arm("child");
    let played = session(&document, &script);
    sound(&played, EndStatus::InternalError, 1);
    let ends: Vec<_> = played
        .lines("agent_status")
        .into_iter()
        .filter(|line| !line["endedAs"].is_null())
        .collect();
    assert_eq!(ends.len(), 2, "{}", played.stream);
    assert_eq!(
        results(&played, "wait_for_subagents"),
        ["`agent-1` (worker) failed, internal_error"]
    );
    assert_eq!(summary(&played)["agentsFailed"], 2);
}
