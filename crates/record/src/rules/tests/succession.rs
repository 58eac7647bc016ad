//! What breaks the rules of successors and copies.

use super::*;

/// A root that makes a copy of itself, puts a child to work and becomes another; that one collects
/// both.
fn chain() -> Vec<Value> {
    let of = |id: &str, mut line: Value| {
        line["agentId"] = json!(id);
        line
    };
    let status = |id: &str, status: &str| of(id, json!({"type": "agent_status", "status": status}));
    let done = |id: &str, how: &str| {
        of(
            id,
            json!({"type": "agent_status", "status": "done", "endedAs": how}),
        )
    };
    let turn = |id: &str, turn: u64| {
        let outcome = json!({"type": "turn_outcome", "turn": turn, "outcome": "progressed",
            "error": null, "errorType": null, "consecutiveErrors": 0, "turns": turn,
            "loopAborts": 0, "loopAbortWords": 0, "loopAbortChars": 0, "responseChars": 0,
            "responseOutputTokens": 0});
        let timing = json!({"type": "turn_timing", "turn": turn, "promptMs": 1, "requestMs": 0,
            "responseMs": 0});
        [of(id, outcome), of(id, timing)]
    };
    let opening = |id: &str, history: &str| {
        [
            of(
                id,
                json!({"type": "agent_modules", "modules": [{"kind": "history", "store": history},
                    {"kind": "board", "store": null}]}),
            ),
            of(
                id,
                json!({"type": "agent_surface", "tools": [], "apis": []}),
            ),
        ]
    };
    let spawned = |id: &str, depth: u64, origin: Value| {
        let parent = ["parent", "predecessor"].map(|field| origin[field].clone());
        let parent = parent.into_iter().find(|it| !it.is_null());
        let mut line = json!({"type": "agent_spawned", "brief": "b", "cwd": "/w", "depth": depth,
            "agentKind": "a", "modelId": "m", "profileId": "p", "origin": origin});
        if let Some(parent) = parent {
            line["parentId"] = parent;
        }
        of(id, line)
    };
    let transition = |from: &str, kind: &str, to: &str, history: Value| {
        of(
            from,
            json!({"type": "agent_transition", "kind": kind, "toAgentId": to, "modules": [history,
                {"kind": "board", "disposition": "absent"}]}),
        )
    };
    let mut lines = vec![
        json!({"type": "session_started", "routingKey": "k", "limits": {"maxParallel": 1}}),
        spawned("root", 0, json!({"kind": "root"})),
    ];
    lines.extend(opening("root", "history-0"));
    lines.push(status("root", "running"));
    lines.extend(turn("root", 1));
    lines.push(transition(
        "root",
        "fork",
        "agent-1",
        json!({"kind": "history", "disposition": "copied", "from": "history-0", "to": "history-1"}),
    ));
    lines.push(spawned(
        "agent-1",
        1,
        json!({"kind": "fork", "parent": "root", "ordinal": 0}),
    ));
    lines.extend(opening("agent-1", "history-1"));
    lines.push(transition(
        "root",
        "exec",
        "agent-2",
        json!({"kind": "history", "disposition": "carried", "from": "history-0", "to": "history-0"}),
    ));
    lines.push(spawned(
        "agent-2",
        0,
        json!({"kind": "succession", "predecessor": "root", "ordinal": 1}),
    ));
    lines.extend(opening("agent-2", "history-0"));
    lines.push(done("root", "transitioned"));
    lines.push(status("agent-2", "running"));
    lines.extend(turn("agent-2", 2));
    lines.push(of(
        "agent-2",
        json!({"type": "agent_status", "status": "blocked", "waitingOn": {"agents": ["agent-1"]}}),
    ));
    lines.push(status("agent-1", "running"));
    lines.push(done("agent-1", "completed"));
    lines.push(status("agent-2", "running"));
    lines.push(done("agent-2", "completed"));
    lines.push(
        json!({"type": "session_summary", "status": "completed", "exitCode": 0, "agents": 3,
        "agentsFailed": 0, "maxDepth": 1, "spawns": 0, "forks": 1, "execs": 1, "peakParallel": 1,
        "cost": null, "slotCosts": [], "tokens": {}, "unpricedCalls": 0, "errors": {"turns": 2},
        "providerStats": [{"provider": null, "modelId": "m", "turns": 2, "calls": 0, "errors": 0}]}),
    );
    lines.push(json!({"type": "session_ended", "status": "completed", "exitCode": 0}));
    for line in &mut lines {
        line["sessionId"] = json!("s");
        line["ts"] = json!("2026-01-31T09:08:07.123Z");
    }
    number(&mut lines);
    lines
}

