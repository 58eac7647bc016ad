//! Agents that file issues and wait for them, against whole sessions in the process (03 §7).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use record::rules;
use serde_json::{Value, json};
use vocab::outcome::EndStatus;

use crate::nets::{Played, document, session};

/// Every call on the board.
const CALLS: [&str; 9] = [
    "create_epic",
    "create_issue",
    "update_issue",
    "set_issue_blocked_by",
    "remove_epic",
    "remove_issue",
    "wait_for_issue",
    "list_issues",
    "read_issue",
];

/// A root with a board, whose issues `coder` and `quitter` implement and `critic` reviews; a
/// conflict is `coder`'s to resolve.
fn set(folder: &Path, cap: u64, board: &Value) -> Value {
    let mut document = document(folder, false);
    let set = &mut document["capabilitySet"];
    set["limits"]["maxParallel"] = json!(cap);
    let worker = set["agents"][0].clone();
    let root = &mut set["agents"][0];
    let mut params =
        json!({ "mergeAgent": "coder", "maxEpics": 1, "maxIssues": 4, "maxRetries": 0 });
    for (key, value) in board.as_object().unwrap() {
        params[key] = value.clone();
    }
    root["capabilities"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "id": "project-management", "enabled": true, "params": params }));
    let tools = root["tools"].as_array_mut().unwrap();
    tools.extend(CALLS.map(Value::from));
    root["subagents"] = json!([
        { "agentId": "coder", "description": "Codes.", "scopes": ["implementer"] },
        { "agentId": "quitter", "description": "Does not.", "scopes": ["implementer"] },
        { "agentId": "critic", "description": "Judges.", "scopes": ["reviewer"] },
    ]);
    for slug in ["coder", "quitter", "critic"] {
        let mut worker = worker.clone();
        worker["slug"] = json!(slug);
        worker["name"] = json!(slug);
        set["agents"].as_array_mut().unwrap().push(worker);
    }
    document
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

fn turn(calls: &[Value]) -> Value {
    json!({ "calls": calls })
}

fn issue(agent: &str, more: &Value) -> Value {
    let mut all = json!({ "title": "A thing", "inScope": "this", "outOfScope": "that",
        "completionCriteria": "it is there", "agent": agent });
    for (key, value) in more.as_object().unwrap() {
        all[key] = value.clone();
    }
    call("create_issue", &all)
}

fn wait(id: &str) -> Value {
    call("wait_for_issue", &json!({ "id": id }))
}

fn finish(summary: &str) -> Value {
    json!({ "finish": summary })
}

struct Session {
    played: Played,
    folder: tempfile::TempDir,
}

impl Session {
    fn play(cap: u64, board: &Value, root: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let command = json!({ "command": "date +%N > $(basename $PWD).txt" });
        let script = json!({ "profiles": {
            "root": root,
            "coder": [turn(&[call("shell", &command)]), finish("coded")],
            "quitter": [{ "fault": { "status": 400, "body": "no" } }],
            "critic": [turn(&[call("approve", &json!({}))])],
        }});
        let played = session(&set(folder.path(), cap, board), &script);
        let report = played.report.as_ref().unwrap();
        assert_eq!(
            (report.status, report.exit_code),
            (EndStatus::Completed, 0),
            "{}",
            played.stream
        );
        assert_eq!(rules::check(&played.stream), [], "{}", played.stream);
        Self { played, folder }
    }

    /// The results of a tool, in order.
    fn results(&self, tool: &str) -> Vec<String> {
        let lines = self.played.lines("tool_result").into_iter();
        lines
            .filter(|line| line["tool"] == tool)
            .map(|line| line["preview"].as_str().unwrap().to_owned())
            .collect()
    }

    #[track_caller]
    fn told(&self, tool: &str, results: &[&str]) {
        assert_eq!(self.results(tool), results, "{}", self.played.stream);
    }

