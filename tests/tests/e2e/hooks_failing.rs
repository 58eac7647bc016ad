//! Hooks that judge nothing: a hook can neither be skipped nor approve by crashing (F97, 01 §8.4,
//! R51).

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request, Responder, content_text};
use tests::run::Run;

use crate::hooks::{command, custom, decisions, with_hooks};

/// What a hook does instead of judging, and what the operator reads of it.
fn failures() -> Vec<(Value, &'static str)> {
    let script = |source: &str| json!({ "type": "custom", "source": source, "timeoutSecs": 20 });
    let slow = json!({ "type": "custom", "source": "sleep 60", "timeoutSecs": 0.2 });
    let late = json!({
        "type": "custom", "timeoutSecs": 0.2,
        "source": "echo '{\"action\":\"continue\"}'; sleep 60",
    });
    let lost = json!({ "type": "command", "command": "true", "cwd": "not there" });
    let slow_command = json!({ "type": "command", "command": "sleep 60", "timeoutSecs": 0.2 });
    vec![
        (slow, "killed after 0.2 s"),
        (late, "killed after 0.2 s"),
        (script("kill -9 $$"), "a signal ended it"),
        (script("kill -TERM $$"), "a signal ended it"),
        (script("echo yes, go on"), "no decision"),
        (script("echo '{\"action\":\"approve\"}'"), "no decision"),
        (script("true"), "printed no decision"),
        (
            script("echo '{\"action\":\"continue\"}'; exit 1"),
            "exited with code 1",
        ),
        (
            script("echo '{\"action\":\"continue\"}' >&2"),
            "printed no decision",
        ),
        (
            script("#!/no/such/interpreter\necho '{\"action\":\"continue\"}'"),
            "could not start",
        ),
        (script("if; then"), "exited with code 2"),
        (lost, "does not exist"),
        (slow_command, "killed after 0.2 s"),
        (
            json!({ "type": "command", "command": "kill -9 $$" }),
            "a signal ended it",
        ),
    ]
}

fn worker() -> impl Responder {
    |request: &Request, _: usize| match request.turn() {
        0 => Answer::call("write_file", json!({ "path": "written", "contents": "x" })),
        1 => Answer::shell("touch ran"),
        _ => Answer::finish("Done."),
    }
}

/// A run that a hook of `event` ended before what it was to judge happened.
#[track_caller]
fn stopped(run: &Run, event: &str, why: &str) {
    run.ended(1, "hook_error");
    let happened = ["written", "ran"].map(|name| run.workspace().join(name).exists());
    let turns = match event {
        "session-start" | "agent-start" => 0,
        "pre-write" | "post-write" => 1,
        "pre-shell" | "post-shell" => 2,
        _ => 3,
    };
    let expected = match event {
        "session-start" | "agent-start" | "pre-write" => [false, false],
        "post-write" | "pre-shell" => [true, false],
        _ => [true, true],
    };
    assert_eq!(happened, expected, "{event}: {why}\n{}", run.describe());
    let requests = run.gateway.as_ref().unwrap().requests();
    assert_eq!(requests.len(), turns, "{event}: {why}");
    assert_eq!(decisions(run), [format!("{event} error")]);
    let error = run.last()["error"].as_str().unwrap();
    assert!(error.contains(why) && error.contains(event), "{error}");
    let told = run.logs("error");
    assert!(told.iter().any(|log| log.contains(why)), "{told:?}");
    let ended = run.events("agent_status");
    assert_eq!(ended.last().unwrap()["endedAs"], "hook_error");
    crate::kill9::agrees(run);
}

fn matrix(event: &str) {
    for (action, why) in failures() {
        let run = Run::builder()
            .launch(with_hooks([json!({ "event": event, "action": action })]))
            .answers(worker())
            .run();
        stopped(&run, event, why);
    }
}

#[test]
fn f97_a_hook_that_fails_before_a_write_lets_nothing_be_written() {
    matrix("pre-write");
}

#[test]
fn f97_a_hook_that_fails_before_a_command_lets_nothing_run() {
    matrix("pre-shell");
}

#[test]
fn f97_a_hook_that_fails_before_an_ending_accepts_none() {
    matrix("agent-stop");
}

