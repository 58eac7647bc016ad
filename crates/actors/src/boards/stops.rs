//! What ends a run with a board or bounds it, and what becomes of its issues then (03 §7.4, §8).

use std::path::Path;

use record::rules;
use serde_json::json;
use vocab::outcome::EndStatus;

use super::{Board, Piece, Plan, eventful, git, shell};
use crate::nets::{prepare, run_prepared};

#[test]
fn at_one_slot_a_root_files_waits_and_completes() {
    let plan = eventful();
    let board = Board::play(&plan, 1);
    board.sound().unwrap();
    board.judge(&plan).unwrap();
    let statuses = board.statuses();
    assert!(statuses.values().all(|status| status == "done"));
}

#[test]
fn a_workspace_no_board_can_work_on_refuses_the_launch_with_whatever_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let plan = eventful();
    let mut document = plan.document(folder.path(), 2);
    let workspace = folder.path().join("w");
    committed(&workspace);
    git(&workspace, &["branch", "gg"]);
    document["prompt"] = json!("");
    let refusals = prepare(&document, &plan.script(folder.path())).unwrap_err();
    let told: Vec<_> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("git branch -m gg"), "{told:?}");
}

#[test]
fn a_workspace_that_was_changed_since_its_check_refuses_the_launch() {
    let folder = tempfile::tempdir().unwrap();
    let plan = eventful();
    let document = plan.document(folder.path(), 2);
    let workspace = folder.path().join("w");
    committed(&workspace);
    let prepared = prepare(&document, &plan.script(folder.path())).unwrap();
    git(&workspace, &["branch", "gg"]);
    let played = run_prepared(prepared);
    let report = played.report.as_ref().unwrap();
    assert_eq!(
        (report.status, report.exit_code),
        (EndStatus::LaunchRefused, 1)
    );
    let error = report.error.as_deref().unwrap_or_default();
    assert!(error.contains("git branch -m gg"), "{error}");
    assert_eq!(rules::check(&played.stream), [], "{}", played.stream);
    assert_eq!(played.lines("agent_spawned").len(), 0);
}

/// A repository with a commit.
fn committed(workspace: &Path) {
    git(workspace, &["init", "-q"]);
    let identity = ["-c", "user.name=a", "-c", "user.email=a@a"];
    let commit = ["commit", "-q", "--allow-empty", "-m", "first"];
    git(workspace, &[&identity[..], &commit[..]].concat());
}

/// Pieces that stand in nobody's way.
fn plain(pieces: usize) -> Plan {
    let eventful = eventful();
    let piece = Piece {
        reviews: Vec::new(),
        ..eventful.pieces[0].clone()
    };
    Plan {
        pieces: vec![piece; pieces],
        waits: vec![0],
        ..eventful
    }
}

