//! Programs that call what their agent holds, on every arm: tasks, memories, skills.

use serde_json::{Value, json};
use tests::run::Run;

use crate::arms::{
    Arm, Attempt, Texts, all_refused, both, covered, failed_in_each_way, on_each, play, playing,
    shown_attempts,
};
use crate::coders::{refused, shown, told};
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
    on_each(|arm| {
        let calls: [Attempt; 21] = [
            (
                "added",
                r#"tasks.addTask({ id: "a", title: " First " })"#,
                r#"tasks.add_task("a", " First ")"#,
            ),
            (
                "second",
                r#"tasks.addTask({ id: "b", title: "B", description: "why" })"#,
                r#"tasks.add_task("b", "B", description="why")"#,
            ),
            (
                "third",
                r#"tasks.addTask({ id: "c", title: "C" })"#,
                r#"tasks.add_task("c", "C")"#,
            ),
            (
                "full",
                r#"tasks.addTask({ id: "d", title: "D" })"#,
                r#"tasks.add_task("d", "D")"#,
            ),
            (
                "taken",
                r#"tasks.addTask({ id: "a", title: "again" })"#,
                r#"tasks.add_task("a", "again")"#,
            ),
            (
                "blank",
                r#"tasks.addTask({ id: "e f", title: " " })"#,
                r#"tasks.add_task("e f", " ")"#,
            ),
            (
                "section",
                r#"tasks.addTask({ id: "e", title: "E", inScope: "x" })"#,
                r#"tasks.add_task("e", "E", in_scope="x")"#,
            ),
            (
                "blocked",
                r#"tasks.setBlockedBy("b", ["a"])"#,
                r#"tasks.set_blocked_by("b", ["a"])"#,
            ),
            (
                "circle",
                r#"tasks.setBlockedBy("a", ["b"])"#,
                r#"tasks.set_blocked_by("a", ["b"])"#,
            ),
            (
                "noBlocker",
                r#"tasks.setBlockedBy("a", ["z"])"#,
                r#"tasks.set_blocked_by("a", ["z"])"#,
            ),
            (
                "updated",
                r#"tasks.updateTask("b", { title: "Bee", description: null })"#,
                r#"tasks.update_task("b", title="Bee", description=None)"#,
            ),
            (
                "blanked",
                r#"tasks.updateTask("b", { title: " " })"#,
                r#"tasks.update_task("b", title=" ")"#,
            ),
            (
                "noUpdate",
                r#"tasks.updateTask("z", { title: "Z" })"#,
                r#"tasks.update_task("z", title="Z")"#,
            ),
            (
                "status",
                r#"tasks.updateTask("c", { status: "done" })"#,
                r#"tasks.update_task("c", status=tasks.TaskStatus.DONE)"#,
            ),
            (
                "done",
                r#"tasks.completeTask("a")"#,
                r#"tasks.complete_task("a")"#,
            ),
            (
                "noDone",
                r#"tasks.completeTask("z")"#,
                r#"tasks.complete_task("z")"#,
            ),
            (
                "removed",
                r#"tasks.removeTask("c")"#,
                r#"tasks.remove_task("c")"#,
            ),
            (
                "noRemove",
                r#"tasks.removeTask("z")"#,
                r#"tasks.remove_task("z")"#,
            ),
            (
                "blankBlocked",
                r#"tasks.setBlockedBy("", [])"#,
                r#"tasks.set_blocked_by("", [])"#,
            ),
            (
                "blankDone",
                r#"tasks.completeTask("")"#,
                r#"tasks.complete_task("")"#,
            ),
            (
                "blankRemove",
                r#"tasks.removeTask("")"#,
                r#"tasks.remove_task("")"#,
            ),
        ];
        let run = play(
            arm,
            &[task_list("simple", 3)],
            &TASKS,
            &[shown_attempts(calls)],
        );
        covered(&run, &["tasks"]);
        let out = shown(&run, "out");
        assert_eq!(out["added"], json!({ "count": 1, "maxTasks": 3 }));
        assert_eq!(out["third"], json!({ "count": 3, "maxTasks": 3 }));
        assert_eq!(out["removed"], json!({ "count": 2, "maxTasks": 3 }));
        for done in ["blocked", "updated", "status", "done"] {
            assert_eq!(out[done], "ok", "{out:#}");
        }
        let invalid = "invalid-argument";
        all_refused(
            arm,
            &out,
            &[
                ("full", "limit-exceeded", "add_task", &["3 of 3"]),
                ("taken", "conflict", "add_task", &["`a` already"]),
                (
                    "blank",
                    invalid,
                    "add_task",
                    &["`id` is", "`title` is blank"],
                ),
                ("section", invalid, "add_task", &["`inScope`"]),
                ("circle", "conflict", "set_blocked_by", &["circle"]),
                ("noBlocker", "not-found", "set_blocked_by", &["`z`"]),
                ("blanked", invalid, "update_task", &["blank"]),
                ("noUpdate", "not-found", "update_task", &["`a`"]),
                ("noDone", "not-found", "complete_task", &["`z`"]),
                ("noRemove", "not-found", "remove_task", &["`z`"]),
            ],
        );
        failed_in_each_way(&[&out], &TASKS, &[]);
        assert_eq!(
            blocks(&run, "Tasks\n----\n# Your tasks"),
            [
                "Tasks\n----\n# Your tasks\n\n- [x] `a` (done) — First\n- [ ] `b` (pending) — Bee  [ready]"
            ]
        );
        // One snapshot of each change, none of what was refused.
        assert_eq!(run.events("tasks_state").len(), 1 + 8);
        // Each attempt, the view, and the ending.
        assert_eq!(run.events("api_call").len(), 23);
        assert_eq!(run.summary()["tasksCompleted"], 2);
    });
}

