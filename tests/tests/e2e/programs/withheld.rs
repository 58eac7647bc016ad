//! Calls that come to nothing before they are served, on every arm: those an agent does not hold, those
//! whose arguments have no shape, and those a compiler refuses (04 §10, §11).

use serde_json::Value;
use vocab::operations::{Binding, OPERATIONS};

use super::{ON_FILES, workshop};
use crate::arms::{Arm, each, ends_of, on_each, play, shown_attempts, spelled};
use crate::coders::{refused, shown, told};

#[test]
fn what_is_not_granted_is_unavailable_call_by_call() {
    on_each(|arm| {
        let grantable = OPERATIONS.iter().filter(|row| row.grantable());
        let withheld: Vec<&str> = grantable
            .filter(|row| !matches!(row.binding, Binding::Always))
            .map(|row| row.id)
            .collect();
        let conferred = [
            "delegation.transition_state",
            "session.approve",
            "session.request_changes",
        ];
        let calls: Vec<(String, String, String)> = withheld
            .iter()
            .chain(&conferred)
            .map(|id| called(id))
            .collect();
        let rows = calls
            .iter()
            .map(|(name, ecma, python)| (&**name, &**ecma, &**python));
        let run = play(arm, &[], &[], &[shown_attempts(rows)]);
        let out = shown(&run, "out");
        for (name, ..) in &calls {
            let (_, key) = name.split_once('.').unwrap();
            let said = format!("`{}` is not available.", spelled(arm, name));
            refused(&out, name, "unavailable", key, &[&said]);
            assert_eq!(ends_of(&run, name), ["unavailable"]);
        }
        let ending = spelled(arm, "session.finish");
        for name in &conferred[1..] {
            let message = out[*name]["message"].as_str().unwrap();
            assert!(message.contains(&format!("Use `{ending}`")), "{message}");
        }
        // Refused each, and none of it an error.
        assert_eq!(run.outcomes(), ["progressed", "finished"]);
    });
}

/// A call of an operation with arguments that have its shape.
fn called(id: &str) -> (String, String, String) {
    let arguments = match id {
        "files.write_file"
        | "delegation.spawn_subagent"
        | "delegation.send_message"
        | "memories.create_memory" => ["'a', 'b'"; 2],
        "files.edit_file"
        | "memories.write_memory"
        | "memories.update_memory"
        | "memories.edit_memory" => ["'a', 'b', 'c'"; 2],
        "files.list_dir"
        | "programs.history"
        | "programs.get"
        | "views.current"
        | "docs.close_all"
        | "session.approve"
        | "delegation.wait_for_subagents"
        | "context.evict_file_view"
        | "board.list_issues" => [""; 2],
        "tasks.add_task" => ["{ id: 'a', title: 'b' }", "'a', 'b'"],
        "tasks.update_task" | "board.update_issue" => ["'a', {}", "'a'"],
        "tasks.set_blocked_by" | "board.set_issue_blocked_by" => ["'a', []"; 2],
        "context.archive_thread" => ["[[1, 1]]"; 2],
        "memories.search_memories" | "session.request_changes" => ["['a']"; 2],
        "board.create_epic" => ["'abc', 'b'"; 2],
        "board.create_issue" => [
            "{ title: 'a', inScope: 'b', outOfScope: 'c', completionCriteria: 'd', agent: 'e' }",
            "'a', 'b', 'c', 'd', 'e'",
        ],
        _ => ["'a'"; 2],
    };
    let ecmascript = spelled(Arm::Javascript, id);
    let ecmascript = ecmascript.trim_start_matches("gg.");
    (
        id.to_owned(),
        format!("{ecmascript}({})", arguments[0]),
        format!("{id}({})", arguments[1]),
    )
}

#[test]
fn an_ending_that_says_nothing_is_none() {
    on_each(|arm| {
        let run = play(
            arm,
            &[],
            &[],
            &[shown_attempts([(
                "blank",
                r#"session.finish(" \n")"#,
                r#"session.finish(" \n")"#,
            )])],
        );
        refused(
            &shown(&run, "out"),
            "blank",
            "invalid-argument",
            "finish",
            &["summary is blank"],
        );
        assert_eq!(ends_of(&run, "session.finish"), ["invalid-argument", "ok"]);
    });
}

#[test]
fn an_argument_of_the_wrong_shape_is_found_by_the_sdk_and_reaches_nothing() {
    on_each(|arm| {
        let run = play(
            arm,
            &workshop(),
            &ON_FILES,
            &[shown_attempts([
                ("number", "files.readFile(loose(7))", "files.read_file(7)"),
                (
                    "negative",
                    r#"files.readFile("a", { offset: -1 })"#,
                    r#"files.read_file("a", offset=-1)"#,
                ),
                (
                    "fraction",
                    r#"files.search("a", { limit: loose(1.5) })"#,
                    r#"files.search("a", limit=1.5)"#,
                ),
                (
                    "body",
                    r#"views.openText("a", loose(null))"#,
                    r#"views.open_text("a", None)"#,
                ),
                (
                    "page",
                    "views.openDocsView(loose(7))",
                    "views.open_docs_view(7)",
                ),
            ])],
        );
        let out = shown(&run, "out");
        for (name, operation) in [
            ("number", "read_file"),
            ("negative", "read_file"),
            ("fraction", "search"),
            ("body", "open_text"),
            ("page", "open_docs_view"),
        ] {
            refused(&out, name, "invalid-argument", operation, &[]);
        }
        // The view that shows all this, and the ending.
        assert_eq!(run.events("api_call").len(), 2);
    });
}

#[test]
fn typescript_is_not_run_where_its_types_do_not_hold() {
    let arm = Arm::Typescript;
    let body = each(
        r#"files.writeFile("began", ""); files.readFile(7);"#,
        "",
        "",
    );
    let run = play(arm, &workshop(), &ON_FILES, &[body]);
    assert_eq!(run.outcomes(), ["transpile_compile", "finished"]);
    let told = told(&run, "Compiler error\n----\n");
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("program.ts(") && told[0].contains("'number'"),
        "{told:?}"
    );
    assert!(!run.workspace().join("began").exists());
    let execution = run.events("code_execution")[0];
    assert_eq!(execution["ok"], false);
    assert_eq!(execution["apiCalls"], Value::Null);
}
