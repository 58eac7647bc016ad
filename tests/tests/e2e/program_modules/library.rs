//! The program library: what is kept, and how one program hands over to another (02 §11, 04 §6.6).

use serde_json::{Value, json};
use tests::gateway::content_text;
use tests::run::Run;

use crate::coders::{PROGRAMS, handed_in, library, play, program, refused, shown, told};

/// The receipts of all submissions, in order.
fn receipts(run: &Run) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let messages = requests.last().unwrap().messages();
    let results = messages.iter().filter(|it| it["role"] == "tool");
    results.map(|it| content_text(&it["content"])).collect()
}

fn kept(keep: u64, bodies: &[&str]) -> Run {
    let run = play(&[library(keep)], &PROGRAMS, bodies.iter().copied());
    run.ended(0, "completed");
    run
}

#[test]
fn a_program_finds_those_before_it_whole_and_with_their_verdicts() {
    let first = r#"attempt("none", () => programs.get()); show("first"); // ü"#;
    let run = kept(
        0,
        &[
            first,
            r#"throw new Error("boom");"#,
            "this is no program",
            r#"
            attempt("history", () => programs.history());
            attempt("last", () => programs.get());
            const id = out.history[0].id;
            attempt("first", () => programs.get(id));
            attempt("miss", () => programs.get("zz"));
            show("out");
            "#,
        ],
    );
    let empty = shown(&run, "first");
    refused(
        &empty,
        "none",
        "not-found",
        "get",
        &["no program is kept yet"],
    );
    let out = shown(&run, "out");
    let entries = out["history"].as_array().unwrap();
    let turns: Vec<&Value> = entries.iter().map(|it| &it["turn"]).collect();
    assert_eq!(turns, [1, 2, 3]);
    let ids = receipts(&run);
    for (entry, id) in entries.iter().zip(&ids) {
        assert_eq!(entry["id"], json!(id), "the receipt is the id");
        assert_eq!(id.len(), 4);
        assert_eq!(entry["opening"], false);
        assert!(entry.get("source").is_none());
    }
    let source = program(first);
    assert_eq!(entries[0]["ok"], true);
    assert_eq!(entries[0]["lines"], source.lines().count());
    assert_eq!(entries[0]["chars"], source.chars().count());
    assert_eq!(
        (&entries[1]["ok"], &entries[2]["ok"]),
        (&json!(false), &json!(false))
    );
    assert!(
        entries[1]["error"].as_str().unwrap().contains("boom"),
        "{out:#}"
    );
    assert!(
        entries[2]["error"]
            .as_str()
            .unwrap()
            .contains("SyntaxError"),
        "{out:#}"
    );
    assert_eq!(out["first"], json!(source), "byte for byte");
    assert_eq!(out["last"], json!(program("this is no program")));
    refused(
        &out,
        "miss",
        "not-found",
        "get",
        &["`zz`", &ids[0], "(turn 2)"],
    );
}

#[test]
fn no_more_are_kept_than_the_profile_says() {
    let run = kept(
        2,
        &[
            "1;",
            "2;",
            "3;",
            r#"attempt("turns", () => programs.history().map((it) => it.turn)); show("out");"#,
        ],
    );
    assert_eq!(shown(&run, "out")["turns"], json!([2, 3]));
}

/// A program that shows which it is and hands over to the next, without end.
const ENDLESS: &str = r#"
const source = (n) =>
  'import { programs, views } from "gg";\n' +
  `views.openText("ran ${n}", "true");\nconst source = ${source};\nprograms.rerun(source(${n + 1}));`;
programs.rerun(source(1));
"#;

#[test]
fn a_program_hands_over_to_another_and_four_run_on_one_submission() {
    let run = kept(
        0,
        &[
            ENDLESS,
            r#"
            attempt("history", () => programs.history());
            attempt("source", () => programs.get());
            show("out");
            "#,
        ],
    );
    let out = shown(&run, "out");
    assert_eq!(
        out["history"].as_array().unwrap().len(),
        1,
        "one entry a submission"
    );
    assert_eq!(out["history"][0]["ok"], true);
    let source = out["source"].as_str().unwrap();
    assert!(source.contains("\"ran 3\""), "what executed last: {source}");
    assert_eq!(told(&run, "View: ran ").len(), 3);
    let notices = told(&run, "Notice\n----\n");
    assert!(
        notices
            .iter()
            .any(|it| it.contains("not run") && it.contains('4')),
        "{notices:?}"
    );
    let executions = run.events("code_execution");
    assert_eq!(executions.len(), 3, "one of each submission");
    assert_eq!(executions[0]["apiCalls"], 1 + 3 * 2);
    assert_eq!(receipts(&run).len(), 2, "one of each submission");
}

#[test]
fn the_first_hand_over_stands_and_a_blank_one_is_none() {
    let run = kept(
        0,
        &[r#"
        attempt("blank", () => programs.rerun(" \n"));
        attempt("first", () => programs.rerun('import { views } from "gg"; views.openText("ran", "1");'));
        attempt("second", () => programs.rerun("1;"));
        show("out");
        "#],
    );
    let out = shown(&run, "out");
    refused(&out, "blank", "invalid-argument", "rerun", &["`source`"]);
    refused(&out, "second", "refused", "rerun", &["the first stands"]);
    assert_eq!(out["first"], "ok");
    assert_eq!(shown(&run, "ran"), json!(1));
}

#[test]
fn a_failure_and_an_ending_revoke_a_hand_over() {
    const NEXT: &str =
        r#"programs.rerun('import { views } from "gg"; views.openText("ran", "1");');"#;
    let failing = format!("{NEXT} throw new Error('boom');");
    let run = kept(0, &[&failing]);
    assert!(told(&run, "View: ran").is_empty());
    let notices = told(&run, "Notice\n----\n");
    assert!(notices[0].contains("was not run"), "{notices:?}");
    assert!(notices[0].contains("failed"), "{notices:?}");
    assert_eq!(run.outcomes(), ["program_throw", "finished"]);
    // A failure that was caught revokes nothing.
    let caught = format!("{NEXT} attempt('none', () => programs.get('zz'));");
    let run = kept(0, &[&caught]);
    assert_eq!(shown(&run, "ran"), json!(1));
    let ending = format!("{NEXT} session.finish('Enough.');");
    let run = kept(0, &[&ending]);
    assert_eq!(handed_in(&run), "Enough.");
    assert_eq!(run.outcomes(), ["finished"]);
}

#[test]
fn the_outcome_is_that_of_the_program_that_ran_last() {
    let run = kept(
        0,
        &[
            r#"programs.rerun("throw new Error('late');");"#,
            r#"attempt("history", () => programs.history()); show("out");"#,
            r#"programs.rerun('import { session } from "gg"; session.finish("By the last.");');"#,
        ],
    );
    assert_eq!(run.outcomes(), ["program_throw", "progressed", "finished"]);
    let entry = &shown(&run, "out")["history"][0];
    assert_eq!(entry["ok"], false);
    assert!(
        entry["error"].as_str().unwrap().contains("late"),
        "{entry:#}"
    );
    assert_eq!(handed_in(&run), "By the last.");
}
