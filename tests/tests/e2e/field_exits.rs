//! F95: every way a session ends, its exit code and the last line of its stream in one table.

use serde_json::json;
use tests::gateway::{Answer, Reply, Request, script};
use tests::launch::Launch;
use tests::run::{Builder, Run};

use crate::families::{And, DELEGATING, of_root, profile, start, subagents};
use crate::hooks::custom;

/// A root that may start workers; nothing is asked twice.
fn family() -> Builder {
    let capabilities = [
        json!({ "id": "list-dir", "enabled": true, "params": {} }),
        subagents(1),
    ];
    let tools = [&["list_dir"][..], &DELEGATING].concat();
    let agent = |slug| profile(slug, &capabilities, &tools, &["worker"]);
    let launch = Launch::live()
        .limit("maxModelRetries", 0)
        .limit("maxTurns", 4)
        .set(
            "/capabilitySet/agents",
            json!([agent("root"), agent("worker")]),
        );
    Run::builder().launch(launch)
}

/// A root that collects one child, and what the child is answered.
fn parent(child: fn() -> Reply) -> Builder {
    family().answers(move |request: &Request, _| -> Reply {
        match (of_root(request), request.turn()) {
            (true, 0) => start("worker", "Work.").and_wait(&[]).into(),
            (true, _) => Answer::finish("Done.").into(),
            (false, _) => child(),
        }
    })
}

fn look() -> Answer {
    Answer::call("list_dir", json!({}))
}

fn plays<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Builder {
    family().answers(script(replies))
}

fn canceled() -> Builder {
    let builder = plays([look()]);
    let cancel = builder.folder().join("cancel");
    std::fs::write(&cancel, "").unwrap();
    builder.with(|launch| launch.set("/cancelFile", cancel.display().to_string()))
}

/// A root that finishes, with a script that is to decide.
fn hooked(event: &'static str, source: &'static str) -> Builder {
    plays([Answer::finish("Done.")])
        .with(move |launch| crate::hooks::hooked(launch, [custom(event, source)]))
}

#[test]
fn f95_every_way_to_end_has_its_exit_code_and_the_last_line_says_so() {
    let rows: [(&str, Builder, i32, &str); 15] = [
        ("finish", plays([Answer::finish("Done.")]), 0, "completed"),
        (
            "a blank summary",
            plays([Answer::finish("  "), Answer::finish("Done.")]),
            0,
            "completed",
        ),
        ("a cancel", canceled(), 0, "canceled"),
        ("401", plays([Reply::error(401, "who?")]), 1, "auth_error"),
        (
            "a spent schedule",
            plays([Reply::error(503, "busy")]),
            1,
            "model_error",
        ),
        (
            "401 of a child",
            parent(|| Reply::error(401, "who?")),
            0,
            "completed",
        ),
        (
            "a spent schedule of a child",
            parent(|| Reply::error(503, "busy")),
            0,
            "completed",
        ),
        (
            "a ceiling of a child",
            parent(|| look().into()),
            3,
            "completed",
        ),
        (
            "a ceiling",
            family().answers(|_: &Request, _| look()),
            3,
            "exhausted",
        ),
        (
            "a defect",
            plays([look(), look()]).tripping("turn@2"),
            1,
            "internal_error",
        ),
        (
            "a defect of a child",
            parent(|| Answer::finish("Done.").into()).tripping("child"),
            1,
            "internal_error",
        ),
        (
            "a hook that fails",
            hooked("agent-start", "echo no decision"),
            1,
            "hook_error",
        ),
        (
            "a hook that fails before an ending",
            hooked("agent-stop", "exit 0"),
            1,
            "hook_error",
        ),
        (
            "a hook that fails as the session ends",
            hooked("session-end", "echo no decision"),
            0,
            "completed",
        ),
        (
            "a bad document",
            plays([look()]).with(|launch| launch.limit("maxParallel", 0)),
            1,
            "launch_refused",
        ),
    ];
    for (what, builder, code, status) in rows {
        let run = builder.run();
        let last = run.last();
        assert_eq!(
            (run.code, &last["type"], &last["exitCode"], &last["status"]),
            (
                Some(code),
                &json!("session_ended"),
                &json!(code),
                &json!(status)
            ),
            "{what}\n{}",
            run.describe()
        );
    }
}
