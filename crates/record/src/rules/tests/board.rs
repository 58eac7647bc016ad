//! What breaks the rule of the board.

use super::*;

/// One issue sent back once and merged, one that conflicts and fails, one behind the first.
fn run() -> Vec<Value> {
    let status = |id: &str, status: &str| {
        let mut line = json!({"type": "issue_status", "issueId": id, "status": status,
            "attempts": 1});
        if status == "failed" {
            line["reason"] = json!("why");
        }
        line
    };
    let by = |id: &str| json!({"agentId": id, "profileId": "critic"});
    let merged = |id: &str, outcome: &str, agent: Option<&str>| {
        let mut line = json!({"type": "worktree_merged", "issueId": id, "branch": "b",
            "outcome": outcome});
        if let Some(agent) = agent {
            line["mergeAgentId"] = json!(agent);
        }
        line
    };
    let mut behind = status("A-3", "in_progress");
    behind["blockedBy"] = json!(["A-1"]);
    of_one_session(vec![
        status("A-1", "in_progress"),
        status("A-1", "in_review"),
        json!({"type": "issue_review", "issueId": "A-1", "round": 1,
            "outcome": "changes_requested", "items": ["more"], "by": by("A-1.0i.1r"),
            "approvedBy": [by("A-1.0i.0r")]}),
        status("A-1", "in_progress"),
        status("A-1", "in_review"),
        json!({"type": "issue_review", "issueId": "A-1", "round": 2, "outcome": "approved",
            "by": by("A-1.1i.0r"), "approvedBy": [by("A-1.1i.0r")]}),
        merged("A-1", "merged", None),
        status("A-1", "done"),
        status("A-2", "in_progress"),
        status("A-2", "open"),
        status("A-2", "in_progress"),
        status("A-2", "in_review"),
        merged("A-2", "aborted", Some("A-2.0m")),
        status("A-2", "failed"),
        status("A-2", "open"),
        behind,
        status("A-3", "failed"),
        merged("A-3", "discarded", None),
    ])
}

fn board(lines: &[Value]) -> Vec<Violation> {
    let mut violations = check(&text(lines));
    violations.retain(|violation| violation.rule == rule::BOARD);
    violations
}

#[test]
fn issues_that_go_their_way_break_nothing() {
    assert_eq!(board(&run()), []);
}

#[test]
fn any_other_way_breaks_the_rule() {
    let status = "issue_status";
    for change in [
        Set(status, 0, "/status", json!("done")),
        Set(status, 0, "/blockedBy", json!(["A-9"])),
        Set(status, 1, "/status", json!("open")),
        Set(status, 4, "/status", json!("failed")),
        Set(status, 9, "/status", json!("open")),
        Set(status, 9, "/reason", json!(null)),
        Set(status, 11, "/blockedBy", json!(["A-2"])),
        Drop("worktree_merged", 0),
        Twice("worktree_merged", 0),
        Twice(status, 4),
        Set("worktree_merged", 0, "/mergeAgentId", json!("A-1.0m")),
        Set("worktree_merged", 0, "/outcome", json!("resolved")),
        Set("worktree_merged", 2, "/issueId", json!("A-1")),
        Set("issue_review", 0, "/items", json!([])),
        Set("issue_review", 1, "/round", json!(1)),
        Set("issue_review", 1, "/approvedBy", json!([])),
        Move(("issue_review", 0), (status, 1)),
    ] {
        let lines = changed(&run(), &change);
        assert!(!board(&lines).is_empty(), "{lines:?}");
    }
}
