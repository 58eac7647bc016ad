//! Views, on every arm: what of a program reaches the model, when, and in whose words.

use serde_json::{Value, json};
use tests::gateway::content_text;
use tests::run::Run;

use super::{answers, launch, workshop};
use crate::arms::{Arm, both, coder_of, exactly, finish, on_each, programs, submit};
use crate::coders::{cast, library, shown, told};

#[test]
fn a_view_arrives_with_the_next_turn_and_nothing_else_does() {
    let first = both(
        r#"
        const read = files.readTextFile("src/a.rs");
        views.openFile("src/a.rs");
        views.openText("sum", String(read.length));
        console.log("a line for nobody");
        read;
        "#,
        r#"
        read = files.read_text_file("src/a.rs")
        views.open_file("src/a.rs")
        views.open_text("sum", str(len(read)))
        print("a line for nobody")
        read
        "#,
    );
    let second = both(
        r#"views.openText("sum", "again"); session.finish("Done.");"#,
        "views.open_text('sum', 'again')\nsession.finish('Done.')",
    );
    on_each(|arm| {
        let run = Run::builder()
            .launch(launch(arm))
            .file("src/a.rs", "one\ntwo\n")
            .answers(answers([submit(arm, &first), submit(arm, &second)]))
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
    });
}

#[test]
fn every_request_offers_one_tool_and_is_pinned_to_it() {
    on_each(|arm| {
        let run = Run::builder()
            .launch(launch(arm))
            .answers(answers([finish(arm, "Done.")]))
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
        assert_eq!(surface["programLanguage"], arm.as_str());
        assert_eq!(surface["docViewTypes"], "none");
        assert_eq!(surface["tools"], json!([]));
        let modules = surface["apis"].as_array().unwrap();
        let files = modules.iter().find(|it| it["module"] == "files").unwrap();
        assert_eq!(files["path"], "gg.files");
        let functions = files["functions"].as_array().unwrap();
        let name = if arm == Arm::Python {
            "read_file"
        } else {
            "readFile"
        };
        assert!(
            functions
                .iter()
                .any(|it| it["operation"] == "files.read_file" && it["name"] == name),
            "{files}"
        );
        assert!(
            !modules.iter().any(|it| it["module"] == "board"),
            "{surface}"
        );
        assert_eq!(run.summary()["programLanguage"], arm.as_str());
        // A language that nothing compiles takes no time to.
        let compiled = run.event("code_execution").get("compileMs").is_some();
        assert_eq!(compiled, arm == Arm::Typescript);
    });
}

#[test]
fn the_bytes_that_were_submitted_are_recorded_run_kept_and_sent_back() {
    let odd = both(
        "\u{feff}const x = 1;\r\n// \u{e9} \u{6f22} \u{1f980}\t\"\\\r\n\r\nx;\n  ",
        "x = 1\r\n# \u{e9} \u{6f22} \u{1f980}\t\"\\\r\n\r\nx\n  ",
    );
    let look = both(
        "attempt('kept', () => programs.get()); show('out');",
        "attempt('kept', lambda: programs.get())\nshow('out')",
    );
    on_each(|arm| {
        let source = odd.of(arm);
        let profile = coder_of(arm, "root", &[library(0)], &crate::coders::PROGRAMS, &[]);
        let run = Run::builder()
            .launch(cast([profile]))
            .answers(answers([
                exactly(source),
                submit(arm, &look),
                finish(arm, "Done."),
            ]))
            .run();
        run.ended(0, "completed");
        assert_eq!(run.outcomes(), ["progressed", "progressed", "finished"]);
        let program = |arguments: &Value| -> Value {
            let arguments: Value = serde_json::from_str(arguments.as_str().unwrap()).unwrap();
            arguments["program"].clone()
        };
        let said = run.events("assistant_message");
        assert_eq!(program(&said[0]["calls"][0]["arguments"]), source);
        let requests = run.gateway.as_ref().unwrap().requests();
        let call = &requests[1].messages()[2]["tool_calls"][0];
        assert_eq!(program(&call["function"]["arguments"]), source);
        assert_eq!(shown(&run, "out")["kept"], source);
        assert!(
            run.journal_lines().iter().any(|line| holds(line, source)),
            "{}",
            run.describe()
        );
    });
}