#[test]
fn a_hook_that_fails_where_it_cannot_block_ends_the_run_all_the_same() {
    for event in ["session-start", "agent-start", "post-write", "post-shell"] {
        let run = Run::builder()
            .launch(with_hooks([custom(
                event,
                "echo junk; echo why >&2; exit 3",
            )]))
            .answers(worker())
            .run();
        stopped(&run, event, "exited with code 3");
        // What it wrote is the operator's to read.
        let told = run.logs("error").join("\n");
        assert!(
            told.contains("stdout: junk") && told.contains("stderr: why"),
            "{told}"
        );
    }
}

#[test]
fn a_hook_that_fails_around_a_compaction_ends_the_run() {
    for (event, compactions) in [("pre-compact", 0), ("post-compact", 1)] {
        let compaction = json!({
            "id": "compaction", "enabled": true, "implementation": "self-compaction",
            "params": { "summaryHeadroom": 0.2 },
        });
        let run = Run::builder()
            .launch(with_hooks([custom(event, "exit 1")]).granting(compaction, &["compact"]))
            .answers(|_: &Request, _: usize| {
                Answer::call("compact", json!({ "summary": "So far.", "files": [] }))
            })
            .run();
        run.ended(1, "hook_error");
        assert_eq!(run.events("compaction").len(), compactions);
    }
}

#[test]
fn a_script_that_the_agent_touches_judges_nothing_any_more() {
    let approve = "echo '{\"action\":\"continue\"}'";
    let path = ".gg/hooks/agents/root/0-pre-shell";
    for (touch, why) in [
        (
            Answer::call("write_file", json!({ "path": path, "contents": approve })),
            "it was changed",
        ),
        (Answer::shell(&format!("rm {path}")), "it is gone"),
    ] {
        let source = "case \"$1\" in *ran*) echo '{\"action\":\"block\",\"reason\":\"no\"}';; \
                      *) echo '{\"action\":\"continue\"}';; esac";
        let run = Run::builder()
            .launch(with_hooks([custom("pre-shell", source)]))
            .answers(crate::common::turns([touch, Answer::shell("touch ran")]))
            .run();
        run.ended(1, "hook_error");
        assert!(!run.workspace().join("ran").exists());
        assert!(run.last()["error"].as_str().unwrap().contains(why));
    }
}

#[test]
fn a_hook_that_fails_at_the_run_s_end_is_logged_and_changes_nothing() {
    let run = Run::builder()
        .launch(with_hooks([
            custom("session-end", "echo junk"),
            command("session-end", "exit 4"),
            command("session-end", "touch never"),
        ]))
        .answers(crate::common::turns([]))
        .run();
    run.ended(0, "completed");
    assert_eq!(decisions(&run), ["session-end error"]);
    assert!(run.logs("error").is_empty());
    assert!(
        run.logs("warn")
            .iter()
            .any(|log| log.contains("session-end") && log.contains("no decision"))
    );
}

