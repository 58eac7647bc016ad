//! What each edge of a machine hands over, kind by kind.

use super::*;

/// A profile that holds every kind of module an edge may name, the board aside.
fn holder(slug: &str) -> Value {
    let memories = json!({
        "id": "memories", "enabled": true, "implementation": "scratchpad",
        "params": {
            "scope": "isolated", "maxCount": 0, "maxLenPerMemory": 0, "maxTotalLen": 0,
            "maxLenIndex": 0, "maxLenDescription": 0, "maxResults": 0,
        },
    });
    let built_ins: serde_json::Map<String, Value> = [
        "filesystem",
        "shell",
        "project",
        "tasks",
        "memory",
        "skills",
        "context",
        "delegation",
        "docs",
        "views",
        "programs",
        "session",
    ]
    .iter()
    .map(|family| (format!("gg-{family}"), json!(*family == "tasks")))
    .collect();
    worker(
        slug,
        &[
            tasks(),
            memories,
            json!({ "id": "skills", "enabled": true, "params": { "dir": ".gg/skills", "builtIns": built_ins } }),
            json!({ "id": "agent-managed-context", "enabled": true,
                "params": { "topFileViews": 0, "signalThresholdPercent": 100 } }),
        ],
        &[
            "add_task",
            "complete_task",
            "write_memory",
            "read_skill",
            "archive_thread",
            "search_archive",
        ],
    )
}

const KINDS: [&str; 5] = ["history", "memories", "tasks", "skills", "archive"];

/// What the newcomer holds as it arrives, by kind: whether there is something in it.
fn arrives_with(run: &Run, kind: &str) -> bool {
    let state = |event: &str| {
        let mut states = run.events(event).into_iter();
        states
            .find(|it| it["agentId"] == "agent-1")
            .cloned()
            .unwrap()
    };
    let filled = |list: &Value| !list.as_array().unwrap().is_empty();
    match kind {
        "memories" => filled(&state("memory_state")["memories"]),
        "tasks" => filled(&state("tasks_state")["tasks"]),
        "archive" => filled(&state("archive_state")["entries"]),
        "skills" => state("skills_state")["skills"]
            .as_array()
            .unwrap()
            .iter()
            .any(|skill| skill["read"] == true),
        _ => texts(&requests_of(run, "builder")[0])
            .iter()
            .any(|text| text.contains("I keep everything.")),
    }
}

#[test]
fn each_kind_is_carried_where_the_edge_names_it_and_starts_anew_where_it_does_not() {
    let everything: Vec<&str> = KINDS.to_vec();
    let mut edges: Vec<Vec<&str>> = vec![vec![], everything];
    edges.extend(KINDS.map(|kind| vec![kind]));
    for edge in edges {
        let agents = plan_then_build(&json!(edge), holder("planner"), holder("builder"));
        // A block is rewritten, and what is archived leaves: nothing a strict prefix would survive.
        let answers = cast(&[(
            "planner",
            vec![
                Answer::call("add_task", json!({ "id": "t", "title": "A task" }))
                    .and_call(
                        "write_memory",
                        json!({ "name": "m", "description": "d", "body": "body" }),
                    )
                    .and_call("read_skill", json!({ "name": "gg-tasks" })),
                Answer::call("add_task", json!({ "id": "u", "title": "Another" })),
                Answer::call("archive_thread", json!({ "ranges": [[2, 2]] }))
                    .saying("I keep everything."),
                go("build", "On."),
            ],
        )]);
        let run = Run::builder()
            .launch(launch(&agents))
            .gateway(Gateway::lenient(answers))
            .run();
        run.ended(0, "completed");
        for result in run.events("tool_result") {
            assert_eq!(result["ok"], true, "{result}");
        }
        let kinds = dispositions(&run, 0);
        let modules = run.events("agent_modules");
        let store = |agent: usize, kind: &str| {
            let mut rows = modules[agent]["modules"].as_array().unwrap().iter();
            rows.find(|row| row["kind"] == kind).cloned().unwrap()
        };
        for kind in KINDS {
            let named = edge.contains(&kind);
            let expected = if named { "carried" } else { "dropped" };
            assert_eq!(kinds[kind], expected, "{kind} of {edge:?}");
            let (before, after) = (store(0, kind), store(1, kind));
            assert_eq!(
                before["store"] == after["store"],
                named,
                "{kind} of {edge:?}"
            );
            let origin = if named { "transferred" } else { "created" };
            assert_eq!(after["origin"], origin, "{kind} of {edge:?}");
            // What was read goes with the window that holds it.
            let comes = named && (kind != "skills" || edge.contains(&"history"));
            assert_eq!(arrives_with(&run, kind), comes, "{kind} of {edge:?}");
        }
        assert_eq!(kinds["board"], "absent");
        let note = texts(&requests_of(&run, "builder")[0]);
        let note = note.last().unwrap();
        assert!(
            note.starts_with("Task: you take over from `root`"),
            "{note}"
        );
        for kind in KINDS.iter().filter(|kind| **kind != "history") {
            let said = if edge.contains(kind) {
                format!("{kind}: yours now")
            } else {
                format!("{kind}: dropped, not handed over")
            };
            assert!(note.contains(&said), "{said}: {note}");
        }
    }
}
