//! The program library, on every arm: what is kept, and how one program hands over to another (02 §11,
//! 04 §6.6).

use serde_json::{Value, json};
use tests::gateway::{content_text, script};
use tests::run::Run;

use crate::arms::{
    Arm, Texts, attempts, both, coder_of, each, ends_of, exactly, failed_in_each_way, finish,
    on_each, play, program, shown_attempts, submit,
};
use crate::coders::{PROGRAMS, cast, handed_in, library, refused, shown, told};

/// The receipts of all submissions, in order.
fn receipts(run: &Run) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let messages = requests.last().unwrap().messages();
    let results = messages.iter().filter(|it| it["role"] == "tool");
    results.map(|it| content_text(&it["content"])).collect()
}

#[track_caller]
fn kept(arm: Arm, keep: u64, bodies: &[Texts]) -> Run {
    play(arm, &[library(keep)], &PROGRAMS, bodies)
}

/// A program that fails.
fn fails(word: &str) -> Texts {
    both(
        &format!("throw new Error('{word}');"),
        &format!("raise ValueError('{word}')"),
    )
}

#[test]
fn a_program_finds_those_before_it_whole_and_with_their_verdicts() {
    let first = both(
        "attempt(\"none\", () => programs.get()); show(\"first\"); // \u{fc}",
        "attempt('none', lambda: programs.get())\nshow('first') # \u{fc}",
    );
    let broken = both("this is no program", "this is no program");
    let look = both(
        r#"
        attempt("history", () => programs.history());
        attempt("last", () => programs.get());
        attempt("first", () => programs.get(programs.history()[0]!.id));
        attempt("miss", () => programs.get("zz"));
        show("out");
        "#,
        r#"
        attempt("history", lambda: programs.history())
        attempt("last", lambda: programs.get())
        attempt("first", lambda: programs.history()[0].source())
        attempt("miss", lambda: programs.get("zz"))
        show("out")
        "#,
    );
    let bodies = [first.clone(), fails("boom"), broken.clone(), look];
    on_each(|arm| {
        let bodies = bodies.each_ref().map(|body| untyped(arm, body));
        let run = kept(arm, 0, &bodies);
        let empty = shown(&run, "first");
        let nothing = &["no program is kept yet"];
        refused(&empty, "none", "not-found", "get", nothing);
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
        let source = program(arm, &first);
        assert_eq!(entries[0]["ok"], true);
        assert_eq!(entries[0]["lines"], source.lines().count());
        assert_eq!(entries[0]["chars"], source.chars().count());
        assert_eq!(
            (&entries[1]["ok"], &entries[2]["ok"]),
            (&json!(false), &json!(false))
        );
        let error = |entry: &Value| entry["error"].as_str().unwrap().to_owned();
        assert!(error(&entries[1]).contains("boom"), "{out:#}");
        let refusal = match arm {
            Arm::Typescript => "error TS",
            Arm::Javascript | Arm::Python => "SyntaxError",
        };
        assert!(error(&entries[2]).contains(refusal), "{out:#}");
        assert_eq!(out["first"], json!(source), "byte for byte");
        assert_eq!(out["last"], json!(program(arm, &broken)));
        let held: &[&str] = &["`zz`", &ids[0], "(turn 2)"];
        refused(&out, "miss", "not-found", "get", held);
    });
}

/// A text without the marks of TypeScript.
fn untyped(arm: Arm, body: &Texts) -> Texts {
    match arm {
        Arm::Javascript => body.replacing("]!.", "]."),
        Arm::Typescript | Arm::Python => body.clone(),
    }
}

#[test]
fn no_more_are_kept_than_the_profile_says() {
    let empty = both("1;", "1");
    let look = shown_attempts([(
        "turns",
        "programs.history().map((it) => it.turn)",
        "[it.turn for it in programs.history()]",
    )]);
    let bodies = [empty.clone(), empty.clone(), empty, look];
    on_each(|arm| {
        let run = kept(arm, 2, &bodies);
        assert_eq!(shown(&run, "out")["turns"], json!([2, 3]));
    });
}

/// A program that hands over to itself, without end: its text stands in the file `next`.
fn endless() -> Texts {
    both(
        r#"import { files, programs, views } from "gg";
const ran = files.listDir("ran").length;
files.writeFile(`ran/${ran}`, "");
views.openText(`ran ${ran}`, "true");
programs.rerun(files.readTextFile("next"));
"#,
        r#"from gg import files, programs, views
ran = len(files.list_dir("ran"))
files.write_file(f"ran/{ran}", "")
views.open_text(f"ran {ran}", "true")
programs.rerun(files.read_text_file("next"))
"#,
    )
}

