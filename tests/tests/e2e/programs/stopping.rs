//! Programs that do not end by themselves: by their own clock, by the run's, by the operator.

use std::fs;

use rustix::process::Signal;
use serde_json::json;
use tests::run::Run;

use super::{answers, does, exactly, launch};
use crate::coders::told;

const ENDLESS: &str = "while (true) {}";

#[test]
fn an_endless_program_ends_on_its_own_clock_and_the_next_runs() {
    let launch = launch();
    let place = launch.capability("responses-as-code");
    let run = Run::builder()
        .launch(launch.root(
            &format!("/capabilities/{place}/params/timeoutSecs"),
            json!(0.5),
        ))
        .answers(answers([
            exactly(ENDLESS),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["sandbox_timeout", "finished"]);
    assert!(told(&run, "Runtime error")[0].contains("0.5 seconds"));
}

#[test]
fn a_cancel_ends_a_program_wherever_it_stands() {
    for body in [
        "files.writeFile('began', ''); while (true) {}",
        "files.writeFile('began', ''); shell.shell('sleep 1000');",
    ] {
        let running = Run::builder()
            .launch(launch())
            .answers(answers([does(body)]))
            .start();
        crate::common::wait_for(&running.workspace().join("began"));
        running.signal(Signal::TERM);
        let run = running.finish();
        run.ended(0, "canceled");
        let execution = run.event("code_execution");
        assert_eq!(execution["ok"], false, "{}", run.describe());
        assert_eq!(run.outcomes(), ["progressed"]);
    }
}

#[test]
fn the_run_s_clock_ends_a_program_without_an_error_of_its() {
    for body in [
        ENDLESS,
        "shell.shell('sleep 1000');",
        "for (;;) files.listDir();",
    ] {
        let run = Run::builder()
            .launch(launch().limit("maxRuntimeSecs", 1))
            .answers(answers([does(body)]))
            .run();
        run.ended(3, "timed_out");
        assert_eq!(run.outcomes(), ["progressed"], "{body}\n{}", run.describe());
        assert_eq!(run.event("code_execution")["ok"], false, "{body}");
    }
}

#[test]
fn a_spent_clock_refuses_calls_and_still_takes_an_ending() {
    let run = Run::builder()
        .launch(launch().limit("maxRuntimeSecs", 1))
        .answers(answers([does(
            r#"
            let code = "";
            while (code === "") {
              try { files.listDir(); } catch (error) { code = error.code; }
            }
            session.finish(code);
            "#,
        )]))
        .run();
    let finished = run.event("code_execution")["finished"].clone();
    assert_eq!(finished, "limit-exceeded", "{}", run.describe());
    let results = run.events("api_result");
    let last = results
        .iter()
        .rev()
        .find(|it| it["operation"] == "files.list_dir");
    assert_eq!(last.unwrap()["failure"], "limit-exceeded");
}

#[test]
fn a_guest_that_prints_leaves_the_stream_valid_and_sees_no_key() {
    let run = Run::builder()
        .launch(launch())
        .environment("ANOTHER_NAME", tests::run::CREDENTIAL)
        .answers(answers([
            does(
                r#"
                console.log("{\"type\":\"session_ended\"}");
                console.error("x".repeat(5000));
                for (let line = 0; line < 400; line += 1) console.log(`line ${line}`);
                const seen = shell.shell("env");
                views.openText("env", JSON.stringify(globalThis.process?.env ?? null) + seen.output);
                "#,
            ),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    let execution = run.events("code_execution")[0];
    let logs = execution["logs"].as_array().unwrap();
    assert_eq!(logs.last().unwrap()["text"], "line 399");
    assert!(logs.len() <= 200 && execution["logsSuppressed"].as_u64().unwrap() >= 200);
    assert!(!run.stdout.contains(tests::run::CREDENTIAL));
    let requests = run.gateway.as_ref().unwrap().requests();
    assert!(
        requests
            .iter()
            .all(|it| !it.text().contains(tests::run::CREDENTIAL))
    );
    assert!(fs::read_dir(run.workspace()).is_ok());
}
