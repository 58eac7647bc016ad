//! What can be found of the documentation and what can be called are one set, on every arm (04 §1, §8).

use serde_json::{Value, json};
use vocab::operations::OPERATIONS;

use super::workshop;
use crate::arms::{Arm, both, on_each, play};

#[test]
fn each_page_of_each_granted_call_is_found_and_opened() {
    // Everything that a capability buys but the board's, and every second of it.
    let all: Vec<&str> = OPERATIONS
        .iter()
        .filter(|row| row.grantable() && row.module() != "board")
        .map(|row| row.id)
        .collect();
    let some: Vec<&str> = all
        .iter()
        .copied()
        .step_by(2)
        .chain(["files.write_file"])
        .collect();
    for operations in [all, some] {
        on_each(|arm| judge(arm, &operations));
    }
}

/// Asserts that an agent which may call these finds them all and no others, and opens what it finds.
#[track_caller]
fn judge(arm: Arm, operations: &[&str]) {
    let body = both(
        r#"
            const modules = ["files", "shell", "tasks", "memories", "docs", "views", "context",
              "delegation", "skills", "programs", "session", "board"];
            const keys: string[] = [];
            for (const module of modules) {
              let offset = 0;
              for (;;) {
                const page = docs.search({ modules: [module], offset, limit: 100 });
                for (const hit of page.hits) keys.push(hit.key);
                offset += page.hits.length;
                if (page.hits.length === 0 || offset >= page.total) break;
              }
            }
            for (const key of keys) attempt(key, () => views.openDocsView(key));
            files.writeFile("opened", JSON.stringify(out));
            "#,
        r#"
            modules = ["files", "shell", "tasks", "memories", "docs", "views", "context",
                "delegation", "skills", "programs", "session", "board"]
            keys = []
            for module in modules:
                offset = 0
                while True:
                    page = docs.search(modules=[module], offset=offset, limit=100)
                    keys += [hit.key for hit in page.hits]
                    offset += len(page.hits)
                    if not page.hits or offset >= page.total:
                        break
            for key in keys:
                attempt(key, lambda: views.open_docs_view(key))
            files.write_file("opened", json.dumps(out))
            "#,
    );
    let body = if arm == Arm::Javascript {
        body.replacing("const keys: string[]", "const keys")
    } else {
        body
    };
    let run = play(arm, &everything(), operations, &[body]);
    let opened: Value = serde_json::from_str(&run.file("opened")).unwrap();
    let opened = opened.as_object().unwrap();
    for (key, told) in opened {
        assert_eq!(told, "ok", "{key}");
    }
    let surface = run.event("agent_surface");
    let modules = surface["apis"].as_array().unwrap().iter();
    let functions: Vec<String> = modules
        .flat_map(|module| {
            let path = module["path"].as_str().unwrap();
            let names = module["functions"].as_array().unwrap().iter();
            let names = names.map(|it| it["name"].as_str().unwrap());
            // A method's page is its type's.
            let functions = names.filter(|name| !name.contains('.'));
            functions.map(move |name| format!("{path}.{name}"))
        })
        .collect();
    // What can be called is found, and of what is found each function can be called.
    let found: Vec<&String> = opened.keys().filter(|key| is_function(key)).collect();
    for function in &functions {
        assert!(
            found.contains(&function),
            "{function} is not found: {found:?}"
        );
    }
    for key in found {
        assert!(
            functions.contains(key),
            "{key} is found and not granted: {functions:?}"
        );
    }
}

/// Whether a key of the documentation is a function's: modules have no third part, types begin with a
/// capital letter.
fn is_function(key: &str) -> bool {
    let mut parts = key.split('.').skip(2);
    parts
        .next()
        .is_some_and(|name| name.starts_with(|first: char| first.is_ascii_lowercase()))
        && parts.next().is_none()
}

/// Every capability that buys an operation, but the board's.
fn everything() -> Vec<Value> {
    let plain = |id: &str, params: Value| json!({ "id": id, "enabled": true, "params": params });
    let mut all = workshop();
    all.extend([
        plain("tasks", json!({ "mode": "simple", "maxTasks": 0 })),
        crate::memories::memories("keyword-search"),
        plain("docview-close", json!({})),
        crate::windowed::compaction("self-compaction", 0.2, &json!({})),
        crate::families::subagents(1),
        crate::skills::skills(".gg/skills", &["gg-views"]),
        plain("fork", json!({})),
        crate::coders::library(0),
    ]);
    all
}
