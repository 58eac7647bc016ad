//! The exit codes of 01 §1.1, a test a row. F95 has its table in `field_exits`.

use serde_json::json;
use tests::gateway::{Answer, Reply, Request, script, usage};
use tests::launch::Launch;
use tests::run::{Run, gg};

use crate::common::{play, retries, turns};

/// Asserts that a ceiling stopped the run.
#[track_caller]
fn hit(run: &Run, status: &str, limit: &str, threshold: f64) {
    run.ended(3, status);
    let breach = run.event("limit_exceeded");
    assert_eq!(breach["limit"], limit, "{}", run.describe());
    assert_eq!(breach["threshold"], threshold);
    let hit = &run.summary()["limitHit"];
    assert_eq!(hit["limit"], limit);
    assert_eq!(hit["threshold"], threshold);
    assert_eq!(hit["agentId"], breach["agentId"]);
    let warned = run.logs("warn");
    assert!(
        warned
            .iter()
            .any(|warning| warning.contains(&threshold.to_string())),
        "no warning names the ceiling: {warned:?}"
    );
}

#[test]
fn finish_is_0() {
    let run = play([Answer::finish("All done.")]);
    run.ended(0, "completed");
    let ended = run.events("agent_status");
    let last = ended.last().unwrap();
    assert_eq!(
        (&last["status"], &last["endedAs"]),
        (&json!("done"), &json!("completed"))
    );
    assert_eq!(last["result"], "All done.");
    assert!(
        run.summary()
            .get("limitHit")
            .is_none_or(serde_json::Value::is_null)
    );
}

#[test]
fn config_is_run_by_another_name() {
    let run = play([Answer::finish("Done.")]);
    let document = run.folder().join("launch.json");
    let text = std::fs::read_to_string(&document).unwrap();
    std::fs::write(&document, text.replace("\"prompt\"", "\"promptt\"")).unwrap();
    let output = gg(["--config".as_ref(), document.as_os_str()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("launch_refused"));
}

#[test]
fn a_canceled_run_is_0() {
    let builder = Run::builder();
    let cancel = builder.folder().join("cancel");
    let run = builder
        .with(|launch| launch.set("/cancelFile", cancel.display().to_string()))
        .answers(move |request: &Request, _| {
            if request.turn() == 2 {
                std::fs::write(&cancel, "").unwrap();
            }
            Answer::shell("echo on")
        })
        .run();
    run.ended(0, "canceled");
    assert!(
        run.summary()
            .get("limitHit")
            .is_none_or(serde_json::Value::is_null)
    );
    // What the run read of the file is an input, and as such in the journal.
    let journal = String::from_utf8(run.journal()).unwrap();
    assert!(journal.contains("\"kind\":\"cancel_probe\",\"found\":false"));
    assert!(journal.contains("\"found\":true"), "{journal}");
}

#[test]
fn a_blank_summary_is_refused_and_the_session_goes_on() {
    let run = play([Answer::finish(" \n"), Answer::finish("Done.")]);
    run.ended(0, "completed");
    assert_eq!(run.results("finish")[0]["failure"], "invalid-argument");
}

#[test]
fn a_missing_credential_is_1() {
    let run = Run::builder()
        .without_credential()
        .answers(script([Answer::finish("never")]))
        .run();
    run.ended(1, "auth_error");
    assert!(run.stderr.contains("OPENROUTER_API_KEY"), "{}", run.stderr);
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 0);
}

#[test]
fn a_refused_credential_is_1() {
    for status in [401, 403] {
        let run = play([Reply::error(status, "no such key")]);
        run.ended(1, "auth_error");
        assert_eq!(run.outcomes(), ["model_auth"]);
        assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 1);
    }
}