    fn figures(&self) -> Vec<u64> {
        let summary = &self.played.lines("session_summary")[0];
        let keys = [
            "issues",
            "issuesDone",
            "issuesFailed",
            "issuesReopened",
            "reviewRounds",
            "mergeConflicts",
        ];
        keys.map(|key| summary[key].as_u64().unwrap()).to_vec()
    }
}

#[test]
fn an_issue_is_filed_worked_off_and_waited_for_at_any_cap() {
    for cap in [1, 2, 16] {
        let session = Session::play(
            cap,
            &json!({}),
            &[
                turn(&[
                    call(
                        "create_epic",
                        &json!({ "prefix": "web", "title": "Surface" }),
                    ),
                    issue("coder", &json!({ "epic": "WEB" })),
                    issue(
                        "coder",
                        &json!({ "blockedBy": ["WEB-1"], "reviewers": ["critic"] }),
                    ),
                    wait("ISSUE-1"),
                    wait("web-1"),
                ]),
                turn(&[
                    call("list_issues", &json!({})),
                    call("read_issue", &json!({ "id": "ISSUE-1" })),
                ]),
                finish("all of it"),
            ],
        );
        session.told(
            "create_epic",
            &["epic `WEB` created; the board holds 1 of 1 epics and 0 of 4 issues"],
        );
        session.told("wait_for_issue", &["`ISSUE-1` is done", "`WEB-1` is done"]);
        session.told(
            "list_issues",
            &["WEB-1 [done] A thing (agent coder; attempts 1)\n\
               ISSUE-1 [done] A thing (agent coder; reviewers critic; blocked by WEB-1; attempts 1)"],
        );
        let read = session.results("read_issue");
        assert!(
            read[0].ends_with("Review 1 by critic: approved"),
            "{read:?}"
        );
        assert_eq!(session.figures(), [2, 2, 0, 0, 1, 0]);
        let files = std::fs::read_dir(session.folder.path()).unwrap();
        let merged = files.filter(|file| {
            let name = file.as_ref().unwrap().file_name();
            name.to_string_lossy().ends_with(".txt")
        });
        assert_eq!(merged.count(), 2);
        // Arrival, and one behind the turn that wrote.
        let states = session.played.lines("board_state");
        assert_eq!(states.len(), 2, "{states:?}");
        assert_eq!(states[0]["issues"], json!([]));
        assert!(states.iter().all(|state| state["agentId"] == "root"));
        assert_eq!(states[1]["turn"], 1);
        assert_eq!(states[1]["issues"].as_array().unwrap().len(), 2);
        let blocked: Vec<_> = session
            .played
            .lines("agent_status")
            .into_iter()
            .filter(|line| line["status"] == "blocked")
            .collect();
        assert_eq!(blocked[0]["waitingOn"], json!({ "issue": "ISSUE-1" }));
        assert_eq!(blocked.len(), 1, "what has ended suspends nobody");
    }
}

#[test]
fn nothing_is_waited_for_behind_an_issue_that_failed() {
    let session = Session::play(
        2,
        &json!({}),
        &[
            turn(&[
                issue("quitter", &json!({})),
                issue("coder", &json!({ "blockedBy": ["ISSUE-1"] })),
                // Suspended, and past hope once the first has failed.
                wait("ISSUE-2"),
                wait("ISSUE-1"),
                wait("ISSUE-2"),
                call(
                    "update_issue",
                    &json!({ "id": "ISSUE-1", "agent": "coder", "status": "open" }),
                ),
                wait("ISSUE-2"),
            ]),
            finish("mended"),
        ],
    );
    let past_hope = "`wait_for_issue` failed (refused): nothing will complete `ISSUE-2`: it is \
                     behind `ISSUE-1`, which failed; drop the dependency, revive `ISSUE-1` or \
                     refile it";
    session.told(
        "wait_for_issue",
        &[
            past_hope,
            "`ISSUE-1` is failed",
            past_hope,
            "`ISSUE-2` is done",
        ],
    );
    session.told("update_issue", &["`ISSUE-1` is open again"]);
    assert_eq!(session.figures(), [2, 2, 0, 1, 0, 0]);
}