#[test]
fn a_task_with_sections_is_delimited_or_refused() {
    on_each(|arm| {
        let calls = shown_attempts([
            (
                "missing",
                r#"tasks.addTask({ id: "a", title: "A", inScope: "i" })"#,
                r#"tasks.add_task("a", "A", in_scope="i")"#,
            ),
            (
                "added",
                r#"tasks.addTask({ id: "a", title: "A", inScope: "i", outOfScope: "o", completionCriteria: "c" })"#,
                r#"tasks.add_task("a", "A", in_scope="i", out_of_scope="o", completion_criteria="c")"#,
            ),
            (
                "changed",
                r#"tasks.updateTask("a", { outOfScope: "all else" })"#,
                r#"tasks.update_task("a", out_of_scope="all else")"#,
            ),
            (
                "blanked",
                r#"tasks.updateTask("a", { inScope: "" })"#,
                r#"tasks.update_task("a", in_scope="")"#,
            ),
        ]);
        let run = play(arm, &[task_list("issues", 0)], &TASKS, &[calls]);
        let out = shown(&run, "out");
        let missing: &[&str] = &["`outOfScope` is missing", "`completionCriteria` is missing"];
        all_refused(
            arm,
            &out,
            &[
                ("missing", "invalid-argument", "add_task", missing),
                ("blanked", "invalid-argument", "update_task", &["`inScope`"]),
            ],
        );
        assert_eq!(out["added"], json!({ "count": 1, "maxTasks": 0 }));
        assert_eq!(out["changed"], "ok");
        assert!(blocks(&run, "Tasks\n----\n# Your tasks")[0].contains("all else"));
    });
}

/// The operations of a strategy.
fn notebook(strategy: &str) -> Vec<String> {
    let tools = crate::memories::tools(strategy).iter();
    tools.map(|tool| format!("memories.{tool}")).collect()
}

fn with_memories(arm: Arm, strategy: &str, limits: &[(&str, u64)], body: &Texts) -> Run {
    let mut declaration = memories(strategy);
    for (key, value) in limits {
        declaration["params"][*key] = json!(value);
    }
    let operations = notebook(strategy);
    let operations: Vec<&str> = operations.iter().map(String::as_str).collect();
    play(arm, &[declaration], &operations, std::slice::from_ref(body))
}

