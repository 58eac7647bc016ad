//! The three panic nets, each against a whole session in the process (03 §10.5, §10.6).
//!
//! A test arms a place, plays a session of a few commands, and reads the stream: whatever died,
//! the session ends by itself, with one outcome for its agent, as gg's defect.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io;
use std::path::Path;
use std::sync::Arc;

use config::Refusal;
use provider::mock::Script;
use serde_json::{Value, json};
use vocab::outcome::EndStatus;

use crate::buffer::Buffer;
use crate::launch::{self, Build, Prepared, Surroundings};
use crate::panics::tripping;
use crate::run::{self, RunOptions, RunReport};
use crate::telemetry::Outputs;

/// A session that was played.
pub(crate) struct Played {
    pub(crate) report: io::Result<RunReport>,
    pub(crate) stream: String,
    pub(crate) journal: Vec<u8>,
}

impl Played {
    pub(crate) fn lines(&self, kind: &str) -> Vec<Value> {
        let lines = self.stream.lines();
        lines
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["type"] == kind)
            .collect()
    }
}

/// Plays a session in which the place panics; `cancel` stops it after its first command.
fn play(place: &'static str, cancel: bool) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let script = json!({ "profiles": { "*": [
        { "calls": [{ "tool": "shell", "arguments": { "command": "touch stop; sleep 0.3" } }] },
        { "calls": [{ "tool": "list_dir", "arguments": {} }], "delayMs": 500 },
        { "finish": "done" },
    ]}});
    tripping::arm(place);
    session(&document(folder.path(), cancel), &script)
}

/// Plays a session of a launch document on a scripted model.
pub(crate) fn session(document: &Value, script: &Value) -> Played {
    run_prepared(prepare(document, script).unwrap())
}

/// Checks a launch document with a scripted model.
pub(crate) fn prepare(document: &Value, script: &Value) -> Result<Prepared, Vec<Refusal>> {
    let document = config::parse(&document.to_string()).unwrap();
    let surroundings = Surroundings {
        mock_script: Some(Arc::new(Script::from_json(&script.to_string()).unwrap())),
        base_url: "http://localhost:1".to_owned(),
    };
    launch::check(&document, &surroundings)
}

/// Plays a session that was checked.
pub(crate) fn run_prepared(prepared: Prepared) -> Played {
    let workspace = prepared.launch.workspace_dir.clone();
    let stdout = Buffer::default();
    let report = run::run(RunOptions {
        build: Build {
            version: "0.0.0",
            commit: None,
        },
        prepared,
        outputs: Outputs {
            stdout: Box::new(stdout.clone()),
            tee: None,
        },
        flow: None,
        endpoint: None,
        credential: None,
        guests: None,
        routing_key: None,
    });
    let stream = String::from_utf8(stdout.0.lock().unwrap().clone()).unwrap();
    // A refused launch has none.
    let journal = std::fs::read(workspace.join(".gg/replay.ndjson")).unwrap_or_default();
    Played {
        report,
        stream,
        journal,
    }
}

/// A root with commands and listings on a scripted model.
pub(crate) fn document(folder: &Path, cancel: bool) -> Value {
    let mut document = json!({
        "sessionId": "nets",
        "workspaceDir": folder,
        "prompt": "Go on.",
        "modelWindows": { "mock/script": 100_000 },
        "modelProviders": {},
        "capabilitySet": {
            "limits": { "maxParallel": 1, "replayMaxBytes": 1_000_000 },
            "agents": [{
                "slug": "root", "name": "Root", "modelId": "mock/script",
                "capabilities": [
                    { "id": "shell", "enabled": true, "implementation": "inline",
                      "params": { "maxLines": 10, "maxChars": 1000 } },
                    { "id": "list-dir", "enabled": true, "params": {} },
                ],
                "tools": ["shell", "list_dir"], "operations": [],
            }],
        },
    });
    if cancel {
        document["cancelFile"] = json!(folder.join("stop"));
    }
    document
}

/// One outcome for the one agent, the defect named, exit code 1, and a record that says so.
#[track_caller]
fn ended_as_a_defect(played: &Played, cause: &str) {
    let report = played.report.as_ref().unwrap();
    assert_eq!(
        (report.status, report.exit_code),
        (EndStatus::InternalError, 1)
    );
    let error = report.error.as_deref().unwrap_or_default();
    assert!(error.contains(cause), "{error}");
    let ends: Vec<_> = played
        .lines("agent_status")
        .into_iter()
        .filter(|status| status.get("endedAs").is_some())
        .collect();
    assert_eq!(ends.len(), 1, "{}", played.stream);
    assert_eq!(ends[0]["endedAs"], "internal_error");
    assert_eq!(ends[0]["status"], "failed");
    assert_eq!(played.lines("session_ended").len(), 1);
    assert_eq!(played.lines("session_ended")[0]["exitCode"], 1);
    let replay = record::journal::read(&played.journal).unwrap();
    assert_eq!(replay.agents.len(), 1);
    assert_eq!(replay.agents[0].ended_as, Some(EndStatus::InternalError));
}

#[test]
fn a_panic_in_a_turn_ends_the_agent_with_one_outcome() {
    ended_as_a_defect(&play("turn", false), "tripped in turn");
}

#[test]
fn a_panic_in_an_agents_handler_is_told_for_it() {
    ended_as_a_defect(&play("agent", true), "tripped in agent");
}

#[test]
fn a_panicking_scheduler_ends_the_run() {
    ended_as_a_defect(&play("scheduler", false), "tripped in scheduler");
}

#[test]
fn a_panicking_client_ends_the_run() {
    ended_as_a_defect(&play("client", false), "tripped in client");
}

#[test]
fn a_panicking_store_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut document = document(folder.path(), false);
    let root = &mut document["capabilitySet"]["agents"][0];
    root["capabilities"].as_array_mut().unwrap().push(json!({
        "id": "memories", "enabled": true, "implementation": "markdown",
        "params": {
            "maxCount": 0, "maxLenPerMemory": 0, "maxTotalLen": 0, "maxLenIndex": 0,
            "maxLenDescription": 0, "maxResults": 0,
        },
    }));
    root["tools"]
        .as_array_mut()
        .unwrap()
        .push(json!("create_memory"));
    let memory = json!({ "name": "own", "description": "d", "body": "b" });
    let script = json!({ "profiles": { "*": [
        { "calls": [{ "tool": "create_memory", "arguments": memory }] },
        { "finish": "done" },
    ]}});
    tripping::arm("store");
    let played = session(&document, &script);
    ended_as_a_defect(&played, "tripped in store");
    assert_eq!(played.lines("memory_revision").len(), 0);
}

#[test]
fn a_supervisor_that_dies_leaves_a_closing_line() {
    let played = play("supervisor", false);
    let report = played.report.as_ref().unwrap();
    assert_eq!(report.exit_code, 1);
    let last = played.stream.lines().last().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["type"], "session_ended");
    assert_eq!(last["status"], "internal_error");
}

#[test]
fn a_run_without_its_telemetry_ends_and_says_so() {
    let played = play("telemetry", false);
    let error = played.report.unwrap_err().to_string();
    assert!(error.contains("telemetry died"), "{error}");
}
