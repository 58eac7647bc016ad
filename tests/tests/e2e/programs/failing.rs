//! Programs that fail, on every arm: what they lose, what stands, what the turn comes to (04 §6.3,
//! §6.4).

use serde_json::{Value, json};
use tests::gateway::{Answer, content_text};
use tests::run::Run;

use super::{answers, launch};
use crate::arms::{
    Arm, Texts, alike, both, each, ends_of, exactly, finish, on_each, program, submit,
};
use crate::coders::told;

/// A run of an agent that acts on the workspace, whose first turn is this answer and whose next ends.
#[track_caller]
fn once(arm: Arm, first: Answer) -> Run {
    let run = Run::builder()
        .launch(launch(arm))
        .answers(answers([first, finish(arm, "Done.")]))
        .run();
    run.ended(0, "completed");
    run
}

#[test]
fn a_failing_program_loses_its_ending_and_keeps_its_views_and_writes() {
    on_each(|arm| {
        let body = both(
            r#"
            files.writeFile("kept", "yes");
            views.openText("seen", "yes");
            session.finish("Too early.");
            throw new Error("no good");
            "#,
            r#"
            files.write_file("kept", "yes")
            views.open_text("seen", "yes")
            session.finish("Too early.")
            raise ValueError("no good")
            "#,
        );
        let run = once(arm, submit(arm, &body));
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
    });
}

#[test]
fn of_two_programs_both_run_and_the_first_failure_is_the_turn_s() {
    on_each(|arm| {
        let fails = both("files.readFile('never');", "files.read_file('never')");
        let works = both(
            "files.writeFile('b', 'x'); views.openText('second', 'ran');",
            "files.write_file('b', 'x')\nviews.open_text('second', 'ran')",
        );
        let run = once(
            arm,
            submit(arm, &fails)
                .and_call("submit_program", json!({ "program": program(arm, &works) }))
                .and_call("shell", json!({ "command": "ls" }))
                .and_call("submit_program", json!({ "source": "x" })),
        );
        assert_eq!(run.file("b"), "x");
        assert_eq!(told(&run, "View: second").len(), 1);
        let executions = run.events("code_execution");
        let ok: Vec<&Value> = executions.iter().map(|it| &it["ok"]).collect();
        assert_eq!(ok, [false, true, true]);
        assert_eq!(run.outcomes(), ["program_api_error", "finished"]);
        let notices = told(&run, "Notice\n----\n");
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].contains("2 programs ran"), "{notices:?}");
        assert_eq!(told(&run, "Runtime error\n----\n").len(), 1);
        let requests = run.gateway.as_ref().unwrap().requests();
        let receipts = requests[1].results();
        assert_eq!(receipts[..2], ["ok", "ok"]);
        assert!(
            receipts[2].contains("There is no tool `shell`"),
            "{receipts:?}"
        );
        assert!(receipts[3].contains("has no `program`"), "{receipts:?}");
    });
}

#[test]
fn of_two_programs_that_fail_the_turn_has_the_first_one_s_error_and_tells_both() {
    on_each(|arm| {
        let first = both("files.readFile('never');", "files.read_file('never')");
        let second = both("throw new Error('later');", "raise ValueError('later')");
        let run = once(
            arm,
            submit(arm, &first).and_call(
                "submit_program",
                json!({ "program": program(arm, &second) }),
            ),
        );
        assert_eq!(run.outcomes(), ["program_api_error", "finished"]);
        let errors = told(&run, "Runtime error\n----\n");
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].contains("never"), "{errors:?}");
        assert!(errors[1].contains("later"), "{errors:?}");
    });
}

#[test]
fn a_standing_ending_keeps_later_programs_from_running() {
    on_each(|arm| {
        let late = both(
            "files.writeFile('late', 'x');",
            "files.write_file('late', 'x')",
        );
        let run = Run::builder()
            .launch(launch(arm))
            .answers(answers([finish(arm, "Done.").and_call(
                "submit_program",
                json!({ "program": program(arm, &late) }),
            )]))
            .run();
        run.ended(0, "completed");
        assert!(!run.workspace().join("late").exists());
        assert!(
            run.logs("warn")
                .iter()
                .any(|it| it.contains("does not run: the session ends"))
        );
    });
}

#[test]
fn a_reply_without_a_program_is_an_error_of_its_own() {
    on_each(|arm| {
        let run = once(arm, Answer::text("I would rather talk."));
        assert_eq!(
            run.outcomes(),
            ["missing_completion_no_program", "finished"]
        );
        assert_eq!(run.events("code_execution").len(), 1);
        let notices = told(&run, "Notice\n----\n");
        assert_eq!(notices.len(), 1);
        let name = match arm {
            Arm::Typescript => "TypeScript",
            Arm::Javascript => "JavaScript",
            Arm::Python => "Python",
        };
        assert!(notices[0].contains(name), "{notices:?}");
    });
}

