//! Machines: a table is refused for all that is wrong with it at once (03 §6.4).

use serde_json::{Value, json};

use crate::common::refusals;

fn worker(slug: &str, capabilities: Value) -> Value {
    json!({
        "slug": slug, "name": slug, "modelId": "mock/test",
        "capabilities": capabilities, "tools": [], "operations": [],
    })
}

fn machine(slug: &str, states: &Value) -> Value {
    json!({
        "slug": slug, "name": slug, "tools": [], "operations": [],
        "capabilities": [{ "id": "fsm", "enabled": true, "params": { "states": states } }],
    })
}

fn document(agents: &[Value]) -> Value {
    json!({
        "sessionId": "s", "workspaceDir": "/w", "prompt": "p",
        "modelWindows": { "mock/test": 1000 },
        "capabilitySet": {
            "limits": { "maxParallel": 1, "replayMaxBytes": 1 }, "agents": agents,
        },
    })
}

fn refused(agents: &[Value]) -> Vec<String> {
    refusals(&document(agents).to_string())
}

fn memories(strategy: &str, scope: &str) -> Value {
    json!({
        "id": "memories", "enabled": true, "implementation": strategy,
        "params": {
            "scope": scope, "maxCount": 0, "maxLenPerMemory": 0, "maxTotalLen": 0,
            "maxLenIndex": 0, "maxLenDescription": 0, "maxResults": 0,
        },
    })
}

#[test]
fn a_sound_machine_may_stand_as_root_with_loops_and_every_kind_it_holds() {
    let tasks =
        json!([{ "id": "tasks", "enabled": true, "params": { "maxTasks": 0, "mode": "simple" } }]);
    let states = json!([
        { "name": "plan", "agent": "planner", "transitions": [
            { "to": "plan", "transfer": ["history", "tasks"], "description": "Not yet." },
            { "to": "build", "transfer": [] },
        ] },
        { "name": "build", "agent": "builder", "transitions": [{ "to": "plan" }] },
    ]);
    let agents = [
        machine("process", &states),
        worker("planner", tasks),
        worker("builder", json!([])),
    ];
    assert_eq!(refused(&agents), [""; 0]);
    let launch = config::parse(&document(&agents).to_string())
        .unwrap()
        .check();
    let launch = launch.launch.unwrap();
    assert_eq!(launch.root().slug, "planner".into());
    // What is recorded of a run is a document that can be run again.
    let again = serde_json::to_string(&launch).unwrap();
    assert_eq!(refusals(&again), [""; 0]);
}

#[test]
fn every_fault_of_a_table_is_refused_at_once() {
    let broken = json!([
        { "name": "", "agent": "nobody", "transitions": [] },
        7,
    ]);
    let misled = json!([
        { "name": "plan", "agent": "planner", "transitions": [
            { "to": "build", "transfer": ["tasks", "skill", "board"] },
            { "to": "buld" },
            { "to": "build" },
            "done",
        ] },
        { "name": "build", "agent": "misled", "transitions": [{ "to": "plan", "transfer": "all" }] },
        { "name": "plan", "agent": "planner", "transitions": [] },
        { "name": "never", "agent": "planner", "transitions": [{ "to": "build" }] },
    ]);
    let mut absent = machine("absent", &json!([]));
    absent["capabilities"][0]["params"] = json!({});
    let mut laden = machine(
        "laden",
        &json!([{ "name": "only", "agent": "planner", "transitions": [] }]),
    );
    for (key, value) in [
        ("modelId", json!("mock/test")),
        ("tools", json!(["shell"])),
        ("operations", json!(["files.read_file"])),
        (
            "openingTurn",
            json!({ "modules": [], "functions": [], "tree": { "include": false, "depth": 1 } }),
        ),
        (
            "subagents",
            json!([{ "agentId": "planner", "description": "", "scopes": ["subagent"] }]),
        ),
        ("customInstructions", json!("Be brief.")),
        ("systemPrompt", json!("You are.")),
        ("promptCacheTtl", json!("default")),
        ("reasoning", json!({ "effort": "low" })),
        ("loopDetection", json!({ "enabled": false })),
        ("repeatDetection", json!({ "calls": 3 })),
        (
            "hooks",
            json!([{ "event": "agent-stop", "action": { "type": "command", "command": "true" } }]),
        ),
    ] {
        laden[key] = value;
    }
    let declared = laden["capabilities"].as_array_mut().unwrap();
    declared.push(json!({ "id": "search", "enabled": true, "params": {} }));
    declared.push(json!({ "id": "list-dir", "enabled": false, "params": {} }));
    let refused = refused(&[
        worker("planner", json!([])),
        absent,
        machine("empty", &json!([])),
        machine("unreadable", &json!("plan, build")),
        machine("broken", &broken),
        machine("misled", &misled),
        laden,
    ]);
    insta::assert_snapshot!(refused.join("\n"));
}

