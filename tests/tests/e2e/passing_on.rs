//! What an agent that comes of another may do with what it got, and what its maker keeps (03 §5.2).

use std::sync::Arc;

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request, content_text};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::failed;
use crate::exec::{asked_of, cast, dispositions, exec, profile, store};
use crate::hooks::{command, custom, decisions};
use crate::memories::memories;
use crate::skills::skills;
use crate::windowed::edited;

fn fork(prompt: &str) -> Answer {
    Answer::call("fork", json!({ "prompt": prompt }))
}

fn is_copy(request: &Request) -> bool {
    let messages = request.messages();
    messages
        .iter()
        .any(|it| content_text(&it["content"]).starts_with("Task: you are a copy of "))
}

fn scoped(scope: &str) -> Value {
    let mut memories = memories("scratchpad");
    memories["params"]["scope"] = json!(scope);
    memories
}

fn write(name: &str) -> Answer {
    Answer::call(
        "write_memory",
        json!({ "name": name, "description": "d", "body": "b" }),
    )
}

/// The last snapshot of a kind that an agent showed.
#[track_caller]
fn last(run: &Run, agent: &str, kind: &str) -> Value {
    let events = run.events(kind);
    let last = events.into_iter().rfind(|it| it["agentId"] == agent);
    last.unwrap_or_else(|| panic!("{agent} shows no {kind}\n{}", run.describe()))
        .clone()
}

/// One field of the rows of the last snapshot of a kind that an agent showed.
#[track_caller]
fn shown(run: &Run, agent: &str, kind: &str, rows: &str, field: &str) -> Vec<String> {
    let last = last(run, agent, kind);
    let rows = last[rows].as_array().unwrap().iter();
    rows.map(|row| row[field].as_str().unwrap().to_owned())
        .collect()
}

fn disposition(run: &Run, kind: &str) -> String {
    let rows = dispositions(run, 0);
    let row = rows.into_iter().find(|(it, _)| it == kind);
    row.map(|(_, disposition)| disposition).unwrap_or_default()
}

/// The text of a skill.
fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: When {name} is due\n---\n\nDo {name}.\n")
}

#[test]
fn a_successor_has_read_what_its_predecessor_read_and_finds_its_own_manuals() {
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[skills("skills", &[])], &["read_skill"]),
            profile(
                "b",
                &["a"],
                &[skills("skills", &["gg-skills"])],
                &["read_skill"],
            ),
        ]))
        .file("skills/paint/skill.md", skill("paint"))
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 0) | ("b", 2) => Answer::call("read_skill", json!({ "name": "paint" })),
                ("a", _) => exec("b", None),
                ("b", 3) => Answer::call("read_skill", json!({ "name": "gg-skills" })),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(disposition(&run, "skills"), "carried");
    let requests = run.gateway.as_ref().unwrap().requests();
    let system = |request: &Arc<Request>| content_text(&request.messages()[0]["content"]);
    assert!(!system(&requests[0]).contains("gg-skills"));
    assert!(system(&requests[2]).contains("gg-skills"));
    // The manual stands in the window once, however often it is read.
    let reads = run.results("read_skill");
    assert!(reads.iter().all(|it| it["ok"] == true), "{reads:?}");
    let whole = requests.last().unwrap().text();
    assert_eq!(whole.matches("Do paint.").count(), 1, "{whole}");
}

#[test]
fn a_copy_s_tasks_skills_and_archive_are_its_own() {
    let more = [
        json!({ "id": "tasks", "enabled": true, "params": { "mode": "simple", "maxTasks": 0 } }),
        json!({ "id": "agent-managed-context", "enabled": true,
            "params": { "signalThresholdPercent": 100, "topFileViews": 0 } }),
        skills("skills", &[]),
    ];
    let calls = [
        "add_task",
        "complete_task",
        "archive_thread",
        "search_archive",
        "read_skill",
    ];
    let add = |id: &str| json!({ "id": id, "title": id });
    let run = Run::builder()
        .launch(cast([profile("a", &["a"], &more, &calls)]).limit("maxParallel", 1))
        .file("skills/paint/skill.md", skill("paint"))
        .gateway(Gateway::with_checker(
            Some(edited()),
            move |request: &Request, _: usize| {
                // What is archived is no turn any more.
                let archived = request.text().contains("\"archive_thread\",\"arguments");
                match (is_copy(request), request.turn()) {
                    (false, 0) => Answer::call("add_task", add("both")),
                    (false, 1) => fork("Look left."),
                    (false, 2) => Answer::call("wait_for_subagents", json!({})),
                    (true, 2) if !archived => Answer::call("add_task", add("theirs"))
                        .and_call("complete_task", json!({ "id": "both" }))
                        .and_call("read_skill", json!({ "name": "paint" })),
                    (true, 3) if !archived => {
                        Answer::call("archive_thread", json!({ "ranges": [[1, 1]] }))
                    }
                    _ => Answer::finish("Done."),
                }
            },
        ))
        .run();
    run.ended(0, "completed");
    for kind in ["tasks", "skills", "archive"] {
        assert_eq!(disposition(&run, kind), "copied", "{kind}");
    }
    for kind in ["tasks", "archive"] {
        let [maker, copy] = ["root", "agent-1"].map(|agent| store(&run, agent, kind));
        assert_ne!(maker, copy, "{kind}");
    }
    let tasks = |agent: &str, field: &str| shown(&run, agent, "tasks_state", "tasks", field);
    assert_eq!(tasks("root", "id"), ["both"]);
    assert_eq!(tasks("root", "status"), ["pending"]);
    assert_eq!(tasks("agent-1", "id"), ["both", "theirs"]);
    assert_eq!(tasks("agent-1", "status"), ["done", "pending"]);
    let archived = |agent: &str| last(&run, agent, "archive_state")["entries"].clone();
    assert_eq!(archived("root"), json!([]));
    assert_ne!(archived("agent-1"), json!([]));
    // What the copy read is pinned in its own window alone.
    let of_root = run.gateway.as_ref().unwrap().requests();
    let of_root = of_root.iter().rfind(|it| !is_copy(it)).unwrap();
    assert!(!of_root.text().contains("Do paint."));
}

