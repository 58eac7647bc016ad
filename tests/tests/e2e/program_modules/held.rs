//! Programs that call what their agent holds: tasks, memories, skills.

use serde_json::{Value, json};
use tests::run::Run;

use crate::coders::{cast, coder, play, programs, refused, shown, told};
use crate::common::blocks;
use crate::memories::memories;
use crate::skills::skills;

const TASKS: [&str; 5] = [
    "tasks.add_task",
    "tasks.update_task",
    "tasks.set_blocked_by",
    "tasks.complete_task",
    "tasks.remove_task",
];

fn task_list(mode: &str, max: u64) -> Value {
    json!({ "id": "tasks", "enabled": true, "params": { "mode": mode, "maxTasks": max } })
}

#[test]
fn a_program_works_on_its_task_list_and_reads_what_became_of_it() {
    let run = play(
        &[task_list("simple", 3)],
        &TASKS,
        [r#"
        attempt("added", () => tasks.addTask({ id: "a", title: " First " }));
        attempt("second", () => tasks.addTask({ id: "b", title: "B", description: "why" }));
        attempt("third", () => tasks.addTask({ id: "c", title: "C" }));
        attempt("full", () => tasks.addTask({ id: "d", title: "D" }));
        attempt("taken", () => tasks.addTask({ id: "a", title: "again" }));
        attempt("blank", () => tasks.addTask({ id: "e f", title: " " }));
        attempt("section", () => tasks.addTask({ id: "e", title: "E", inScope: "x" }));
        attempt("edges", () => tasks.addTask({ id: "e", title: "E", blockedBy: ["a"] }));
        attempt("blocked", () => tasks.setBlockedBy("b", ["a"]));
        attempt("circle", () => tasks.setBlockedBy("a", ["b"]));
        attempt("noBlocker", () => tasks.setBlockedBy("a", ["z"]));
        attempt("updated", () => tasks.updateTask("b", { title: "Bee", description: null }));
        attempt("blanked", () => tasks.updateTask("b", { title: " " }));
        attempt("noUpdate", () => tasks.updateTask("z", { title: "Z" }));
        attempt("status", () => tasks.updateTask("c", { status: "done" }));
        attempt("done", () => tasks.completeTask("a"));
        attempt("noDone", () => tasks.completeTask("z"));
        attempt("removed", () => tasks.removeTask("c"));
        attempt("noRemove", () => tasks.removeTask("z"));
        show("out");
        "#],
    );
    run.ended(0, "completed");
    let out = shown(&run, "out");
    assert_eq!(out["added"], json!({ "count": 1, "maxTasks": 3 }));
    assert_eq!(out["third"], json!({ "count": 3, "maxTasks": 3 }));
    assert_eq!(out["removed"], json!({ "count": 2, "maxTasks": 3 }));
    for done in ["blocked", "updated", "status", "done"] {
        assert_eq!(out[done], "ok", "{out:#}");
    }
    let add = "add_task";
    refused(&out, "full", "limit-exceeded", add, &["3 of 3"]);
    refused(&out, "taken", "conflict", add, &["`a` already"]);
    refused(
        &out,
        "blank",
        "invalid-argument",
        add,
        &["`id` is", "`title` is blank"],
    );
    refused(&out, "edges", "invalid-argument", add, &["blockedBy"]);
    refused(&out, "section", "invalid-argument", add, &["`inScope`"]);
    refused(&out, "circle", "conflict", "set_blocked_by", &["circle"]);
    refused(&out, "noBlocker", "not-found", "set_blocked_by", &["`z`"]);
    refused(
        &out,
        "blanked",
        "invalid-argument",
        "update_task",
        &["blank"],
    );
    refused(&out, "noUpdate", "not-found", "update_task", &["`a`"]);
    refused(&out, "noDone", "not-found", "complete_task", &["`z`"]);
    refused(&out, "noRemove", "not-found", "remove_task", &["`z`"]);
    assert_eq!(
        blocks(&run, "Tasks\n----\n# Your tasks"),
        [
            "Tasks\n----\n# Your tasks\n\n- [x] `a` (done) — First\n- [ ] `b` (pending) — Bee  [ready]"
        ]
    );
    // One snapshot of each change, none of what was refused.
    assert_eq!(run.events("tasks_state").len(), 1 + 8);
    // Each attempt that left its guest, the view, and the ending.
    assert_eq!(run.events("api_call").len(), 20);
    assert_eq!(run.summary()["tasksCompleted"], 2);
}

#[test]
fn a_task_with_sections_is_delimited_or_refused() {
    let run = play(
        &[task_list("issues", 0)],
        &TASKS,
        [r#"
        const whole = { inScope: "i", outOfScope: "o", completionCriteria: "c" };
        attempt("missing", () => tasks.addTask({ id: "a", title: "A", inScope: "i" }));
        attempt("added", () => tasks.addTask({ id: "a", title: "A", ...whole }));
        attempt("changed", () => tasks.updateTask("a", { outOfScope: "all else" }));
        attempt("blanked", () => tasks.updateTask("a", { inScope: "" }));
        show("out");
        "#],
    );
    run.ended(0, "completed");
    let out = shown(&run, "out");
    let missing = ["`outOfScope` is missing", "`completionCriteria` is missing"];
    refused(&out, "missing", "invalid-argument", "add_task", &missing);
    refused(
        &out,
        "blanked",
        "invalid-argument",
        "update_task",
        &["`inScope`"],
    );
    assert_eq!(out["added"], json!({ "count": 1, "maxTasks": 0 }));
    assert_eq!(out["changed"], "ok");
    assert!(blocks(&run, "Tasks\n----\n# Your tasks")[0].contains("all else"));
}

/// The operations of a strategy.
fn notebook(strategy: &str) -> Vec<String> {
    let tools = crate::memories::tools(strategy).iter();
    tools.map(|tool| format!("memories.{tool}")).collect()
}

fn with_memories(strategy: &str, limits: &[(&str, u64)], body: &str) -> Run {
    let mut declaration = memories(strategy);
    for (key, value) in limits {
        declaration["params"][*key] = json!(value);
    }
    let operations = notebook(strategy);
    let operations: Vec<&str> = operations.iter().map(String::as_str).collect();
    play(&[declaration], &operations, [body])
}

#[test]
fn a_program_writes_its_scratchpad() {
    let run = with_memories(
        "scratchpad",
        &[
            ("maxCount", 2),
            ("maxTotalLen", 40),
            ("maxLenDescription", 10),
        ],
        r#"
        attempt("written", () => memories.writeMemory("build", "how", "make"));
        attempt("taken", () => memories.writeMemory("build", "how", "make"));
        attempt("bad", () => memories.writeMemory("a b", " ", ""));
        attempt("long", () => memories.writeMemory("x", "d".repeat(11), "b"));
        attempt("second", () => memories.writeMemory("test", "how", "make check"));
        attempt("full", () => memories.writeMemory("third", "how", "x"));
        attempt("updated", () => memories.updateMemory("build", "how", "just"));
        attempt("tooLong", () => memories.updateMemory("build", "how", "x".repeat(41)));
        attempt("noUpdate", () => memories.updateMemory("none", "how", "x"));
        attempt("deleted", () => memories.deleteMemory("test"));
        attempt("noDelete", () => memories.deleteMemory("test"));
        attempt("read", () => memories.readMemory("build"));
        show("out");
        "#,
    );
    run.ended(0, "completed");
    let out = shown(&run, "out");
    assert_eq!(
        out["written"],
        json!({ "count": 1, "maxCount": 2, "totalChars": 4, "maxTotalChars": 40 })
    );
    assert_eq!(out["deleted"]["count"], 1);
    assert_eq!(out["updated"]["totalChars"], 14);
    refused(&out, "taken", "conflict", "write_memory", &["`build`"]);
    refused(
        &out,
        "bad",
        "invalid-argument",
        "write_memory",
        &["`name` is", "`description` is blank", "`body` is blank"],
    );
    refused(
        &out,
        "long",
        "limit-exceeded",
        "write_memory",
        &["11", "10"],
    );
    refused(&out, "full", "limit-exceeded", "write_memory", &["2"]);
    refused(&out, "tooLong", "limit-exceeded", "update_memory", &["40"]);
    refused(&out, "noUpdate", "not-found", "update_memory", &["`build`"]);
    refused(&out, "noDelete", "not-found", "delete_memory", &["`test`"]);
    // Everything stands in the window under this strategy: there is no call that reads.
    refused(
        &out,
        "read",
        "unavailable",
        "read_memory",
        &["not available"],
    );
    assert_eq!(
        blocks(&run, "Memories\n----\n# Your memories"),
        ["Memories\n----\n# Your memories\n\n## `build` — how\n\njust"]
    );
    assert_eq!(run.events("memory_revision").len(), 4);
}

#[test]
fn a_program_reads_edits_and_searches_what_it_keeps() {
    let run = with_memories(
        "keyword-search",
        &[("maxResults", 1)],
        r#"
        attempt("created", () => memories.createMemory("build", "run make, then make check"));
        memories.createMemory("deploy", "make it so", { description: "shipping" });
        attempt("taken", () => memories.createMemory("build", "x"));
        attempt("read", () => memories.readMemory("build"));
        attempt("noRead", () => memories.readMemory("none"));
        attempt("edited", () => memories.editMemory("build", "then", "and"));
        attempt("absent", () => memories.editMemory("build", "nowhere", "x"));
        attempt("several", () => memories.editMemory("build", "make", "x"));
        attempt("equal", () => memories.editMemory("build", "x", "x"));
        attempt("emptied", () => memories.editMemory("deploy", "make it so", " "));
        attempt("found", () => memories.searchMemories(["MAKE", "check"]));
        attempt("blank", () => memories.searchMemories([" "]));
        attempt("deleted", () => memories.deleteMemory("deploy"));
        show("out");
        "#,
    );
    run.ended(0, "completed");
    let out = shown(&run, "out");
    assert_eq!(out["created"]["count"], 1);
    assert_eq!(out["read"], "run make, then make check");
    assert_eq!(out["edited"]["count"], 2);
    assert_eq!(
        out["found"],
        json!([{ "name": "build", "description": "", "matched": 2, "occurrences": 3,
            "excerpt": "run make, and make check" }])
    );
    assert_eq!(out["deleted"]["count"], 1);
    refused(&out, "taken", "conflict", "create_memory", &["`build`"]);
    refused(&out, "noRead", "not-found", "read_memory", &["`deploy`"]);
    refused(&out, "absent", "not-found", "edit_memory", &["`build`"]);
    refused(&out, "several", "conflict", "edit_memory", &["2 times"]);
    refused(&out, "equal", "invalid-argument", "edit_memory", &["equal"]);
    refused(
        &out,
        "emptied",
        "invalid-argument",
        "edit_memory",
        &["delete"],
    );
    refused(
        &out,
        "blank",
        "invalid-argument",
        "search_memories",
        &["blank"],
    );
    assert!(blocks(&run, "Memories\n----\n# Your memories").is_empty());
}

#[test]
fn an_index_stands_in_the_window_and_is_limited_by_itself() {
    let run = with_memories(
        "markdown",
        &[("maxLenIndex", 30)],
        r#"
        attempt("created", () => memories.createMemory("build", "make", { description: "how" }));
        attempt("undescribed", () => memories.createMemory("x", "b"));
        attempt("index", () => memories.createMemory("y", "b", { description: "d".repeat(30) }));
        attempt("search", () => memories.searchMemories(["x"]));
        show("out");
        "#,
    );
    run.ended(0, "completed");
    let out = shown(&run, "out");
    assert_eq!(
        out["created"],
        json!({ "count": 1, "totalChars": 4, "indexChars": 15, "maxIndexChars": 30 })
    );
    let create = "create_memory";
    refused(
        &out,
        "undescribed",
        "invalid-argument",
        create,
        &["`description`"],
    );
    refused(&out, "index", "limit-exceeded", create, &["30"]);
    refused(&out, "search", "unavailable", "search_memories", &[]);
    assert_eq!(
        blocks(&run, "Memories\n----\n# Your memories"),
        ["Memories\n----\n# Your memories\n\n- `build` — how"]
    );
}

#[test]
fn a_skill_s_text_comes_to_the_program_each_time_and_to_the_model_once() {
    let launch = cast([coder(
        "root",
        &[skills(".gg/skills", &[])],
        &["skills.read_skill"],
        &[],
    )]);
    let run = Run::builder()
        .launch(launch)
        .file(
            ".gg/skills/release.md",
            "---\nname: release\ndescription: When due\n---\n\nTag it.\n",
        )
        .answers(programs([
            r#"
            attempt("first", () => skills.readSkill("release"));
            attempt("again", () => skills.readSkill("release"));
            attempt("none", () => skills.readSkill("nothing"));
            attempt("blank", () => skills.readSkill(" "));
            show("out");
            "#,
            r#"attempt("later", () => skills.readSkill("release")); show("later");"#,
        ]))
        .run();
    run.ended(0, "completed");
    let out = shown(&run, "out");
    assert_eq!(out["first"], "Tag it.");
    assert_eq!(out["again"], "Tag it.");
    assert_eq!(shown(&run, "later")["later"], "Tag it.");
    refused(&out, "none", "not-found", "read_skill", &["`release`"]);
    refused(&out, "blank", "invalid-argument", "read_skill", &["`name`"]);
    assert_eq!(
        told(&run, "Documentation\n----\n"),
        ["Documentation\n----\nTag it."]
    );
    let last = run
        .gateway
        .as_ref()
        .unwrap()
        .requests()
        .last()
        .unwrap()
        .messages();
    let pinned = last.iter().filter(|it| {
        tests::gateway::content_text(&it["content"]) == "Documentation\n----\nTag it."
    });
    assert_eq!(pinned.count(), 1, "{}", run.describe());
    assert_eq!(run.summary()["skillsRead"], 1);
}

#[test]
fn what_a_profile_does_not_allow_is_not_available() {
    let run = play(
        &[task_list("simple", 0)],
        &["tasks.add_task"],
        [r#"
        attempt("allowed", () => tasks.addTask({ id: "a", title: "A" }));
        attempt("unlisted", () => tasks.completeTask("a"));
        attempt("off", () => memories.readMemory("a"));
        attempt("noSkill", () => skills.readSkill("a"));
        attempt("noLibrary", () => programs.history());
        attempt("evict", () => context.evictFileView());
        attempt("spawn", () => delegation.spawnSubagent("a", "b"));
        attempt("transition", () => delegation.transitionState("a"));
        show("out");
        "#],
    );
    run.ended(0, "completed");
    let out = shown(&run, "out");
    assert_eq!(out["allowed"]["count"], 1);
    for (name, operation) in [
        ("unlisted", "complete_task"),
        ("off", "read_memory"),
        ("noSkill", "read_skill"),
        ("noLibrary", "history"),
        ("evict", "evict_file_view"),
        ("spawn", "spawn_subagent"),
        ("transition", "transition_state"),
    ] {
        refused(&out, name, "unavailable", operation, &["is not available."]);
    }
}
