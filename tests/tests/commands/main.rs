//! The commands beside `gg run`, by the real binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod candidates;
mod flow;
mod selfcheck;
mod show;

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use tests::run::gg;

struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("gg prints UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

fn said<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Said {
    gg(arguments).into()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder can be made")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary folders have UTF-8 names")
}

#[test]
fn bad_arguments_end_with_1_and_help_with_0() {
    for bad in [&["fly"] as &[&str], &["run"], &["--run-dir", "x"], &[]] {
        let output = gg(bad);
        assert_eq!(output.status.code(), Some(1), "{bad:?}");
        assert!(output.stdout.is_empty(), "{bad:?}");
        assert!(!output.stderr.is_empty(), "{bad:?}");
    }
    for good in ["--help", "--version"] {
        let said = said([good]);
        assert_eq!(said.code, Some(0), "{good}: {}", said.stderr);
        assert!(said.stdout.contains("gg"), "{good}");
    }
}

#[test]
fn a_new_document_is_ok_and_runs() {
    let folder = folder();
    let file = folder.path().join("launch.json");
    let (file, dir) = (text(&file), text(folder.path()));
    let new = said(["new", file, "--workspace", dir]);
    assert_eq!(new.code, Some(0), "{}", new.stderr);

    let check = said(["check", file]);
    assert_eq!(
        (check.code, check.stdout),
        (Some(0), format!("{file}: ok\n"))
    );
    assert!(
        !folder.path().join(".gg").exists(),
        "a check creates nothing"
    );

    let run = said(["--config", file]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["status"], "completed");
}

#[test]
fn a_check_prints_every_refusal() {
    let folder = folder();
    let file = folder.path().join("launch.json");
    fs::write(
        &file,
        json!({ "sessionId": "", "prompt": 7, "workspaceDir": "/absent" }).to_string(),
    )
    .unwrap();
    let check = said(["check", text(&file)]);
    assert_eq!(check.code, Some(1));
    for locus in [
        "sessionId",
        "prompt",
        "workspaceDir",
        "modelWindows",
        "capabilitySet",
    ] {
        assert!(check.stdout.contains(locus), "{locus} in\n{}", check.stdout);
    }

    fs::write(&file, "{ \"sessionId\": ").unwrap();
    let check = said(["check", text(&file)]);
    assert_eq!((check.code, check.stdout.as_str()), (Some(1), ""));
    assert!(check.stderr.contains("line 1"), "{}", check.stderr);
}

#[test]
fn the_schema_is_json() {
    let schema: Value = serde_json::from_str(&said(["schema"]).stdout).unwrap();
    assert!(schema["properties"]["capabilitySet"].is_object());
}

#[test]
fn every_shell_has_completions_and_every_command_a_page() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let completions = said(["completions", shell]);
        assert!(completions.stdout.contains("mock-script"), "{shell}");
    }
    let folder = folder();
    assert_eq!(said(["man", text(folder.path())]).code, Some(0));
    assert!(folder.path().join("gg-run.1").exists());
    assert!(said(["man"]).stdout.contains(".TH gg"));
}

#[test]
fn the_demo_leaves_a_game_and_its_stream() {
    let folder = folder();
    let dir = folder.path().join("demo");
    let demo = said(["demo", text(&dir)]);
    assert_eq!(demo.code, Some(0), "{}\n{}", demo.stdout, demo.stderr);
    for part in [
        "$ sh check.sh  exit code 1",
        "$ sh check.sh  exit code 0",
        "edited game.js",
    ] {
        assert!(demo.stdout.contains(part), "{part} in\n{}", demo.stdout);
    }
    assert!(
        demo.stdout
            .contains("completed with exit code 0: 12 model calls"),
        "{}",
        demo.stdout
    );
    assert!(demo.stdout.contains("index.html\n"), "{}", demo.stdout);
    for file in ["index.html", "style.css", "game.js", "check.sh"] {
        assert!(dir.join(file).is_file(), "{file}");
    }
    let stream = fs::read_to_string(dir.join("telemetry.ndjson")).unwrap();
    let last: Value = serde_json::from_str(stream.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "session_ended");

    // Again into the same folder; but not over what somebody made of it.
    assert_eq!(said(["demo", text(&dir)]).code, Some(0));
    fs::write(dir.join("game.js"), "// mine").unwrap();
    let refused = said(["demo", text(&dir)]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert_eq!(fs::read_to_string(dir.join("game.js")).unwrap(), "// mine");
}

#[test]
fn the_flow_of_a_session_is_accounted_for_in_three_forms() {
    let folder = folder();
    let (file, flow) = (
        folder.path().join("launch.json"),
        folder.path().join("flow.ndjson"),
    );
    let (file, flow) = (text(&file), text(&flow));
    said(["new", file, "--workspace", text(folder.path())]);
    let run = said(["run", file, "--flow", flow]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);

    let table = said(["flow", flow]);
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    assert!(!table.stdout.contains("note:"), "{}", table.stdout);
    assert!(
        table.stdout.contains("every message sent was handled"),
        "{}",
        table.stdout
    );
    let diagram = said(["flow", flow, "--format", "mermaid"]).stdout;
    assert!(diagram.starts_with("sequenceDiagram\n"), "{diagram}");
    let trace: Value =
        serde_json::from_str(&said(["flow", flow, "--format", "trace"]).stdout).unwrap();
    let count = |phase: &str| {
        let events = trace["traceEvents"].as_array().unwrap();
        events.iter().filter(|event| event["ph"] == phase).count()
    };
    assert!(count("s") > 0);
    assert_eq!(count("s"), count("f"));
}