#[test]
fn a_copy_that_may_only_read_sees_its_maker_s_memories_and_writes_none() {
    // The root has nobody to inherit from: it holds, and writes, its own.
    let run = Run::builder()
        .launch(
            cast([profile(
                "a",
                &["a"],
                &[scoped("read-only")],
                &["write_memory"],
            )])
            .limit("maxParallel", 1),
        )
        .answers(
            |request: &Request, _| match (is_copy(request), request.turn()) {
                (false, 0) => write("one"),
                (false, 1) => fork("Write."),
                (false, 2) => Answer::call("wait_for_subagents", json!({})),
                (true, 2) => write("two"),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(disposition(&run, "memories"), "linked");
    assert_eq!(
        store(&run, "root", "memories"),
        store(&run, "agent-1", "memories")
    );
    let names = |agent: &str| shown(&run, agent, "memory_state", "memories", "slug");
    assert_eq!(names("root"), ["one"]);
    assert_eq!(names("agent-1"), ["one"]);
    let last = last(&run, "agent-1", "memory_state");
    assert_eq!(last["writable"], false, "{last}");
    assert_eq!(run.results("write_memory")[1]["ok"], false);
}

#[test]
fn whoever_becomes_a_profile_of_shared_memories_holds_those_of_its_own_profile() {
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[scoped("shared")], &["write_memory"]),
            profile("b", &["a"], &[scoped("shared")], &["write_memory"]),
        ]))
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 0) => write("of-a"),
                ("a", 1) => exec("b", None),
                ("b", 2) => write("of-b"),
                ("b", 3) => exec("a", None),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let stores = ["root", "agent-1", "agent-2"].map(|agent| store(&run, agent, "memories"));
    assert_ne!(stores[0], stores[1]);
    assert_eq!(stores[0], stores[2]);
    let names = |agent: &str| shown(&run, agent, "memory_state", "memories", "slug");
    assert_eq!(names("agent-1"), ["of-b"]);
    assert_eq!(names("agent-2"), ["of-a"]);
    assert_eq!(disposition(&run, "memories"), "linked");
}

#[test]
fn a_sole_holder_s_caps_are_its_own_and_what_is_over_them_stays() {
    let capped = |count: u64| {
        let mut memories = memories("scratchpad");
        memories["params"]["maxCount"] = json!(count);
        memories
    };
    let run = Run::builder()
        .launch(cast([
            profile("a", &["b"], &[capped(3)], &["write_memory"]),
            profile("b", &["a"], &[capped(1)], &["write_memory"]),
        ]))
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("a", 0) => write("one").and_call(
                    "write_memory",
                    json!({ "name": "two", "description": "d", "body": "b" }),
                ),
                ("a", 1) => exec("b", None),
                ("b", 2) => write("three"),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let last = last(&run, "agent-1", "memory_state");
    assert_eq!(last["limits"]["maxCount"], 1, "{last}");
    assert_eq!(
        shown(&run, "agent-1", "memory_state", "memories", "slug"),
        ["one", "two"]
    );
    failed(
        &run,
        run.results("write_memory")[2],
        "limit-exceeded",
        &["1"],
    );
}