#[test]
fn a_folder_of_hooks_that_leads_elsewhere_is_not_written_to() {
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().to_owned();
    let run = Run::builder()
        .prepare(|workspace| {
            std::fs::create_dir(workspace.join(".gg")).unwrap();
            std::os::unix::fs::symlink(&target, workspace.join(".gg/hooks")).unwrap();
        })
        .launch(with_hooks([custom(
            "pre-write",
            "echo '{\"action\":\"continue\"}'",
        )]))
        .answers(worker())
        .run();
    stopped(&run, "pre-write", "not a directory");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

/// A root that starts workers and waits for them; hooks are the workers'.
fn family(hooks: Value) -> tests::launch::Launch {
    let roster = json!([{ "agentId": "worker", "description": "Works.", "scopes": ["subagent"] }]);
    let profile = |slug: &str, hooks: Value| {
        json!({
            "slug": slug, "name": slug, "modelId": tests::launch::MODEL,
            "capabilities": [
                { "id": "shell", "enabled": true, "implementation": "inline",
                  "params": { "maxLines": 20, "maxChars": 2000 } },
                { "id": "write-file", "enabled": true, "params": {} },
                { "id": "subagents", "enabled": true, "params": { "maxDepth": 1 } },
            ],
            "tools": ["shell", "write_file", "spawn_subagent", "wait_for_subagents"],
            "operations": [], "subagents": roster, "hooks": hooks,
        })
    };
    tests::launch::Launch::live().set(
        "/capabilitySet/agents",
        json!([profile("root", json!([])), profile("worker", hooks)]),
    )
}

fn is_worker(request: &Request) -> bool {
    let messages = request.messages();
    let task = messages.iter().find(|message| message["role"] == "user");
    task.is_some_and(|task| content_text(&task["content"]).starts_with("Be a worker."))
}

fn spawn() -> Answer {
    let asked = json!({ "agent": "worker", "prompt": "Be a worker." });
    Answer::call("spawn_subagent", asked)
}

#[test]
fn a_child_s_hooks_are_told_who_it_is_and_judge_it_alone() {
    let source = "printf '%s\\n' \"$1\" >> told.ndjson; echo '{\"action\":\"continue\"}'";
    let hooks = json!([custom("agent-start", source), custom("agent-stop", source)]);
    let run = Run::builder()
        .launch(family(hooks))
        .answers(|request: &Request, _: usize| match request.turn() {
            0 if !is_worker(request) => {
                spawn().and_call("wait_for_subagents", json!({ "ids": [] }))
            }
            _ => Answer::finish("Done."),
        })
        .run();
    run.ended(0, "completed");
    let told: Vec<Value> = run
        .file("told.ndjson")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(told.len(), 2);
    for payload in &told {
        assert_eq!(payload["agentId"], "agent-1");
        assert_eq!(payload["agent"], "worker");
        assert_eq!(payload["agentKind"], "subagent");
    }
    for hook in run.events("hook") {
        assert_eq!(hook["agentId"], "agent-1");
    }
}

#[test]
fn a_hook_that_fails_in_a_child_winds_the_whole_run_down() {
    let run = Run::builder()
        .launch(family(json!([custom("pre-write", "exit 1")])))
        .answers(
            |request: &Request, _: usize| match (is_worker(request), request.turn()) {
                (false, 0) => spawn().and_call(
                    "spawn_subagent",
                    json!({
                        "agent": "worker", "prompt": "Be a worker. Sleep."
                    }),
                ),
                (false, _) => Answer::call("wait_for_subagents", json!({ "ids": [] })),
                (true, _) if request.text().contains("worker. Sleep.") => {
                    Answer::shell("sleep 300")
                }
                (true, _) => {
                    Answer::call("write_file", json!({ "path": "written", "contents": "x" }))
                }
            },
        )
        .run();
    run.ended(1, "hook_error");
    assert!(!run.workspace().join("written").exists());
    let ends: Vec<_> = run
        .events("agent_status")
        .into_iter()
        .filter(|status| !status["endedAs"].is_null())
        .map(|status| (status["agentId"].clone(), status["endedAs"].clone()))
        .collect();
    assert_eq!(ends.len(), 3, "{}", run.describe());
    assert!(ends.contains(&(json!("agent-1"), json!("hook_error"))));
    assert!(ends.contains(&(json!("agent-2"), json!("canceled"))));
    assert!(ends.contains(&(json!("root"), json!("canceled"))));
}

#[test]
fn a_hook_that_fails_after_the_root_has_finished_is_the_run_s_failure() {
    let run = Run::builder()
        .launch(family(json!([command("pre-write", "kill -9 $$")])))
        .gateway(Gateway::start(|request: &Request, _: usize| {
            match (is_worker(request), request.turn()) {
                (false, 0) => spawn(),
                (false, _) => Answer::finish("Done."),
                (true, 0) => Answer::shell("sleep 1"),
                (true, _) => {
                    Answer::call("write_file", json!({ "path": "written", "contents": "x" }))
                }
            }
        }))
        .run();
    run.ended(1, "hook_error");
    let root = run.events("agent_status");
    let root = root.iter().rfind(|status| status["agentId"] == "root");
    assert_eq!(root.unwrap()["endedAs"], "completed");
    assert!(run.last()["error"].as_str().unwrap().contains("pre-write"));
}
