//! Agents that become others, over real sockets: what moves, what does not, and that nobody above
//! notices (03 §5).

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request, content_text, script};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::common::failed;
use crate::memories::memories;
use crate::windowed::edited;

/// A set of profiles, each of which may spawn, become and copy every one. Their prompts tell them
/// apart.
pub(crate) fn cast(profiles: impl IntoIterator<Item = Value>) -> Launch {
    let profiles: Vec<Value> = profiles.into_iter().collect();
    Launch::live().set("/capabilitySet/agents", json!(profiles))
}

/// The calls that concern other agents.
pub(crate) const CALLS: [&str; 5] = [
    "spawn_subagent",
    "wait_for_subagents",
    "send_message",
    "exec",
    "fork",
];

/// A profile that may list directories, and do all to others; `more` is added to its capabilities.
pub(crate) fn profile(slug: &str, roster: &[&str], more: &[Value], tools: &[&str]) -> Value {
    let mut capabilities = vec![
        json!({ "id": "list-dir", "enabled": true, "params": {} }),
        json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 2 } }),
        json!({ "id": "exec", "enabled": true, "params": {} }),
        json!({ "id": "fork", "enabled": true, "params": {} }),
    ];
    capabilities.extend(more.iter().cloned());
    let granted = [&["list_dir"], CALLS.as_slice(), tools].concat();
    let roster: Vec<Value> = roster
        .iter()
        .map(|slug| json!({ "agentId": slug, "description": "", "scopes": ["subagent"] }))
        .collect();
    json!({
        "slug": slug, "name": slug, "modelId": MODEL, "customInstructions": format!("I am {slug}."),
        "capabilities": capabilities, "tools": granted, "operations": [], "subagents": roster,
    })
}

/// The profile a request is made for.
pub(crate) fn asked_of(request: &Request) -> String {
    let messages = request.messages();
    let system = content_text(&messages[0]["content"]);
    let name = system
        .strip_prefix("I am ")
        .and_then(|it| it.split_once('.'));
    name.map(|(name, _)| name.to_owned()).unwrap_or_default()
}

/// The last thing the model was told in a message of its own.
pub(crate) fn last_told(request: &Request) -> String {
    let messages = request.messages();
    let told = messages.iter().rfind(|message| message["role"] == "user");
    told.map(|message| content_text(&message["content"]))
        .unwrap_or_default()
}

pub(crate) fn exec(agent: &str, prompt: Option<&str>) -> Answer {
    Answer::call("exec", json!({ "agent": agent, "prompt": prompt }))
}

pub(crate) fn list() -> Answer {
    Answer::call("list_dir", json!({}))
}

/// What became of each module in the `n`th transition.
pub(crate) fn dispositions(run: &Run, n: usize) -> Vec<(String, String)> {
    let rows = run.events("agent_transition")[n]["modules"]
        .as_array()
        .unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.iter()
        .map(|row| (text(&row["kind"]), text(&row["disposition"])))
        .filter(|(_, disposition)| disposition != "absent")
        .collect()
}

/// The stores of an agent, by kind, as its roster has them.
pub(crate) fn store(run: &Run, agent: &str, kind: &str) -> Option<String> {
    let rosters = run.events("agent_modules");
    let roster = rosters.iter().find(|it| it["agentId"] == agent).unwrap();
    let rows = roster["modules"].as_array().unwrap();
    let row = rows.iter().find(|row| row["kind"] == kind).unwrap();
    row["store"].as_str().map(str::to_owned)
}

fn pairs(rows: &[(String, String)]) -> Vec<(&str, &str)> {
    rows.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect()
}

/// How every agent ended, in the order they did.
pub(crate) fn endings(run: &Run) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    run.events("agent_status")
        .into_iter()
        .filter(|status| status["endedAs"].is_string())
        .map(|status| (text(&status["agentId"]), text(&status["endedAs"])))
        .collect()
}

fn tasks() -> Value {
    json!({ "id": "tasks", "enabled": true, "params": { "mode": "simple", "maxTasks": 0 } })
}

const TASKS: [&str; 2] = ["add_task", "complete_task"];

fn managed() -> Value {
    json!({ "id": "agent-managed-context", "enabled": true,
        "params": { "signalThresholdPercent": 75, "topFileViews": 5 } })
}

