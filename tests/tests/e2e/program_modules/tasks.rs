//! Programs that call their agent's list of to-dos, on every arm.

use serde_json::{Value, json};

use crate::arms::{
    Attempt, all_refused, covered, failed_in_each_way, on_each, play, shown_attempts,
};
use crate::coders::{refused, shown};
use crate::common::blocks;

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
