//! Programs that change their own agent's window: evict, archive, search, compact.

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request};
use tests::run::{Builder, Run};

use crate::coders::{cast, coder, finish, refused, shown, submit, told};
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

/// Answers the requests with these programs, in order, and then finishes. What a window holds does
/// not tell how many there were: turns are taken out of it.
fn in_order(bodies: &[&str]) -> Gateway {
    let answers: Vec<Answer> = bodies.iter().map(|body| submit(body)).collect();
    Gateway::with_checker(Some(edited()), move |_: &Request, n: usize| {
        let next = answers.get(n).cloned();
        next.unwrap_or_else(|| finish("Done."))
    })
}

fn builder(capabilities: &[Value], operations: &[&str]) -> Builder {
    let capabilities = [&[read_file()], capabilities].concat();
    let operations = [&["views.open_file", "files.read_file"], operations].concat();
    Run::builder()
        .launch(cast([coder("root", &capabilities, &operations, &[])]))
        .file("a.txt", "alpha\n".repeat(40))
        .file("b.txt", "beta\n")
}

#[test]
fn a_program_frees_its_agent_s_window_and_finds_what_it_took_out() {
    let run = builder(&[managed(90)], &WINDOW)
        .gateway(in_order(&[
            r#"views.openFile("a.txt"); views.openFile("b.txt");
               views.openText("note", "the password is Swordfish");"#,
            r#"
            attempt("evicted", () => context.evictFileView("a.txt"));
            attempt("again", () => context.evictFileView("./a.txt"));
            attempt("blank", () => context.evictFileView(" "));
            attempt("archived", () => context.archiveThread([[1, 1], [1, 2]]));
            attempt("none", () => context.archiveThread([]));
            attempt("backwards", () => context.archiveThread([[3, 1]]));
            attempt("zero", () => context.archiveThread([[0, 1]]));
            attempt("many", () => context.archiveThread(Array(33).fill([1, 1])));
            attempt("found", () => context.searchArchive("SWORDFISH"));
            attempt("nothing", () => context.searchArchive("marlin"));
            attempt("blankQuery", () => context.searchArchive("\t"));
            attempt("all", () => context.evictFileView());
            show("out");
            "#,
        ]))
        .run();
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
}

/// A root whose first program, which compacts, is followed by one that looks.
fn compacting(strategy: &str, first: &str) -> Run {
    builder(
        &[compaction(strategy, 0.2, &json!({}))],
        &["context.compact"],
    )
    .gateway(in_order(&[first, r#"show("later");"#]))
    .run()
}

#[test]
fn a_compaction_that_a_program_asks_for_is_made_as_the_turn_ends_and_the_last_stands() {
    let run = compacting(
        "self-compaction",
        r#"
        views.openText("before", "1");
        attempt("blank", () => context.compact(" "));
        attempt("blankFile", () => context.compact("s", { files: [" "] }));
        attempt("first", () => context.compact("Too early."));
        attempt("last", () => context.compact("What I know.", { files: ["b.txt", "none.txt"] }));
        views.openText("out", JSON.stringify(out));
        "#,
    );
    run.ended(0, "completed");
    let boundary = run.event("compaction");
    assert_eq!(boundary["summary"], "What I know.", "{}", run.describe());
    assert_eq!(run.events("compaction").len(), 1);
    let requests = run.gateway.as_ref().unwrap().requests();
    let second: Vec<String> = requests[1]
        .messages()
        .iter()
        .map(|it| tests::gateway::content_text(&it["content"]))
        .collect();
    assert!(
        second.iter().any(|it| it.contains("What I know.")),
        "{second:?}"
    );
    assert!(
        second.iter().any(|it| it.starts_with("File: b.txt")),
        "{second:?}"
    );
    assert!(
        !second.iter().any(|it| it.starts_with("View: before")),
        "{second:?}"
    );
    let calls: Vec<&str> = run
        .events("api_result")
        .iter()
        .filter(|it| it["operation"] == "context.compact")
        .map(|it| it["failure"].as_str().unwrap_or("ok"))
        .collect();
    assert_eq!(calls, ["invalid-argument", "invalid-argument", "ok", "ok"]);
}

#[test]
fn a_compaction_stands_though_its_program_fails_afterwards() {
    let run = compacting(
        "self-compaction",
        r#"context.compact("Kept."); throw new Error("boom");"#,
    );
    run.ended(0, "completed");
    assert_eq!(run.event("compaction")["summary"], "Kept.");
    assert_eq!(run.outcomes()[0], "program_throw", "{}", run.describe());
    // The failure is told behind the boundary, so that it is not lost with what went.
    let errors = told(&run, "Runtime error\n----\n");
    assert!(errors[0].contains("boom"), "{errors:?}");
}

#[test]
fn a_code_agent_hands_its_summary_in_by_the_call_where_others_write_prose() {
    let run = compacting("self-summarization", r#"context.compact("In one call.");"#);
    run.ended(0, "completed");
    assert_eq!(run.event("compaction")["summary"], "In one call.");
}
