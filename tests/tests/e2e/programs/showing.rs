//! Views: what of a program reaches the model, when, and under which bounds.

use serde_json::json;
use tests::gateway::content_text;
use tests::run::Run;

use super::{answers, does, exactly, launch, workshop};
use crate::coders::{cast, coder, told};

#[test]
fn a_view_arrives_with_the_next_turn_and_nothing_else_does() {
    let run = Run::builder()
        .launch(launch())
        .file("src/a.rs", "one\ntwo\n")
        .answers(answers([
            does(
                r#"
                const read = files.readFile("src/a.rs");
                views.openFile("src/a.rs");
                views.openText("sum", String(read.contents.length));
                console.log("a line for nobody");
                read;
                "#,
            ),
            does(r#"views.openText("sum", "again"); session.finish("Done.");"#),
        ]))
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    let texts: Vec<String> = requests[1]
        .messages()
        .iter()
        .map(|message| content_text(&message["content"]))
        .collect();
    let tail = &texts[texts.len() - 3..];
    assert_eq!(
        tail,
        [
            "ok",
            "File: src/a.rs:1-2 of 2 lines\n----\none\ntwo\n",
            "View: sum\n----\n8"
        ],
        "{texts:#?}"
    );
    assert!(!texts.iter().any(|text| text.contains("for nobody")));
    let execution = run.events("code_execution")[0];
    assert_eq!(execution["logs"][0]["text"], "a line for nobody");
    assert_eq!(execution["toolCalls"], 2);
    assert_eq!(execution["apiCalls"], 3);
    assert_eq!(run.events("tool_call").len(), 0);
}

#[test]
fn every_request_offers_one_tool_and_is_pinned_to_it() {
    let run = Run::builder()
        .launch(launch())
        .answers(answers([does("session.finish('Done.');")]))
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    let body = requests[0].json();
    assert_eq!(body["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(body["tools"][0]["function"]["name"], "submit_program");
    assert_eq!(
        body["tool_choice"],
        json!({ "type": "function", "function": { "name": "submit_program" } })
    );
    let surface = run.event("agent_surface");
    assert_eq!(surface["executionMode"], "responses_as_code");
    assert_eq!(surface["programLanguage"], "javascript");
    assert_eq!(surface["docViewTypes"], "none");
    assert_eq!(surface["tools"], json!([]));
    let modules = surface["apis"].as_array().unwrap();
    let files = modules.iter().find(|it| it["module"] == "files").unwrap();
    assert_eq!(files["path"], "gg.files");
    let functions = files["functions"].as_array().unwrap();
    assert!(
        functions
            .iter()
            .any(|it| it["operation"] == "files.read_file" && it["name"] == "readFile"),
        "{files}"
    );
    assert!(
        !modules.iter().any(|it| it["module"] == "board"),
        "{surface}"
    );
    assert_eq!(run.summary()["programLanguage"], "javascript");
}

#[test]
fn the_bytes_that_were_submitted_are_recorded_run_and_sent_back() {
    let source =
        "import { session } from \"gg\";\r\n// é 漢 \u{1f980}\t\"\\\nsession.finish(\"Done.\");\n";
    let run = Run::builder()
        .launch(launch())
        .answers(answers([exactly("const x = 1;\n"), exactly(source)]))
        .run();
    run.ended(0, "completed");
    let said = run.events("assistant_message");
    let arguments: serde_json::Value =
        serde_json::from_str(said[1]["calls"][0]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments["program"], source);
    let requests = run.gateway.as_ref().unwrap().requests();
    let sent_back = &requests[1].messages()[2]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(sent_back.as_str().unwrap()).unwrap()["program"],
        "const x = 1;\n"
    );
}

#[test]
fn a_program_that_shows_nothing_is_told_how_to() {
    let run = Run::builder()
        .launch(launch())
        .answers(answers([exactly(""), does("session.finish('Done.');")]))
        .run();
    run.ended(0, "completed");
    let notices = told(&run, "Notice\n----\n");
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("showed you nothing"), "{notices:?}");
    assert_eq!(run.outcomes(), ["progressed", "finished"]);
}

#[test]
fn a_view_that_is_opened_again_replaces_the_one_before() {
    let run = Run::builder()
        .launch(launch())
        .file("a", "x\n")
        .answers(answers([
            does("views.openText('same', 'first'); views.openText('same', 'second');"),
            does("views.openText('same', 'third'); views.openFile('a');"),
            does(
                r#"
                const open = views.current().map((view) => [view.kind, view.selector]);
                const closed = views.close("a") + views.close("never");
                views.openText("left", JSON.stringify([open, closed]));
                session.finish("Done.");
                "#,
            ),
        ]))
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    let texts = |n: usize| -> Vec<String> {
        let messages = requests[n].messages();
        let texts = messages.iter().map(|it| content_text(&it["content"]));
        texts
            .filter(|text| text.starts_with("View: same"))
            .collect()
    };
    assert_eq!(texts(1), ["View: same\n----\nsecond"]);
    // What was sent stays, so that the prefix does.
    assert_eq!(
        texts(2),
        ["View: same\n----\nsecond", "View: same\n----\nthird"]
    );
    let managed = run.event("context_managed");
    assert_eq!(
        (&managed["action"], &managed["items"]),
        (&json!("evict_file_views"), &json!(1))
    );
    assert_eq!(run.events("prefix_broken").len(), 0);
}

#[test]
fn a_bound_of_views_is_a_failure_that_a_program_can_catch() {
    let run = Run::builder()
        .launch(launch())
        .file("long", "y".repeat(70_000))
        .answers(answers([
            does(
                r#"
                const caught = [];
                const attempt = (call) => {
                  try { call(); } catch (error) { caught.push(`${error.code}: ${error.message}`); }
                };
                attempt(() => views.openText("", "x"));
                attempt(() => views.openText("l".repeat(201), "x"));
                attempt(() => views.openText("big", "x".repeat(65537)));
                attempt(() => views.openFile("long"));
                attempt(() => views.openFile("long", { maxLineChars: 0 }));
                attempt(() => views.openFile("never"));
                views.openFile("long", { maxLineChars: 3 });
                views.openText("caught", caught.join("\n"));
                "#,
            ),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    let caught = told(&run, "View: caught");
    for text in [
        "invalid-argument: `label` is empty",
        "limit-exceeded: `label` holds 201 bytes",
        "limit-exceeded: `body` holds 65,537 bytes",
        "limit-exceeded: the text holds 70,000 bytes",
        "invalid-argument: `maxLineChars` is 0",
        "not-found: ",
    ] {
        assert!(caught[0].contains(text), "{text}: {caught:?}");
    }
    assert_eq!(
        told(&run, "File: long"),
        ["File: long:1-1 of 1 lines\n----\nyyy (69997 more chars...)"]
    );
    let refused = run.logs("warn");
    assert!(
        refused.iter().any(|it| it.contains("views refused")),
        "{refused:?}"
    );
}

#[test]
fn a_program_reads_writes_and_runs_as_its_agent_may() {
    let run = Run::builder()
        .launch(launch())
        .answers(answers([
            does(
                r#"
                files.writeFile("made/a.txt", "alpha\nbeta\n");
                files.editFile("made/a.txt", "beta", "gamma");
                const listed = files.listDir("made").map((entry) => entry.name);
                const found = files.search("gam+a");
                const ran = shell.shell("wc -l < made/a.txt; exit 3");
                views.openText("all", JSON.stringify([
                  listed, found, ran.exitCode, ran.output.trim(), files.readTextFile("made/a.txt"),
                ]));
                "#,
            ),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    let shown = told(&run, "View: all");
    let body = shown[0].split_once("----\n").unwrap().1;
    let all: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(all[0], json!(["a.txt"]));
    assert_eq!(all[1][0]["line"], 2);
    assert_eq!((&all[2], &all[3]), (&json!(3), &json!("2")));
    assert_eq!(all[4], "alpha\ngamma\n");
    assert_eq!(run.file("made/a.txt"), "alpha\ngamma\n");
    assert_eq!(run.event("shell")["origin"], "program");
    let journal = run.journal_lines();
    let ids: Vec<_> = journal
        .iter()
        .filter_map(|line| line["callId"].as_str())
        .collect();
    assert!(ids.contains(&"program:0:write_file"), "{ids:?}");
    assert!(ids.contains(&"program:4:shell"), "{ids:?}");
}

#[test]
fn an_agent_that_may_not_see_files_still_shows_texts() {
    let run = Run::builder()
        .launch(cast([coder("root", &workshop(), &[], &[])]))
        .answers(answers([
            does("views.openText('t', 'x');"),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(told(&run, "View: t"), ["View: t\n----\nx"]);
}
