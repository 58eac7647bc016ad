//! The documentation as a code agent reads it: what it searches for and opens is in view from the
//! next turn on, what it may not call is neither, and calls made unread are counted (04 §8).

use serde_json::{Value, json};
use tests::gateway::Gateway;
use tests::run::{Builder, Run};

use crate::coders::{cast, coder, programs, refused, shown, told};
use crate::windowed::edited;

const READ: [&str; 2] = ["files.read_file", "files.read_text_file"];
const CLOSE: [&str; 2] = ["docs.close", "docs.close_all"];

fn read_file() -> Value {
    json!({ "id": "read-file", "enabled": true, "implementation": "default-cap",
        "params": { "lineCap": 250 } })
}

fn closes() -> Value {
    json!({ "id": "docview-close", "enabled": true, "params": {} })
}

/// A run of one agent in a language, that may read files and close pages, with these flags of
/// `docViewTypes`.
fn reader(language: &str, types: &Value) -> Builder {
    let operations = [READ.as_slice(), &CLOSE].concat();
    let mut profile = coder("root", &[read_file(), closes()], &operations, &[]);
    let all = profile["capabilities"].as_array_mut().unwrap();
    for capability in all {
        if capability["id"] == "responses-as-code" {
            capability["params"]["language"] = json!(language);
            capability["params"]["docViewTypes"] = types.clone();
        }
    }
    Run::builder().launch(cast([profile]))
}

