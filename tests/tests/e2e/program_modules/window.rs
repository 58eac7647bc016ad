//! Programs that change their own agent's window, on every arm: evict, archive, search, compact.

use serde_json::{Value, json};
use tests::gateway::Gateway;
use tests::run::{Builder, Run};

use crate::arms::{
    Arm, Texts, attempts, both, coder_of, ends_of, failed_in_each_way, on_each, programs,
    shown_attempts,
};
use crate::coders::{cast, refused, shown, told};
use crate::windowed::{compaction, edited, managed};

const WINDOW: [&str; 3] = [
    "context.evict_file_view",
    "context.archive_thread",
    "context.search_archive",
];

fn read_file() -> Value {
    json!({ "id": "read-file", "enabled": true, "implementation": "default-cap",
        "params": { "lineCap": 250 } })
}

fn builder(arm: Arm, capabilities: &[Value], operations: &[&str], bodies: &[Texts]) -> Builder {
    let capabilities = [&[read_file()], capabilities].concat();
    let operations = [&["views.open_file", "files.read_file"], operations].concat();
    Run::builder()
        .launch(cast([coder_of(
            arm,
            "root",
            &capabilities,
            &operations,
            &[],
        )]))
        // What a window holds does not tell how many requests there were: turns are taken out of it.
        .gateway(Gateway::with_checker(Some(edited()), programs(arm, bodies)))
        .file("a.txt", "alpha\n".repeat(40))
        .file("b.txt", "beta\n")
}

#[test]
fn a_program_frees_its_agent_s_window_and_finds_what_it_took_out() {
    let bodies = [
        both(
            r#"
            views.openFile("a.txt"); views.openFile("b.txt");
            views.openText("note", "the password is Swordfish");
            "#,
            r#"
            views.open_file("a.txt"); views.open_file("b.txt")
            views.open_text("note", "the password is Swordfish")
            "#,
        ),
        shown_attempts([
            (
                "evicted",
                r#"context.evictFileView("a.txt")"#,
                r#"context.evict_file_view("a.txt")"#,
            ),
            (
                "again",
                r#"context.evictFileView("./a.txt")"#,
                r#"context.evict_file_view("./a.txt")"#,
            ),
            (
                "blank",
                r#"context.evictFileView(" ")"#,
                r#"context.evict_file_view(" ")"#,
            ),
            (
                "archived",
                "context.archiveThread([[1, 1], [1, 2]])",
                "context.archive_thread([(1, 1), (1, 2)])",
            ),
            (
                "none",
                "context.archiveThread([])",
                "context.archive_thread([])",
            ),
            (
                "backwards",
                "context.archiveThread([[3, 1]])",
                "context.archive_thread([(3, 1)])",
            ),
            (
                "zero",
                "context.archiveThread([[0, 1]])",
                "context.archive_thread([(0, 1)])",
            ),
            (
                "many",
                "context.archiveThread(Array(33).fill([1, 1]))",
                "context.archive_thread([(1, 1)] * 33)",
            ),
            (
                "found",
                r#"context.searchArchive("SWORDFISH")"#,
                r#"context.search_archive("SWORDFISH")"#,
            ),
            (
                "nothing",
                r#"context.searchArchive("marlin")"#,
                r#"context.search_archive("marlin")"#,
            ),
            (
                "blankQuery",
                r#"context.searchArchive("\t")"#,
                r#"context.search_archive("\t")"#,
            ),
            (
                "all",
                "context.evictFileView()",
                "context.evict_file_view()",
            ),
        ]),
    ];
    on_each(|arm| {
        let run = builder(arm, &[managed(90)], &WINDOW, &bodies).run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        assert_eq!(out["evicted"]["items"], 1);
        assert!(out["evicted"]["tokens"].as_u64().unwrap() > 40, "{out:#}");
        assert_eq!(out["again"], json!({ "items": 0, "tokens": 0 }));
        assert_eq!(out["archived"]["turns"], json!([1]));
        assert!(out["archived"]["tokens"].as_u64().unwrap() > 0, "{out:#}");
        let found = out["found"].as_array().unwrap();
        // What answers a call is found by the call, here by the program that says it.
        let roles: Vec<&Value> = found.iter().map(|it| &it["role"]).collect();
        assert_eq!(roles, ["tool", "user"], "{out:#}");
        assert!(found.iter().all(|it| it["turn"] == 1), "{out:#}");
        assert!(found[1]["text"].as_str().unwrap().contains("Swordfish"));
        assert_eq!(out["nothing"], json!([]));
        // What was archived is no view any more.
        assert_eq!(out["all"], json!({ "items": 0, "tokens": 0 }));
        let archive = "archive_thread";
        refused(
            &out,
            "blank",
            "invalid-argument",
            "evict_file_view",
            &["`path`"],
        );
        refused(
            &out,
            "none",
            "invalid-argument",
            archive,
            &["`ranges` is empty"],
        );
        refused(
            &out,
            "backwards",
            "invalid-argument",
            archive,
            &["from 3 to 1"],
        );
        refused(&out, "zero", "invalid-argument", archive, &["1 or more"]);
        refused(&out, "many", "limit-exceeded", archive, &["33 ranges"]);
        refused(
            &out,
            "blankQuery",
            "invalid-argument",
            "search_archive",
            &["`query`"],
        );
        failed_in_each_way(&[&out], &WINDOW, &[]);
        let actions: Vec<&Value> = run
            .events("context_managed")
            .iter()
            .map(|event| &event["action"])
            .collect();
        assert_eq!(actions, ["evict_file_views", "archive_thread"]);
        let last = run
            .gateway
            .as_ref()
            .unwrap()
            .requests()
            .last()
            .unwrap()
            .messages();
        let texts: Vec<String> = last
            .iter()
            .map(|it| tests::gateway::content_text(&it["content"]))
            .collect();
        assert!(
            !texts
                .iter()
                .any(|it| it.contains("the password is Swordfish") && it.starts_with("View: note"))
        );
        assert!(
            !texts.iter().any(|it| it.starts_with("File: ")),
            "{texts:?}"
        );
    });
}

