//! What breaks the rules of hooks.

use super::*;

/// A root whose hooks judge a write, a command and its ending.
fn hooked() -> Vec<Value> {
    let hook = |event: &str, decision: &str| json!({"type": "hook", "event": event, "name": "h", "kind": "custom", "decision": decision, "durationMs": 1});
    let blocked = |event: &str| {
        let mut line = hook(event, "block");
        line["reason"] = json!("no");
        line
    };
    let call = |id: &str, tool: &str| json!({"type": "tool_call", "callId": id, "tool": tool, "arguments": "{}"});
    let refused = |id: &str, tool: &str| json!({"type": "tool_result", "callId": id, "tool": tool, "ok": false, "failure": "refused", "chars": 1, "preview": "x", "durationMs": 1});
    let result = |id: &str, tool: &str| json!({"type": "tool_result", "callId": id, "tool": tool, "ok": true, "chars": 1, "preview": "x", "durationMs": 1});
    let shell = |origin: &str| json!({"type": "shell", "origin": origin, "command": "x", "cwd": ".", "exitCode": 0, "stdout": "", "stderr": ""});
    let outcome = |outcome: &str, turn: u64| json!({"type": "turn_outcome", "outcome": outcome, "consecutiveErrors": 0, "turns": turn});
    let opening = [
        json!({"type": "agent_spawned", "brief": "b", "depth": 0, "modelId": "m", "origin": {"kind": "root"}}),
        json!({"type": "agent_modules", "modules": []}),
        json!({"type": "agent_surface", "tools": [], "apis": []}),
        json!({"type": "agent_status", "status": "running"}),
        shell("hook"),
        hook("session-start", "message"),
    ];
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
    let mut lines = opening.to_vec();
    lines.extend(turn(
        1,
        vec![
            call("a", "write_file"),
            blocked("pre-write"),
            refused("a", "write_file"),
            call("b", "shell"),
            hook("pre-shell", "continue"),
            shell("tool"),
            hook("post-shell", "message"),
            result("b", "shell"),
            blocked("agent-stop"),
            outcome("progressed", 1),
        ],
    ));
    lines.extend(turn(
        2,
        vec![hook("agent-stop", "continue"), outcome("finished", 2)],
    ));
    lines.push(json!({"type": "agent_status", "status": "done", "endedAs": "completed"}));
    lines.push(shell("hook"));
    lines.push(hook("session-end", "continue"));
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
    let lines = changed(&hooked(), change);
    let mut rules: Vec<_> = check_with(&text(&lines), Ending::Killed)
        .into_iter()
        .map(|violation| violation.rule)
        .collect();
    rules.dedup();
    rules
}

#[test]
fn hooks_that_keep_to_their_events_break_nothing() {
    assert_eq!(check_with(&text(&hooked()), Ending::Killed), []);
}

#[test]
fn a_hook_answers_only_what_its_event_can_honour() {
    for change in [
        // A block where there is nothing to stop, and a message to nobody.
        Set("hook", 3, "/decision", json!("block")),
        Set("hook", 6, "/decision", json!("message")),
        // A block without a reason, and a reason for nothing.
        Set("hook", 1, "/reason", Value::Null),
        Set("hook", 2, "/reason", json!("why")),
        // Hooks of a write around a command.
        Set("hook", 2, "/event", json!("pre-write")),
    ] {
        assert_eq!(broken(&change), [rule::HOOKS]);
    }
}

#[test]
fn a_hook_s_command_is_followed_by_its_answer() {
    assert_eq!(broken(&Drop("hook", 0)), [rule::HOOKS]);
    assert_eq!(broken(&Twice("shell", 0)), [rule::HOOKS]);
}

#[test]
fn what_a_hook_blocks_does_not_happen() {
    for change in [
        // The call that was blocked succeeds, or fails of something else.
        Set("tool_result", 0, "/failure", json!("io-error")),
        // The ending that was blocked ends.
        Set("turn_outcome", 0, "/outcome", json!("finished")),
        // Another hook is asked behind the block.
        Twice("hook", 1),
    ] {
        assert_eq!(broken(&change), [rule::HOOKS]);
    }
    // A command runs in the call that was blocked.
    let mut lines = hooked();
    let place = at(&lines, "hook", 2);
    lines[place]["decision"] = json!("block");
    lines[place]["reason"] = json!("no");
    let found = check_with(&text(&lines), Ending::Killed);
    assert!(found.iter().all(|it| it.rule == rule::HOOKS));
    // The command, the hook behind it, and the call that succeeded.
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_program_s_blocked_call_is_refused_and_its_next_is_judged_anew() {
    let of_programs = |failure: &str| -> Vec<String> {
        let mut lines = hooked();
        for line in &mut lines {
            let kind = match line["type"].as_str() {
                Some("tool_call") => "api_call",
                Some("tool_result") => "api_result",
                _ => continue,
            };
            line["type"] = json!(kind);
            line["operation"] = match line["tool"].as_str() {
                Some("shell") => json!("shell.shell"),
                _ => json!("files.write_file"),
            };
        }
        let place = at(&lines, "api_result", 0);
        lines[place]["failure"] = json!(failure);
        let found = check_with(&text(&lines), Ending::Killed);
        let of_hooks = found.into_iter().filter(|it| it.rule == rule::HOOKS);
        of_hooks.map(|it| it.message).collect()
    };
    assert_eq!(of_programs("refused"), [""; 0]);
    assert_eq!(
        of_programs("io-error"),
        ["a blocked call fails as \"io-error\", not as refused"]
    );
}

#[test]
fn a_hook_that_judged_nothing_ends_its_agent_and_the_run() {
    let mut lines = hooked();
    let place = at(&lines, "hook", 0);
    lines[place]["decision"] = json!("error");
    lines[place]["reason"] = json!("it slept");
    let end = json!({"type": "session_ended", "status": "completed", "exitCode": 0,
        "ts": "2026-01-31T09:08:07.123Z", "sessionId": "s"});
    lines.push(end);
    number(&mut lines);
    let found = check_with(&text(&lines), Ending::Killed);
    let of_hooks = found.iter().filter(|it| it.rule == rule::HOOKS);
    let told: Vec<&str> = of_hooks.map(|it| it.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "the run ends as \"completed\" all the same",
            "a hook judged nothing, and the agent ends as \"completed\""
        ]
    );
}

#[test]
fn nothing_but_the_hooks_of_the_run_s_end_follows_an_agent_s() {
    let late = Set("hook", 6, "/event", json!("agent-stop"));
    assert!(broken(&late).contains(&rule::AFTER_END));
}