#[test]
fn a_spent_schedule_is_1() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxModelRetries", 2))
        .answers(|_: &Request, _| Reply::error(503, "overloaded"))
        .run();
    run.ended(1, "model_error");
    assert_eq!(run.outcomes(), ["model_retry_exhausted"]);
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 3);
    assert_eq!(retries(&run).len(), 2);
    assert!(run.stderr.contains("503"), "{}", run.stderr);
}

#[test]
fn no_retries_means_one_attempt() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxModelRetries", 0))
        .answers(|_: &Request, _| Reply::error(503, "overloaded"))
        .run();
    run.ended(1, "model_error");
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 1);
}

#[test]
fn a_final_status_is_1_at_once() {
    for status in [400, 404, 413, 422] {
        let run = play([Reply::error(status, "that will not do")]);
        run.ended(1, "model_error");
        assert_eq!(run.outcomes(), ["model_rejected"], "{status}");
        assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 1);
        assert!(run.stderr.contains("that will not do"), "{}", run.stderr);
    }
}

#[test]
fn another_provider_than_the_one_asked_is_1() {
    let run = play([Answer::finish("Done.").served_by(Some("Elsewhere"))]);
    assert_eq!(run.code, Some(1), "{}", run.describe());
    assert_eq!(run.outcomes(), ["model_provider_mismatch"]);
    assert!(run.stderr.contains("Acme") && run.stderr.contains("Elsewhere"));
}

#[test]
fn a_provider_that_is_spelled_otherwise_or_not_named_is_no_mismatch() {
    for provider in [Some("ACME"), Some("a-cme"), None] {
        play([Answer::finish("Done.").served_by(provider)]).ended(0, "completed");
    }
}

#[test]
fn a_bad_document_is_1() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxParallel", 0))
        .answers(script([Answer::finish("never")]))
        .run();
    run.ended(1, "launch_refused");
    assert_eq!(run.lines[0]["type"], "session_started");
}

#[test]
fn a_document_that_does_not_parse_is_1_and_has_no_stream() {
    let run = Run::builder().document("{ \"sessionId\": ").run();
    assert_eq!(run.code, Some(1));
    assert_eq!(run.stdout, "");
    assert_eq!(run.stderr.trim_end().lines().count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("line 1"), "{}", run.stderr);
}

#[test]
fn bad_arguments_are_1() {
    for arguments in [&["run"][..], &["fly"], &["run", "x.json", "--flyte"], &[]] {
        let output = gg(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
        assert_ne!(output.stderr, b"", "{arguments:?}");
    }
}

#[test]
fn the_turns_ceiling_is_3() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxTurns", 3))
        .answers(|_: &Request, _| Answer::shell("echo on"))
        .run();
    hit(&run, "exhausted", "turns", 3.0);
    assert_eq!(run.events("turn_outcome").len(), 3);
}

#[test]
fn the_runtime_ceiling_is_3() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxRuntimeSecs", 2))
        .answers(|_: &Request, _| Answer::shell("sleep 120").and_call("list_dir", json!({})))
        .run();
    hit(&run, "timed_out", "runtime", 2.0);
    // The command was cut at the clock, and what the clock left no time for was refused.
    assert_eq!(run.results("shell")[0]["failure"], "limit-exceeded");
    assert_eq!(run.results("list_dir")[0]["failure"], "limit-exceeded");
    let journal = String::from_utf8(run.journal()).unwrap();
    assert_eq!(
        journal.matches("\"kind\":\"clock\"").count(),
        2,
        "one a boundary"
    );
}

#[test]
fn the_consecutive_errors_ceiling_is_3() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxConsecutiveErrors", 3))
        .answers(|request: &Request, _| match request.turn() {
            0 | 1 | 3.. => Answer::text("I am thinking."),
            2 => Answer::shell("echo work"),
        })
        .run();
    hit(&run, "limit_exceeded", "consecutive_errors", 3.0);
    let streaks: Vec<u64> = run
        .events("turn_outcome")
        .iter()
        .map(|turn| turn["consecutiveErrors"].as_u64().unwrap())
        .collect();
    assert_eq!(streaks, [1, 2, 0, 1, 2, 3]);
    assert_eq!(run.summary()["errors"]["maxConsecutive"], 3);
}