#[test]
fn a_misspelled_target_is_one_fault() {
    let states = json!([
        { "name": "plan", "agent": "planner", "transitions": [{ "to": "buld" }] },
        { "name": "build", "agent": "planner", "transitions": [] },
    ]);
    let refused = refused(&[machine("process", &states), worker("planner", json!([]))]);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].contains("the nearest is `build`"), "{refused:?}");
}

#[test]
fn a_worker_without_a_model_is_refused_and_a_machine_that_is_off_is_one() {
    let mut off = machine(
        "process",
        &json!([{ "name": "a", "agent": "planner", "transitions": [] }]),
    );
    off["capabilities"][0]["enabled"] = json!(false);
    let refused = refused(&[worker("planner", json!([])), off]);
    assert_eq!(
        refused,
        ["agent `process`: modelId is missing; expected a model id"]
    );
}

#[test]
fn memories_that_a_machine_s_agents_inherit_are_kept_as_whoever_starts_it_keeps_its_own() {
    let clash = |transfer: &Value, second: Value| {
        let states = json!([
            { "name": "a", "agent": "first", "transitions": [{ "to": "b", "transfer": transfer }] },
            { "name": "b", "agent": "second", "transitions": [] },
        ]);
        let mut root = worker(
            "root",
            json!([
                memories("scratchpad", "isolated"),
                { "id": "subagents", "enabled": true, "params": { "maxDepth": 1 } },
            ]),
        );
        root["subagents"] =
            json!([{ "agentId": "process", "description": "", "scopes": ["subagent"] }]);
        refused(&[
            root,
            machine("process", &states),
            worker("first", json!([memories("markdown", "isolated")])),
            worker("second", json!([second])),
        ])
    };
    let inherits = || memories("markdown", "inherited");
    let refused = clash(&json!([]), inherits());
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        refused[0].contains("a machine that runs agent `second`, whose memories are inherited"),
        "{refused:?}"
    );
    // Handed over, they are the first's; of its own, or kept alike, they are nobody's concern.
    assert_eq!(clash(&json!(["memories"]), inherits()), [""; 0]);
    assert_eq!(clash(&json!([]), memories("markdown", "isolated")), [""; 0]);
    assert_eq!(
        clash(&json!([]), memories("scratchpad", "inherited")),
        [""; 0]
    );
}

#[test]
fn a_machine_merges_nothing() {
    let mut author = worker(
        "root",
        json!([{ "id": "project-management", "enabled": true, "params":
        { "mergeAgent": "process", "maxEpics": 1, "maxIssues": 1, "maxRetries": 1 } }]),
    );
    author["tools"] = json!([]);
    let states = json!([{ "name": "a", "agent": "root", "transitions": [] }]);
    let refused = refused(&[author, machine("process", &states)]);
    assert!(
        refused
            .iter()
            .any(|text| text.contains("mergeAgent is \"process\", a machine;")),
        "{refused:?}"
    );
}
