//! The opening program, the files of a brief and a desk, as programs show them.

use serde_json::{Value, json};
use tests::gateway::Request;
use tests::run::Run;

use super::{by_turn, exactly, first, opens_on, place, request, submitted};
use crate::coders::{cast, coder, finish, library};

fn on_files() -> [Value; 3] {
    [
        json!({ "id": "read-file", "enabled": true, "implementation": "unlimited",
            "params": { "lineCap": 200 } }),
        json!({ "id": "list-dir", "enabled": true, "params": {} }),
        json!({ "id": "search", "enabled": true, "params": {} }),
    ]
}

const ON_FILES: [&str; 4] = [
    "files.read_file",
    "files.list_dir",
    "files.search",
    "views.open_file",
];

#[test]
fn an_agent_opens_on_one_program_that_stands_before_its_first_turn() {
    let launch = cast([coder("root", &on_files(), &ON_FILES, &[])]);
    let launch = opens_on(
        launch,
        &["files", "session", "files"],
        &["docs.search", "views.open_file", "docs.search"],
        Some(2),
    );
    let run = Run::builder()
        .launch(launch)
        .file("src/deep/er/x.rs", "x")
        .file("src/main.rs", "x")
        .file("target/debug/x", "x")
        .file(".gitignore", "target\n")
        .answers(by_turn([]))
        .run();
    run.ended(0, "completed");
    let messages = first(&run);
    let texts = request(&run, 0);
    assert!(texts[1].starts_with("Task\n----\n"), "{}", texts[1]);
    let program = submitted(&messages[2]);
    assert!(program.contains("\"files\", \"session\""), "{program}");
    assert_eq!(program.matches("docs.search").count(), 2, "{program}");
    assert_eq!(
        messages[3]["tool_call_id"],
        messages[2]["tool_calls"][0]["id"]
    );
    assert_eq!(texts[3], "ok");
    let listing = place(&texts, "View: gg.files, gg.session\n----\n");
    assert!(texts[listing].contains("finish"), "{}", texts[listing]);
    place(&texts, "Documentation: gg.docs.search\n----\n");
    place(&texts, "Documentation: gg.views.openFile\n----\n");
    let tree = place(&texts, "View: workspace tree\n----\n");
    assert!(
        texts[tree].contains("src/ (1 file)\n  deep/"),
        "{}",
        texts[tree]
    );
    assert!(!texts[tree].contains("target") && !texts[tree].contains("er/"));
    // No turn: nothing of it is an event, and the first turn is the model's.
    assert!(
        run.events("code_execution")
            .iter()
            .all(|it| it["turn"] == 1)
    );
    assert_eq!(run.events("api_call").len(), 1, "the ending alone");
    assert_eq!(run.summary()["codeExecutions"], 1);
    // What was opened on counts as read.
    assert!(run.event("code_execution")["undocumentedCalls"].is_null());
}

#[test]
fn what_the_agent_does_not_hold_is_left_out_and_nothing_left_is_no_program() {
    let launch = opens_on(
        cast([coder("root", &[], &[], &[])]),
        &["shell"],
        &["files.read_file"],
        Some(1),
    );
    let run = Run::builder().launch(launch).answers(by_turn([])).run();
    run.ended(0, "completed");
    let warned: Vec<_> = run
        .logs("warn")
        .into_iter()
        .filter(|text| text.contains("openingTurn"))
        .collect();
    assert_eq!(warned.len(), 3, "{warned:#?}");
    assert_eq!(first(&run).len(), 2, "prompt and task");
}

#[test]
fn an_opening_turn_of_unknown_names_is_refused_at_each() {
    for (functions, named) in [
        (["files.raed_file"], "files.read_file"),
        (["session.finish"], "ending"),
        (["delegation.transition_state"], "no configuration grants"),
    ] {
        let launch = cast([coder("root", &on_files(), &ON_FILES, &[])]);
        let launch = opens_on(launch, &["file"], &functions, None);
        let run = Run::builder().launch(launch).answers(by_turn([])).run();
        run.ended(1, "launch_refused");
        let told = run.describe();
        assert!(told.contains(named), "{told}");
        assert!(told.contains("the nearest is `files`"), "{told}");
    }
}