#[test]
fn a_root_becomes_another_and_back_at_one_slot() {
    let run = Run::builder()
        .launch(
            cast([
                profile("a", &["b"], &[], &[]),
                profile("b", &["a"], &[], &[]),
            ])
            .limit("maxParallel", 1),
        )
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 0) => exec("b", Some("Build it.")),
                ("b", 1) => exec("a", None),
                _ => Answer::finish("Done by the third."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(
        endings(&run),
        [
            ("root".to_owned(), "transitioned".to_owned()),
            ("agent-1".to_owned(), "transitioned".to_owned()),
            ("agent-2".to_owned(), "completed".to_owned()),
        ]
    );
    let spawned = run.events("agent_spawned");
    assert_eq!(spawned[2]["parentId"], "agent-1");
    assert_eq!(spawned[2]["depth"], 0);
    assert_eq!(spawned[2]["agentKind"], "root");
    assert_eq!(
        spawned[2]["origin"],
        json!({ "kind": "succession", "predecessor": "agent-1", "ordinal": 2 })
    );
    let summary = run.summary();
    assert_eq!(
        (
            &summary["execs"],
            &summary["agents"],
            &summary["peakParallel"]
        ),
        (&json!(2), &json!(3), &json!(1))
    );
    // Turns go on: each agent answered one, and they are numbered through.
    let turns: Vec<_> = run
        .events("turn_outcome")
        .iter()
        .map(|it| it["turn"].clone())
        .collect();
    assert_eq!(turns, [json!(1), json!(2), json!(3)]);
    // Each call is paid for by the profile that made it.
    let slots: Vec<_> = run
        .events("slot_usage")
        .iter()
        .map(|it| (it["profileId"].clone(), it["calls"].clone()))
        .collect();
    assert_eq!(slots, [(json!("a"), json!(2)), (json!("b"), json!(1))]);
}

#[test]
fn the_conversation_is_the_same_bytes_behind_another_system_prompt() {
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[], &[]),
            profile("b", &["a"], &[], &[]),
        ]))
        .file("one.txt", "1\n")
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 0) => list().saying("I look around: é\u{2028}\"quoted\""),
                ("a", _) => exec("b", Some("Go on.")).saying("Over to you"),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    let bodies: Vec<String> = requests.iter().map(|it| it.text()).collect();
    let thread = |body: &str| {
        let messages = body.split_once("\"messages\":[").unwrap().1.to_owned();
        let first_user = messages.find("{\"role\":\"user\"").unwrap();
        messages[first_user..].to_owned()
    };
    let (before, after) = (thread(&bodies[1]), thread(&bodies[2]));
    let plain = |text: &str| text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    let (before, after) = (plain(&before), plain(&after));
    let kept = before.trim_end_matches(['}', ']']);
    assert!(after.starts_with(kept), "{kept}\n\n{after}");
    // The reply that handed on, and its result, stand there too; then the note.
    let messages = requests[2].messages();
    let roles: Vec<_> = messages
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
            "tool",
            "user"
        ]
    );
    let note = last_told(&requests[2]);
    assert!(
        note.starts_with("Task: you take over from `root`\n----\n"),
        "{note}"
    );
    assert!(note.ends_with("What it left you to do:\nGo on."), "{note}");
    assert_eq!(
        messages.iter().filter(|it| it["role"] == "system").count(),
        1
    );
}

#[test]
fn tasks_memories_and_archive_move_with_what_they_hold() {
    let both = [tasks(), memories("scratchpad"), managed()];
    let tools = [
        "add_task",
        "complete_task",
        "write_memory",
        "archive_thread",
        "search_archive",
    ];
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &both, &tools),
            profile("b", &["a"], &both, &tools),
        ]))
        .gateway(Gateway::with_checker(
            Some(edited()),
            script([
                Answer::call("add_task", json!({ "id": "t", "title": "Test" })).and_call(
                    "write_memory",
                    json!({ "name": "build", "description": "how", "body": "make" }),
                ),
                Answer::call("archive_thread", json!({ "ranges": [[1, 1]] })),
                exec("b", None),
                Answer::call("complete_task", json!({ "id": "t" }))
                    .and_call("search_archive", json!({ "query": "add_task" })),
                Answer::finish("Done."),
            ]),
        ))
        .run();
    run.ended(0, "completed");
    assert_eq!(
        pairs(&dispositions(&run, 0)),
        [
            ("history", "carried"),
            ("memories", "carried"),
            ("tasks", "carried"),
            ("archive", "carried"),
        ]
    );
    for kind in ["history", "memories", "tasks", "archive"] {
        assert_eq!(
            store(&run, "root", kind),
            store(&run, "agent-1", kind),
            "{kind}"
        );
    }
    let restated = |kind: &str| {
        let events = run.events(kind);
        events
            .into_iter()
            .find(|it| it["agentId"] == "agent-1")
            .unwrap()
            .clone()
    };
    assert_eq!(restated("tasks_state")["tasks"][0]["id"], "t");
    assert_eq!(restated("memory_state")["memories"][0]["slug"], "build");
    assert_ne!(restated("archive_state")["entries"], json!([]));
    assert_eq!(run.results("complete_task")[0]["ok"], true);
}

