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
    let row = |id: &str, status: &str, blocked: &[&str]| {
        json!({"id": id, "epic": "A", "title": "t", "status": status, "agent": "coder",
            "reviewers": if id == "A-1" { &["critic"][..] } else { &[] }, "blockedBy": blocked})
    };
    let shown = |first: &str| {
        json!({"type": "board_state", "agentId": "root", "module_id": "board-0",
            "epics": [{"id": "A", "title": "a"}], "issues": [row("A-1", first, &[]),
            row("A-2", "open", &[]), row("A-3", "open", &["A-1"])]})
    };
    let spawned = |agent: &str, origin: Value| json!({"type": "agent_spawned", "agentId": agent, "origin": origin});
    let attempt = |issue: &str, ordinal: u64| {
        let origin = json!({"kind": "issue_attempt", "issue": issue, "ordinal": ordinal});
        spawned(&format!("{issue}.{ordinal}i"), origin)
    };
    let judge = |agent: &str, round: u64| {
        let origin = json!({"kind": "reviewer", "issue": "A-1", "round": round, "position": 0});
        spawned(agent, origin)
    };
    let place = |agent: &str, status: &str, on: Value| {
        let mut line = json!({"type": "agent_status", "agentId": agent, "status": status});
        if !on.is_null() {
            line["waitingOn"] = on;
        }
        line
    };
    let mut again = status("A-2", "open");
    again["reason"] = json!("it ran out of turns");
    let figures = json!({"mergeAgent": "m", "maxEpics": 1, "maxIssues": 3, "maxRetries": 1});
    let set = json!({"agents": [{"slug": "lead", "capabilities": [
        {"id": "project-management", "enabled": true, "params": figures}]}]});
    of_one_session(vec![
        json!({"type": "session_started", "capabilitySet": set}),
        spawned("root", json!({"kind": "root"})),
        place("root", "running", json!(null)),
        shown("open"),
        place("root", "blocked", json!({"issue": "A-1"})),
        status("A-1", "in_progress"),
        attempt("A-1", 0),
        status("A-1", "in_review"),
        judge("A-1.0i.0r", 1),
        json!({"type": "issue_review", "issueId": "A-1", "round": 1,
            "outcome": "changes_requested", "items": ["more"], "by": by("A-1.0i.1r"),
            "approvedBy": [by("A-1.0i.0r")]}),
        status("A-1", "in_progress"),
        attempt("A-1", 1),
        status("A-1", "in_review"),
        judge("A-1.1i.0r", 2),
        json!({"type": "issue_review", "issueId": "A-1", "round": 2, "outcome": "approved",
            "by": by("A-1.1i.0r"), "approvedBy": [by("A-1.1i.0r")]}),
        merged("A-1", "merged", None),
        status("A-1", "done"),
        place("root", "queued", json!(null)),
        place("root", "running", json!(null)),
        shown("done"),
        status("A-2", "in_progress"),
        attempt("A-2", 0),
        again,
        status("A-2", "in_progress"),
        attempt("A-2", 1),
        place("A-2.1i", "running", json!(null)),
        place("A-2.1i", "blocked", json!({"issues": ["A-1", "A-3"]})),
        status("A-2", "in_review"),
        spawned(
            "A-2.0m",
            json!({"kind": "merge", "issue": "A-2", "ordinal": 0}),
        ),
        merged("A-2", "aborted", Some("A-2.0m")),
        status("A-2", "failed"),
        status("A-2", "open"),
        behind,
        status("A-3", "failed"),
        place("A-2.1i", "queued", json!(null)),
        merged("A-3", "discarded", None),
    ])
}

/// What the rule itself finds; the streams here hold little else that a stream has to.
fn board(lines: &[Value]) -> Vec<Violation> {
    let mut violations = check(&text(lines));
    violations.retain(|violation| violation.rule == rule::BOARD);
    violations
}

fn waits(lines: &[Value]) -> Vec<Violation> {
    let mut violations = check(&text(lines));
    violations.retain(|violation| violation.rule == rule::WAITS);
    violations
}

#[test]
fn issues_that_go_their_way_break_nothing() {
    assert_eq!(board(&run()), []);
    assert_eq!(waits(&run()), []);
}

