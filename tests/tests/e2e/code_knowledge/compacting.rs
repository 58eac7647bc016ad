//! What a compaction of a code agent asks for, and what it leaves: pages, files and loaded code.

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request, Responder, content_text};
use tests::run::Run;

use super::{exactly, place};
use crate::coders::{cast, coder, finish, refused, shown, submit};
use crate::memories::memories;
use crate::windowed::{compaction, edited};

/// A root in a narrow window, with these capabilities.
fn root(strategy: &str, more: &[Value], operations: &[&str]) -> Value {
    let narrow = json!({ "id": "context-window-override", "enabled": true,
        "params": { "windowLimit": 9_000 } });
    let reads = json!({ "id": "read-file", "enabled": true, "implementation": "unlimited",
        "params": { "lineCap": 200 } });
    let capabilities = [
        &[narrow, reads, compaction(strategy, 0.2, &json!({}))],
        more,
    ]
    .concat();
    let operations = [&["views.open_file", "context.compact"][..], operations].concat();
    coder("root", &capabilities, &operations, &[])
}

/// A gateway that lets a window be restarted, and is as strict as ever otherwise.
fn edited_by(responder: impl Responder) -> Gateway {
    Gateway::with_checker(Some(edited()), responder)
}

fn asked(request: &Request) -> bool {
    let messages = request.messages();
    let last = content_text(&messages.last().unwrap()["content"]);
    last.starts_with("Notice\n----\n") && last.contains("window is nearly full")
        || last.contains("the compaction is still due")
}

/// A text of about 3,000 tokens.
fn much(n: usize) -> String {
    format!("views.openText(\"much {n}\", \"word \".repeat(3000));")
}

#[test]
fn a_summary_is_handed_in_by_a_program_and_pages_stay() {
    let run = Run::builder()
        .launch(cast([root("self-summarization", &[], &[])]))
        .gateway(edited_by(|request: &Request, n: usize| {
            if asked(request) {
                let messages = request.messages();
                let last = content_text(&messages.last().unwrap()["content"]);
                return if last.contains("still due") {
                    submit("context.compact(\"All of it.\");")
                } else {
                    submit(
                        "attempt(\"other\", () => views.openFile(\"a.md\"));\n\
                         attempt(\"files\", () => context.compact(\"x\", { files: [\"a.md\"] }));\nshow(\"tried\");",
                    )
                };
            }
            match n {
                0 => submit("views.openDocsView(\"gg.views.openText\"); views.openText(\"x\", \"y\");"),
                1..6 => submit(&much(n)),
                _ => finish("Done."),
            }
        }))
        .file("a.md", "alpha\n")
        .run();
    run.ended(0, "completed");
    let tried = shown(&run, "tried");
    refused(
        &tried,
        "other",
        "refused",
        "open_file",
        &["context.compact"],
    );
    refused(&tried, "files", "invalid-argument", "compact", &["files"]);
    let boundary = run.event("compaction");
    assert_eq!(boundary["summary"], "All of it.");
    assert_eq!(boundary["retained"]["docsViews"], 1);
    assert!(
        run.outcomes()
            .iter()
            .all(|it| ["progressed", "finished"].contains(it)),
        "a program that did not do it is no error: {:?}",
        run.outcomes()
    );
    let after = after_compaction(&run, "All of it.");
    let page = place(&after, "Documentation: gg.views.openText\n----\n");
    let summary = place(&after, "Summary\n----\nAll of it.");
    assert!(page < summary);
    assert!(!after.iter().any(|text| text.starts_with("View: ")));
}

/// The texts of the first request that holds a summary.
fn after_compaction(run: &Run, summary: &str) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let head = format!("Summary\n----\n{summary}");
    let texts = |request: &Request| -> Vec<String> {
        let messages = request.messages();
        messages
            .iter()
            .map(|it| content_text(&it["content"]))
            .collect()
    };
    let chats = requests.iter().filter(|it| it.method == "POST");
    chats
        .map(|it| texts(it))
        .find(|texts| texts.iter().any(|text| text.starts_with(&head)))
        .unwrap()
}

#[test]
fn files_that_a_compaction_names_come_back_as_views_and_loaded_code_stays() {
    let more = [memories("scratchpad")];
    let run = Run::builder()
        .launch(cast([root("self-compaction", &more, &["memories.write_memory"])]))
        .file("a.md", "alpha\nbeta\n")
        .file("big.md", "long line\n".repeat(7_000))
        .gateway(edited_by(|_: &Request, n: usize| match n {
            0 => submit(
                "memories.writeMemory(\"greet\", \"d\", \"b\", { code: \"export const hi = () => 'hi';\" });\n\
                 views.openFile(\"a.md\"); context.compact(\"Few.\", { files: [\"a.md\", \"big.md\", \"none.md\"] });",
            ),
            1 => exactly(
                "import { views } from \"gg\";\nimport * as greet from \"lib:greet\";\n\
                 views.openText(\"hi\", greet.hi());",
            ),
            _ => finish("Done."),
        }))
        .run();
    run.ended(0, "completed");
    let after = after_compaction(&run, "Few.");
    assert_eq!(
        after[place(&after, "File: a.md")],
        "File: a.md:1-2 of 2 lines\n----\nalpha\nbeta\n"
    );
    let summary = &after[place(&after, "Summary\n")];
    assert!(
        summary.contains("`big.md`") && summary.contains("65,536"),
        "{summary}"
    );
    assert!(summary.contains("`none.md`"), "{summary}");
    place(&after, "Memories\n----\n# Your memories");
    let requests = run.gateway.as_ref().unwrap().requests();
    let last = requests.iter().rfind(|it| it.method == "POST").unwrap();
    assert!(
        last.json()["messages"]
            .to_string()
            .contains("View: hi\\n----\\nhi")
    );
}

/// A program whose calls all succeed, and that puts nothing down.
const LET_GO: &str = "memories.deleteMemory(`old`);";

/// Whether that ran since the window was last compacted.
fn has_let_go(request: &Request) -> bool {
    request.json().to_string().contains(LET_GO)
}

#[test]
fn a_compaction_into_memories_takes_one_whole_reply_that_succeeds_and_saves_something() {
    let more = [memories("scratchpad")];
    let operations = ["memories.write_memory", "memories.delete_memory"];
    let run = Run::builder()
        .launch(cast([root("memory-compaction", &more, &operations)]))
        .gateway(edited_by(|request: &Request, n: usize| {
            if asked(request) {
                let messages = request.messages();
                let last = content_text(&messages.last().unwrap()["content"]);
                return if last.contains("still due") && n < 7 && !has_let_go(request) {
                    // Nor is what saves nothing.
                    submit(LET_GO)
                } else if last.contains("still due") {
                    submit("memories.writeMemory(`note${Date.now()}`, \"d\", \"what I know\");")
                } else if n < 7 {
                    // Half of it is no answer.
                    submit("attempt(\"gone\", () => memories.deleteMemory(\"none\"));")
                } else {
                    Answer::text("I would rather not.")
                };
            }
            if n == 0 {
                submit("memories.writeMemory(\"old\", \"d\", \"b\");")
            } else if n < 11 {
                submit(&much(n))
            } else {
                finish("Done.")
            }
        }))
        .run();
    run.ended(0, "completed");
    let boundaries = run.events("compaction");
    assert_eq!(boundaries.len(), 2, "{}", run.describe());
    assert!(
        boundaries
            .iter()
            .all(|it| it["strategy"] == "memory-compaction")
    );
    // The old one, its end, and one for each boundary.
    assert_eq!(run.events("memory_revision").len(), 4);
}
