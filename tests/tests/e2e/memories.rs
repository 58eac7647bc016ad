//! Memories: three ways of keeping them, their limits, and what the record says (02 §9).
//!
//! What another holder of a store sees is shown in `memories_linked`.

use serde_json::{Value, json};
use tests::gateway::Answer;
use tests::launch::Launch;
use tests::run::Run;

use crate::common::{blocks, failed, result_text, turns};

/// The calls of a strategy.
pub(crate) fn tools(strategy: &str) -> &'static [&'static str] {
    match strategy {
        "scratchpad" => &["write_memory", "update_memory", "delete_memory"],
        "markdown" => &[
            "create_memory",
            "read_memory",
            "edit_memory",
            "delete_memory",
        ],
        _ => &[
            "create_memory",
            "read_memory",
            "edit_memory",
            "search_memories",
            "delete_memory",
        ],
    }
}

/// A declaration of memories without limits.
pub(crate) fn memories(strategy: &str) -> Value {
    json!({ "id": "memories", "enabled": true, "implementation": strategy, "params": {
        "maxCount": 0, "maxLenPerMemory": 0, "maxTotalLen": 0, "maxLenIndex": 0,
        "maxLenDescription": 0, "maxResults": 0,
    } })
}

/// Plays a session of a root with memories; `limits` are set among their params.
fn play(strategy: &str, limits: &[(&str, u64)], answers: impl IntoIterator<Item = Answer>) -> Run {
    let launch = Launch::live().granting(memories(strategy), tools(strategy));
    let launch = limits.iter().fold(launch, |launch, (key, value)| {
        launch.in_capability("memories", &format!("/params/{key}"), *value)
    });
    Run::builder().launch(launch).answers(turns(answers)).run()
}

fn memory(name: &str, body: &str) -> Value {
    json!({ "name": name, "description": format!("about {name}"), "body": body })
}

#[test]
fn a_scratchpad_stands_in_the_window_whole() {
    let run = play(
        "scratchpad",
        &[],
        [
            Answer::call("write_memory", memory("build", "make\nmake check")),
            Answer::call("list_dir", json!({})),
            Answer::call("update_memory", memory("build", "just")),
            Answer::call("delete_memory", json!({ "name": "build" })),
        ],
    );
    run.ended(0, "completed");
    assert_eq!(
        blocks(&run, "# Your memories"),
        [
            "# Your memories\n\n## `build` — about build\n\nmake\nmake check",
            "# Your memories\n\n## `build` — about build\n\njust",
        ]
    );
    // Emptied, the store shows no block any more; what it showed is history.
    let bands = &run.events("context_breakdown").last().unwrap()["bands"];
    assert_eq!(bands["memory"], 0, "{bands}");
    let revisions: Vec<_> = run
        .events("memory_revision")
        .iter()
        .map(|line| {
            (
                line["slug"].clone(),
                line["revision"].clone(),
                line["text"].clone(),
            )
        })
        .collect();
    let build = |revision: u64, text: Value| (json!("build"), json!(revision), text);
    assert_eq!(
        revisions,
        [
            build(1, json!("make\nmake check")),
            build(2, json!("just")),
            build(3, Value::Null),
        ]
    );
    let states = run.events("memory_state");
    let counts: Vec<_> = states
        .iter()
        .map(|state| state["totals"]["count"].clone())
        .collect();
    assert_eq!(counts, [0, 1, 1, 0]);
    crate::kill9::agrees(&run);
    let last = states.last().unwrap();
    assert_eq!(
        last["peaks"],
        json!({ "count": 1, "chars": 15, "lines": 2 })
    );
    assert_eq!(
        (
            &last["scope"],
            &last["writable"],
            &last["strategy"],
            &last["module_id"]
        ),
        (
            &json!("isolated"),
            &json!(true),
            &json!("scratchpad"),
            &json!("memories-0")
        )
    );
    let modules = run.event("agent_modules")["modules"].as_array().unwrap();
    let row = modules
        .iter()
        .find(|row| row["kind"] == "memories")
        .unwrap();
    assert_eq!(
        (&row["scope"], &row["origin"]),
        (&json!("isolated"), &json!("created"))
    );
    assert!(
        modules
            .iter()
            .filter(|row| row["kind"] != "memories")
            .all(|row| row.get("scope").is_none())
    );
}

#[test]
fn an_index_stands_in_the_window_and_bodies_are_read() {
    let run = play(
        "markdown",
        &[],
        [
            Answer::call("create_memory", memory("build", "use make"))
                .and_call("create_memory", memory("api", "see docs")),
            Answer::call("read_memory", json!({ "name": "build" })),
            Answer::call(
                "edit_memory",
                json!({ "name": "build", "oldString": "make", "newString": "just" }),
            ),
            Answer::call("read_memory", json!({ "name": "build" })),
        ],
    );
    run.ended(0, "completed");
    // An edit changes no line of the index, so the block is the one that stands.
    assert_eq!(
        blocks(&run, "# Your memories"),
        ["# Your memories\n\n- `api` — about api\n- `build` — about build"]
    );
    assert_eq!(result_text(&run, 2), "use make");
    assert_eq!(result_text(&run, 4), "use just");
    assert_eq!(run.events("memory_revision").len(), 3);
}