#[test]
fn the_error_rate_ceiling_is_3() {
    // Two errors in four are not above a half; three are.
    let run = Run::builder()
        .with(|launch| {
            launch
                .limit("maxErrorRate", 0.5)
                .limit("errorRateWindow", 4)
        })
        .answers(|_: &Request, n| match n {
            0 | 2 | 5.. => Answer::text("I am thinking."),
            _ => Answer::shell("echo work"),
        })
        .run();
    hit(&run, "limit_exceeded", "error_rate", 0.5);
    let breach = run.event("limit_exceeded");
    assert_eq!(breach["window"], 4.0);
    assert!((breach["observed"].as_f64().unwrap() - 0.75).abs() < 1e-9);
}

#[test]
fn the_cost_ceiling_is_3() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxCost", 0.25))
        .answers(|_: &Request, _| {
            Answer::shell("echo on").using(Some(usage(1_000, 0, 10, Some(0.1))))
        })
        .run();
    // The turn that crosses it completes.
    hit(&run, "limit_exceeded", "cost", 0.25);
    assert_eq!(run.events("turn_outcome").len(), 3);
    assert_eq!(run.results("shell").len(), 3);
}

#[test]
fn f86_a_cost_ceiling_without_prices_warns_once_and_never_binds() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxCost", 0.01))
        .answers(turns((0..5).map(|_| {
            Answer::shell("echo on").using(Some(usage(100_000, 0, 1_000, None)))
        })))
        .run();
    run.ended(0, "completed");
    let warned = run
        .logs("warn")
        .into_iter()
        .filter(|warning| warning.contains("maxCost"))
        .count();
    assert_eq!(warned, 1, "{:?}", run.logs("warn"));
    assert_eq!(run.summary()["unpricedCalls"], 5);
}

#[test]
fn a_defect_is_1() {
    let script = json!({ "profiles": { "*": [
        { "calls": [{ "tool": "list_dir", "arguments": {} }] },
        { "fault": "panic" },
    ]}});
    let run = Run::builder()
        .launch(Launch::mock("script").limit("maxTurns", 5))
        .mock_script(&script)
        .run();
    run.ended(1, "internal_error");
    assert!(!run.logs("error").is_empty());
    let status = run.events("agent_status");
    let last = status.last().unwrap();
    assert_eq!(last["status"], "failed");
    assert_eq!(last["endedAs"], "internal_error");
    assert!(
        run.last()["error"]
            .as_str()
            .is_some_and(|error| !error.is_empty())
    );
}

#[test]
fn a_stdout_nobody_reads_is_1() {
    // The reader of the stream goes away after its first byte.
    let line = "{ \"$@\"; echo $? > code; } | head -c 1 > /dev/null";
    let run = Run::builder()
        .through(["sh", "-c", line, "sh"])
        .without_rules()
        .answers(|_: &Request, n| {
            assert!(n < 1_000, "the run goes on without a reader");
            Answer::shell("echo on")
        })
        .run();
    let code = std::fs::read_to_string(run.folder().join("code")).unwrap();
    assert_eq!(code.trim(), "1", "{}", run.stderr);
    assert!(run.stderr.contains("event stream"), "{}", run.stderr);
}

#[test]
fn a_stdout_that_takes_nothing_is_1_however_short_the_run() {
    let run = Run::builder()
        .through(["sh", "-c", "\"$@\" > /dev/full; echo $? > code", "sh"])
        .without_rules()
        .answers(|_: &Request, _| Answer::finish("Done."))
        .run();
    let code = std::fs::read_to_string(run.folder().join("code")).unwrap();
    assert_eq!(code.trim(), "1", "{}", run.stderr);
    assert!(run.stderr.contains("stdout"), "{}", run.stderr);
}
