//! What breaks the rule of profiles that run one agent at a time.

use super::delegation::family;
use super::*;

/// The family at two slots, its children of one profile, which may be persistent.
fn of_one_profile(enabled: bool) -> Vec<Value> {
    let mut lines = family();
    let started = at(&lines, "session_started", 0);
    lines[started]["limits"]["maxParallel"] = json!(2);
    lines[started]["capabilitySet"] = json!({"agents": [
        {"slug": "root", "capabilities": []},
        {"slug": "worker", "capabilities": [{"id": "agent-persistence", "enabled": enabled}]},
    ]});
    for nth in [1, 2] {
        let child = at(&lines, "agent_spawned", nth);
        lines[child]["profileId"] = json!("worker");
    }
    lines
}

/// Both children run before either has ended.
fn beside(mut lines: Vec<Value>) -> Vec<Value> {
    lines = changed(&lines, &Move(("agent_status", 7), ("agent_status", 6)));
    let summary = at(&lines, "session_summary", 0);
    lines[summary]["peakParallel"] = json!(2);
    lines
}

fn broken(lines: &[Value]) -> Vec<&'static str> {
    let violations = check(&text(lines));
    violations.iter().map(|violation| violation.rule).collect()
}

#[test]
fn one_after_another_breaks_nothing() {
    assert_eq!(broken(&of_one_profile(true)), [""; 0]);
}

#[test]
fn two_at_one_time_break_the_rule_where_the_profile_is_persistent() {
    assert_eq!(broken(&beside(of_one_profile(true))), [rule::EXCLUSIVE]);
    assert_eq!(broken(&beside(of_one_profile(false))), [""; 0]);
}

#[test]
fn one_that_is_suspended_lets_another_of_its_profile_run() {
    let mut lines = of_one_profile(true);
    let started = at(&lines, "session_started", 0);
    lines[started]["capabilitySet"]["agents"][0]["capabilities"] =
        json!([{"id": "agent-persistence", "enabled": true}]);
    for nth in [0, 1] {
        let agent = at(&lines, "agent_spawned", nth);
        lines[agent]["profileId"] = json!("root");
    }
    assert_eq!(broken(&lines), [""; 0]);
    // Its child goes on running as it does.
    let blocked = at(&lines, "agent_status", 4);
    let running = at(&lines, "agent_status", 5);
    lines.swap(blocked, running);
    let summary = at(&lines, "session_summary", 0);
    lines[summary]["peakParallel"] = json!(2);
    number(&mut lines);
    assert_eq!(broken(&lines), [rule::EXCLUSIVE]);
}