#[test]
fn a_program_writes_its_scratchpad() {
    let body = shown_attempts([
        (
            "written",
            r#"memories.writeMemory("build", "how", "make")"#,
            r#"memories.write_memory("build", "how", "make")"#,
        ),
        (
            "taken",
            r#"memories.writeMemory("build", "how", "make")"#,
            r#"memories.write_memory("build", "how", "make")"#,
        ),
        (
            "bad",
            r#"memories.writeMemory("a b", " ", "")"#,
            r#"memories.write_memory("a b", " ", "")"#,
        ),
        (
            "long",
            r#"memories.writeMemory("x", "d".repeat(11), "b")"#,
            r#"memories.write_memory("x", "d" * 11, "b")"#,
        ),
        (
            "second",
            r#"memories.writeMemory("test", "how", "make check")"#,
            r#"memories.write_memory("test", "how", "make check")"#,
        ),
        (
            "full",
            r#"memories.writeMemory("third", "how", "x")"#,
            r#"memories.write_memory("third", "how", "x")"#,
        ),
        (
            "updated",
            r#"memories.updateMemory("build", "how", "just")"#,
            r#"memories.update_memory("build", "how", "just")"#,
        ),
        (
            "tooLong",
            r#"memories.updateMemory("build", "how", "x".repeat(41))"#,
            r#"memories.update_memory("build", "how", "x" * 41)"#,
        ),
        (
            "noUpdate",
            r#"memories.updateMemory("none", "how", "x")"#,
            r#"memories.update_memory("none", "how", "x")"#,
        ),
        (
            "deleted",
            r#"memories.deleteMemory("test")"#,
            r#"memories.delete_memory("test")"#,
        ),
        (
            "noDelete",
            r#"memories.deleteMemory("test")"#,
            r#"memories.delete_memory("test")"#,
        ),
        (
            "blankUpdate",
            r#"memories.updateMemory("build", "how", " ")"#,
            r#"memories.update_memory("build", "how", " ")"#,
        ),
        (
            "blankDelete",
            r#"memories.deleteMemory("")"#,
            r#"memories.delete_memory("")"#,
        ),
        (
            "read",
            r#"memories.readMemory("build")"#,
            r#"memories.read_memory("build")"#,
        ),
    ]);
    let limits = [
        ("maxCount", 2),
        ("maxTotalLen", 40),
        ("maxLenDescription", 10),
    ];
    on_each(|arm| {
        let run = with_memories(arm, "scratchpad", &limits, &body);
        let out = shown(&run, "out");
        assert_eq!(
            out["written"],
            json!({ "count": 1, "maxCount": 2, "totalChars": 4, "maxTotalChars": 40 })
        );
        assert_eq!(out["deleted"]["count"], 1);
        assert_eq!(out["updated"]["totalChars"], 14);
        let bad: &[&str] = &["`name` is", "`description` is blank", "`body` is blank"];
        all_refused(
            arm,
            &out,
            &[
                ("taken", "conflict", "write_memory", &["`build`"]),
                ("bad", "invalid-argument", "write_memory", bad),
                ("long", "limit-exceeded", "write_memory", &["11", "10"]),
                ("full", "limit-exceeded", "write_memory", &["2"]),
                ("tooLong", "limit-exceeded", "update_memory", &["40"]),
                ("noUpdate", "not-found", "update_memory", &["`build`"]),
                ("noDelete", "not-found", "delete_memory", &["`test`"]),
                // Everything stands in the window under this strategy: there is no call that reads.
                ("read", "unavailable", "read_memory", &["not available"]),
            ],
        );
        let operations = [
            "memories.write_memory",
            "memories.update_memory",
            "memories.delete_memory",
        ];
        failed_in_each_way(&[&out], &operations, &[]);
        assert_eq!(
            blocks(&run, "Memories\n----\n# Your memories"),
            ["Memories\n----\n# Your memories\n\n## `build` — how\n\njust"]
        );
        assert_eq!(run.events("memory_revision").len(), 4);
    });
}

