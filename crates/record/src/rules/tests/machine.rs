//! What breaks the rule of machines.

use super::*;

/// A machine that plans, plans once more, and builds; the conversation comes along the first time.
fn process() -> Vec<Value> {
    let of = |id: &str, mut line: Value| {
        line["agentId"] = json!(id);
        line
    };
    let worker = |slug: &str| json!({"slug": slug, "capabilities": []});
    let set = json!({"agents": [
        {"slug": "process", "capabilities": [{"id": "fsm", "enabled": true, "params": {"states": [
            {"name": "plan", "agent": "planner", "transitions": [
                {"to": "plan", "transfer": ["history"]}, {"to": "build"}]},
            {"name": "build", "agent": "builder", "transitions": []},
        ]}}]},
        worker("planner"),
        worker("builder"),
    ]});
    let opening =
        |id: &str, profile: &str, origin: Value, place: Value, tools: Value, history: &str| {
            let mut spawned = json!({"type": "agent_spawned", "brief": "b", "cwd": "/w", "depth": 0,
            "agentKind": "root", "modelId": "m", "profileId": profile, "origin": origin});
            let predecessor = spawned["origin"]["predecessor"].clone();
            if !predecessor.is_null() {
                spawned["parentId"] = predecessor;
            }
            let mut state =
                json!({"type": "fsm_state", "machine": "process", "profileId": profile});
            state
                .as_object_mut()
                .unwrap()
                .extend(place.as_object().unwrap().clone());
            [
                of(id, spawned),
                of(id, state),
                of(
                    id,
                    json!({"type": "agent_modules", "modules": [
                {"kind": "history", "store": history}, {"kind": "board", "store": null}]}),
                ),
                of(
                    id,
                    json!({"type": "agent_surface", "executionMode": "tool_calling",
                "tools": tools, "apis": []}),
                ),
            ]
        };
    let leaving = |id: &str, turn: u64, to: &str| {
        let arguments = json!({ "state": to, "note": "On." }).to_string();
        let mut lines = vec![
            json!({"type": "context_breakdown", "windowLimit": 9, "total": 0, "bands": {}}),
            json!({"type": "prompt", "messages": [], "finishReason": null, "tokens": {}, "durationMs": 1}),
            json!({"type": "assistant_message", "text": null, "calls": []}),
            json!({"type": "tool_call", "callId": "c", "tool": "transition_state", "arguments": arguments}),
            json!({"type": "tool_result", "callId": "c", "tool": "transition_state", "ok": true,
                "chars": 1, "preview": "x", "durationMs": 1}),
            json!({"type": "turn_outcome", "outcome": "progressed", "consecutiveErrors": 0,
                "turns": turn}),
            json!({"type": "turn_timing", "promptMs": 1, "requestMs": 1, "responseMs": 1}),
        ];
        for line in &mut lines {
            line["turn"] = json!(turn);
        }
        lines
            .into_iter()
            .map(|line| of(id, line))
            .collect::<Vec<_>>()
    };
    let onward = |from: &str, to: &str, history: Value| {
        of(
            from,
            json!({"type": "agent_transition", "kind": "fsm", "toAgentId": to,
            "modules": [history, {"kind": "board", "disposition": "absent"}]}),
        )
    };
    let status = |id: &str, status: &str, how: Value| {
        of(
            id,
            json!({"type": "agent_status", "status": status, "endedAs": how}),
        )
    };
    let after = |predecessor: &str, ordinal: u64| json!({"kind": "succession", "predecessor": predecessor, "ordinal": ordinal});
    let leave = || json!(["transition_state", "finish"]);

    let mut lines = vec![json!({"type": "session_started", "routingKey": "k",
        "limits": {"maxParallel": 1}, "capabilitySet": set})];
    let entry = json!({"state": "plan"});
    lines.extend(opening(
        "root",
        "planner",
        json!({"kind": "root"}),
        entry,
        leave(),
        "history-0",
    ));
    lines.push(status("root", "running", Value::Null));
    lines.extend(leaving("root", 1, "plan"));
    lines.push(onward("root", "agent-1",
        json!({"kind": "history", "disposition": "carried", "from": "history-0", "to": "history-0"})));
    let again = json!({"state": "plan", "from": "plan"});
    lines.extend(opening(
        "agent-1",
        "planner",
        after("root", 1),
        again,
        leave(),
        "history-0",
    ));
    lines.push(status("root", "done", json!("transitioned")));
    lines.push(status("agent-1", "running", Value::Null));
    lines.extend(leaving("agent-1", 2, "build"));
    lines.push(onward("agent-1", "agent-2",
        json!({"kind": "history", "disposition": "dropped", "from": "history-0", "to": "history-1"})));
    let build = json!({"state": "build", "from": "plan"});
    let tools = json!(["finish"]);
    lines.extend(opening(
        "agent-2",
        "builder",
        after("agent-1", 2),
        build,
        tools,
        "history-1",
    ));
    lines.push(status("agent-1", "done", json!("transitioned")));
    lines.push(status("agent-2", "running", Value::Null));
    lines.push(status("agent-2", "done", json!("completed")));
    lines.push(json!({"type": "session_summary", "status": "completed", "exitCode": 0,
        "agents": 3, "fsmTransitions": 2, "peakParallel": 1, "modelCalls": 2, "modelMs": 2,
        "toolCalls": 2, "cost": null, "slotCosts": [], "tokens": {}, "unpricedCalls": 0,
        "errors": {"turns": 2},
        "providerStats": [{"provider": null, "modelId": "m", "turns": 2, "calls": 0, "errors": 0}]}));
    lines.push(json!({"type": "session_ended", "status": "completed", "exitCode": 0}));
    for line in &mut lines {
        line["sessionId"] = json!("s");
        line["ts"] = json!("2026-01-31T09:08:07.123Z");
    }
    number(&mut lines);
    lines
}