#[test]
fn every_refusal_leaves_the_board_as_it_was() {
    let session = Session::play(
        1,
        &json!({ "maxIssues": 2, "reviewers": true }),
        &[
            turn(&[
                call("create_epic", &json!({ "prefix": "ISSUE", "title": "x" })),
                call("create_epic", &json!({ "prefix": "ABC", "title": "x" })),
                call("create_epic", &json!({ "prefix": "abc", "title": "x" })),
                call("create_epic", &json!({ "prefix": "DEF", "title": "x" })),
                call("remove_epic", &json!({ "id": "XYZ" })),
                issue("critic", &json!({})),
                issue("coder", &json!({})),
                issue(
                    "coder",
                    &json!({ "reviewers": ["critic"], "blockedBy": ["ABC-9"] }),
                ),
                issue("coder", &json!({ "reviewers": ["critic"] })),
                issue(
                    "coder",
                    &json!({ "reviewers": ["critic"], "epic": "ABC", "blockedBy": ["ISSUE-1"] }),
                ),
                issue("coder", &json!({ "reviewers": ["critic"] })),
                call(
                    "set_issue_blocked_by",
                    &json!({ "id": "ISSUE-1", "blockedBy": ["ABC-1"] }),
                ),
                call("remove_issue", &json!({ "id": "ISSUE-1" })),
                call("remove_epic", &json!({ "id": "ABC" })),
                call("read_issue", &json!({ "id": "NO-1" })),
                call("list_issues", &json!({ "status": "closed" })),
                call("list_issues", &json!({ "epic": "XYZ" })),
                call(
                    "update_issue",
                    &json!({ "id": "ISSUE-1", "status": "done" }),
                ),
                wait(" "),
                wait("NO-1"),
            ]),
            finish("seen"),
        ],
    );
    let classes: Vec<String> = session
        .played
        .lines("tool_result")
        .iter()
        .filter(|line| line["agentId"] == "root")
        .map(|line| line["failure"].as_str().unwrap_or("ok").to_owned())
        .collect();
    assert_eq!(
        classes[..20],
        [
            "invalid-argument",
            "ok",
            "conflict",
            "limit-exceeded",
            "not-found",
            "invalid-argument",
            "invalid-argument",
            "not-found",
            "ok",
            "ok",
            "limit-exceeded",
            "conflict",
            "refused",
            "refused",
            "not-found",
            "invalid-argument",
            "not-found",
            "invalid-argument",
            "invalid-argument",
            "not-found",
        ],
        "{}",
        session.played.stream
    );
    assert_eq!(session.figures(), [2, 2, 0, 0, 2, 0]);
}

#[test]
fn who_has_no_board_has_no_call_of_it_and_shows_none() {
    let session = Session::play(
        2,
        &json!({}),
        &[
            turn(&[issue("coder", &json!({})), wait("ISSUE-1")]),
            finish("ok"),
        ],
    );
    let of_coder = |kind: &str| -> Vec<Value> {
        let lines = session.played.lines(kind).into_iter();
        lines
            .filter(|line| line["agentId"] == "ISSUE-1.0i")
            .collect()
    };
    let modules = &of_coder("agent_modules")[0]["modules"];
    let board = modules
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["kind"] == "board");
    let board = board.unwrap();
    assert_eq!(
        (&board["store"], &board["enabled"], &board["origin"]),
        (&json!("board-0"), &json!(false), &json!("run"))
    );
    assert_eq!(of_coder("board_state").len(), 0);
    let tools = &of_coder("agent_surface")[0]["tools"];
    assert_eq!(tools, &json!(["list_dir", "shell", "finish"]));
}
