//! Mock models: no network, no key, scripts as data (R13, R47).

use serde_json::json;
use tests::launch::Launch;
use tests::run::Run;

#[test]
fn the_built_in_script_finishes() {
    // The base URL would refuse at once, were it asked.
    let run = Run::builder()
        .launch(Launch::mock("test").limit("maxConsecutiveErrors", 5))
        .base_url("http://127.0.0.1:9/")
        .without_credential()
        .run();
    run.ended(0, "completed");
    assert_eq!(run.results("list_dir").len(), 1);
}

#[test]
fn a_script_makes_real_files_and_reports_its_usage() {
    let script = json!({ "profiles": { "root": [
        {
            "text": "Writing.", "reasoning": "It must be so.",
            "calls": [{ "tool": "write_file", "arguments": { "path": "a", "contents": "b" } }],
            "usage": { "prompt_tokens": 100, "completion_tokens": 10, "cost": 0.5 },
        },
        { "fault": { "status": 503, "retryAfter": 0.01 } },
        { "finish": "Done.", "delayMs": 10 },
    ]}});
    let run = Run::builder()
        .launch(Launch::mock("script"))
        .without_credential()
        .mock_script(&script)
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("a"), "b");
    assert_eq!(run.summary()["cost"], 0.5);
    assert_eq!(run.summary()["modelRetries"], 1);
}

#[test]
fn past_its_end_a_script_says_so() {
    let script = json!({ "profiles": { "*": [
        { "calls": [{ "tool": "list_dir", "arguments": {} }] },
    ]}});
    let run = Run::builder()
        .launch(Launch::mock("script"))
        .mock_script(&script)
        .run();
    run.ended(1, "model_error");
    assert!(run.stderr.contains("script"), "{}", run.stderr);
}

#[test]
fn a_run_dir_keeps_the_stream() {
    let builder = Run::builder();
    let folder = builder.folder().join("kept");
    let run = builder
        .launch(Launch::mock("test"))
        .arguments(["--run-dir".as_ref(), folder.as_os_str()])
        .run();
    run.ended(0, "completed");
    let kept = std::fs::read_to_string(folder.join("telemetry.ndjson")).unwrap();
    assert_eq!(kept, run.stdout);
}

#[test]
fn a_key_is_masked_also_where_no_model_needs_it() {
    let reversed: String = tests::run::CREDENTIAL.chars().rev().collect();
    let script = json!({ "profiles": { "root": [
        { "calls": [{ "tool": "shell", "arguments": { "command": format!("echo {reversed} | rev") } }] },
        { "finish": "Done." },
    ]}});
    let run = Run::builder()
        .launch(Launch::mock("script"))
        .mock_script(&script)
        .run();
    run.ended(0, "completed");
    let printed = run.event("shell")["stdout"].as_str().unwrap().to_owned();
    assert!(printed.contains("[credential]"), "{printed}");
}