#[test]
fn a_refused_call_is_one_call_and_one_result_caught_or_not() {
    let caught = both(
        "try { delegation.fork('x'); } catch (error: any) { views.openText('why', error.message); }",
        "try: delegation.fork('x')\nexcept gg.ApiError as error: views.open_text('why', error.message)",
    );
    let uncaught = both("delegation.fork('x');", "delegation.fork('x')");
    for (body, outcome) in [(caught, "progressed"), (uncaught, "program_unknown_name")] {
        on_each(|arm| {
            let body = typed(arm, &body);
            let run = once(arm, submit(arm, &body));
            let calls: Vec<&Value> = run
                .events("api_call")
                .into_iter()
                .filter(|call| call["operation"] == "delegation.fork")
                .collect();
            assert_eq!(calls.len(), 1);
            assert_eq!(ends_of(&run, "delegation.fork"), ["unavailable"]);
            let results: Vec<&Value> = run
                .events("api_result")
                .into_iter()
                .filter(|result| result["callId"] == calls[0]["callId"])
                .collect();
            assert_eq!(results.len(), 1);
            assert_eq!(run.outcomes(), [outcome, "finished"]);
            if outcome == "progressed" {
                let why = &told(&run, "View: why")[0];
                assert!(
                    why.contains("`gg.delegation.fork` is not available"),
                    "{why}"
                );
            }
            assert!(
                run.logs("warn")
                    .iter()
                    .any(|it| it.contains("delegation.fork"))
            );
        });
    }
}

/// A text of TypeScript, which JavaScript has without its types.
fn typed(arm: Arm, body: &Texts) -> Texts {
    match arm {
        Arm::Javascript => body.replacing(": any)", ")"),
        Arm::Typescript | Arm::Python => body.clone(),
    }
}

#[test]
fn each_way_to_fail_is_its_own_error() {
    type Row = (Texts, &'static [&'static str; 3]);
    let rows: &[Row] = &[
        (
            alike("this is no program"),
            // Nothing compiles programs of JavaScript and Python, so the guest meets what is none.
            &["transpile_compile", "program_throw", "program_throw"],
        ),
        (
            each(
                "(globalThis as any).nameless.x;",
                "nameless();",
                "nameless()",
            ),
            // What a compiler lets pass is a property that is not there.
            &[
                "program_throw",
                "program_unknown_name",
                "program_unknown_name",
            ],
        ),
        (
            each("nameless();", "nameless();", "nameless()"),
            &[
                "transpile_compile",
                "program_unknown_name",
                "program_unknown_name",
            ],
        ),
        (
            both(
                "import { files } from \"gg\";\nfiles.readFile('never');",
                "from gg import files\nfiles.read_file('never')",
            ),
            &["program_api_error"; 3],
        ),
        (
            both(
                "import { delegation } from \"gg\";\ndelegation.fork('x');",
                "from gg import delegation\ndelegation.fork('x')",
            ),
            &["program_unknown_name"; 3],
        ),
        (both("throw 7;", "raise KeyError(7)"), &["program_throw"; 3]),
    ];
    for (body, errors) in rows {
        on_each(|arm| {
            let place = Arm::ALL.iter().position(|it| *it == arm).unwrap();
            let source = body.of(arm);
            let run = once(arm, exactly(source));
            let error = errors[place];
            assert_eq!(run.outcomes(), [error, "finished"], "{source}");
            let heading = match error {
                "transpile_compile" => "Compiler error\n----\n",
                _ => "Runtime error\n----\n",
            };
            assert_eq!(told(&run, heading).len(), 1, "{source}");
        });
    }
}

#[test]
fn an_error_names_the_place_in_the_program_as_it_was_sent() {
    // A line end of another system and letters of several bytes move nothing.
    let body = both(
        "// é 漢\r\nimport { files } from \"gg\";\r\n\r\nfiles.readFile(\"never\");\r\n",
        "# é 漢\r\nimport gg\r\n\r\ngg.files.read_file('never')\r\n",
    );
    on_each(|arm| {
        let run = once(arm, exactly(body.of(arm)));
        let errors = told(&run, "Runtime error\n----\n");
        let place = match arm {
            Arm::Typescript => "program.ts:4",
            Arm::Javascript => "program.js:4",
            Arm::Python => "\"program.py\", line 4",
        };
        assert!(errors[0].contains(place), "{errors:?}");
    });
}
