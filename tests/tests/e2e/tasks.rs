//! Tasks: one agent's list, its block in the window, and what the record says of both (02 §8).

use serde_json::{Value, json};
use tests::gateway::{Answer, content_text};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::{failed, result_text, turns};

/// The calls of the family.
pub(crate) const TOOLS: [&str; 5] = [
    "add_task",
    "update_task",
    "set_blocked_by",
    "complete_task",
    "remove_task",
];

/// A declaration of tasks.
pub(crate) fn tasks(mode: &str, max: u64) -> Value {
    json!({ "id": "tasks", "enabled": true, "params": { "mode": mode, "maxTasks": max } })
}

fn play(mode: &str, max: u64, answers: impl IntoIterator<Item = Answer>) -> Run {
    Run::builder()
        .launch(Launch::live().granting(tasks(mode, max), &TOOLS))
        .answers(turns(answers))
        .run()
}

fn add(id: &str) -> Answer {
    Answer::call("add_task", json!({ "id": id, "title": format!("Do {id}") }))
}

/// The messages that begin as the list's block does, in order, of the last request.
fn blocks(run: &Run) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let messages = requests.last().unwrap().messages();
    let texts = messages
        .iter()
        .map(|message| content_text(&message["content"]));
    texts
        .filter(|text| text.starts_with("# Your tasks"))
        .collect()
}

/// The ids and states of a snapshot.
fn rows(state: &Value) -> Vec<(String, String)> {
    let rows = state["tasks"].as_array().unwrap().iter();
    rows.map(|row| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("id"), text("status"))
    })
    .collect()
}

#[test]
fn a_list_is_kept_shown_and_recorded() {
    let run = play(
        "simple",
        0,
        [
            Answer::call(
                "add_task",
                json!({ "id": "read", "title": "Read it", "description": "All\nof it" }),
            )
            .and_call("add_task", json!({ "id": "write", "title": "Write it" }))
            .and_call(
                "set_blocked_by",
                json!({ "id": "write", "blockedBy": ["read"] }),
            ),
            Answer::call("list_dir", json!({})),
            Answer::call("complete_task", json!({ "id": "read" })),
            Answer::call("remove_task", json!({ "id": "read" })),
        ],
    );
    run.ended(0, "completed");
    let results: Vec<_> = (0..3).map(|n| result_text(&run, n)).collect();
    assert_eq!(
        results,
        [
            "`read` added; the list holds 1 task",
            "`write` added; the list holds 2 tasks",
            "`write` is blocked by `read`",
        ]
    );
    assert_eq!(result_text(&run, 4), "`read` is done; now ready: `write`");
    // The turn that changed nothing put no block into the window.
    assert_eq!(
        blocks(&run),
        [
            "# Your tasks\n\n- [ ] `read` (pending) — Read it  [ready]\n  All\n  of it\n\
             - [ ] `write` (pending) — Write it  [blocked by `read`]",
            "# Your tasks\n\n- [x] `read` (done) — Read it\n  All\n  of it\n\
             - [ ] `write` (pending) — Write it  [ready]",
            "# Your tasks\n\n- [ ] `write` (pending) — Write it  [ready]",
        ]
    );
    // The copies before the last are history, and are sent as they were.
    let bands = &run.events("context_breakdown").last().unwrap()["bands"];
    assert!(bands["task_list"].as_u64().unwrap() > 0, "{bands}");
    assert!(
        bands["history"].as_u64() > bands["task_list"].as_u64(),
        "{bands}"
    );

    let states = run.events("tasks_state");
    let modules = run.event("agent_modules")["modules"].as_array().unwrap();
    let row = modules.iter().find(|row| row["kind"] == "tasks").unwrap();
    assert_eq!(row["store"], "tasks-0");
    assert!(states.iter().all(|state| state["module_id"] == "tasks-0"));
    let rows: Vec<_> = states.iter().map(|state| rows(state).len()).collect();
    assert_eq!(rows, [0, 1, 2, 2, 2, 1]);
    crate::kill9::agrees(&run);
    assert_eq!(states[3]["tasks"][1]["blockedBy"], json!(["read"]));
}

#[test]
fn what_is_refused_changes_nothing() {
    let run = play(
        "simple",
        2,
        [
            add("a").and_call("add_task", json!({ "id": "b", "title": "Do b" })),
            add("a"),
            add("c"),
            Answer::call("set_blocked_by", json!({ "id": "a", "blockedBy": ["a"] })),
            Answer::call(
                "set_blocked_by",
                json!({ "id": "a", "blockedBy": ["none"] }),
            ),
            Answer::call("complete_task", json!({ "id": "none" })),
            Answer::call("add_task", json!({ "id": "d d", "title": " " })),
        ],
    );
    run.ended(0, "completed");
    let added = run.results("add_task");
    failed(&run, added[2], "conflict", &["`a`"]);
    failed(&run, added[3], "limit-exceeded", &["2 of 2"]);
    failed(&run, added[4], "invalid-argument", &["`id`", "title"]);
    let edges = run.results("set_blocked_by");
    failed(&run, edges[0], "conflict", &["`a`"]);
    failed(&run, edges[1], "not-found", &["`none`", "`a` and `b`"]);
    failed(
        &run,
        run.results("complete_task")[0],
        "not-found",
        &["`none`"],
    );
    let states = run.events("tasks_state");
    assert_eq!(states.len(), 3);
    assert_eq!(blocks(&run).len(), 1);
}

#[test]
fn issues_mode_asks_for_its_sections_and_shows_them() {
    let whole = json!({
        "id": "a", "title": "Do a", "inScope": "This", "outOfScope": "That",
        "completionCriteria": "It works",
    });
    let run = play("issues", 0, [add("a"), Answer::call("add_task", whole)]);
    run.ended(0, "completed");
    failed(
        &run,
        run.results("add_task")[0],
        "invalid-argument",
        &["inScope", "outOfScope", "completionCriteria"],
    );
    assert_eq!(
        blocks(&run),
        [
            "# Your tasks\n\n- [ ] `a` (pending) — Do a  [ready]\n  In scope:\n    This\n  \
          Out of scope:\n    That\n  Done when:\n    It works"
        ]
    );
    let request = run.gateway.as_ref().unwrap().requests()[0].text();
    assert!(request.contains("completionCriteria"));
}

#[test]
fn a_long_list_that_is_worked_off_stays_a_prefix_all_the_way() {
    const TASKS: usize = 40;
    let answers = (0..TASKS)
        .map(|n| add(&format!("t{n}")))
        .chain((0..TASKS).map(|n| Answer::call("complete_task", json!({ "id": format!("t{n}") }))));
    let run = play("simple", 0, answers);
    run.ended(0, "completed");
    assert_eq!(run.events("prefix_broken").len(), 0);
    let blocks = blocks(&run);
    assert_eq!(blocks.len(), 2 * TASKS);
    assert_eq!(blocks[2 * TASKS - 1].matches("- [x]").count(), TASKS);
}
