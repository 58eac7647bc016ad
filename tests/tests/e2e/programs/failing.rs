//! Programs that fail: what they lose, what stands, what the turn comes to.

use serde_json::{Value, json};
use tests::gateway::{Answer, content_text};
use tests::run::Run;

use super::{answers, does, exactly, launch};
use crate::coders::told;

#[test]
fn a_failing_program_loses_its_ending_and_keeps_its_views_and_writes() {
    let run = Run::builder()
        .launch(launch())
        .answers(answers([
            does(
                r#"
                files.writeFile("kept", "yes");
                views.openText("seen", "yes");
                session.finish("Too early.");
                throw new Error("no good");
                "#,
            ),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("kept"), "yes");
    assert_eq!(told(&run, "View: seen").len(), 1);
    let execution = run.events("code_execution")[0];
    assert_eq!(execution["ok"], false);
    assert_eq!(execution["finished"], "Too early.");
    assert_eq!(run.outcomes(), ["program_throw", "finished"]);
    let requests = run.gateway.as_ref().unwrap().requests();
    let messages = requests[1].messages();
    let last = content_text(&messages[messages.len() - 1]["content"]);
    assert!(last.starts_with("Runtime error\n----\n"), "{last}");
    assert!(last.contains("no good"), "{last}");
    let before = content_text(&messages[messages.len() - 2]["content"]);
    assert!(before.starts_with("Notice\n----\n"), "{before}");
    assert!(before.contains("does not stand"), "{before}");
}

#[test]
fn of_two_programs_both_run_and_the_first_failure_is_the_turn_s() {
    let run = Run::builder()
        .launch(launch())
        .answers(answers([
            does("files.readFile('never');")
                .and_call("submit_program", json!({ "program":
                    "import { files, views } from \"gg\";\nfiles.writeFile('b', 'x'); views.openText('second', 'ran');" }))
                .and_call("shell", json!({ "command": "ls" }))
                .and_call("submit_program", json!({ "source": "x" })),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("b"), "x");
    assert_eq!(run.events("code_execution").len(), 3);
    assert_eq!(run.outcomes(), ["program_api_error", "finished"]);
    let notices = told(&run, "Notice\n----\n");
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("2 programs ran"), "{notices:?}");
    assert_eq!(told(&run, "Runtime error\n----\n").len(), 1);
    let requests = run.gateway.as_ref().unwrap().requests();
    let receipts: Vec<String> = requests[1]
        .messages()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| content_text(&message["content"]))
        .collect();
    assert_eq!(receipts[..2], ["ok", "ok"]);
    assert!(
        receipts[2].contains("There is no tool `shell`"),
        "{receipts:?}"
    );
    assert!(receipts[3].contains("has no `program`"), "{receipts:?}");
}

#[test]
fn a_standing_ending_keeps_later_programs_from_running() {
    let run = Run::builder()
        .launch(launch())
        .answers(answers([does("session.finish('Done.');").and_call(
            "submit_program",
            json!({ "program": "import { files } from \"gg\";\nfiles.writeFile('late', 'x');" }),
        )]))
        .run();
    run.ended(0, "completed");
    assert!(!run.workspace().join("late").exists());
    assert!(run.logs("warn").iter().any(|it| it.contains("do not run")));
}

#[test]
fn a_reply_without_a_program_is_an_error_of_its_own() {
    let run = Run::builder()
        .launch(launch())
        .answers(answers([
            Answer::text("I would rather talk."),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(
        run.outcomes(),
        ["missing_completion_no_program", "finished"]
    );
    assert_eq!(run.events("code_execution").len(), 1);
    assert_eq!(told(&run, "Notice\n----\n").len(), 1);
}

#[test]
fn a_refused_call_is_one_call_and_one_result_caught_or_not() {
    for (caught, outcome) in [(true, "progressed"), (false, "program_unknown_name")] {
        let body = if caught {
            "try { delegation.fork('x'); } catch (error) { views.openText('why', error.message); }"
        } else {
            "delegation.fork('x');"
        };
        let run = Run::builder()
            .launch(launch())
            .answers(answers([does(body), does("session.finish('Done.');")]))
            .run();
        run.ended(0, "completed");
        let calls: Vec<&Value> = run
            .events("api_call")
            .into_iter()
            .filter(|call| call["operation"] == "delegation.fork")
            .collect();
        assert_eq!(calls.len(), 1);
        let results: Vec<&Value> = run
            .events("api_result")
            .into_iter()
            .filter(|result| result["callId"] == calls[0]["callId"])
            .collect();
        assert_eq!(results.len(), 1);
        assert_eq!(results[0]["failure"], "unavailable");
        assert_eq!(run.outcomes(), [outcome, "finished"]);
        if caught {
            assert!(told(&run, "View: why")[0].contains("is not available"));
        }
        assert!(
            run.logs("warn")
                .iter()
                .any(|it| it.contains("delegation.fork"))
        );
    }
}

#[test]
fn each_way_to_fail_is_its_own_error() {
    for (source, error) in [
        // Nothing compiles a program of this language, so the guest meets what is no program.
        ("this is no program", "program_throw"),
        ("nameless();", "program_unknown_name"),
        (
            "import { files } from \"gg\";\nfiles.readFile('never');",
            "program_api_error",
        ),
        (
            "const all = []; while (true) { all.push(new Uint8Array(1 << 24).fill(1)); }",
            "sandbox_out_of_memory",
        ),
    ] {
        let run = Run::builder()
            .launch(launch())
            .answers(answers([exactly(source), does("session.finish('Done.');")]))
            .run();
        run.ended(0, "completed");
        assert_eq!(run.outcomes(), [error, "finished"], "{source}");
        assert_eq!(told(&run, "Runtime error\n----\n").len(), 1, "{source}");
    }
}
