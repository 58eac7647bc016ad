//! Many agents at once, and the same job done by programs and by tools.

use std::fmt::Write as _;

use serde_json::json;
use tests::gateway::{Answer, Request};
use tests::launch::Launch;
use tests::run::Run;

use super::{ON_FILES, answers, does, exactly, launch, workshop};
use crate::coders::{cast, coder};

#[test]
fn a_code_agent_and_a_tool_agent_leave_the_same_files() {
    let contents = "fn main() {}\r\n// é\n";
    let tools = Run::builder()
        .answers(answers([
            Answer::call(
                "write_file",
                json!({ "path": "src/main.rs", "contents": contents }),
            )
            .and_call(
                "edit_file",
                json!({ "path": "src/main.rs", "oldString": "main", "newString": "start" }),
            )
            .and_call("shell", json!({ "command": "cp src/main.rs copy.rs" })),
            Answer::finish("Done."),
        ]))
        .run();
    let code = Run::builder()
        .launch(launch())
        .answers(answers([does(&format!(
            r#"
                files.writeFile("src/main.rs", {});
                files.editFile("src/main.rs", "main", "start");
                shell.shell("cp src/main.rs copy.rs");
                session.finish("Done.");
                "#,
            json!(contents)
        ))]))
        .run();
    for run in [&tools, &code] {
        run.ended(0, "completed");
    }
    for file in ["src/main.rs", "copy.rs"] {
        assert_eq!(tools.file(file), code.file(file));
    }
    assert_eq!(tools.summary()["executionMode"], "tool_calling");
    assert_eq!(code.summary()["executionMode"], "responses_as_code");
    assert_eq!(code.summary()["codeExecutions"], 1);
    assert_eq!(code.summary()["toolCalls"], 3);
}

#[test]
fn sixteen_agents_run_their_programs_at_once() {
    let capabilities = {
        let mut all = workshop();
        all.push(json!({ "id": "subagents", "enabled": true,
            "params": { "maxDepth": 2 } }));
        all
    };
    let operations: Vec<&str> = ON_FILES
        .iter()
        .copied()
        .chain(["delegation.spawn_subagent", "delegation.wait_for_subagents"])
        .collect();
    let mut spawning = String::from("const ids = [];\n");
    for number in 0..16 {
        writeln!(
            spawning,
            "ids.push(delegation.spawnSubagent('worker', 'number {number}').id);"
        )
        .unwrap();
    }
    spawning.push_str(
        "const all = delegation.waitForSubagents(); \
         session.finish(all.map((one) => one.text).sort().join(' '));",
    );
    let run = Run::builder()
        .launch(
            cast([
                coder("root", &capabilities, &operations, &["worker"]),
                coder("worker", &workshop(), &ON_FILES, &[]),
            ])
            .limit("maxParallel", 16),
        )
        .answers(move |request: &Request, _: usize| {
            let text = request.text();
            match text.split_once("----\\nnumber ") {
                Some((_, rest)) if text.contains("I am worker.") => {
                    let number = rest.split('"').next().unwrap_or_default().to_owned();
                    does(&format!(
                        r#"
                        let sum = 0;
                        for (let at = 0; at < 100000; at += 1) sum = (sum + at * {number}) % 1009;
                        files.writeFile("out/{number}", String(sum));
                        views.openText("mine", files.readTextFile("out/{number}"));
                        session.finish("w{number}");
                        "#
                    ))
                }
                _ => does(&spawning),
            }
        })
        .run();
    run.ended(0, "completed");
    for number in 0..16_u64 {
        let sum = (0..100_000_u64).fold(0, |sum, at| (sum + at * number) % 1009);
        assert_eq!(run.file(&format!("out/{number}")), sum.to_string());
    }
    assert_eq!(run.summary()["codeExecutions"], 17);
    assert_eq!(run.summary()["agents"], 17);
}

#[test]
fn the_mock_model_answers_with_programs() {
    let script = json!({ "profiles": { "root": [
        { "program": "import { files } from \"gg\";\nfiles.writeFile('a', 'b');" },
        { "program": "import { session } from \"gg\";\nsession.finish('Done.');" },
    ]}});
    let mut document = Launch::mock("script");
    let capabilities = {
        let mut all = workshop();
        all.push(crate::coders::code());
        all
    };
    document = document
        .root("/capabilities", json!(capabilities))
        .root("/tools", json!([]))
        .root("/operations", json!(ON_FILES))
        .root(
            "/openingTurn",
            json!({ "modules": [], "functions": [], "tree": { "include": false, "depth": 1 } }),
        );
    let run = Run::builder()
        .launch(document)
        .without_credential()
        .mock_script(&script)
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("a"), "b");
}

#[test]
fn each_request_extends_the_one_before_byte_for_byte() {
    // The gateway holds every request against the one before; here is much for it to hold.
    let turns = (0..12).map(|turn| {
        does(&format!(
            "views.openText('turn {turn}', 'x'.repeat({})); files.writeFile('f{turn}', 'x'); \
             views.openText('same', '{turn}');",
            turn * 100
        ))
    });
    let run = Run::builder()
        .launch(launch())
        .answers(answers(
            turns.chain([exactly(""), does("session.finish('Done.');")]),
        ))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.events("prefix_broken").len(), 0);
}