#[test]
fn a_program_reads_edits_and_searches_what_it_keeps() {
    let body = shown_attempts([
        (
            "created",
            r#"memories.createMemory("build", "run make, then make check")"#,
            r#"memories.create_memory("build", "run make, then make check")"#,
        ),
        (
            "described",
            r#"memories.createMemory("deploy", "make it so", { description: "shipping" })"#,
            r#"memories.create_memory("deploy", "make it so", description="shipping")"#,
        ),
        (
            "taken",
            r#"memories.createMemory("build", "x")"#,
            r#"memories.create_memory("build", "x")"#,
        ),
        (
            "read",
            r#"memories.readMemory("build")"#,
            r#"memories.read_memory("build")"#,
        ),
        (
            "noRead",
            r#"memories.readMemory("none")"#,
            r#"memories.read_memory("none")"#,
        ),
        (
            "edited",
            r#"memories.editMemory("build", "then", "and")"#,
            r#"memories.edit_memory("build", "then", "and")"#,
        ),
        (
            "absent",
            r#"memories.editMemory("build", "nowhere", "x")"#,
            r#"memories.edit_memory("build", "nowhere", "x")"#,
        ),
        (
            "several",
            r#"memories.editMemory("build", "make", "x")"#,
            r#"memories.edit_memory("build", "make", "x")"#,
        ),
        (
            "equal",
            r#"memories.editMemory("build", "x", "x")"#,
            r#"memories.edit_memory("build", "x", "x")"#,
        ),
        (
            "noEdit",
            r#"memories.editMemory("none", "x", "y")"#,
            r#"memories.edit_memory("none", "x", "y")"#,
        ),
        (
            "emptied",
            r#"memories.editMemory("deploy", "make it so", " ")"#,
            r#"memories.edit_memory("deploy", "make it so", " ")"#,
        ),
        (
            "grown",
            r#"memories.editMemory("deploy", "so", "so".repeat(40))"#,
            r#"memories.edit_memory("deploy", "so", "so" * 40)"#,
        ),
        (
            "long",
            r#"memories.createMemory("long", "x".repeat(81))"#,
            r#"memories.create_memory("long", "x" * 81)"#,
        ),
        (
            "found",
            r#"memories.searchMemories(["MAKE", "check"])"#,
            r#"memories.search_memories(["MAKE", "check"])"#,
        ),
        (
            "blank",
            r#"memories.searchMemories([" "])"#,
            r#"memories.search_memories([" "])"#,
        ),
        (
            "deleted",
            r#"memories.deleteMemory("deploy")"#,
            r#"memories.delete_memory("deploy")"#,
        ),
        (
            "noDelete",
            r#"memories.deleteMemory("deploy")"#,
            r#"memories.delete_memory("deploy")"#,
        ),
        (
            "blankCreate",
            r#"memories.createMemory("", "")"#,
            r#"memories.create_memory("", "")"#,
        ),
        (
            "blankRead",
            r#"memories.readMemory("")"#,
            r#"memories.read_memory("")"#,
        ),
    ]);
    on_each(|arm| {
        let limits = [("maxResults", 1), ("maxLenPerMemory", 80)];
        let run = with_memories(arm, "keyword-search", &limits, &body);
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
        let invalid = "invalid-argument";
        all_refused(
            arm,
            &out,
            &[
                ("taken", "conflict", "create_memory", &["`build`"]),
                ("long", "limit-exceeded", "create_memory", &["80"]),
                ("noRead", "not-found", "read_memory", &["`deploy`"]),
                ("absent", "not-found", "edit_memory", &["`build`"]),
                ("noEdit", "not-found", "edit_memory", &["`deploy`"]),
                ("several", "conflict", "edit_memory", &["2 times"]),
                ("equal", invalid, "edit_memory", &["equal"]),
                ("emptied", invalid, "edit_memory", &["delete"]),
                ("grown", "limit-exceeded", "edit_memory", &["80"]),
                ("blank", invalid, "search_memories", &["blank"]),
                ("noDelete", "not-found", "delete_memory", &["`build`"]),
            ],
        );
        let operations = [
            "memories.create_memory",
            "memories.edit_memory",
            "memories.read_memory",
            "memories.search_memories",
        ];
        failed_in_each_way(&[&out], &operations, &[]);
        assert!(blocks(&run, "Memories\n----\n# Your memories").is_empty());
    });
}

#[test]
fn an_index_stands_in_the_window_and_is_limited_by_itself() {
    let body = shown_attempts([
        (
            "created",
            r#"memories.createMemory("build", "make", { description: "how" })"#,
            r#"memories.create_memory("build", "make", description="how")"#,
        ),
        (
            "undescribed",
            r#"memories.createMemory("x", "b")"#,
            r#"memories.create_memory("x", "b")"#,
        ),
        (
            "index",
            r#"memories.createMemory("y", "b", { description: "d".repeat(30) })"#,
            r#"memories.create_memory("y", "b", description="d" * 30)"#,
        ),
        (
            "search",
            r#"memories.searchMemories(["x"])"#,
            r#"memories.search_memories(["x"])"#,
        ),
    ]);
    on_each(|arm| {
        let run = with_memories(arm, "markdown", &[("maxLenIndex", 30)], &body);
        let out = shown(&run, "out");
        assert_eq!(
            out["created"],
            json!({ "count": 1, "totalChars": 4, "indexChars": 15, "maxIndexChars": 30 })
        );
        let create = "create_memory";
        all_refused(
            arm,
            &out,
            &[
                (
                    "undescribed",
                    "invalid-argument",
                    create,
                    &["`description`"],
                ),
                ("index", "limit-exceeded", create, &["30"]),
                ("search", "unavailable", "search_memories", &[]),
            ],
        );
        assert_eq!(
            blocks(&run, "Memories\n----\n# Your memories"),
            ["Memories\n----\n# Your memories\n\n- `build` — how"]
        );
    });
}