#[test]
fn a_chain_and_a_copy_break_nothing() {
    assert_eq!(check(&text(&chain())), []);
}

#[test]
fn every_rule_of_succession_is_broken_by_a_small_change() {
    let spawned = |nth, field, value| Set("agent_spawned", nth, field, value);
    let row = |nth, field, value| Set("agent_transition", nth, field, value);
    let table = [
        // Who comes, and of whom.
        (Drop("agent_transition", 0), rule::SUCCESSION),
        (Drop("agent_transition", 1), rule::SUCCESSION),
        (row(0, "/kind", json!("exec")), rule::SUCCESSION),
        (row(1, "/kind", json!("fork")), rule::SUCCESSION),
        (
            spawned(2, "/origin/predecessor", json!("agent-1")),
            rule::SUCCESSION,
        ),
        (spawned(2, "/origin/ordinal", json!(2)), rule::SUCCESSION),
        (spawned(2, "/parentId", json!("agent-1")), rule::SUCCESSION),
        (spawned(2, "/depth", json!(1)), rule::LINEAGE),
        (spawned(2, "/agentKind", json!("c")), rule::SUCCESSION),
        (spawned(1, "/cwd", json!("/x")), rule::SUCCESSION),
        (spawned(1, "/profileId", json!("q")), rule::SUCCESSION),
        (spawned(1, "/depth", json!(0)), rule::LINEAGE),
        // What becomes of the modules.
        (
            row(1, "/modules/0/disposition", json!("copied")),
            rule::SUCCESSION,
        ),
        (
            row(1, "/modules/0/from", json!("history-9")),
            rule::SUCCESSION,
        ),
        (
            row(0, "/modules/0/to", json!("history-9")),
            rule::SUCCESSION,
        ),
        (
            row(0, "/modules/1/disposition", json!("initialized")),
            rule::SUCCESSION,
        ),
        (
            Set("agent_modules", 2, "/modules/0/store", json!("history-9")),
            rule::SUCCESSION,
        ),
        // How the chain goes on.
        (
            Set("agent_status", 1, "/endedAs", json!("completed")),
            rule::SUCCESSION,
        ),
        (
            Set("agent_status", 5, "/endedAs", json!("transitioned")),
            rule::SUCCESSION,
        ),
        (Drop("agent_status", 1), rule::JOINED),
        (Set("turn_outcome", 1, "/turn", json!(3)), rule::SUCCESSION),
        // Whose children they are.
        (
            Set(
                "agent_status",
                3,
                "/waitingOn",
                json!({"agents": ["agent-2"]}),
            ),
            rule::WAITS,
        ),
        // What the summary makes of it.
        (
            Set("session_summary", 0, "/forks", json!(0)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/execs", json!(2)),
            rule::SUMMARY_SUMS,
        ),
    ];
    assert_breaks_in(&chain(), &table);
}

/// The rules that lines break, of these.
fn broken(lines: &[Value], rule: &str) -> usize {
    let violations = check(&text(lines));
    violations.iter().filter(|it| it.rule == rule).count()
}

fn ends_as(how: &str) -> Value {
    json!({"type": "agent_status", "agentId": "root", "status": "failed", "endedAs": how})
}

#[test]
fn who_died_before_it_opened_has_its_end_alone() {
    let started = chain()[0].clone();
    let dies = |how: &str| [started.clone(), ends_as(how)];
    assert_eq!(broken(&dies("internal_error"), rule::OPENING), 0);
    assert_eq!(broken(&dies("model_error"), rule::OPENING), 1);
}

#[test]
fn who_died_before_it_showed_its_modules_shows_none() {
    let mut opened = chain()[..4].to_vec();
    opened[2]["modules"] = json!([{"kind": "tasks", "store": "tasks-0"}]);
    opened.push(json!({"type": "log", "agentId": "root", "level": "error", "message": "m"}));
    let and = |line: Value| [opened.clone(), vec![line]].concat();
    assert_eq!(broken(&and(ends_as("internal_error")), rule::HELD), 0);
    assert_eq!(broken(&and(ends_as("model_error")), rule::HELD), 1);
    let runs = json!({"type": "agent_status", "agentId": "root", "status": "running"});
    assert_eq!(broken(&and(runs), rule::HELD), 1);
}

#[test]
fn who_handed_itself_on_to_nobody_says_so() {
    let mut lines = chain()[..7].to_vec();
    lines.push(ends_as("transitioned"));
    assert_eq!(broken(&lines, rule::SUCCESSION), 1);
    let lost = json!({"type": "log", "agentId": "root", "level": "error", "message": "m",
        "code": "successor_lost"});
    lines.insert(7, lost);
    assert_eq!(broken(&lines, rule::SUCCESSION), 0);
}