/// R19: a copy is of the window as it stands after compaction, before gg says what hooks said.
#[test]
fn what_hooks_say_of_a_turn_is_told_to_whoever_made_it_and_not_to_its_copy() {
    let says = r#"echo '{"action":"message","message":"Mind the paint."}'"#;
    let run = Run::builder()
        .launch({
            let mut profile = profile("a", &["a"], &[shell()], &["shell"]);
            profile["hooks"] = json!([custom("post-shell", says)]);
            cast([profile]).limit("maxParallel", 1)
        })
        .answers(
            |request: &Request, _| match (is_copy(request), request.turn()) {
                (false, 0) => {
                    Answer::shell("true").and_call("fork", json!({ "prompt": "Go left." }))
                }
                (false, 1) => Answer::call("wait_for_subagents", json!({})),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(decisions(&run), ["post-shell message"]);
    let requests = run.gateway.as_ref().unwrap().requests();
    for request in requests.iter().filter(|it| it.turn() > 0) {
        let told = request.text().contains("Mind the paint.");
        assert_eq!(told, !is_copy(request), "{}", request.text());
    }
    assert!(requests.iter().any(|it| is_copy(it)));
}

fn shell() -> Value {
    json!({ "id": "shell", "enabled": true, "implementation": "inline",
        "params": { "maxLines": 20, "maxChars": 2000 } })
}

fn keeper(more: &[Value], tools: &[&str]) -> Value {
    let persistent = json!({ "id": "agent-persistence", "enabled": true, "params": {} });
    let reading = json!({ "id": "read-file", "enabled": true, "implementation": "default-cap",
        "params": { "lineCap": 250 } });
    let more = [&[persistent, reading], more].concat();
    let tools = [&["read_file"], tools].concat();
    profile("keeper", &["keeper"], &more, &tools)
}

/// Whether the desk of an agent was opened as it began.
fn opened(run: &Run, agent: &str) -> bool {
    let logs = run.events("log").into_iter();
    let mut logs = logs.filter(|log| log["code"] == "desk" && log["agentId"] == agent);
    logs.any(|log| log["message"].as_str().unwrap().contains("opened on"))
}

#[test]
fn an_ending_that_its_gate_holds_up_leaves_no_desk() {
    let run = Run::builder()
        .launch({
            let mut keeper = keeper(&[], &[]);
            // The first keeper is held up for good, and ends at its ceiling.
            keeper["hooks"] = json!([command("agent-stop", "test -e done")]);
            cast([profile("root", &["keeper"], &[shell()], &["shell"]), keeper])
                .limit("maxTurns", 4)
                .limit("maxParallel", 2)
        })
        .file("a.txt", "a\n")
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("root", 0) => spawn("One."),
                ("root", 1) => Answer::shell("touch done").and_call("spawn_subagent", two()),
                ("root", 2) => Answer::call("wait_for_subagents", json!({})),
                ("keeper", 0) if request.text().contains("One.") => {
                    Answer::call("read_file", json!({ "path": "a.txt" }))
                }
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(3, "completed");
    let ended = crate::exec::endings(&run);
    assert_eq!(ended[0], ("agent-1".to_owned(), "exhausted".to_owned()));
    assert!(!opened(&run, "agent-2"));
    assert_eq!(decisions(&run).last().unwrap(), "agent-stop continue");
}

fn two() -> Value {
    json!({ "agent": "keeper", "prompt": "Two." })
}

/// Starts a keeper and waits for it.
fn spawn(prompt: &str) -> Answer {
    Answer::call(
        "spawn_subagent",
        json!({ "agent": "keeper", "prompt": prompt }),
    )
    .and_call("wait_for_subagents", json!({}))
}

#[test]
fn a_state_entered_without_the_conversation_opens_on_its_profile_s_desk() {
    for history in [false, true] {
        let transfer: &[&str] = if history { &["history"] } else { &[] };
        let states = json!([
            { "name": "plan", "agent": "planner", "transitions": [
                { "to": "keep", "transfer": transfer },
            ] },
            { "name": "keep", "agent": "keeper", "transitions": [] },
        ]);
        let machine = json!({
            "slug": "process", "name": "process", "tools": [], "operations": [],
            "capabilities": [{ "id": "fsm", "enabled": true, "params": { "states": states } }],
        });
        let without_exec = |mut profile: Value| {
            let capabilities = profile["capabilities"].as_array_mut().unwrap();
            capabilities.retain(|it| it["id"] != "exec");
            profile["tools"]
                .as_array_mut()
                .unwrap()
                .retain(|it| it != "exec");
            profile
        };
        let agents = [
            machine,
            without_exec(profile("planner", &["keeper"], &[], &[])),
            without_exec(keeper(&[], &[])),
        ];
        let run = Run::builder()
            .launch(Launch::live().set("/capabilitySet/agents", json!(agents)))
            .file("a.txt", "a\n")
            .answers(
                |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                    ("planner", 0) => spawn("One."),
                    ("planner", _) => Answer::call("transition_state", json!({ "state": "keep" })),
                    ("keeper", 0) if request.text().contains("One.") => {
                        Answer::call("read_file", json!({ "path": "a.txt" }))
                    }
                    _ => Answer::finish("Done."),
                },
            )
            .run();
        run.ended(0, "completed");
        assert_eq!(run.summary()["fsmTransitions"], 1);
        // A conversation that came along is opened on nothing.
        assert_eq!(opened(&run, "agent-2"), !history, "{}", run.describe());
    }
}