#[test]
fn what_the_receiver_has_off_is_dropped_and_what_only_it_has_is_new() {
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[tasks()], &TASKS),
            profile("b", &["a"], &[memories("scratchpad")], &["write_memory"]),
        ]))
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 0) => Answer::call("add_task", json!({ "id": "t", "title": "Test" })),
                ("a", _) => exec("b", None),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(
        pairs(&dispositions(&run, 0)),
        [
            ("history", "carried"),
            ("memories", "initialized"),
            ("tasks", "dropped"),
        ]
    );
    let requests = run.gateway.as_ref().unwrap().requests();
    let note = last_told(requests.last().unwrap());
    assert!(
        note.contains("\n- memories: it had none; yours are empty\n"),
        "{note}"
    );
    assert!(
        note.contains("\n- tasks: dropped, you keep none\n"),
        "{note}"
    );
    // The block it showed stays where it was, as history, and not a byte of it changes.
    let breakdowns = run.events("context_breakdown");
    let last = breakdowns.last().unwrap();
    assert_eq!(last["agentId"], "agent-1");
    assert_eq!(last["bands"]["task_list"], 0);
    assert!(last["bands"]["history"].as_u64().unwrap() > 0);
}

#[test]
fn memories_kept_in_another_way_are_dropped_and_the_reason_told() {
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[memories("scratchpad")], &["write_memory"]),
            profile("b", &["a"], &[memories("markdown")], &["create_memory"]),
        ]))
        .answers(|request: &Request, _| match asked_of(request).as_str() {
            "a" => exec("b", None),
            _ => Answer::finish("Done."),
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(
        pairs(&dispositions(&run, 0)),
        [("history", "carried"), ("memories", "dropped")]
    );
    assert_ne!(
        store(&run, "root", "memories"),
        store(&run, "agent-1", "memories")
    );
    let requests = run.gateway.as_ref().unwrap().requests();
    let note = last_told(requests.last().unwrap());
    assert!(
        note.contains("memories: dropped, they were kept in a way you cannot read"),
        "{note}"
    );
}

#[test]
fn the_first_of_two_stands_and_an_ending_beats_it() {
    let profiles = || {
        [
            profile("a", &["b", "c"], &[], &[]),
            profile("b", &["a"], &[], &[]),
            profile("c", &["a"], &[], &[]),
        ]
    };
    let run = Run::builder()
        .launch(cast(profiles()))
        .answers(|request: &Request, _| match asked_of(request).as_str() {
            "a" => exec("b", None).and_call("exec", json!({ "agent": "c" })),
            who => Answer::finish(who),
        })
        .run();
    run.ended(0, "completed");
    failed(
        &run,
        run.results("exec")[1],
        "refused",
        &["`b`", "the first stands"],
    );
    assert_eq!(run.events("agent_spawned")[1]["profileId"], "b");

    let run = Run::builder()
        .launch(cast(profiles()))
        .answers(|_: &Request, _| {
            exec("b", None).and_call("finish", json!({ "summary": "Enough." }))
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(run.events("agent_spawned").len(), 1);
    assert_eq!(run.summary()["execs"], 0);
}

#[test]
fn whoever_is_not_listed_is_nobody_to_become() {
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[], &[]),
            profile("b", &[], &[], &[]).without_exec(),
        ]))
        .answers(|request: &Request, _| match request.turn() {
            0 => exec("a", None).and_call("exec", json!({ "agent": "baker" })),
            _ => Answer::finish("Done."),
        })
        .run();
    run.ended(0, "completed");
    for result in run.results("exec") {
        failed(&run, result, "invalid-argument", &["expected one of `b`"]);
    }
    assert_eq!(run.events("agent_spawned").len(), 1);
}