/// Whether a value holds, anywhere, arguments of a call that submits this program.
fn holds(value: &Value, source: &str) -> bool {
    match value {
        Value::String(text) => {
            let arguments = serde_json::from_str::<Value>(text);
            arguments.is_ok_and(|it| it["program"] == source)
        }
        Value::Array(items) => items.iter().any(|it| holds(it, source)),
        Value::Object(fields) => fields.values().any(|it| holds(it, source)),
        _ => false,
    }
}

#[test]
fn a_program_of_javascript_runs_as_the_bytes_it_was_sent_as() {
    let source = "function f() {\r\n  /* \u{e9} \u{1f980}\t */\r\n}\r\n";
    let run = Run::builder()
        .launch(launch(Arm::Javascript))
        .answers(answers([
            exactly(&format!(
                "import {{ files }} from \"gg\";\r\n{source}files.writeFile(\"text\", f.toString());"
            )),
            finish(Arm::Javascript, "Done."),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("text"), source.trim_end());
}

#[test]
fn a_program_that_shows_nothing_is_told_how_to() {
    on_each(|arm| {
        let run = Run::builder()
            .launch(launch(arm))
            .answers(answers([exactly(""), finish(arm, "Done.")]))
            .run();
        run.ended(0, "completed");
        let notices = told(&run, "Notice\n----\n");
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].contains("showed you nothing"), "{notices:?}");
        let prints = if arm == Arm::Python {
            "`print`"
        } else {
            "`console.log`"
        };
        assert!(notices[0].contains(prints), "{notices:?}");
        assert_eq!(run.outcomes(), ["progressed", "finished"]);
    });
}

#[test]
fn a_view_that_is_opened_again_replaces_the_one_before() {
    let bodies = [
        both(
            "views.openText('same', 'first'); views.openText('same', 'second');",
            "views.open_text('same', 'first')\nviews.open_text('same', 'second')",
        ),
        both(
            "views.openText('same', 'third'); views.openFile('a');",
            "views.open_text('same', 'third')\nviews.open_file('a')",
        ),
        both(
            r#"
            const open = views.current().map((view) => [view.kind, view.selector]);
            const closed = views.close("a") + views.close("never");
            views.openText("left", JSON.stringify([open, closed]));
            session.finish("Done.");
            "#,
            r#"
            open = [[view.kind, view.selector] for view in views.current()]
            closed = views.close("a") + views.close("never")
            views.open_text("left", json.dumps([open, closed]))
            session.finish("Done.")
            "#,
        ),
    ];
    on_each(|arm| {
        let run = Run::builder()
            .launch(launch(arm))
            .file("a", "x\n")
            .answers(programs(arm, &bodies))
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
    });
}

#[test]
fn a_line_is_cut_where_a_view_is_asked_to() {
    let body = both(
        "views.openFile('long', { maxLineChars: 3 });",
        "views.open_file('long', max_line_chars=3)",
    );
    on_each(|arm| {
        let run = Run::builder()
            .launch(launch(arm))
            .file("long", "y".repeat(70_000))
            .answers(programs(arm, std::slice::from_ref(&body)))
            .run();
        run.ended(0, "completed");
        assert_eq!(
            told(&run, "File: long"),
            ["File: long:1-1 of 1 lines\n----\nyyy (69997 more chars...)"]
        );
    });
}

#[test]
fn calls_of_programs_are_in_the_journal_by_their_order_and_tool() {
    let body = both(
        "files.writeFile('a', 'x'); files.listDir(); shell.shell('true');",
        "files.write_file('a', 'x')\nfiles.list_dir()\nshell.shell('true')",
    );
    on_each(|arm| {
        let run = Run::builder()
            .launch(launch(arm))
            .answers(programs(arm, std::slice::from_ref(&body)))
            .run();
        run.ended(0, "completed");
        let journal = run.journal_lines();
        let ids: Vec<&str> = journal
            .iter()
            .filter_map(|line| line["callId"].as_str())
            .filter(|id| id.starts_with("program:"))
            .collect();
        for id in [
            "program:0:write_file",
            "program:1:list_dir",
            "program:2:shell",
        ] {
            assert!(ids.contains(&id), "{id}: {ids:?}");
        }
    });
}

#[test]
fn an_agent_that_may_not_see_files_still_shows_texts() {
    let body = both("views.openText('t', 'x');", "views.open_text('t', 'x')");
    on_each(|arm| {
        let run = Run::builder()
            .launch(cast([coder_of(arm, "root", &workshop(), &[], &[])]))
            .answers(programs(arm, std::slice::from_ref(&body)))
            .run();
        run.ended(0, "completed");
        assert_eq!(told(&run, "View: t"), ["View: t\n----\nx"]);
    });
}
