//! Hooks beside what ends a session: the gate before an ending, ceilings, cancels, the clock.

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request, content_text};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::turns;
use crate::hooks::{command, custom, decisions, hooked, with_hooks};
use crate::windowed::edited;

/// The last user message of a request.
fn last_notice(request: &Request) -> String {
    let messages = request.messages();
    let last = messages.last().filter(|last| last["role"] == "user");
    last.map(|last| content_text(&last["content"]))
        .unwrap_or_default()
}

#[test]
fn a_session_goes_on_until_its_gate_is_satisfied() {
    let run = Run::builder()
        .launch(with_hooks([
            custom(
                "agent-stop",
                "echo '{\"action\":\"message\",\"message\":\"Checking.\"}'",
            ),
            command(
                "agent-stop",
                "test -e fixed || { echo nothing is fixed; exit 1; }",
            ),
        ]))
        .answers(|request: &Request, _: usize| {
            if request.turn() == 0 {
                return Answer::finish("Early.");
            }
            let notice = last_notice(request);
            if notice.contains("nothing is fixed") {
                return Answer::shell("touch fixed");
            }
            Answer::finish("Fixed.")
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["progressed", "progressed", "finished"]);
    assert_eq!(
        decisions(&run),
        [
            "agent-stop message",
            "agent-stop block",
            "agent-stop message",
            "agent-stop continue"
        ]
    );
    let requests = run.gateway.as_ref().unwrap().requests();
    let messages = requests[1].messages();
    let texts: Vec<String> = messages
        .iter()
        .rev()
        .take(2)
        .map(|message| content_text(&message["content"]))
        .collect();
    assert_eq!(
        texts,
        [
            "Notice\n----\nYour `finish` was not accepted, so your session goes on:\n\n\
             exit code 1\nnothing is fixed\n\nSee to this, then end your session again.",
            "Notice\n----\nChecking.",
        ]
    );
    let ended = run.events("agent_status");
    assert_eq!(ended.last().unwrap()["result"], "Fixed.");
}

#[test]
fn a_gate_that_is_never_satisfied_holds_until_a_ceiling() {
    let run = Run::builder()
        .launch(with_hooks([command("agent-stop", "false")]).limit("maxTurns", 4))
        .answers(|_: &Request, _: usize| Answer::finish("Now."))
        .run();
    run.ended(3, "exhausted");
    assert_eq!(run.outcomes(), ["progressed"; 4]);
    assert_eq!(decisions(&run), ["agent-stop block"; 4]);
    let ended = run.events("agent_status");
    assert!(ended.last().unwrap()["result"].is_null());
}

#[test]
fn a_ceiling_s_end_passes_no_gate() {
    let run = Run::builder()
        .launch(with_hooks([command("agent-stop", "touch asked")]).limit("maxTurns", 1))
        .answers(|_: &Request, _: usize| Answer::shell("true"))
        .run();
    run.ended(3, "exhausted");
    assert!(!run.workspace().join("asked").exists());
}

/// R19: what a reply compacts is compacted, then it ends.
#[test]
fn a_compaction_beside_an_ending_is_applied_before_the_gate_is_asked() {
    let compaction = json!({
        "id": "compaction", "enabled": true, "implementation": "self-compaction",
        "params": { "summaryHeadroom": 0.2 },
    });
    let launch = Launch::live().granting(compaction, &["compact"]);
    let run = Run::builder()
        .launch(hooked(
            launch,
            [command(
                "agent-stop",
                "test -e once || { touch once; exit 1; }",
            )],
        ))
        .gateway(Gateway::with_checker(
            Some(edited()),
            |_: &Request, n: usize| match n {
                0 => Answer::shell("echo long"),
                1 => Answer::call("compact", json!({ "summary": "So far.", "files": [] }))
                    .and_call("finish", json!({ "summary": "Early." })),
                _ => Answer::call("compact", json!({ "summary": "All.", "files": [] }))
                    .and_call("finish", json!({ "summary": "Done." })),
            },
        ))
        .run();
    run.ended(0, "completed");
    let kinds: Vec<&str> = run
        .lines
        .iter()
        .filter_map(|line| line["type"].as_str())
        .filter(|kind| matches!(*kind, "compaction" | "hook" | "turn_outcome"))
        .collect();
    assert_eq!(
        kinds,
        [
            "turn_outcome",
            "compaction",
            "hook",
            "turn_outcome",
            "compaction",
            "hook",
            "turn_outcome"
        ]
    );
    let requests = run.gateway.as_ref().unwrap().requests();
    let texts: Vec<String> = requests[2]
        .messages()
        .iter()
        .map(|message| content_text(&message["content"]))
        .collect();
    assert_eq!(texts[2], "Summary\n----\nSo far.");
    assert!(texts[3].contains("was not accepted"), "{texts:?}");
}

/// Where a hook runs when the run is canceled.
const WAITING: &str = "echo $$ > begun; sleep 300";

#[test]
fn a_cancel_ends_a_hook_with_its_group_and_what_it_judged_does_not_happen() {
    for event in ["agent-start", "pre-write", "pre-shell", "agent-stop"] {
        let running = Run::builder()
            .launch(with_hooks([
                custom(event, WAITING),
                command("session-end", "touch ended"),
            ]))
            .answers(
                move |request: &Request, _: usize| match (event, request.turn()) {
                    ("pre-write", 0) => {
                        Answer::call("write_file", json!({ "path": "done", "contents": "x" }))
                    }
                    ("pre-shell", 0) => Answer::shell("touch done"),
                    _ => Answer::finish("Done."),
                },
            )
            .start();
        let begun = running.workspace().join("begun");
        wait_for(&begun);
        running.signal(Signal::INT);
        let run = running.finish();
        run.ended(0, "canceled");
        assert!(!run.workspace().join("done").exists(), "{event}");
        assert!(run.workspace().join("ended").exists(), "{event}");
        assert_eq!(
            decisions(&run),
            [
                format!("{event} stopped"),
                "session-end continue".to_owned()
            ],
            "{event}"
        );
        let ended = run.events("agent_status");
        assert_eq!(ended.last().unwrap()["endedAs"], "canceled", "{event}");
    }
}

/// Waits for a hook to have begun.
fn wait_for(file: &std::path::Path) {
    while !file.exists() {
        std::thread::yield_now();
    }
}

#[test]
fn a_cancel_ends_the_hooks_of_the_run_s_end() {
    let running = Run::builder()
        .launch(with_hooks([
            command("session-end", WAITING),
            command("session-end", "touch never"),
        ]))
        .answers(turns([]))
        .start();
    let begun = running.workspace().join("begun");
    wait_for(&begun);
    running.signal(Signal::TERM);
    let run = running.finish();
    // What the root did is done.
    run.ended(0, "completed");
    assert!(!run.workspace().join("never").exists());
    assert_eq!(decisions(&run), ["session-end stopped"]);
}

#[test]
fn the_run_s_clock_ends_a_hook_and_that_is_no_fault_of_its() {
    let run = Run::builder()
        .launch(with_hooks([command("agent-stop", "sleep 300")]).limit("maxRuntimeSecs", 2))
        .answers(turns([]))
        .run();
    run.ended(3, "timed_out");
    assert_eq!(decisions(&run), ["agent-stop stopped"]);
}

#[test]
fn what_a_hook_leaves_running_ends_with_the_run() {
    let run = Run::builder()
        .launch(with_hooks([command(
            "agent-start",
            "sleep 300 >/dev/null 2>&1 & echo started",
        )]))
        .answers(turns([]))
        .run();
    run.ended(0, "completed");
    let told = run.logs("warn");
    assert!(
        told.iter().any(|log| log.contains("was still running")),
        "{told:?}"
    );
}

#[test]
fn hooks_of_a_run_that_was_stopped_are_told_how_it_ended() {
    let source = "printf '%s' \"$1\" > told.json; echo '{\"action\":\"continue\"}'";
    let run = Run::builder()
        .launch(with_hooks([custom("session-end", source)]).limit("maxTurns", 1))
        .answers(|_: &Request, _: usize| Answer::shell("true"))
        .run();
    run.ended(3, "exhausted");
    let told: Value = serde_json::from_str(&run.file("told.json")).unwrap();
    assert_eq!(told["status"], "exhausted");
}
