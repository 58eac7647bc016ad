//! The documentation as a code agent of any arm reads it: what it searches for and opens is in view from
//! the next turn on, what it may not call is neither, and calls made unread are counted (04 §8).

use serde_json::{Value, json};
use tests::gateway::Gateway;
use tests::run::{Builder, Run};

use crate::arms::{
    Arm, Texts, both, coder_of, covered, each, on_each, play, programs, shown_attempts, spelled,
};
use crate::coders::{cast, refused, shown, told};
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
/// `docViewTypes`, whose turns are these programs.
fn reader(arm: Arm, types: &Value, bodies: &[Texts]) -> Builder {
    let operations = [READ.as_slice(), &CLOSE].concat();
    let mut profile = coder_of(arm, "root", &[read_file(), closes()], &operations, &[]);
    let all = profile["capabilities"].as_array_mut().unwrap();
    for capability in all {
        if capability["id"] == "responses-as-code" {
            capability["params"]["docViewTypes"] = types.clone();
        }
    }
    Run::builder()
        .launch(cast([profile]))
        .gateway(Gateway::with_checker(Some(edited()), programs(arm, bodies)))
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
    let search = shown_attempts([
        (
            "found",
            r#"docs.search({ query: "read file", kind: "function" })"#,
            r#"docs.search("read file", kind=docs.DocKind.FUNCTION)"#,
        ),
        ("empty", r#"docs.search({ query: "zzzz" })"#, r#"docs.search(query="zzzz")"#),
        ("nothing", "docs.search({})", "docs.search()"),
        ("none", r#"docs.search({ query: "read", limit: 0 })"#, r#"docs.search("read", limit=0)"#),
        ("byFunction", "views.openDocsView(views.openText)", "views.open_docs_view(views.open_text)"),
    ])
    .and(&both(
        "for (const hit of out.found.hits) views.openDocsView(hit.key);",
        r#"for hit in out["found"]["hits"]: views.open_docs_view(hit["key"])"#,
    ));
    let types = json!({ "return": true, "parameters": false, "errors": true });
    on_each(|arm| {
        let run = reader(arm, &types, std::slice::from_ref(&search)).run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        let found = keys(&out["found"]);
        let first = READ.map(|id| spelled(arm, id));
        assert_eq!(found[..2], first.each_ref().map(String::as_str));
        let total = out["found"]["total"].as_u64().unwrap();
        assert_eq!(usize::try_from(total).unwrap(), found.len());
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
        let (result, argument) = match arm {
            Arm::Typescript | Arm::Javascript => ("gg.core.FileRead", "gg.docs.DocKind"),
            Arm::Python => ("gg.files.TextFile", "gg.docs.DocKind"),
        };
        let own = spelled(arm, "views.open_text");
        for (page, shown) in [
            (result, true),
            ("gg.core.ApiError", true),
            (own.as_str(), true),
            (argument, false),
        ] {
            assert_eq!(
                pages.iter().any(|one| one == page),
                shown,
                "{page}: {pages:?}"
            );
        }
        let read = told(&run, &format!("Documentation: {}\n", spelled(arm, READ[0])));
        assert_eq!(read.len(), 1, "{read:?}");
        let parts: &[&str] = match arm {
            Arm::Typescript | Arm::Javascript => &[
                "readFile(path: string, options?: { offset?: number; limit?: number }): FileRead\n",
                "  path: string - ",
                "    offset: number, optional (passed by name) - ",
                "gg.files\nimport { files } from \"gg\";\n",
                "Reads a file.",
            ],
            Arm::Python => &[
                "read_file(path: ",
                "-> TextFile | ImageFile\n",
                "  offset: int | None",
                "(passed by name) - ",
                "gg.files\nimport gg\n",
                "Reads a file.",
            ],
        };
        for part in parts {
            assert!(read[0].contains(part), "{part:?} is not in {}", read[0]);
        }
    });
}

#[test]
fn a_search_pages_through_what_there_is_by_module_type_and_kind() {
    let body = shown_attempts([
        ("first", r#"docs.search({ modules: ["docs"], limit: 2 })"#, r#"docs.search(modules=["docs"], limit=2)"#),
        (
            "rest",
            r#"docs.search({ modules: ["docs"], offset: 2, limit: 100 })"#,
            r#"docs.search(modules=["docs"], offset=2, limit=100)"#,
        ),
        ("typed", r#"docs.search({ type: "DocSearch" })"#, r#"docs.search(type="DocSearch")"#),
        ("modules", r#"docs.search({ kind: "module" })"#, "docs.search(kind=docs.DocKind.MODULE)"),
        ("kind", r#"docs.search({ kind: loose("word") })"#, r#"docs.search(kind="word")"#),
    ]);
    on_each(|arm| {
        let run = reader(arm, &json!(false), std::slice::from_ref(&body)).run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        assert_eq!(keys(&out["first"]).len(), 2);
        assert_eq!(out["rest"]["offset"], 2);
        let (first, rest) = (keys(&out["first"]), keys(&out["rest"]));
        assert!(rest.iter().all(|key| !first.contains(key)), "{out:#}");
        let total = out["first"]["total"].as_u64().unwrap();
        assert_eq!(usize::try_from(total).unwrap(), 2 + rest.len());
        assert!(keys(&out["typed"]).contains(&&*spelled(arm, "docs.search")), "{out:#}");
        let modules = keys(&out["modules"]);
        assert!(modules.contains(&"gg.files") && !modules.contains(&"gg.tasks"), "{modules:?}");
        refused(&out, "kind", "invalid-argument", "search", &[]);
    });
}

#[test]
fn what_may_not_be_called_is_neither_found_nor_opened() {
    let calls = shown_attempts([
        ("write", r#"docs.search({ query: "writeFile" })"#, r#"docs.search("write_file")"#),
        (
            "directory",
            r#"docs.search({ modules: ["files", "gg.tasks"], kind: "function" })"#,
            r#"docs.search(modules=["files", "gg.tasks"], kind=docs.DocKind.FUNCTION)"#,
        ),
        ("withheld", r#"views.openDocsView("gg.files.writeFile")"#, r#"views.open_docs_view("gg.files.write_file")"#),
        ("byFunction", "views.openDocsView(files.writeFile)", "views.open_docs_view(files.write_file)"),
        ("module", r#"views.openDocsView("gg.tasks")"#, r#"views.open_docs_view("gg.tasks")"#),
        ("typo", r#"views.openDocsView("gg.files.readFlie")"#, r#"views.open_docs_view("gg.files.read_flie")"#),
        ("key", r#"views.openDocsView("read_text_file")"#, r#"views.open_docs_view("readTextFile")"#),
        ("several", r#"views.openDocsView("close")"#, r#"views.open_docs_view("close")"#),
        ("bare", r#"views.openDocsView("closeAll")"#, r#"views.open_docs_view("close_all")"#),
        ("number", "views.openDocsView(loose(7))", "views.open_docs_view(7)"),
    ]);
    on_each(|arm| {
        let run = reader(arm, &json!(false), std::slice::from_ref(&calls)).run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        let withheld = spelled(arm, "files.write_file");
        let written = keys(&out["write"]);
        assert!(!written.contains(&withheld.as_str()), "{written:?}");
        let directory = READ.map(|id| spelled(arm, id));
        assert_eq!(keys(&out["directory"]), directory);
        let open = "open_docs_view";
        let missing = "there is no documentation of";
        let named = format!("`{withheld}`");
        for name in ["withheld", "byFunction"] {
            refused(&out, name, "not-found", open, &[missing, &named]);
        }
        refused(&out, "module", "not-found", open, &[missing]);
        let near = format!("\n  near to it: {}", spelled(arm, READ[0]));
        refused(&out, "typo", "not-found", open, &[&near]);
        let near = format!("\n  near to it: {}", spelled(arm, READ[1]));
        refused(&out, "key", "not-found", open, &[&near]);
        // Closing views is not granted, so that the bare name is of one call alone.
        assert_eq!(out["several"], "ok");
        assert_eq!(out["bare"], "ok");
        refused(&out, "number", "invalid-argument", open, &["neither"]);
        assert_eq!(pages(&run), CLOSE.map(|id| spelled(arm, id)));
    });
}

#[test]
fn a_bare_name_of_several_calls_is_a_conflict() {
    let body = shown_attempts([
        ("several", r#"views.openDocsView("close")"#, r#"views.open_docs_view("close")"#),
        ("full", r#"views.openDocsView("gg.docs.close")"#, r#"views.open_docs_view("gg.docs.close")"#),
    ]);
    on_each(|arm| {
        let managed = crate::windowed::managed(99);
        let operations = [&CLOSE[..], &["views.close"]].concat();
        let bodies = std::slice::from_ref(&body);
        let run = play(arm, &[closes(), managed], &operations, bodies);
        let out = shown(&run, "out");
        let names: &[&str] = &["gg.docs.close", "gg.views.close"];
        refused(&out, "several", "conflict", "open_docs_view", names);
        assert_eq!(out["full"], "ok");
    });
}

#[test]
fn a_page_that_stands_is_not_shown_again_until_it_is_closed() {
    let bodies = [
        both(
            r#"views.openDocsView("readFile"); views.openDocsView("gg.views.openText");"#,
            "views.open_docs_view('read_file'); views.open_docs_view('gg.views.open_text')",
        ),
        both(
            r#"views.openDocsView("gg.files.readFile");"#,
            "views.open_docs_view('gg.files.read_file')",
        ),
        shown_attempts([
            ("closed", r#"docs.close("readFile")"#, r#"docs.close("read_file")"#),
            ("again", r#"docs.close("gg.files.readFile")"#, r#"docs.close("gg.files.read_file")"#),
            ("blank", r#"docs.close(" ")"#, r#"docs.close(" ")"#),
            ("open", r#"views.openDocsView("readFile")"#, r#"views.open_docs_view("read_file")"#),
            ("all", "docs.closeAll()", "docs.close_all()"),
            ("none", "docs.closeAll()", "docs.close_all()"),
            ("found", r#"docs.search({ query: "x", limit: 1 }).offset"#, r#"docs.search("x", limit=1).offset"#),
        ]),
    ];
    on_each(|arm| {
        let run = reader(arm, &json!(false), &bodies).run();
        run.ended(0, "completed");
        covered(&run, &["docs"]);
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
    });
}

#[test]
fn closing_pages_takes_its_own_capability() {
    let body = shown_attempts([
        ("close", r#"docs.close("gg.views")"#, r#"docs.close("gg.views")"#),
        ("all", "docs.closeAll()", "docs.close_all()"),
        (
            "found",
            r#"docs.search({ query: "close", kind: "function" })"#,
            r#"docs.search("close", kind=docs.DocKind.FUNCTION)"#,
        ),
    ]);
    on_each(|arm| {
        let run = play(arm, &[], &[], std::slice::from_ref(&body));
        let out = shown(&run, "out");
        for (name, key, id) in [
            ("close", "close", CLOSE[0]),
            ("all", "close_all", CLOSE[1]),
        ] {
            let said = format!("`{}` is not available.", spelled(arm, id));
            refused(&out, name, "unavailable", key, &[&said]);
        }
        for key in keys(&out["found"]) {
            assert!(!key.starts_with("gg.docs.close"), "{key}");
        }
    });
}

#[test]
fn calls_made_unread_are_counted_until_their_page_stood_before_the_turn() {
    let bodies = [
        each(
            r#"
            views.openDocsView("gg.files.readFile");
            files.readFile("a.txt"); files.readFile("a.txt");
            try { tasks.completeTask("x"); } catch { /* It is not granted. */ }
            "#,
            r#"
            views.openDocsView("gg.files.readFile");
            files.readFile("a.txt"); files.readFile("a.txt");
            try { tasks.completeTask("x"); } catch { /* It is not granted. */ }
            "#,
            r#"
            views.open_docs_view("gg.files.read_file")
            files.read_file("a.txt"); files.read_file("a.txt")
            try: tasks.complete_task("x")
            except gg.ApiError: pass # It is not granted.
            "#,
        ),
        both(
            r#"files.readFile("a.txt"); files.readTextFile("a.txt");"#,
            "files.read_file('a.txt'); files.read_text_file('a.txt')",
        ),
    ];
    on_each(|arm| {
        let run = reader(arm, &json!(false), &bodies)
            .file("a.txt", "alpha\n")
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
    });
}

#[test]
fn a_module_s_page_and_a_type_s_are_opened_by_what_a_language_has_for_them() {
    let body = both(
        r#"views.openDocsView("gg.files"); views.openDocsView("gg.core.ApiError");"#,
        "views.open_docs_view(files); views.open_docs_view(gg.ApiError)",
    );
    on_each(|arm| {
        let run = reader(arm, &json!(true), std::slice::from_ref(&body)).run();
        run.ended(0, "completed");
        let pages = pages(&run);
        for page in ["gg.files", "gg.core.ApiError"] {
            assert!(pages.iter().any(|it| it == page), "{page}: {pages:?}");
        }
        let module = &told(&run, "Documentation: gg.files\n")[0];
        assert!(module.contains(&spelled(arm, READ[0])), "{module}");
        assert!(!module.contains(&spelled(arm, "files.write_file")), "{module}");
    });
}