#[test]
fn what_is_searched_stands_in_no_window() {
    let run = play(
        "keyword-search",
        &[("maxResults", 1)],
        [
            Answer::call(
                "create_memory",
                json!({ "name": "build", "body": "use MAKE" }),
            )
            .and_call("create_memory", memory("api", "make requests")),
            Answer::call("search_memories", json!({ "keywords": ["make", "use"] })),
            Answer::call("search_memories", json!({ "keywords": [] })),
        ],
    );
    run.ended(0, "completed");
    assert_eq!(blocks(&run, "# Your memories"), [""; 0]);
    assert_eq!(result_text(&run, 2), "- `build`\n  use MAKE");
    let searched = run.results("search_memories");
    failed(&run, searched[1], "invalid-argument", &["keywords"]);
}

#[test]
fn limits_refuse_and_never_truncate() {
    let run = play(
        "scratchpad",
        &[
            ("maxCount", 2),
            ("maxLenPerMemory", 10),
            ("maxTotalLen", 12),
            ("maxLenDescription", 8),
        ],
        [
            Answer::call("write_memory", memory("ab", "12345678901")),
            Answer::call("write_memory", memory("too-long", "1")),
            Answer::call("write_memory", memory("a", "1234567890")),
            Answer::call("write_memory", memory("b", "123")),
            Answer::call("write_memory", memory("b", "12")),
            Answer::call("write_memory", memory("c", "1")),
            Answer::call("write_memory", memory("a", "1")),
        ],
    );
    run.ended(0, "completed");
    let written = run.results("write_memory");
    failed(&run, written[0], "limit-exceeded", &["11", "10"]);
    failed(
        &run,
        written[1],
        "limit-exceeded",
        &["description", "14", "8"],
    );
    failed(&run, written[3], "limit-exceeded", &["13", "12"]);
    failed(&run, written[5], "limit-exceeded", &["2"]);
    failed(&run, written[6], "conflict", &["`a`"]);
    assert_eq!(run.events("memory_revision").len(), 2);
    assert_eq!(run.events("memory_state").len(), 3);

    let run = play(
        "markdown",
        &[("maxLenIndex", 20)],
        [
            Answer::call("create_memory", memory("a", "x")),
            Answer::call("create_memory", memory("b", "x")),
        ],
    );
    run.ended(0, "completed");
    let created = run.results("create_memory");
    failed(
        &run,
        created[1],
        "limit-exceeded",
        &["index", "delete a memory"],
    );
}

#[test]
fn an_edit_names_why_it_is_refused() {
    let edit = |old: &str, new: &str| {
        Answer::call(
            "edit_memory",
            json!({ "name": "a", "oldString": old, "newString": new }),
        )
    };
    let run = play(
        "markdown",
        &[],
        [
            Answer::call("create_memory", memory("a", "one one")),
            edit("two", "x"),
            edit("one", "x"),
            edit("one one", " "),
        ],
    );
    run.ended(0, "completed");
    let edited = run.results("edit_memory");
    failed(&run, edited[0], "not-found", &["does not occur"]);
    failed(&run, edited[1], "conflict", &["2 times"]);
    // R54.
    failed(&run, edited[2], "invalid-argument", &["delete it"]);
    assert_eq!(run.events("memory_revision").len(), 1);
}

#[test]
fn without_the_calls_that_revise_memories_are_only_added() {
    let launch = Launch::live().granting(memories("markdown"), &["create_memory", "read_memory"]);
    let run = Run::builder()
        .launch(launch)
        .answers(turns([
            Answer::call("create_memory", memory("a", "x")),
            Answer::call("delete_memory", json!({ "name": "a" })),
        ]))
        .run();
    run.ended(0, "completed");
    failed(
        &run,
        run.results("delete_memory")[0],
        "unavailable",
        &["create_memory, read_memory"],
    );
}

#[test]
fn the_store_is_an_actor_that_is_asked_by_message() {
    let builder = Run::builder();
    let flow = builder.folder().join("flow.ndjson");
    let run = builder
        .launch(Launch::live().granting(memories("markdown"), tools("markdown")))
        .arguments(["--flow".as_ref(), flow.as_os_str()])
        .answers(turns([Answer::call("create_memory", memory("a", "x"))]))
        .run();
    run.ended(0, "completed");
    let log = std::fs::read_to_string(flow).unwrap();
    let handled = |from: &str, message: &str| {
        let lines = log
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .filter(|line| line["to"] == "store memories-0")
            .filter(|line| line["from"] == from && line["message"] == message)
            .count()
    };
    assert_eq!(handled("supervisor", "Attach"), 1, "{log}");
    assert_eq!(handled("agent root", "CallMemories"), 1, "{log}");
    // A boundary each of the two turns.
    assert_eq!(handled("agent root", "TakeNews"), 2, "{log}");
}
