//! Machines over real sockets: states in order, what each edge hands over, and where a machine may
//! stand (03 §6).

mod handing_over;
mod written;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request, Responder, content_text};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::families::{ROOT, figure, previews, subagents};

/// A profile whose system prompt names it.
fn worker(slug: &str, capabilities: &[Value], tools: &[&str]) -> Value {
    json!({
        "slug": slug, "name": slug, "modelId": MODEL, "customInstructions": format!("I am {slug}."),
        "capabilities": capabilities, "tools": tools, "operations": [],
    })
}

fn machine(slug: &str, states: &Value) -> Value {
    json!({
        "slug": slug, "name": slug, "tools": [], "operations": [],
        "capabilities": [{ "id": "fsm", "enabled": true, "params": { "states": states } }],
    })
}

fn launch(agents: &[Value]) -> Launch {
    Launch::live().set("/capabilitySet/agents", json!(agents))
}

fn list_dir() -> Value {
    json!({ "id": "list-dir", "enabled": true, "params": {} })
}

fn tasks() -> Value {
    json!({ "id": "tasks", "enabled": true, "params": { "maxTasks": 0, "mode": "simple" } })
}

/// Two states: `planner` plans, and `builder` builds what the edge hands over.
fn plan_then_build(transfer: &Value, planner: Value, builder: Value) -> Vec<Value> {
    let states = json!([
        { "name": "plan", "agent": "planner", "transitions": [
            { "to": "build", "transfer": transfer, "description": "When the plan stands." },
        ] },
        { "name": "build", "agent": "builder", "transitions": [] },
    ]);
    vec![machine("process", &states), planner, builder]
}

fn go(state: &str, note: &str) -> Answer {
    Answer::call("transition_state", json!({ "state": state, "note": note }))
}

/// Each profile's replies in order, over all its agents; then it finishes.
fn cast(replies: &[(&str, Vec<Answer>)]) -> impl Responder + use<> {
    let replies: HashMap<String, VecDeque<Answer>> = replies
        .iter()
        .map(|(slug, answers)| (format!("I am {slug}."), answers.iter().cloned().collect()))
        .collect();
    let replies = Mutex::new(replies);
    move |request: &Request, _| {
        let system = content_text(&request.messages()[0]["content"]);
        let who = system.lines().next().unwrap_or_default();
        let mut replies = replies.lock().unwrap();
        let next = replies.get_mut(who).and_then(VecDeque::pop_front);
        next.unwrap_or_else(|| Answer::finish(&format!("{who} Done.")))
    }
}

fn play(launch: Launch, replies: &[(&str, Vec<Answer>)]) -> Run {
    Run::builder().launch(launch).answers(cast(replies)).run()
}

/// The chat requests that a profile's agents made, in order.
fn requests_of(run: &Run, slug: &str) -> Vec<Arc<Request>> {
    let who = format!("I am {slug}.");
    let requests = run.gateway.as_ref().unwrap().requests();
    let chats = requests.into_iter().filter(|it| it.method == "POST");
    chats
        .filter(|it| content_text(&it.messages()[0]["content"]).starts_with(&who))
        .collect()
}

fn texts(request: &Request) -> Vec<String> {
    let messages = request.messages();
    messages
        .iter()
        .map(|it| content_text(&it["content"]))
        .collect()
}

/// The machine's path: who stood where, and where it came from.
fn path(run: &Run) -> Vec<(&str, &str, Option<&str>)> {
    let steps = run.events("fsm_state").into_iter();
    steps
        .map(|step| {
            let text = |field: &str| step[field].as_str();
            (
                text("agentId").unwrap(),
                text("state").unwrap(),
                text("from"),
            )
        })
        .collect()
}

/// What became of each module at the `n`th hand-over.
fn dispositions(run: &Run, n: usize) -> HashMap<String, String> {
    let transition = run.events("agent_transition")[n];
    let rows = transition["modules"].as_array().unwrap().iter();
    rows.map(|row| {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        (text("kind"), text("disposition"))
    })
    .collect()
}

