//! Programs that call their agent's memories, on every arm and under every strategy.

use serde_json::json;
use tests::run::Run;

use crate::arms::{
    Arm, Texts, all_refused, both, failed_in_each_way, on_each, play, shown_attempts,
};
use crate::coders::shown;
use crate::common::blocks;
use crate::memories::memories;

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
