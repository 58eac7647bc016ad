//! What breaks the rules between agents.

use super::*;

/// A root and its two children at one slot: it writes to one, waits for both, and goes on.
pub(super) fn family() -> Vec<Value> {
    let spawned = |id: &str, parent: Option<&str>, depth: u64| {
        let mut line = json!({"type": "agent_spawned", "brief": "b", "depth": depth, "modelId": "m",
            "origin": {"kind": "root"}});
        if let Some(parent) = parent {
            line["parentId"] = json!(parent);
            line["origin"] = json!({"kind": "spawn", "parent": parent, "ordinal": 0});
        }
        (id.to_owned(), line)
    };
    let of = |id: &str, line: Value| (id.to_owned(), line);
    let opening = |id: &str| {
        [
            of(id, json!({"type": "agent_modules", "modules": []})),
            of(
                id,
                json!({"type": "agent_surface", "tools": [], "apis": []}),
            ),
            of(id, json!({"type": "agent_status", "status": "queued"})),
        ]
    };
    let status = |id: &str, status: &str| of(id, json!({"type": "agent_status", "status": status}));
    let done = |id: &str| {
        of(
            id,
            json!({"type": "agent_status", "status": "done", "endedAs": "completed"}),
        )
    };
    let mut lines = vec![spawned("root", None, 0)];
    lines.extend(opening("root"));
    lines.push(status("root", "running"));
    lines.push(spawned("agent-1", Some("root"), 1));
    lines.extend(opening("agent-1"));
    lines.push(spawned("agent-2", Some("root"), 1));
    lines.extend(opening("agent-2"));
    lines.push(of(
        "root",
        json!({"type": "agent_message", "to": "agent-2", "chars": 1, "preview": "x"}),
    ));
    lines.push(of(
        "root",
        json!({"type": "agent_status", "status": "blocked",
            "waitingOn": {"agents": ["agent-2", "agent-1"]}}),
    ));
    lines.push(status("agent-1", "running"));
    lines.push(done("agent-1"));
    lines.push(status("agent-2", "running"));
    lines.push(done("agent-2"));
    lines.push(status("root", "queued"));
    lines.push(status("root", "running"));
    lines.push(done("root"));
    let mut lines: Vec<Value> = lines
        .into_iter()
        .map(|(id, mut line)| {
            line["agentId"] = json!(id);
            line
        })
        .collect();
    lines.insert(
        0,
        json!({"type": "session_started", "routingKey": "k", "limits": {"maxParallel": 1}}),
    );
    lines.push(
        json!({"type": "session_summary", "status": "completed", "exitCode": 0, "agents": 3,
        "agentsFailed": 0, "maxDepth": 1, "spawns": 2, "peakParallel": 1, "cost": null,
        "slotCosts": [], "providerStats": [], "tokens": {}, "errors": {}, "unpricedCalls": 0}),
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
fn a_family_breaks_nothing() {
    assert_eq!(check(&text(&family())), []);
}

#[test]
fn every_rule_between_agents_is_broken_by_a_small_change() {
    let status = |nth, field, value| Set("agent_status", nth, field, value);
    let table = [
        // Who started whom.
        (
            Set("agent_spawned", 1, "/parentId", json!("agent-2")),
            rule::LINEAGE,
        ),
        (
            Set("agent_spawned", 1, "/parentId", json!(null)),
            rule::LINEAGE,
        ),
        (Set("agent_spawned", 2, "/depth", json!(2)), rule::LINEAGE),
        (
            Move(("agent_spawned", 1), ("agent_spawned", 0)),
            rule::LINEAGE,
        ),
        (
            Move(("agent_status", 11), ("agent_spawned", 2)),
            rule::LINEAGE,
        ),
        // Who runs.
        (Drop("agent_status", 4), rule::PLACES),
        (Twice("agent_status", 1), rule::PLACES),
        (Twice("agent_status", 9), rule::PLACES),
        (status(9, "/status", json!("blocked")), rule::PLACES),
        (
            Move(("agent_status", 7), ("agent_status", 6)),
            rule::PARALLEL,
        ),
        (
            Set("session_started", 0, "/limits/maxParallel", json!(0)),
            rule::PARALLEL,
        ),
        (
            Set("session_summary", 0, "/peakParallel", json!(2)),
            rule::PARALLEL,
        ),
        // Who waits for whom.
        (status(4, "/waitingOn", json!({"agents": []})), rule::WAITS),
        (
            status(4, "/waitingOn", json!({"agents": ["root"]})),
            rule::WAITS,
        ),
        (
            status(4, "/waitingOn", json!({"agents": ["agent-3"]})),
            rule::WAITS,
        ),
        (
            status(5, "/waitingOn", json!({"agents": ["agent-2"]})),
            rule::WAITS,
        ),
        (Move(("agent_status", 8), ("agent_status", 11)), rule::WAITS),
        // Who writes to whom.
        (
            Set("agent_message", 0, "/to", json!("agent-3")),
            rule::MESSAGES,
        ),
        (
            Set("agent_message", 0, "/agentId", json!("agent-1")),
            rule::MESSAGES,
        ),
        // What the summary makes of it.
        (
            Set("session_summary", 0, "/spawns", json!(3)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/maxDepth", json!(2)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/agents", json!(2)),
            rule::SUMMARY_SUMS,
        ),
        (Drop("agent_status", 8), rule::JOINED),
        (Twice("agent_status", 8), rule::AFTER_END),
    ];
    assert_breaks_in(&family(), &table);
}

#[test]
fn a_stop_of_the_run_releases_a_wait() {
    let mut lines = family();
    let child = at(&lines, "agent_status", 8);
    let stop = json!({"type": "log", "level": "warn", "message": "x", "code": "cost_met",
        "sessionId": "s", "ts": "2026-01-31T09:08:07.123Z"});
    let ended = std::mem::replace(&mut lines[child], stop);
    // Root queues to go on; the child ends behind that, and frees the slot for it.
    let running = at(&lines, "agent_status", 9);
    lines.insert(running, ended);
    number(&mut lines);
    assert_eq!(check(&text(&lines)), []);
}