#[test]
fn a_legal_path_breaks_nothing() {
    assert_eq!(check(&text(&process())), []);
}

#[test]
fn a_path_off_the_table_breaks_the_rule() {
    let state = |nth, field, value| Set("fsm_state", nth, field, value);
    let chooses = |nth, state: &str| {
        let arguments = json!({ "state": state }).to_string();
        Set("tool_call", nth, "/arguments", json!(arguments))
    };
    let table = [
        // Where one stands.
        (state(0, "/state", json!("build")), rule::MACHINE),
        (state(0, "/state", json!("rest")), rule::MACHINE),
        (state(0, "/machine", json!("planner")), rule::MACHINE),
        (state(0, "/profileId", json!("builder")), rule::MACHINE),
        (
            Set("agent_spawned", 0, "/profileId", json!("builder")),
            rule::MACHINE,
        ),
        (
            Set("agent_spawned", 0, "/profileId", json!("process")),
            rule::MACHINE,
        ),
        // Where one comes from.
        (state(0, "/from", json!("plan")), rule::MACHINE),
        (state(1, "/from", json!(null)), rule::MACHINE),
        (state(1, "/from", json!("build")), rule::MACHINE),
        (state(2, "/from", json!("build")), rule::MACHINE),
        (Drop("fsm_state", 1), rule::MACHINE),
        (Drop("fsm_state", 2), rule::MACHINE),
        (
            Set("agent_transition", 1, "/kind", json!("exec")),
            rule::MACHINE,
        ),
        // What was chosen.
        (chooses(0, "build"), rule::MACHINE),
        (chooses(1, "rest"), rule::MACHINE),
        (
            Set("tool_call", 0, "/arguments", json!("no")),
            rule::MACHINE,
        ),
        (Set("tool_result", 1, "/ok", json!(false)), rule::MACHINE),
        // What the table lets one do.
        (
            Set(
                "session_started",
                0,
                "/capabilitySet/agents/0/capabilities/0/params/states/0/transitions/1/to",
                json!("plan"),
            ),
            rule::MACHINE,
        ),
        (
            Set("agent_surface", 0, "/tools", json!(["finish"])),
            rule::MACHINE,
        ),
        (
            Set("agent_surface", 2, "/tools", json!(["transition_state"])),
            rule::MACHINE,
        ),
        // What is handed over.
        (
            Set(
                "agent_transition",
                0,
                "/modules/0/disposition",
                json!("dropped"),
            ),
            rule::MACHINE,
        ),
        (
            Set(
                "agent_transition",
                1,
                "/modules/0/disposition",
                json!("carried"),
            ),
            rule::MACHINE,
        ),
        // What the summary makes of it.
        (
            Set("session_summary", 0, "/fsmTransitions", json!(1)),
            rule::SUMMARY_SUMS,
        ),
    ];
    assert_breaks_in(&process(), &table);
}

#[test]
fn a_set_that_was_not_recorded_says_nothing_of_the_path() {
    let mut lines = process();
    lines[0]["capabilitySet"] = Value::Null;
    let place = at(&lines, "fsm_state", 0);
    lines[place]["state"] = json!("elsewhere");
    assert_eq!(check(&text(&lines)), []);
}