#[test]
fn opening_programs_are_kept_of_turn_0_under_the_id_of_their_receipt() {
    let capabilities = [&on_files()[..], &[library(0)]].concat();
    let operations = [&ON_FILES[..], &["programs.history", "programs.get"]].concat();
    let launch = cast([coder("root", &capabilities, &operations, &[])]);
    let launch = opens_on(launch, &["files"], &[], None);
    let run = Run::builder()
        .launch(launch)
        .answers(by_turn([r#"
import { programs, views } from "gg";
const all = programs.history();
views.openText("kept", JSON.stringify(all));
views.openText("first", programs.get(all[0].id));
"#]))
        .run();
    run.ended(0, "completed");
    let id = request(&run, 0)[3].clone();
    assert_eq!(id.len(), 4, "{id}");
    let texts = request(&run, 1);
    let kept = &texts[place(&texts, "View: kept\n")];
    let kept: Value = serde_json::from_str(kept.split_once("----\n").unwrap().1).unwrap();
    assert_eq!(kept[0]["id"], id);
    assert_eq!(kept[0]["turn"], 0);
    assert_eq!(kept[0]["opening"], true);
    let source = &texts[place(&texts, "View: first\n")];
    assert_eq!(
        source.split_once("----\n").unwrap().1,
        submitted(&first(&run)[2])
    );
}

#[test]
fn the_files_of_the_brief_are_shown_by_one_program_and_a_locked_one_stays() {
    let locked = json!({ "id": "autoload-specifications", "enabled": true,
        "implementation": "locked", "params": {} });
    let managed = json!({ "id": "agent-managed-context", "enabled": true,
        "params": { "topFileViews": 3, "signalThresholdPercent": 100 } });
    let capabilities = [&on_files()[..], &[locked, managed]].concat();
    let operations = [&ON_FILES[..], &["views.close", "views.current"]].concat();
    let launch = cast([coder("root", &capabilities, &operations, &[])]);
    let run = Run::builder()
        .launch(launch.set("/specFiles", json!(["spec.md", "docs/more \"1\".md"])))
        .file("spec.md", "one\ntwo\n")
        .file("docs/more \"1\".md", "")
        .answers(by_turn([r#"
import { views } from "gg";
views.openText("closed", String(views.close("spec.md")) + views.current().length);
"#]))
        .run();
    run.ended(0, "completed");
    let messages = first(&run);
    assert_eq!(
        submitted(&messages[2]),
        "import { views } from \"gg\";\n\nviews.openFile(\"spec.md\");\n\
         views.openFile(\"docs/more \\\"1\\\".md\");\n"
    );
    let texts = request(&run, 0);
    assert_eq!(texts[4], "File: spec.md:1-2 of 2 lines\n----\none\ntwo\n");
    assert_eq!(texts[5], "File: docs/more \"1\".md\n----\n");
    let after = request(&run, 1);
    place(&after, "View: closed\n----\n00");
}

#[test]
fn a_code_agent_opens_on_its_profile_s_desk_by_one_program() {
    let persistent = json!({ "id": "agent-persistence", "enabled": true, "params": {} });
    let starts = json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 2 } });
    let keeper = coder(
        "keeper",
        &[&on_files()[..], &[persistent]].concat(),
        &ON_FILES,
        &[],
    );
    let delegates = ["delegation.spawn_subagent", "delegation.wait_for_subagents"];
    let root = coder("root", &[starts], &delegates, &["keeper"]);
    let run = Run::builder()
        .launch(cast([root, keeper]))
        .file("a.md", "alpha\nbeta\ngamma\n")
        .answers(|request: &Request, n: usize| {
            let task = request.messages()[1]["content"].to_string();
            if task.contains("Keep") {
                if request.messages().len() > 2 {
                    return finish("Kept.");
                }
                return exactly(
                    "import { views } from \"gg\";\nviews.openFile(\"a.md\", { offset: 2, limit: 1 });",
                );
            }
            match n {
                0 => exactly(
                    "import { delegation } from \"gg\";\n\
                     for (const task of [\"Keep 1\", \"Keep 2\"]) {\n\
                       const child = delegation.spawnSubagent(\"keeper\", task);\n\
                       delegation.waitForSubagents([child.id]);\n}",
                ),
                _ => finish("Done."),
            }
        })
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    let second = requests
        .iter()
        .filter(|request| request.method == "POST")
        .find(|request| {
            request.messages()[1]["content"]
                .to_string()
                .contains("Keep 2")
        });
    let messages = second.unwrap().messages();
    assert_eq!(
        submitted(&messages[2]),
        "import { views } from \"gg\";\n\nviews.openFile(\"a.md\", { offset: 2, limit: 1 });\n"
    );
    let view = messages[4]["content"].to_string();
    assert!(view.contains("File: a.md:2-2 of 3 lines"), "{view}");
    assert!(
        run.logs("info")
            .iter()
            .any(|text| text.contains("1 of 1 file views, by one program"))
    );
}