#[test]
fn a_hit_is_read_by_a_method_where_a_language_has_one() {
    let body = both(
        "memories.createMemory('a', 'the body');\nattempt('read', () => memories.readMemory('a'));\nshow('out');",
        r#"
        memories.create_memory("a", "the body")
        attempt("read", lambda: memories.search_memories(["body"])[0].read())
        show("out")
        "#,
    );
    on_each(|arm| {
        let run = with_memories(arm, "keyword-search", &[], &body);
        assert_eq!(shown(&run, "out")["read"], "the body");
        assert_eq!(crate::arms::ends_of(&run, "memories.read_memory"), ["ok"]);
    });
}

#[test]
fn a_skill_s_text_comes_to_the_program_each_time_and_to_the_model_once() {
    let bodies = [
        shown_attempts([
            (
                "first",
                r#"skills.readSkill("release")"#,
                r#"skills.read_skill("release")"#,
            ),
            (
                "again",
                r#"skills.readSkill("release")"#,
                r#"skills.read_skill("release")"#,
            ),
            (
                "none",
                r#"skills.readSkill("nothing")"#,
                r#"skills.read_skill("nothing")"#,
            ),
            (
                "blank",
                r#"skills.readSkill(" ")"#,
                r#"skills.read_skill(" ")"#,
            ),
        ]),
        both(
            r#"attempt("later", () => skills.readSkill("release")); show("later");"#,
            "attempt('later', lambda: skills.read_skill('release'))\nshow('later')",
        ),
    ];
    on_each(|arm| {
        let run = playing(
            arm,
            &[skills(".gg/skills", &[])],
            &["skills.read_skill"],
            &bodies,
        )
        .file(
            ".gg/skills/release.md",
            "---\nname: release\ndescription: When due\n---\n\nTag it.\n",
        )
        .run();
        run.ended(0, "completed");
        covered(&run, &["skills"]);
        let out = shown(&run, "out");
        assert_eq!(out["first"], "Tag it.");
        assert_eq!(out["again"], "Tag it.");
        assert_eq!(shown(&run, "later")["later"], "Tag it.");
        refused(&out, "none", "not-found", "read_skill", &["`release`"]);
        refused(&out, "blank", "invalid-argument", "read_skill", &["`name`"]);
        failed_in_each_way(&[&out], &["skills.read_skill"], &[]);
        assert_eq!(
            told(&run, "Documentation\n----\n"),
            ["Documentation\n----\nTag it."]
        );
        let requests = run.gateway.as_ref().unwrap().requests();
        let last = requests.last().unwrap().messages();
        let pinned = last.iter().filter(|it| {
            tests::gateway::content_text(&it["content"]) == "Documentation\n----\nTag it."
        });
        assert_eq!(pinned.count(), 1, "{}", run.describe());
        assert_eq!(run.summary()["skillsRead"], 1);
    });
}

#[test]
fn what_a_profile_does_not_allow_is_not_available_beside_what_it_does() {
    let body = shown_attempts([
        (
            "allowed",
            r#"tasks.addTask({ id: "a", title: "A" })"#,
            r#"tasks.add_task("a", "A")"#,
        ),
        (
            "unlisted",
            r#"tasks.completeTask("a")"#,
            r#"tasks.complete_task("a")"#,
        ),
    ]);
    on_each(|arm| {
        let bodies = std::slice::from_ref(&body);
        let run = play(arm, &[task_list("simple", 0)], &["tasks.add_task"], bodies);
        let out = shown(&run, "out");
        assert_eq!(out["allowed"]["count"], 1);
        refused(
            &out,
            "unlisted",
            "unavailable",
            "complete_task",
            &["is not available."],
        );
    });
}
