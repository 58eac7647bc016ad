//! The board's actors, and its agents, panicking at named places: whatever dies, the session ends by
//! itself, with one outcome for each agent, and leaves the workspace whole (03 §10.5).

use std::path::Path;

use serde_json::Value;
use vocab::outcome::EndStatus;

use super::{Board, eventful};
use crate::panics::tripping;

#[track_caller]
fn ended_as_a_defect(place: &'static str, cause: &str) -> Board {
    tripping::arm(place);
    let board = Board::play(&eventful(), 2);
    let report = board.played.report.as_ref().unwrap();
    let stream = &board.played.stream;
    assert_eq!(
        (report.status, report.exit_code),
        (EndStatus::InternalError, 1),
        "{place}: {stream}"
    );
    let error = report.error.as_deref().unwrap_or_default();
    assert!(error.contains(cause), "{place}: {error}");
    board.sound().unwrap();
    let agents = board.played.lines("agent_spawned");
    for agent in &agents {
        let ends = board.played.lines("agent_status");
        let ends = ends
            .iter()
            .filter(|line| line["agentId"] == agent["agentId"] && !line["endedAs"].is_null());
        assert_eq!(ends.count(), 1, "{place}: {} of {stream}", agent["agentId"]);
    }
    board
}

#[test]
fn a_board_that_panics_in_a_call_ends_the_run() {
    ended_as_a_defect("board_call", "the board panicked: tripped in board_call");
}

#[test]
fn a_board_that_panics_as_a_wait_begins_ends_the_run() {
    ended_as_a_defect("board_wait", "the board panicked: tripped in board_wait");
}

#[test]
fn a_board_that_panics_at_an_answer_ends_the_run() {
    ended_as_a_defect(
        "board_answered",
        "the board panicked: tripped in board_answered",
    );
}

#[test]
fn an_issue_that_panics_at_what_it_is_asked_fails_with_the_run() {
    let board = ended_as_a_defect("issue", "the actor of issue `ISSUE-1` panicked");
    let told = board.played.lines("issue_status");
    let failed = told.iter().find(|line| line["status"] == "failed").unwrap();
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("panicked: tripped in issue"), "{reason}");
}

#[test]
fn an_issue_that_panics_as_it_answers_ends_the_run() {
    ended_as_a_defect("issue_answers", "panicked: tripped in issue_answers");
}

#[test]
fn a_git_that_panics_ends_the_run() {
    let cause = "the actor of the board's git panicked: tripped in git";
    let board = ended_as_a_defect("git", cause);
    let told = board.played.lines("issue_status");
    assert!(told.iter().any(|line| line["status"] == "failed"));
}

#[test]
fn an_agent_of_an_issue_that_panics_fails_its_issue_and_its_worktree_stays() {
    let board = ended_as_a_defect("issue_agent", "panicked: tripped in issue_agent");
    let told = board.played.lines("issue_status");
    let failed = told.iter().find(|line| line["status"] == "failed").unwrap();
    let kept = failed["worktree"]["path"].as_str().unwrap();
    assert!(Path::new(kept).is_dir());
    assert!(failed["reason"].as_str().unwrap().contains(kept));
    board.put_away();
}

#[test]
fn a_board_that_dies_with_a_conflict_open_leaves_the_workspace_as_it_was() {
    let cause = "the board panicked: tripped in board_conflict";
    let board = ended_as_a_defect("board_conflict", cause);
    let undone = "a merge was left open and was undone";
    assert!(board.played.stream.contains(undone));
    // What was approved can still be merged by hand.
    let branches = board.git(&["for-each-ref", "refs/heads/gg/"]);
    assert!(!branches.is_empty());
    board.put_away();
}

#[test]
fn a_supervisor_that_dies_with_a_board_leaves_a_closing_line() {
    tripping::arm("supervisor_dispatch");
    let board = Board::play(&eventful(), 2);
    let report = board.played.report.as_ref().unwrap();
    assert_eq!(report.exit_code, 1);
    let last: Value = serde_json::from_str(board.played.stream.lines().last().unwrap()).unwrap();
    assert_eq!(last["type"], "session_ended");
    assert_eq!(last["status"], "internal_error");
}
