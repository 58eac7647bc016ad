//! What breaks the rules of programs.

use super::*;

/// A root that submits two programs, the first of which fails, and ends.
fn programmed() -> Vec<Value> {
    let call = |id: &str, operation: &str| json!({"type": "api_call", "callId": id, "operation": operation});
    let result = |id: &str, operation: &str| json!({"type": "api_result", "callId": id, "operation": operation, "ok": true, "durationMs": 1});
    let refused = |id: &str, operation: &str| json!({"type": "api_result", "callId": id, "operation": operation, "ok": false, "failure": "unavailable", "durationMs": 1});
    let functions = json!([{"name": "readFile", "operation": "files.read_file"}]);
    let turn = |turn: u64, work: Vec<Value>| {
        let mut lines = vec![
            json!({"type": "context_breakdown", "windowLimit": 9, "total": 1, "bands": {"system": 1}}),
        ];
        lines.extend(work);
        lines.push(json!({"type": "turn_timing", "promptMs": 1, "requestMs": 0, "responseMs": 1}));
        for line in &mut lines {
            line["turn"] = json!(turn);
        }
        lines
    };
    let mut lines = vec![
        json!({"type": "agent_spawned", "brief": "b", "depth": 0, "modelId": "m", "origin": {"kind": "root"}}),
        json!({"type": "agent_modules", "modules": []}),
        json!({"type": "agent_surface", "executionMode": "responses_as_code",
            "programLanguage": "javascript", "tools": [],
            "apis": [{"module": "files", "path": "gg.files", "description": "x",
                "functions": functions}]}),
        json!({"type": "agent_status", "status": "running"}),
    ];
    lines.extend(turn(
        1,
        vec![
            call("a.1", "files.read_file"),
            result("a.1", "files.read_file"),
            call("a.2", "delegation.fork"),
            refused("a.2", "delegation.fork"),
            json!({"type": "code_execution", "callId": "a", "ok": false, "error": "x", "toolCalls": 1, "apiCalls": 2, "durationMs": 1}),
            json!({"type": "code_execution", "callId": "b", "ok": true, "toolCalls": 0, "durationMs": 1}),
            json!({"type": "turn_outcome", "outcome": "error", "error": "program_fault", "errorType": "program_unknown_name", "consecutiveErrors": 1, "turns": 1}),
        ],
    ));
    lines.extend(turn(
        2,
        vec![
            json!({"type": "turn_outcome", "outcome": "error", "error": "missing_completion", "errorType": "missing_completion_no_program", "consecutiveErrors": 2, "turns": 2}),
        ],
    ));
    for line in &mut lines {
        line["agentId"] = json!("root");
    }
    lines.insert(
        0,
        json!({"type": "session_started", "routingKey": "k", "limits": {"maxParallel": 1}}),
    );
    of_one_session(lines)
}

/// The rules that a change of it breaks.
fn broken(change: &Change) -> Vec<&'static str> {
    let lines = changed(&programmed(), change);
    let mut rules: Vec<_> = check_with(&text(&lines), Ending::Killed)
        .into_iter()
        .map(|violation| violation.rule)
        .collect();
    rules.dedup();
    rules
}

#[test]
fn two_programs_of_which_one_fails_break_no_rule() {
    let lines = programmed();
    assert_eq!(check_with(&text(&lines), Ending::Killed), []);
}

#[test]
fn each_rule_of_programs_is_broken_by_its_own_damage() {
    const RUN: &str = "code_execution";
    let damages = [
        Set("agent_surface", 0, "/tools", json!(["shell"])),
        Set("agent_surface", 0, "/programLanguage", Value::Null),
        Set("agent_surface", 0, "/executionMode", json!("tool_calling")),
        // What is not offered was serviced.
        Set("agent_surface", 0, "/apis", json!([])),
        Set("api_result", 1, "/failure", json!("refused")),
        // A class that this operation cannot fail in.
        Set("api_result", 0, "/failure", json!("conflict")),
        Set(RUN, 0, "/callId", json!("c")),
        Set(RUN, 0, "/apiCalls", json!(3)),
        Set(RUN, 0, "/toolCalls", json!(3)),
        Set(RUN, 0, "/error", Value::Null),
        Set(RUN, 1, "/error", json!("x")),
        Set(RUN, 0, "/ok", json!(true)),
        // Calls that no program accounts for.
        Drop(RUN, 0),
        Set(
            "turn_outcome",
            0,
            "/errorType",
            json!("missing_completion_no_call"),
        ),
        Move((RUN, 1), ("turn_outcome", 1)),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let rules = broken(damage);
        assert!(
            rules.contains(&rule::PROGRAMS),
            "damage {number}: {rules:?}"
        );
    }
}