#[test]
fn plan_then_implement_is_two_states_and_an_edge_without_the_conversation() {
    let planner = worker("planner", &[list_dir(), tasks()], &["list_dir", "add_task"]);
    let builder = worker("builder", &[tasks()], &["complete_task"]);
    let agents = plan_then_build(&json!(["tasks"]), planner, builder);
    let run = play(
        launch(&agents),
        &[
            (
                "planner",
                vec![
                    Answer::call("list_dir", json!({})).saying("I look around."),
                    Answer::call("add_task", json!({ "id": "t1", "title": "Lay the floor" })),
                    go("build", "Begin with the floor."),
                ],
            ),
            (
                "builder",
                vec![Answer::call("complete_task", json!({ "id": "t1" }))],
            ),
        ],
    );
    run.ended(0, "completed");
    assert_eq!(
        path(&run),
        [("root", "plan", None), ("agent-1", "build", Some("plan"))]
    );
    // What the builder opens on: its own instructions, the build prompt, what it was handed, the
    // note. Nothing of the conversation.
    let first = &requests_of(&run, "builder")[0];
    let texts = texts(first);
    assert!(texts[0].starts_with("I am builder."));
    assert!(!texts[0].contains("transition_state"), "{}", texts[0]);
    assert_eq!(texts[1], ROOT);
    assert!(texts[2].contains("Lay the floor"), "{texts:?}");
    let note = texts.last().unwrap();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert!(
        note.contains("`root` (planner), in the state `build` of `process`"),
        "{note}"
    );
    assert!(note.contains("Begin with the floor."), "{note}");
    assert!(note.contains("Nothing of its conversation"), "{note}");
    // The planner was told of its place, and of the way out.
    let planner = &requests_of(&run, "planner")[0];
    let tools = planner.json()["tools"].to_string();
    assert!(tools.contains("`build`: When the plan stands. It sees nothing of your conversation."));
    assert!(content_text(&planner.messages()[0]["content"]).contains("the state `plan`"));

    let kinds = dispositions(&run, 0);
    assert_eq!(kinds["history"], "dropped");
    assert_eq!(kinds["tasks"], "carried");
    // One lineage outside: one depth, numbering that goes on, accounts by the states' profiles.
    assert_eq!((figure(&run, "agents"), figure(&run, "maxDepth")), (2, 0));
    assert_eq!(
        (figure(&run, "fsmTransitions"), figure(&run, "peakParallel")),
        (1, 1)
    );
    let turns: Vec<_> = run
        .events("turn_outcome")
        .iter()
        .map(|it| it["turn"].as_u64())
        .collect();
    assert_eq!(turns, (1..=5).map(Some).collect::<Vec<_>>());
    let slots: Vec<_> = run
        .events("slot_usage")
        .iter()
        .map(|slot| {
            (
                slot["profileId"].as_str().unwrap(),
                slot["calls"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(slots, [("builder", 2), ("planner", 3)]);
    let spawned = run.events("agent_spawned");
    assert_eq!(spawned[0]["profileId"], "planner");
    assert_eq!(
        (&spawned[1]["parentId"], &spawned[1]["depth"]),
        (&json!("root"), &json!(0))
    );
}

#[test]
fn a_state_may_be_left_for_itself_and_all_share_one_allowance() {
    let states = json!([{ "name": "again", "agent": "planner", "transitions": [
        { "to": "again", "transfer": ["history"] },
    ] }]);
    let agents = [machine("process", &states), worker("planner", &[], &[])];
    let rounds = |limit: Option<u64>| {
        let mut launch = launch(&agents);
        if let Some(limit) = limit {
            launch = launch.limit("maxTurns", limit);
        }
        play(
            launch,
            &[(
                "planner",
                vec![
                    go("again", "One."),
                    go("again", "Two."),
                    go("again", "Three."),
                ],
            )],
        )
    };
    let run = rounds(None);
    run.ended(0, "completed");
    assert_eq!(
        path(&run),
        [
            ("root", "again", None),
            ("agent-1", "again", Some("again")),
            ("agent-2", "again", Some("again")),
            ("agent-3", "again", Some("again")),
        ]
    );
    // The thread came along each time, with the note at its tail.
    let requests = requests_of(&run, "planner");
    let last = texts(requests.last().unwrap());
    let notes: Vec<_> = last
        .iter()
        .filter(|it| it.starts_with("Task: you take over"))
        .collect();
    assert_eq!(notes.len(), 3, "{last:?}");
    assert!(last.last().unwrap().contains("Three."));

    let run = rounds(Some(2));
    run.ended(3, "exhausted");
    assert_eq!(run.events("turn_outcome").len(), 2);
    assert_eq!(figure(&run, "fsmTransitions"), 2);
}

#[test]
fn a_machine_may_be_spawned_and_is_one_agent_outside() {
    let planner = worker("planner", &[], &[]);
    let builder = worker("builder", &[], &[]);
    let mut agents = plan_then_build(&json!([]), planner, builder);
    let mut root = worker(
        "root",
        &[subagents(2)],
        &["spawn_subagent", "wait_for_subagents", "send_message"],
    );
    root["subagents"] =
        json!([{ "agentId": "process", "description": "Builds.", "scopes": ["subagent"] }]);
    agents.insert(0, root);
    let run = Run::builder()
        .launch(launch(&agents).limit("maxParallel", 1))
        .answers(cast(&[
            (
                "root",
                vec![
                    Answer::call(
                        "spawn_subagent",
                        json!({ "agent": "process", "prompt": "Build a hut." }),
                    ),
                    Answer::call("wait_for_subagents", json!({ "ids": ["agent-1"] })),
                    Answer::call("wait_for_subagents", json!({ "ids": ["agent-1"] })),
                ],
            ),
            ("planner", vec![go("build", "")]),
            ("builder", vec![Answer::finish("The hut stands.")]),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(
        path(&run),
        [
            ("agent-1", "plan", None),
            ("agent-2", "build", Some("plan"))
        ]
    );
    let value = "`agent-1` (builder) finished:\nThe hut stands.";
    assert_eq!(previews(&run, "wait_for_subagents"), [value, value]);
    // Its brief is the lineage's, in every state; the run's own task is the root's alone.
    let texts = texts(&requests_of(&run, "builder")[0]);
    assert_eq!(texts[1], "Build a hut.");
    assert!(texts[2].contains("It left you no note"), "{texts:?}");
    assert_eq!(
        (figure(&run, "maxDepth"), figure(&run, "peakParallel")),
        (1, 1)
    );
    let root = texts_of_tools(&requests_of(&run, "root")[0]);
    assert!(root.contains("`process` (process): Builds."), "{root}");
}

fn texts_of_tools(request: &Request) -> String {
    request.json()["tools"].to_string()
}

#[test]
fn an_agent_may_become_a_machine() {
    let planner = worker("planner", &[], &[]);
    let builder = worker("builder", &[], &[]);
    let mut agents = plan_then_build(&json!(["history"]), planner, builder);
    let exec = json!({ "id": "exec", "enabled": true, "params": {} });
    let mut root = worker("root", &[exec], &["exec"]);
    root["subagents"] =
        json!([{ "agentId": "process", "description": "", "scopes": ["subagent"] }]);
    agents.insert(0, root);
    let run = play(
        launch(&agents),
        &[
            (
                "root",
                vec![Answer::call(
                    "exec",
                    json!({ "agent": "process", "prompt": "Plan it." }),
                )],
            ),
            ("planner", vec![go("build", "As planned.")]),
        ],
    );
    run.ended(0, "completed");
    assert_eq!(
        path(&run),
        [
            ("agent-1", "plan", None),
            ("agent-2", "build", Some("plan"))
        ]
    );
    assert_eq!(
        (figure(&run, "execs"), figure(&run, "fsmTransitions")),
        (1, 1)
    );
    let planner = texts(&requests_of(&run, "planner")[0]);
    let note = planner.last().unwrap();
    assert!(note.contains("in the state `plan` of `process`"), "{note}");
    assert!(note.contains("Plan it."), "{note}");
    let builder = texts(&requests_of(&run, "builder")[0]);
    assert!(
        builder.last().unwrap().contains("As planned."),
        "{builder:?}"
    );
    assert!(
        builder.iter().any(|it| it.contains("Plan it.")),
        "{builder:?}"
    );
}

#[test]
fn an_agent_that_ends_short_of_the_last_state_ends_the_machine() {
    let planner = worker("planner", &[], &[]);
    let agents = plan_then_build(&json!([]), planner, worker("builder", &[], &[]));
    let run = play(
        launch(&agents),
        // The ending of the same turn beats the way out.
        &[(
            "planner",
            vec![go("build", "x").and_call("finish", json!({ "summary": "Nothing to do." }))],
        )],
    );
    run.ended(0, "completed");
    assert_eq!(path(&run), [("root", "plan", None)]);
    assert_eq!(figure(&run, "fsmTransitions"), 0);
}

#[test]
fn an_illegal_target_is_refused_with_the_legal_ones_and_the_first_choice_stands() {
    let planner = worker("planner", &[], &[]);
    let agents = plan_then_build(&json!(["history"]), planner, worker("builder", &[], &[]));
    let run = play(
        launch(&agents),
        &[(
            "planner",
            vec![
                go("plan", "Once more."),
                go("build", "First.").and_call("transition_state", json!({ "state": "build" })),
            ],
        )],
    );
    run.ended(0, "completed");
    let results = run.results("transition_state");
    let failures: Vec<_> = results.iter().map(|it| &it["failure"]).collect();
    assert_eq!(
        failures,
        [&json!("invalid-argument"), &Value::Null, &json!("refused")]
    );
    let refused = results[0]["preview"].as_str().unwrap();
    assert!(
        refused.contains("from `plan` you can go to `build`"),
        "{refused}"
    );
    assert_eq!(
        path(&run),
        [("root", "plan", None), ("agent-1", "build", Some("plan"))]
    );
}

#[test]
fn a_copy_made_in_a_state_has_no_way_out_of_it() {
    let mut planner = worker(
        "planner",
        &[
            subagents(2),
            json!({ "id": "fork", "enabled": true, "params": {} }),
        ],
        &["fork", "wait_for_subagents"],
    );
    planner["subagents"] = json!([]);
    let agents = plan_then_build(&json!([]), planner, worker("builder", &[], &[]));
    let run = Run::builder()
        .launch(launch(&agents))
        .answers(|request: &Request, _| {
            let texts = texts(request);
            let copy = texts
                .iter()
                .any(|it| it.starts_with("Task: you are a copy"));
            match (texts[0].starts_with("I am planner."), copy, request.turn()) {
                (true, false, 0) => Answer::call("fork", json!({ "prompt": "Look aside." })),
                (true, false, 1) => Answer::call("wait_for_subagents", json!({})),
                (true, false, _) => go("build", "Seen."),
                (true, true, 1) => go("build", "Me too."),
                _ => Answer::finish("Done."),
            }
        })
        .run();
    run.ended(0, "completed");
    let path = path(&run);
    assert_eq!(path.len(), 2, "{path:?}");
    assert_eq!((path[0].0, path[1].1), ("root", "build"));
    let refused = run.results("transition_state");
    assert_eq!(refused[0]["agentId"], "agent-1");
    assert_eq!(refused[0]["failure"], "unavailable");
}

#[test]
fn what_a_carried_window_is_too_large_for_is_compacted_before_the_first_turn() {
    let compaction = json!({ "id": "compaction", "enabled": true,
        "implementation": "handoff-summarization",
        "params": { "summaryHeadroom": 0.2, "maxRetries": 1 } });
    let narrow = json!({ "id": "context-window-override", "enabled": true,
        "params": { "windowLimit": 4_000 } });
    let planner = worker("planner", &[list_dir()], &["list_dir"]);
    let builder = worker("builder", &[compaction, narrow], &[]);
    let agents = plan_then_build(&json!(["history"]), planner, builder);
    let long = "a word or two ".repeat(1_500);
    let run = Run::builder()
        .launch(launch(&agents))
        .answers(move |request: &Request, _| {
            let system = texts(request)[0].clone();
            match (system.starts_with("I am planner."), request.turn()) {
                (true, 0) => Answer::call("list_dir", json!({})).saying(&long),
                (true, _) => go("build", "Short now."),
                (false, _) if system.starts_with("I am builder.") => Answer::finish("Built."),
                (false, _) => Answer::text("They looked around."),
            }
        })
        .run();
    run.ended(0, "completed");
    let compaction = run.event("compaction");
    assert_eq!(
        (&compaction["agentId"], &compaction["turn"]),
        (&json!("agent-1"), &json!(3))
    );
    let builder = texts(&requests_of(&run, "builder")[0]);
    let note = |text: &String| text.contains("Short now.");
    assert!(builder.iter().any(note), "{builder:?}");
    assert!(
        builder.iter().any(|it| it.contains("They looked around.")),
        "{builder:?}"
    );
}

#[test]
fn a_state_left_without_its_conversation_is_entered_afresh() {
    let states =
        json!([{ "name": "again", "agent": "planner", "transitions": [{ "to": "again" }] }]);
    let agents = [machine("process", &states), worker("planner", &[], &[])];
    let run = Run::builder()
        .launch(launch(&agents))
        // Conversations that open alike are one to the strict checker.
        .gateway(Gateway::lenient(cast(&[(
            "planner",
            vec![go("again", "Count: 1."), go("again", "Count: 2.")],
        )])))
        .run();
    run.ended(0, "completed");
    let requests = requests_of(&run, "planner");
    let last = texts(requests.last().unwrap());
    assert_eq!((last.len(), last[1].as_str()), (3, ROOT), "{last:?}");
    assert!(
        last[2].contains("Count: 2.") && !last[2].contains("Count: 1."),
        "{last:?}"
    );
}

#[test]
fn the_example_runs_on_its_script() {
    let example = |name: &str| {
        let path = format!("{}/../examples/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let document = example("plan-then-implement");
    let builder = Run::builder();
    let workspace = builder.workspace().display().to_string();
    let mut document = document;
    document["workspaceDir"] = json!(workspace);
    let run = builder
        .document(document.to_string())
        .mock_script(&example("plan-then-implement.script"))
        .run();
    run.ended(0, "completed");
    assert_eq!(
        path(&run),
        [
            ("root", "plan", None),
            ("agent-1", "implement", Some("plan"))
        ]
    );
    assert_eq!(run.file("GREETING.md"), "Hello, reader.\n");
    assert_eq!(figure(&run, "tasksCompleted"), 1);
}