#[test]
fn a_program_hands_over_to_another_and_four_run_on_one_submission() {
    let look = shown_attempts([
        ("history", "programs.history()", "programs.history()"),
        ("source", "programs.get()", "programs.get()"),
    ]);
    let capabilities = [crate::programs::workshop(), vec![library(0)]].concat();
    let operations = [&crate::programs::ON_FILES[..], &PROGRAMS].concat();
    on_each(|arm| {
        let endless = endless();
        let source = endless.of(arm);
        let answers = [exactly(source), submit(arm, &look), finish(arm, "Done.")];
        let profile = coder_of(arm, "root", &capabilities, &operations, &[]);
        let run = Run::builder()
            .launch(cast([profile]))
            .answers(script(answers))
            .file("next", source)
            .prepare(|workspace| std::fs::create_dir(workspace.join("ran")).unwrap())
            .run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        let entries = out["history"].as_array().unwrap();
        assert_eq!(entries.len(), 1, "one entry a submission");
        assert_eq!(entries[0]["ok"], true, "{out:#}");
        assert_eq!(out["source"], source);
        let views: Vec<String> = (0..4)
            .map(|n| format!("View: ran {n}\n----\ntrue"))
            .collect();
        assert_eq!(told(&run, "View: ran "), views);
        let notices = told(&run, "Notice\n----\n");
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].contains("not run") && notices[0].contains('4'));
        let executions = run.events("code_execution");
        assert_eq!(executions.len(), 3, "one of each submission");
        assert_eq!(executions[0]["apiCalls"], 4 * 5);
        assert_eq!(receipts(&run).len(), 2, "one of each submission");
    });
}

/// A program's text, as its arm writes it, that shows that it ran.
fn ran() -> Texts {
    both(
        r#"import { views } from "gg"; views.openText("ran", "1");"#,
        "import gg; gg.views.open_text('ran', '1')",
    )
}

/// A program that hands over to another.
fn rerun(next: &Texts) -> Texts {
    let quoted = |arm| format!("programs.rerun({});", json!(next.of(arm)));
    each(
        &quoted(Arm::Typescript),
        &quoted(Arm::Javascript),
        &quoted(Arm::Python),
    )
}

#[test]
fn the_first_hand_over_stands_and_a_blank_one_is_none() {
    let blank = [(
        "blank",
        r#"programs.rerun(" \n")"#,
        r#"programs.rerun(" \n")"#,
    )];
    let second = [(
        "second",
        r#"programs.rerun("1;")"#,
        r#"programs.rerun("1")"#,
    )];
    let body = attempts(blank)
        .and(&rerun(&ran()))
        .and(&shown_attempts(second));
    on_each(|arm| {
        let run = kept(arm, 0, std::slice::from_ref(&body));
        let out = shown(&run, "out");
        refused(&out, "blank", "invalid-argument", "rerun", &["`source`"]);
        refused(&out, "second", "refused", "rerun", &["the first stands"]);
        failed_in_each_way(&[&out], &["programs.rerun"], &[]);
        assert_eq!(
            ends_of(&run, "programs.rerun"),
            ["invalid-argument", "ok", "refused"]
        );
        assert_eq!(shown(&run, "ran"), json!(1));
    });
}

#[test]
fn a_failure_and_an_ending_revoke_a_hand_over() {
    let next = rerun(&ran());
    let failing = next.clone().and(&fails("boom"));
    let missing = [("none", "programs.get('zz')", "programs.get('zz')")];
    let caught = next.clone().and(&attempts(missing));
    let ending = next.and(&both(
        "session.finish('Enough.');",
        "session.finish('Enough.')",
    ));
    on_each(|arm| {
        let run = kept(arm, 0, std::slice::from_ref(&failing));
        assert!(told(&run, "View: ran").is_empty());
        let notices = told(&run, "Notice\n----\n");
        assert!(notices[0].contains("was not run"), "{notices:?}");
        assert!(notices[0].contains("failed"), "{notices:?}");
        assert_eq!(run.outcomes(), ["program_throw", "finished"]);
        // A failure that was caught revokes nothing.
        let run = kept(arm, 0, std::slice::from_ref(&caught));
        assert_eq!(shown(&run, "ran"), json!(1));
        let run = kept(arm, 0, std::slice::from_ref(&ending));
        assert_eq!(handed_in(&run), "Enough.");
        assert_eq!(run.outcomes(), ["finished"]);
    });
}

#[test]
fn the_outcome_is_that_of_the_program_that_ran_last() {
    let look = shown_attempts([("history", "programs.history()", "programs.history()")]);
    let last = both(
        r#"import { session } from "gg"; session.finish("By the last.");"#,
        "import gg; gg.session.finish('By the last.')",
    );
    let bodies = [rerun(&fails("late")), look, rerun(&last)];
    on_each(|arm| {
        let run = kept(arm, 0, &bodies);
        assert_eq!(run.outcomes(), ["program_throw", "progressed", "finished"]);
        let entry = &shown(&run, "out")["history"][0];
        assert_eq!(entry["ok"], false);
        let error = entry["error"].as_str().unwrap();
        assert!(error.contains("late"), "{entry:#}");
        assert_eq!(handed_in(&run), "By the last.");
    });
}

#[test]
fn a_program_handed_over_to_is_checked_as_any() {
    let next = each("const wrong: number = '';", "const wrong = ;", "wrong =");
    on_each(|arm| {
        let run = kept(arm, 0, &[rerun(&next)]);
        let error = match arm {
            Arm::Typescript => "transpile_compile",
            Arm::Javascript | Arm::Python => "program_throw",
        };
        assert_eq!(run.outcomes(), [error, "finished"]);
    });
}
