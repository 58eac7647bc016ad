//! The operator's hooks stand around the writes and commands of programs as around those of tools, on
//! every arm.

use serde_json::{Value, json};
use tests::run::Run;

use super::launch;
use crate::arms::{Arm, Texts, both, on_each, programs, shown_attempts};
use crate::coders::{refused, shown};
use crate::hooks::custom;

/// A script that answers with a decision.
fn hook(event: &str, decision: &Value) -> Value {
    custom(event, &format!("echo '{decision}'"))
}

/// A run of an agent with these hooks of its profile, whose turns are these programs.
#[track_caller]
fn hooked(arm: Arm, hooks: &Value, bodies: &[Texts]) -> Run {
    let run = Run::builder()
        .launch(launch(arm).root("/hooks", hooks.clone()))
        .answers(programs(arm, bodies))
        .run();
    run.ended(0, "completed");
    run
}

#[test]
fn a_write_and_a_command_are_judged_before_they_happen() {
    let block = json!({ "action": "block", "reason": "not here" });
    let hooks = json!([hook("pre-write", &block), hook("pre-shell", &block)]);
    on_each(|arm| {
        let calls = shown_attempts([
            (
                "write",
                r#"files.writeFile("a", "x")"#,
                r#"files.write_file("a", "x")"#,
            ),
            (
                "run",
                r#"shell.shell("touch b")"#,
                r#"shell.shell("touch b")"#,
            ),
        ]);
        let run = hooked(arm, &hooks, &[calls]);
        let out = shown(&run, "out");
        refused(&out, "write", "refused", "write_file", &["not here"]);
        refused(&out, "run", "refused", "shell", &["not here"]);
        for file in ["a", "b"] {
            assert!(!run.workspace().join(file).exists(), "{file}");
        }
        assert_eq!(run.events("hook").len(), 2);
    });
}

#[test]
fn what_a_hook_says_behind_a_program_s_write_reaches_the_model() {
    let said = json!({ "action": "message", "message": "well written" });
    let hooks = json!([hook("post-write", &said)]);
    let body = both(
        "files.writeFile('a', 'x'); views.openText('v', 'x');",
        "files.write_file('a', 'x')\nviews.open_text('v', 'x')",
    );
    on_each(|arm| {
        let run = hooked(arm, &hooks, std::slice::from_ref(&body));
        assert_eq!(run.file("a"), "x");
        let requests = run.gateway.as_ref().unwrap().requests();
        assert!(
            requests[1].text().contains("well written"),
            "{}",
            run.describe()
        );
    });
}

#[test]
fn an_ending_that_a_hook_blocks_goes_on() {
    let hooks = json!([custom(
        "agent-stop",
        r#"if test -e done; then echo '{"action":"continue"}';
        else echo '{"action":"block","reason":"make the file first"}'; fi"#,
    )]);
    let bodies = [
        both("session.finish('Done.');", "session.finish('Done.')"),
        both(
            "files.writeFile('done', ''); session.finish('Done.');",
            "files.write_file('done', '')\nsession.finish('Done.')",
        ),
    ];
    on_each(|arm| {
        let run = hooked(arm, &hooks, &bodies);
        assert_eq!(run.outcomes(), ["progressed", "finished"]);
    });
}
