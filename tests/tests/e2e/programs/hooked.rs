//! The operator's hooks stand around the writes and commands of programs as around those of tools.

use serde_json::{Value, json};
use tests::run::Run;

use super::{answers, does, launch};
use crate::coders::told;
use crate::hooks::custom;

/// A script that answers with a decision.
fn hook(event: &str, decision: &Value) -> Value {
    custom(event, &format!("echo '{decision}'"))
}

#[test]
fn a_write_and_a_command_are_judged_before_they_happen() {
    let block = json!({ "action": "block", "reason": "not here" });
    let run = Run::builder()
        .launch(launch().root(
            "/hooks",
            json!([hook("pre-write", &block), hook("pre-shell", &block)]),
        ))
        .answers(answers([
            does(
                r#"
                const caught = [];
                for (const call of [
                  () => files.writeFile("a", "x"),
                  () => shell.shell("touch b"),
                ]) {
                  try { call(); } catch (error) { caught.push(`${error.code}: ${error.message}`); }
                }
                views.openText("caught", caught.join("\n"));
                "#,
            ),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(
        told(&run, "View: caught"),
        ["View: caught\n----\nrefused: not here\nrefused: not here"]
    );
    for file in ["a", "b"] {
        assert!(!run.workspace().join(file).exists(), "{file}");
    }
    assert_eq!(run.events("hook").len(), 2);
}

#[test]
fn what_a_hook_says_behind_a_program_s_write_reaches_the_model() {
    let run = Run::builder()
        .launch(launch().root(
            "/hooks",
            json!([hook(
                "post-write",
                &json!({ "action": "message", "message": "well written" })
            )]),
        ))
        .answers(answers([
            does("files.writeFile('a', 'x'); views.openText('v', 'x');"),
            does("session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.file("a"), "x");
    let requests = run.gateway.as_ref().unwrap().requests();
    assert!(
        requests[1].text().contains("well written"),
        "{}",
        run.describe()
    );
}

#[test]
fn an_ending_that_a_hook_blocks_goes_on() {
    let run = Run::builder()
        .launch(launch().root(
            "/hooks",
            json!([custom(
                "agent-stop",
                r#"if test -e done; then echo '{"action":"continue"}';
                else echo '{"action":"block","reason":"make the file first"}'; fi"#,
            )]),
        ))
        .answers(answers([
            does("session.finish('Done.');"),
            does("files.writeFile('done', ''); session.finish('Done.');"),
        ]))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["progressed", "finished"]);
}
