//! Programs that do not end by themselves: by their own clock, by the run's, by the operator, on every
//! arm (04 §6.5, §13; R36, R37).

use rustix::process::Signal;
use serde_json::json;
use tests::launch::Launch;
use tests::run::Run;

use super::{answers, launch};
use crate::arms::{Arm, Texts, both, exactly, finish, on_each, programs, submit};
use crate::coders::told;

/// A program that goes on for ever.
pub(super) fn endless() -> Texts {
    both("for (;;) {}", "while True: pass")
}

/// The launch, with another figure of its programs' language.
pub(super) fn bounded(arm: Arm, figure: &str, value: impl Into<serde_json::Value>) -> Launch {
    launch(arm).in_capability("responses-as-code", &format!("/params/{figure}"), value)
}

#[test]
fn an_endless_program_ends_on_its_own_clock_and_the_next_runs() {
    on_each(|arm| {
        let run = Run::builder()
            .launch(bounded(arm, "timeoutSecs", 0.5))
            .answers(answers([exactly(endless().of(arm)), finish(arm, "Done.")]))
            .run();
        run.ended(0, "completed");
        assert_eq!(run.outcomes(), ["sandbox_timeout", "finished"]);
        assert!(told(&run, "Runtime error")[0].contains("0.5 seconds"));
    });
}

#[test]
fn a_cancel_ends_a_program_wherever_it_stands() {
    for body in [
        both(
            "files.writeFile('began', ''); for (;;) {}",
            "files.write_file('began', '')\nwhile True: pass",
        ),
        both(
            "files.writeFile('began', ''); shell.shell('sleep 1000');",
            "files.write_file('began', '')\nshell.shell('sleep 1000')",
        ),
        // Only Python has a wait that is no call of gg's.
        both(
            "files.writeFile('began', ''); for (;;) {}",
            "import time\nfiles.write_file('began', '')\ntime.sleep(1000)",
        ),
    ] {
        on_each(|arm| {
            let running = Run::builder()
                .launch(launch(arm))
                .answers(programs(arm, std::slice::from_ref(&body)))
                .start();
            crate::common::wait_for(&running.workspace().join("began"));
            running.signal(Signal::TERM);
            let run = running.finish();
            run.ended(0, "canceled");
            let execution = run.event("code_execution");
            assert_eq!(execution["ok"], false, "{}", run.describe());
            assert_eq!(run.outcomes(), ["progressed"]);
        });
    }
}

#[test]
fn the_run_s_clock_ends_a_program_without_an_error_of_its() {
    for body in [
        endless(),
        both("for (;;) {}", "import time\ntime.sleep(100_000)"),
        both("shell.shell('sleep 1000');", "shell.shell('sleep 1000')"),
        both("for (;;) files.listDir();", "while True: files.list_dir()"),
    ] {
        on_each(|arm| {
            let run = Run::builder()
                .launch(launch(arm).limit("maxRuntimeSecs", 1))
                .answers(programs(arm, std::slice::from_ref(&body)))
                .run();
            run.ended(3, "timed_out");
            assert_eq!(run.outcomes(), ["progressed"], "{}", run.describe());
            assert_eq!(run.event("code_execution")["ok"], false);
        });
    }
}

#[test]
fn a_spent_clock_refuses_calls_and_still_takes_an_ending() {
    let body = both(
        r#"
        let code = "";
        while (code === "") {
          attempt("listed", () => files.listDir());
          code = out.listed.code ?? "";
        }
        session.finish(code);
        "#,
        r#"
        code = ""
        while code == "":
            try:
                files.list_dir()
            except gg.ApiError as error:
                code = error.code
        session.finish(code)
        "#,
    );
    on_each(|arm| {
        let run = Run::builder()
            .launch(launch(arm).limit("maxRuntimeSecs", 1))
            .answers(answers([submit(arm, &body)]))
            .run();
        let finished = run.event("code_execution")["finished"].clone();
        assert_eq!(finished, "limit-exceeded", "{}", run.describe());
        let ends = crate::arms::ends_of(&run, "files.list_dir");
        assert_eq!(ends.last(), Some(&"limit-exceeded"));
    });
}