/// A root whose first program, which compacts, is followed by one that looks.
fn compacting(arm: Arm, strategy: &str, first: &Texts) -> Run {
    let capabilities = [compaction(strategy, 0.2, &json!({}))];
    let bodies = [first.clone(), both("show('later');", "show('later')")];
    let run = builder(arm, &capabilities, &["context.compact"], &bodies).run();
    run.ended(0, "completed");
    run
}

#[test]
fn a_compaction_that_a_program_asks_for_is_made_as_the_turn_ends_and_the_last_stands() {
    let first = both(
        "views.openText('before', '1');",
        "views.open_text('before', '1')",
    )
    .and(&attempts([
        (
            "blank",
            r#"context.compact(" ")"#,
            r#"context.compact(" ")"#,
        ),
        (
            "blankFile",
            r#"context.compact("s", { files: [" "] })"#,
            r#"context.compact("s", files=[" "])"#,
        ),
        (
            "first",
            r#"context.compact("Too early.")"#,
            r#"context.compact("Too early.")"#,
        ),
        (
            "last",
            r#"context.compact("What I know.", { files: ["b.txt", "none.txt"] })"#,
            r#"context.compact("What I know.", files=["b.txt", "none.txt"])"#,
        ),
    ]));
    on_each(|arm| {
        let run = compacting(arm, "self-compaction", &first);
        let boundary = run.event("compaction");
        assert_eq!(boundary["summary"], "What I know.", "{}", run.describe());
        assert_eq!(run.events("compaction").len(), 1);
        let requests = run.gateway.as_ref().unwrap().requests();
        let second: Vec<String> = requests[1]
            .messages()
            .iter()
            .map(|it| tests::gateway::content_text(&it["content"]))
            .collect();
        let begins = |head: &str| second.iter().any(|it| it.starts_with(head));
        assert!(second.iter().any(|it| it.contains("What I know.")));
        assert!(begins("File: b.txt"), "{second:?}");
        assert!(!begins("View: before"), "{second:?}");
        assert_eq!(
            ends_of(&run, "context.compact"),
            ["invalid-argument", "invalid-argument", "ok", "ok"]
        );
    });
}

#[test]
fn a_compaction_stands_though_its_program_fails_afterwards() {
    let body = both(
        r#"context.compact("Kept."); throw new Error("boom");"#,
        "context.compact('Kept.')\nraise ValueError('boom')",
    );
    on_each(|arm| {
        let run = compacting(arm, "self-compaction", &body);
        assert_eq!(run.event("compaction")["summary"], "Kept.");
        assert_eq!(run.outcomes()[0], "program_throw", "{}", run.describe());
        // The failure is told behind the boundary, so that it is not lost with what went.
        let errors = told(&run, "Runtime error\n----\n");
        assert!(errors[0].contains("boom"), "{errors:?}");
    });
}

#[test]
fn a_code_agent_hands_its_summary_in_by_the_call_where_others_write_prose() {
    let body = both(
        "context.compact('In one call.');",
        "context.compact('In one call.')",
    );
    on_each(|arm| {
        let run = compacting(arm, "self-summarization", &body);
        assert_eq!(run.event("compaction")["summary"], "In one call.");
    });
}