trait Less {
    fn without_exec(self) -> Self;
}

impl Less for Value {
    fn without_exec(mut self) -> Self {
        let capabilities = self["capabilities"].as_array_mut().unwrap();
        capabilities.retain(|it| it["id"] != "exec");
        let tools = self["tools"].as_array_mut().unwrap();
        tools.retain(|it| it != "exec");
        self
    }
}

#[test]
fn a_dispatcher_sees_one_agent_and_a_successor_collects_what_its_predecessor_started() {
    let run = Run::builder()
        .launch(
            cast([
                profile("a", &["b"], &[], &[]),
                profile("b", &["c", "d"], &[], &[]),
                profile("c", &["c"], &[], &[]),
                profile("d", &["c"], &[], &[]),
            ])
            .limit("maxParallel", 2),
        )
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 0) => {
                    Answer::call("spawn_subagent", json!({ "agent": "b", "prompt": "Go." }))
                }
                ("a", 1) => Answer::call("wait_for_subagents", json!({})),
                ("a", _) => Answer::finish("All."),
                ("b", _) => {
                    Answer::call("spawn_subagent", json!({ "agent": "c", "prompt": "Look." }))
                        .and_call("exec", json!({ "agent": "d" }))
                }
                ("d", 1) => Answer::call("wait_for_subagents", json!({ "ids": ["agent-2"] })),
                ("d", _) => Answer::finish("From the successor."),
                _ => Answer::finish("Looked."),
            },
        )
        .run();
    run.ended(0, "completed");
    let waits: Vec<_> = run
        .results("wait_for_subagents")
        .iter()
        .map(|it| it["preview"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        waits.contains(&"`agent-2` (c) finished:\nLooked.".to_owned()),
        "{waits:?}"
    );
    assert!(
        waits.contains(&"`agent-1` (d) finished:\nFrom the successor.".to_owned()),
        "{waits:?}"
    );
    let requests = run.gateway.as_ref().unwrap().requests();
    let note = requests
        .iter()
        .find(|it| asked_of(it) == "d")
        .map(|it| last_told(it))
        .unwrap();
    assert!(
        note.contains("yours to wait for, with `wait_for_subagents`:\n- `agent-2` (c), "),
        "{note}"
    );
}

#[test]
fn a_lineage_shares_one_allowance_of_turns() {
    let run = Run::builder()
        .launch(
            cast([
                profile("a", &["b"], &[], &[]),
                profile("b", &["a"], &[], &[]),
            ])
            .limit("maxTurns", 3),
        )
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 1) => exec("b", None),
                _ => list(),
            },
        )
        .run();
    run.ended(3, "exhausted");
    assert_eq!(run.events("turn_outcome").len(), 3);
    let breach = run.event("limit_exceeded");
    assert_eq!(
        (&breach["agentId"], &breach["turns"]),
        (&json!("agent-1"), &json!(3.0))
    );
}

#[test]
fn error_windows_are_fresh_for_each_agent_of_a_lineage() {
    let run = Run::builder()
        .launch(
            cast([
                profile("a", &["b"], &[], &[]),
                profile("b", &["a"], &[], &[]),
            ])
            .limit("maxConsecutiveErrors", 3),
        )
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 0 | 1) | ("b", 3 | 4) => Answer::text("Hm."),
                ("a", _) => exec("b", None),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let streaks: Vec<_> = run
        .events("turn_outcome")
        .iter()
        .map(|it| it["consecutiveErrors"].as_u64().unwrap())
        .collect();
    assert_eq!(streaks, [1, 2, 0, 1, 2, 0]);
}

#[test]
fn without_the_capability_there_is_no_call_and_no_word() {
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[], &[]).without_exec(),
            profile("b", &[], &[], &[]).without_exec(),
        ]))
        .answers(|_: &Request, _| Answer::finish("Done."))
        .run();
    run.ended(0, "completed");
    let body = run.gateway.as_ref().unwrap().requests()[0].text();
    assert!(!body.contains("exec") && !body.contains("become"), "{body}");
}