fn keys(hits: &Value) -> Vec<&str> {
    let hits = hits["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["key"].as_str().unwrap())
        .collect()
}

/// The names of pages that were shown, in order.
fn pages(run: &Run) -> Vec<String> {
    let heads = told(run, "Documentation: ").into_iter();
    heads
        .filter_map(|text| {
            let (head, _) = text.split_once('\n')?;
            head.strip_prefix("Documentation: ").map(str::to_owned)
        })
        .collect()
}

#[test]
fn what_a_search_finds_is_shown_and_every_hit_opens() {
    let types = json!({ "return": true, "parameters": false, "errors": true });
    let run = reader("javascript", &types)
        .answers(programs([r#"
            attempt("found", () => docs.search({ query: "read file", kind: "function" }));
            attempt("empty", () => docs.search({ query: "zzzz" }));
            attempt("nothing", () => docs.search({}));
            attempt("none", () => docs.search({ query: "read", limit: 0 }));
            for (const hit of out.found.hits) views.openDocsView(hit.key);
            attempt("byFunction", () => views.openDocsView(views.openText));
            show("out");
            "#]))
        .run();
    run.ended(0, "completed");
    let out = shown(&run, "out");
    let found = keys(&out["found"]);
    assert_eq!(found[..2], ["gg.files.readFile", "gg.files.readTextFile"]);
    assert_eq!(
        out["found"]["total"].as_u64().unwrap() as usize,
        found.len()
    );
    assert_eq!(out["empty"], json!({ "total": 0, "offset": 0, "hits": [] }));
    for name in ["nothing", "none"] {
        refused(&out, name, "invalid-argument", "search", &["expected"]);
    }
    assert_eq!(out["byFunction"], "ok");
    // One view of the last search that was answered; those refused opened none.
    let searches = told(&run, "View: search results\n");
    assert_eq!(
        searches,
        ["View: search results\n----\nSearch: `zzzz`\nNothing found\n"]
    );
    let pages = pages(&run);
    for key in found {
        assert!(pages.iter().any(|page| page == key), "{key}: {pages:?}");
    }
    // Types of results and failures came along, those of arguments did not.
    for (page, shown) in [
        ("gg.core.FileRead", true),
        ("gg.core.ApiError", true),
        ("gg.views.openText", true),
        ("gg.docs.DocKind", false),
    ] {
        assert_eq!(
            pages.iter().any(|one| one == page),
            shown,
            "{page}: {pages:?}"
        );
    }
    let read = told(&run, "Documentation: gg.files.readFile\n");
    assert_eq!(read.len(), 1, "{read:?}");
    for part in [
        "readFile(path: string, options?: { offset?: number; limit?: number }): FileRead\n",
        "  path: string - ",
        "    offset: number, optional (passed by name) - ",
        "gg.files\nimport { files } from \"gg\";\n",
        "Reads a file.",
    ] {
        assert!(read[0].contains(part), "{part:?} is not in {}", read[0]);
    }
}

#[test]
fn what_may_not_be_called_is_neither_found_nor_opened() {
    let run = reader("javascript", &json!(false))
        .answers(programs([r#"
            attempt("write", () => docs.search({ query: "writeFile" }));
            attempt("directory", () => docs.search({ modules: ["files", "gg.tasks"] }));
            attempt("withheld", () => views.openDocsView("gg.files.writeFile"));
            attempt("module", () => views.openDocsView("gg.tasks"));
            attempt("typo", () => views.openDocsView("gg.files.readFlie"));
            attempt("key", () => views.openDocsView("read_text_file"));
            attempt("several", () => views.openDocsView("close"));
            attempt("bare", () => views.openDocsView("closeAll"));
            attempt("number", () => views.openDocsView(7));
            show("out");
            "#]))
        .run();
    run.ended(0, "completed");
    let out = shown(&run, "out");
    let written = keys(&out["write"]);
    assert!(!written.contains(&"gg.files.writeFile"), "{written:?}");
    let directory = ["gg.files", "gg.files.readFile", "gg.files.readTextFile"];
    assert_eq!(keys(&out["directory"]), directory);
    let open = "open_docs_view";
    let missing = "there is no documentation of";
    refused(
        &out,
        "withheld",
        "not-found",
        open,
        &[missing, "`gg.files.writeFile`"],
    );
    refused(&out, "module", "not-found", open, &[missing]);
    refused(
        &out,
        "typo",
        "not-found",
        open,
        &["\n  near to it: gg.files.readFile"],
    );
    refused(
        &out,
        "key",
        "not-found",
        open,
        &["\n  near to it: gg.files.readTextFile"],
    );
    // `gg.views.close` is not granted, so that the bare name is of one call alone.
    assert_eq!(out["several"], "ok");
    assert_eq!(out["bare"], "ok");
    refused(&out, "number", "invalid-argument", open, &["neither"]);
    assert_eq!(pages(&run), ["gg.docs.close", "gg.docs.closeAll"]);
}

#[test]
fn a_page_that_stands_is_not_shown_again_until_it_is_closed() {
    let run = reader("javascript", &json!(false))
        .gateway(Gateway::with_checker(
            Some(edited()),
            programs([
                r#"views.openDocsView("readFile"); views.openDocsView("gg.views.openText");"#,
                r#"views.openDocsView("gg.files.readFile");"#,
                r#"
            attempt("closed", () => docs.close("readFile"));
            attempt("again", () => docs.close("gg.files.readFile"));
            attempt("blank", () => docs.close(" "));
            views.openDocsView("readFile");
            attempt("all", () => docs.closeAll());
            attempt("none", () => docs.closeAll());
            show("out");
            "#,
            ]),
        ))
        .run();
    run.ended(0, "completed");
    let out = shown(&run, "out");
    assert_eq!(out["closed"], 1);
    assert_eq!(out["again"], 0);
    assert_eq!(out["all"], 2);
    assert_eq!(out["none"], 0);
    refused(&out, "blank", "invalid-argument", "close", &["blank"]);
    let counts = |turn: usize| {
        let requests = run.gateway.as_ref().unwrap().requests();
        let chats: Vec<_> = requests.iter().filter(|it| it.method == "POST").collect();
        let messages = chats[turn].messages();
        let texts = messages
            .iter()
            .map(|it| tests::gateway::content_text(&it["content"]));
        texts
            .filter(|text| text.starts_with("Documentation: "))
            .count()
    };
    assert_eq!([counts(1), counts(2), counts(3)], [2, 2, 0]);
    let closed: Vec<&Value> = run
        .events("context_managed")
        .iter()
        .map(|event| &event["action"])
        .collect();
    assert_eq!(closed, ["close_docs_views", "close_docs_views"]);
}

#[test]
fn closing_pages_takes_its_own_capability() {
    let run = Run::builder()
        .launch(cast([coder("root", &[], &[], &[])]))
        .answers(programs([r#"
            attempt("close", () => docs.close("gg.views.openText"));
            attempt("all", () => docs.closeAll());
            attempt("found", () => docs.search({ query: "close", kind: "function" }));
            show("out");
            "#]))
        .run();
    run.ended(0, "completed");
    let out = shown(&run, "out");
    refused(
        &out,
        "close",
        "unavailable",
        "close",
        &["`gg.docs.close` is not available."],
    );
    refused(
        &out,
        "all",
        "unavailable",
        "close_all",
        &["`gg.docs.closeAll` is not available."],
    );
    for key in keys(&out["found"]) {
        assert!(!key.starts_with("gg.docs.close"), "{key}");
    }
}

#[test]
fn calls_made_unread_are_counted_until_their_page_stood_before_the_turn() {
    let run = reader("javascript", &json!(false))
        .file("a.txt", "alpha\n")
        .answers(programs([
            r#"
            views.openDocsView("gg.files.readFile");
            files.readFile("a.txt"); files.readFile("a.txt");
            try { tasks.completeTask("x"); } catch { /* It is not granted. */ }
            "#,
            r#"files.readFile("a.txt"); files.readTextFile("a.txt");"#,
        ]))
        .run();
    run.ended(0, "completed");
    let counted: Vec<Value> = run
        .events("code_execution")
        .iter()
        .map(|event| event["undocumentedCalls"].clone())
        .collect();
    assert_eq!(
        counted,
        [
            json!({ "calls": 3, "operations": {
                "files.read_file": 2, "views.open_docs_view": 1 } }),
            json!({ "calls": 1, "operations": { "files.read_text_file": 1 } }),
            // An ending needs no page.
            Value::Null,
        ]
    );
    let warned = |event: &&Value| {
        let message = event["message"].as_str().unwrap_or_default();
        event["level"] == "warn" && message.contains("documentation")
    };
    assert_eq!(
        run.events("log").into_iter().filter(warned).count(),
        1,
        "{}",
        run.describe()
    );
}

#[test]
fn every_arm_reads_its_own_documentation() {
    let types = json!(true);
    for (language, program, read) in [
        (
            "python",
            "import gg\nhits = gg.docs.search(query=\"read file\").hits\n\
             gg.views.open_docs_view(hits[0].key)\n\
             gg.views.open_docs_view(gg.views.open_text)\n",
            ["gg.files.read_file", "gg.views.open_text"],
        ),
        (
            "typescript",
            "import { docs, views } from \"gg\";\n\
             const [first] = docs.search({ query: \"read file\" }).hits;\n\
             if (first) views.openDocsView(first.key);\nviews.openDocsView(views.openText);\n",
            ["gg.files.readFile", "gg.views.openText"],
        ),
    ] {
        let finish = match language {
            "python" => "import gg\ngg.session.finish(\"Done.\")\n",
            _ => "import { session } from \"gg\";\nsession.finish(\"Done.\");\n",
        };
        let run = reader(language, &types)
            .answers(move |request: &tests::gateway::Request, _| {
                let source = if request.turn() == 0 { program } else { finish };
                tests::gateway::Answer::call("submit_program", json!({ "program": source }))
            })
            .run();
        run.ended(0, "completed");
        let pages = pages(&run);
        for name in read {
            assert!(
                pages.iter().any(|page| page == name),
                "{language}: {pages:?}"
            );
        }
        assert!(
            pages.iter().any(|page| page == "gg.core.ApiError"),
            "{language}: {pages:?}"
        );
        let search = told(&run, "View: search results\n");
        assert!(
            search[0].contains("\n\nFunctions:\n"),
            "{language}: {search:?}"
        );
    }
}
