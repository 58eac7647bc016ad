//! `gg verify` over streams and journals that the real binary wrote, whole and tampered with.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tests::launch::Launch;
use tests::run::{Run, gg};

/// A run that writes a file, runs a command and finishes; its stream beside its workspace.
fn recorded() -> Run {
    let script = json!({ "profiles": { "*": [
        { "text": "I write.", "calls": [{ "tool": "write_file", "arguments": { "path": "a.txt", "contents": "a" } }] },
        { "calls": [{ "tool": "shell", "arguments": { "command": "cat a.txt" } }] },
        { "finish": "Done.", "usage": { "prompt_tokens": 900, "completion_tokens": 3, "cost": 0.001 } }
    ] } });
    let run = Run::builder()
        .launch(Launch::mock("scripted"))
        .mock_script(&script)
        .run();
    run.ended(0, "completed");
    fs::write(run.folder().join("stream.ndjson"), &run.stdout).expect("the folder can be written");
    run
}

/// The exit code and what was printed.
fn verify(run: &Path, more: &[&str]) -> (Option<i32>, String) {
    let mut arguments = vec![
        "verify",
        run.to_str().expect("temporary folders have UTF-8 names"),
    ];
    arguments.extend(more);
    let output = gg(arguments);
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("gg prints UTF-8");
    (output.status.code(), text)
}

/// The stream with one line changed.
fn tampered(run: &Run, kind: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut lines = run.lines.clone();
    let mut of_kind = lines.iter_mut().filter(|line| line["type"] == kind);
    change(of_kind.next().expect("the run has such a line"));
    let mut text = Vec::new();
    for line in &lines {
        serde_json::to_writer(&mut text, line).expect("a JSON value can be written");
        text.push(b'\n');
    }
    String::from_utf8(text).expect("JSON is UTF-8")
}

#[test]
fn a_run_that_broke_no_rule_is_proved_with_its_journal() {
    let run = recorded();
    let (code, text) = verify(&run.folder().join("stream.ndjson"), &[]);
    assert_eq!(code, Some(0), "{text}");
    for said in [
        "1 agent, 3 exchanges, 3 calls",
        "ended as completed with exit code 0",
        "slot_sums",
        "replay.ndjson",
        "whole",
        "ok: nothing breaks a rule",
    ] {
        assert!(text.contains(said), "{said} in\n{text}");
    }
}

#[test]
fn a_line_that_breaks_a_rule_is_named_with_the_rule() {
    let run = recorded();
    let place = run.folder().join("stream.ndjson");
    fs::write(
        &place,
        tampered(&run, "tool_result", |line| line["callId"] = json!("other")),
    )
    .unwrap();
    let (code, text) = verify(&place, &[]);
    assert_eq!(code, Some(1), "{text}");
    let number = run
        .lines
        .iter()
        .position(|it| it["type"] == "tool_result")
        .unwrap()
        + 1;
    assert!(
        text.contains(&format!("line {number}: pairing: ")),
        "{text}"
    );
    assert!(text.contains("findings"), "{text}");
}

#[test]
fn a_journal_that_tells_another_story_is_a_finding() {
    let run = recorded();
    let place = run.folder().join("stream.ndjson");
    fs::write(
        &place,
        tampered(&run, "shell", |line| line["command"] = json!("cat b.txt")),
    )
    .unwrap();
    let (code, text) = verify(&place, &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("journal: `"), "{text}");
    assert!(text.contains("1 finding"), "{text}");
}

#[test]
fn a_journal_of_a_later_run_in_the_workspace_is_passed_over_and_a_named_one_is_not() {
    let (run, other) = (recorded(), recorded());
    let journal = other.workspace().join(".gg/replay.ndjson");
    fs::copy(&journal, run.workspace().join(".gg/replay.ndjson")).unwrap();
    let place = run.folder().join("stream.ndjson");
    let (code, text) = verify(&place, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("not compared"), "{text}");
    let (code, text) = verify(&place, &["--journal", journal.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("another run"), "{text}");
}

#[test]
fn a_killed_run_is_said_to_be_one_and_checked_as_far_as_it_goes() {
    let run = recorded();
    let place = run.folder().join("stream.ndjson");
    for part in [
        run.stdout.len() / 4,
        run.stdout.len() / 2,
        run.stdout.len() - 1,
    ] {
        fs::write(&place, &run.stdout[..part]).unwrap();
        let (code, text) = verify(&place, &[]);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("its process was killed"), "{text}");
    }
    fs::write(
        &place,
        run.stdout[..run.stdout.len() / 2].replacen("\"seq\":3", "\"seq\":33", 1),
    )
    .unwrap();
    assert_eq!(verify(&place, &[]).0, Some(1));
}

#[test]
fn what_is_no_stream_is_said_in_a_sentence() {
    let run = recorded();
    let folder = run.folder();
    let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    fs::write(folder.join("noise"), bytes).unwrap();
    fs::write(folder.join("empty"), "").unwrap();
    for name in ["noise", "empty", "launch.json", "absent", "."] {
        let (code, text) = verify(&folder.join(name), &[]);
        assert_eq!(code, Some(1), "{name}: {text}");
        assert!(text.starts_with("gg: "), "{name}: {text}");
    }
}