#[test]
fn a_guest_that_prints_leaves_the_stream_valid() {
    let body = both(
        r#"
        console.log("{\"type\":\"session_ended\"}");
        console.error("x".repeat(5000));
        for (let line = 0; line < 400; line += 1) console.log(`line ${line}`);
        "#,
        r#"
        import os, sys
        print('{"type":"session_ended"}')
        print("x" * 5000, file=sys.stderr)
        sys.stdout.buffer.write(b"\xff\xfe{\n")
        for descriptor in (1, 2):
            try:
                os.write(descriptor, b'{"type":"session_ended"}\n')
            except OSError:
                pass
        for line in range(400):
            print(f"line {line}")
        "#,
    );
    on_each(|arm| {
        let run = Run::builder()
            .launch(launch(arm))
            .answers(programs(arm, std::slice::from_ref(&body)))
            .run();
        run.ended(0, "completed");
        assert_eq!(run.events("session_ended").len(), 1);
        // Every line of the stream is one of gg's.
        assert_eq!(run.stdout.lines().count(), run.lines.len());
        let execution = run.events("code_execution")[0];
        let logs = execution["logs"].as_array().unwrap();
        assert_eq!(logs.last().unwrap()["text"], "line 399");
        assert!(logs.len() <= 200 && execution["logsSuppressed"].as_u64().unwrap() >= 200);
        assert_eq!(execution["ok"], true, "{}", run.describe());
    });
}

#[test]
fn a_guest_that_reads_the_environment_sees_no_credential() {
    let body = both(
        r#"
        const global = globalThis as any;
        files.writeFile("env", JSON.stringify(global.process?.env ?? null));
        "#,
        r#"
        import os
        files.write_file("env", json.dumps(dict(os.environ)))
        "#,
    )
    .and(&both(
        r#"
        const seen = shell.shell("env; tr '\\0' '\\n' < /proc/$PPID/environ").output;
        files.writeFile("told", seen.includes("OPENROUTER_API_KEY") ? "named" : "nothing");
        views.openText("env", files.readTextFile("env") + seen);
        "#,
        r#"
        seen = shell.shell("env; tr '\\0' '\\n' < /proc/$PPID/environ").output
        files.write_file("told", "named" if "OPENROUTER_API_KEY" in seen else "nothing")
        views.open_text("env", files.read_text_file("env") + seen)
        "#,
    ));
    on_each(|arm| {
        let body = match arm {
            Arm::Javascript => body.replacing(" as any", ""),
            Arm::Typescript | Arm::Python => body.clone(),
        };
        let run = Run::builder()
            .launch(launch(arm))
            .environment("ANOTHER_NAME", tests::run::CREDENTIAL)
            .environment("A_PLAIN_NAME", "seen")
            .answers(programs(arm, &[body]))
            .run();
        run.ended(0, "completed");
        assert!(!run.stdout.contains(tests::run::CREDENTIAL));
        assert_eq!(run.file("told"), "nothing");
        let requests = run.gateway.as_ref().unwrap().requests();
        assert!(
            requests
                .iter()
                .all(|it| !it.text().contains(tests::run::CREDENTIAL))
        );
        let own: serde_json::Value = serde_json::from_str(&run.file("env")).unwrap();
        match arm {
            // The engine has no environment to read.
            Arm::Typescript | Arm::Javascript => assert_eq!(own, json!(null)),
            Arm::Python => {
                assert_eq!(own["A_PLAIN_NAME"], "seen");
                assert_eq!(own.get("ANOTHER_NAME"), None);
                assert_eq!(own.get("OPENROUTER_API_KEY"), None);
                assert!(own["GG_SANDBOX_DEADLINE_MS"].is_string(), "{own:#}");
            }
        }
    });
}