/// Why an issue failed.
fn reason(board: &Board, id: &str) -> String {
    let moved = board.played.lines("issue_status");
    let mut failed = moved
        .iter()
        .filter(|line| line["issueId"] == id && line["status"] == "failed");
    failed.next().unwrap()["reason"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// What a failed issue's branch holds beside the baseline.
fn left_on(board: &Board, branch: &str) -> String {
    board.git(&["ls-tree", "-r", "--name-only", branch])
}

#[test]
fn a_run_whose_time_is_up_keeps_what_was_begun_on_a_branch() {
    let board = Board::play_as(&plain(1), 2, |set, scripts| {
        set["limits"]["maxRuntimeSecs"] = json!(1);
        scripts["c0"] = json!([shell("echo half >half.txt; sleep 30")]);
    });
    board.sound().unwrap();
    let report = board.played.report.as_ref().unwrap();
    assert_eq!(report.status, EndStatus::TimedOut);
    assert!(reason(&board, "ISSUE-1").contains("time was up"));
    assert_eq!(board.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(left_on(&board, "gg/issue-1"), "half.txt\n");
}

#[test]
fn a_run_whose_money_is_spent_dispatches_nobody_and_waits_for_nobody() {
    let mut plan = plain(2);
    plan.pieces[1].behind = vec![0];
    plan.waits = vec![1];
    let board = Board::play_as(&plan, 2, |set, scripts| {
        set["limits"]["maxCost"] = json!(0.5);
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 1, "cost": 1.0 });
        let mut begun = shell("echo half >half.txt");
        begun["usage"] = usage;
        scripts["c0"] = json!([begun, { "finish": "done" }]);
    });
    board.sound().unwrap();
    let report = board.played.report.as_ref().unwrap();
    assert_eq!(report.status, EndStatus::LimitExceeded);
    assert!(reason(&board, "ISSUE-1").contains("cost ceiling"));
    assert_eq!(left_on(&board, "gg/issue-1"), "half.txt\n");
    assert_eq!(board.statuses().get("ISSUE-2"), None);
}

#[test]
fn an_issue_that_no_agent_is_left_for_stays_open_and_the_run_goes_on() {
    let mut plan = plain(4);
    plan.waits = vec![3];
    let board = Board::play_as(&plan, 1, |set, _| set["limits"]["maxAgents"] = json!(3));
    board.sound().unwrap();
    let report = board.played.report.as_ref().unwrap();
    assert_eq!(report.status, EndStatus::Completed);
    let statuses = board.statuses();
    let statuses: Vec<_> = (1..=4)
        .map(|number| statuses[&format!("ISSUE-{number}")].as_str())
        .collect();
    assert_eq!(statuses, ["done", "done", "open", "open"]);
    let warned = board.played.lines("log");
    let warned = warned
        .iter()
        .filter(|line| line["level"] == "warn" && line["code"] == "board");
    assert_eq!(warned.count(), 2);
    let results = board.played.lines("tool_result");
    let wait = results.iter().find(|line| line["tool"] == "wait_for_issue");
    let told = wait.unwrap()["preview"].as_str().unwrap();
    assert!(told.contains("3 agents"), "{told}");
}

#[test]
fn one_agent_of_a_persistent_profile_works_at_a_time_whatever_issue_it_is_for() {
    let board = Board::play_as(&plain(3), 16, |set, scripts| {
        let agents = set["agents"].as_array_mut().unwrap();
        let coder = agents.iter_mut().find(|agent| agent["slug"] == "c0");
        let persistence = json!({ "id": "agent-persistence", "enabled": true, "params": {} });
        let capabilities = coder.unwrap()["capabilities"].as_array_mut();
        capabilities.unwrap().push(persistence);
        for filing in scripts["root"][0]["calls"].as_array_mut().unwrap() {
            filing["arguments"]["agent"] = json!("c0");
        }
    });
    board.sound().unwrap();
    let statuses = board.statuses();
    assert_eq!(statuses.len(), 3);
    assert!(statuses.values().all(|status| status == "done"));
}

#[test]
fn a_machine_and_a_copy_of_its_agent_work_in_the_worktree_of_their_issue() {
    let board = Board::play_as(&plain(2), 1, |set, scripts| {
        let agents = set["agents"].as_array_mut().unwrap();
        for slug in ["c0", "c1"] {
            let coder = agents.iter_mut().find(|agent| agent["slug"] == slug);
            let coder = coder.unwrap();
            let more = [
                json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 1 } }),
                json!({ "id": "fork", "enabled": true, "params": {} }),
            ];
            coder["capabilities"].as_array_mut().unwrap().extend(more);
            coder["tools"].as_array_mut().unwrap().push(json!("fork"));
        }
        agents.push(json!({
            "slug": "machine", "name": "Machine", "tools": [], "operations": [], "capabilities": [{
                "id": "fsm", "enabled": true, "params": { "states": [
                    { "name": "look", "agent": "c0",
                      "transitions": [{ "to": "write", "transfer": [] }] },
                    { "name": "write", "agent": "c1", "transitions": [] },
                ] },
            }],
        }));
        let root = agents[0]["subagents"].as_array_mut().unwrap();
        root.push(json!({ "agentId": "machine", "description": "Is.", "scopes": ["implementer"] }));
        let filings = scripts["root"][0]["calls"].as_array_mut().unwrap();
        filings.truncate(1);
        filings[0]["arguments"]["agent"] = json!("machine");
        let goes_on = json!({ "tool": "transition_state", "arguments": { "state": "write" } });
        scripts["c0"] = json!([{ "calls": [goes_on] }]);
        let copy = json!({ "tool": "fork", "arguments": { "prompt": "Write too." } });
        // A copy is as deep as agents go, and writes what it is asked for.
        scripts["c1"] = json!([
            { "calls": [copy] },
            shell("echo 1 >>$(basename $PWD).txt"),
            { "finish": "written" },
        ]);
    });
    board.sound().unwrap();
    assert_eq!(board.statuses()["ISSUE-1"], "done");
    let spawned = board.played.lines("agent_spawned");
    let kinds: Vec<_> = spawned
        .iter()
        .map(|line| line["agentKind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["root", "issue-implementer", "issue-implementer", "subagent"]
    );
    let written = std::fs::read_to_string(board.folder.path().join("w/issue-1.txt"));
    assert_eq!(written.unwrap(), "1\n1\n");
}