#[test]
fn a_killed_run_may_leave_anything_half_done() {
    let lines = run();
    for count in 1..lines.len() {
        let mut violations = check_with(&text(&lines[..count]), Ending::Killed);
        violations.retain(|it| [rule::BOARD, rule::WAITS].contains(&it.rule));
        assert_eq!(violations, [], "{count} lines");
    }
    let half = &lines[..6];
    assert!(!board(half).is_empty());
}

#[test]
fn a_wait_for_an_issue_has_its_rule_too() {
    let status = "agent_status";
    for (number, change) in [
        // The one it works for.
        Set(status, 5, "/waitingOn/issues/0", json!("A-2")),
        // Over before its issue is.
        Move((status, 2), ("worktree_merged", 0)),
    ]
    .into_iter()
    .enumerate()
    {
        let lines = changed(&run(), &change);
        assert!(!waits(&lines).is_empty(), "change {number}");
    }
    // Whoever merges waits for nothing.
    let mut lines = run();
    let merger = at(&lines, "agent_spawned", 7);
    lines[merger]["agentId"] = json!("A-2.0m");
    lines.insert(
        merger + 1,
        json!({"type": "agent_status", "agentId": "A-2.0m", "status": "blocked",
            "waitingOn": {"issue": "A-1"}}),
    );
    let lines = of_one_session(lines);
    assert!(!waits(&lines).is_empty());
    // A revision may have taken the issue away.
    let mut lines = changed(&run(), &Move((status, 2), ("worktree_merged", 0)));
    let goes_on = at(&lines, status, 2);
    lines.insert(
        goes_on,
        json!({"type": "tool_call", "agentId": "x", "tool": "remove_issue", "callId": "c"}),
    );
    let lines = of_one_session(lines);
    assert_eq!(waits(&lines), []);
}

#[test]
fn any_other_way_breaks_the_rule() {
    let status = "issue_status";
    for (number, change) in [
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
        // Tried again too often, and for no reason.
        Set(
            "session_started",
            0,
            "/capabilitySet/agents/0/capabilities/0/params/maxRetries",
            json!(0),
        ),
        Set(status, 6, "/reason", json!(null)),
        // More than the board may hold.
        Set(
            "session_started",
            0,
            "/capabilitySet/agents/0/capabilities/0/params/maxIssues",
            json!(2),
        ),
        Set(
            "session_started",
            0,
            "/capabilitySet/agents/0/capabilities/0/params/maxEpics",
            json!(0),
        ),
        // Done without the approval of everybody it names.
        Set("board_state", 1, "/issues/0/reviewers/0", json!("judge")),
        Set("issue_review", 1, "/approvedBy/0/profileId", json!("judge")),
        Drop("issue_review", 1),
        // Ended by one who approved.
        Set(
            "issue_review",
            0,
            "/by",
            json!({"agentId": "A-1.0i.0r", "profileId": "critic"}),
        ),
        // Snapshots that cannot be.
        Set("board_state", 0, "/issues/2/blockedBy/0", json!("A-3")),
        Set("board_state", 0, "/issues/2/blockedBy/0", json!("A-9")),
        Set("board_state", 0, "/issues/2/epic", json!("B")),
        Set("board_state", 0, "/issues/1/id", json!("A-1")),
        Set("board_state", 0, "/issues/2/status", json!("in_progress")),
        // Agents for issues that are not there for them.
        Set("agent_spawned", 1, "/origin/ordinal", json!(1)),
        Set("agent_spawned", 2, "/origin/round", json!(0)),
        Set("agent_spawned", 3, "/origin/issue", json!("A-3")),
        Twice("agent_spawned", 6),
        Move(("agent_spawned", 1), (status, 0)),
        Move(("agent_spawned", 2), (status, 1)),
        // Two merges at once.
        Move(("agent_spawned", 7), ("worktree_merged", 0)),
        // Left half done.
        Drop(status, 12),
    ]
    .into_iter()
    .enumerate()
    {
        let lines = changed(&run(), &change);
        assert!(!board(&lines).is_empty(), "change {number}");
    }
}
