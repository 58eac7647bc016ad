//! Programs that become other agents, copy their own and leave a state, on every arm.

use serde_json::{Value, json};
use tests::gateway::{Answer, Request, content_text};
use tests::launch::Launch;
use tests::run::Run;

use super::delegation::{CALLS, clerk, hand_in, plain};
use crate::arms::{
    Arm, attempts, both, coder_of, failed_in_each_way, finish, on_each, shown_attempts, submit,
};
use crate::coders::{PROGRAMS, cast, handed_in, library, refused, shown, told};
use crate::exec::{asked_of, last_told};
use crate::families::subagents;

/// Two profiles that may become each other: one writes programs, one calls tools.
fn pair(arm: Arm, root: &str) -> Launch {
    let scribe = coder_of(arm, "scribe", &[plain("exec")], &CALLS[3..4], &["clerk"]);
    let clerk = clerk(
        "clerk",
        &[plain("exec"), plain("list-dir")],
        &["exec", "list_dir"],
        &["scribe"],
    );
    match root {
        "scribe" => cast([scribe, clerk]),
        _ => cast([clerk, scribe]),
    }
}

#[test]
fn a_code_agent_becomes_a_tool_agent() {
    let body = shown_attempts([
        (
            "off",
            r#"delegation.exec("nobody")"#,
            r#"delegation.exec("nobody")"#,
        ),
        (
            "first",
            r#"delegation.exec("clerk", { prompt: "List it." })"#,
            r#"delegation.exec("clerk", prompt="List it.")"#,
        ),
        (
            "second",
            r#"delegation.exec("clerk")"#,
            r#"delegation.exec("clerk")"#,
        ),
    ]);
    on_each(|arm| {
        let body = body.clone();
        let run = Run::builder()
            .launch(pair(arm, "scribe"))
            .answers(
                move |request: &Request, _| match asked_of(request).as_str() {
                    "scribe" => submit(arm, &body),
                    _ if request.turn() == 1 => Answer::call("list_dir", json!({})),
                    _ => Answer::finish("Listed."),
                },
            )
            .run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        let off = &["`nobody`", "`clerk`"];
        refused(&out, "off", "invalid-argument", "exec", off);
        refused(&out, "second", "refused", "exec", &["`clerk`"]);
        failed_in_each_way(&[&out], &["delegation.exec"], &[]);
        assert_eq!(out["first"], "ok");
        assert_eq!(handed_in(&run), "Listed.");
        let transition = run.event("agent_transition");
        assert_eq!(transition["kind"], "exec");
        let requests = run.gateway.as_ref().unwrap().requests();
        let heir = requests.iter().find(|it| asked_of(it) == "clerk").unwrap();
        assert!(last_told(heir).contains("List it."), "{}", last_told(heir));
        assert!(
            heir.messages()
                .iter()
                .any(|it| content_text(&it["content"]).starts_with("View: out")),
            "what the program showed came along"
        );
    });
}

#[test]
fn a_tool_agent_becomes_a_code_agent() {
    let body = shown_attempts([("one", "1", "1")]);
    on_each(|arm| {
        let body = body.clone();
        let run = Run::builder()
            .launch(pair(arm, "clerk"))
            .answers(
                move |request: &Request, _| match asked_of(request).as_str() {
                    "clerk" => {
                        Answer::call("exec", json!({ "agent": "scribe", "prompt": "Write." }))
                    }
                    _ if request.turn() == 1 => submit(arm, &body),
                    _ => finish(arm, "Written."),
                },
            )
            .run();
        run.ended(0, "completed");
        assert_eq!(shown(&run, "out")["one"], 1);
        assert_eq!(handed_in(&run), "Written.");
        let surfaces = run.events("agent_surface");
        assert_eq!(surfaces.len(), 2);
        assert_eq!(surfaces[1]["tools"], json!([]));
    });
}

#[test]
fn a_succession_stands_though_its_program_fails_and_an_ending_beats_it() {
    let failing = both(
        r#"delegation.exec("clerk"); throw new Error("boom");"#,
        "delegation.exec('clerk')\nraise ValueError('boom')",
    );
    let ending = both(
        r#"delegation.exec("clerk"); session.finish("Enough.");"#,
        "delegation.exec('clerk')\nsession.finish('Enough.')",
    );
    on_each(|arm| {
        let failing = failing.clone();
        let run = Run::builder()
            .launch(pair(arm, "scribe"))
            .answers(
                move |request: &Request, _| match asked_of(request).as_str() {
                    "scribe" => submit(arm, &failing),
                    _ => Answer::finish("Carried on."),
                },
            )
            .run();
        run.ended(0, "completed");
        assert_eq!(run.outcomes(), ["program_throw", "finished"]);
        let errors = told(&run, "Runtime error\n----\n");
        assert!(
            errors[0].contains("boom"),
            "the successor reads what went wrong"
        );
        let ending = ending.clone();
        let run = Run::builder()
            .launch(pair(arm, "scribe"))
            .answers(move |_: &Request, _| submit(arm, &ending))
            .run();
        run.ended(0, "completed");
        assert_eq!(handed_in(&run), "Enough.");
        assert!(run.events("agent_transition").is_empty());
    });
}

#[test]
fn a_program_copies_its_agent_and_the_copy_has_what_was_kept() {
    let is_copy = |request: &Request| {
        let messages = request.messages();
        let mut told = messages.iter().map(|it| content_text(&it["content"]));
        told.any(|text| text.starts_with("Task: you are a copy of "))
    };
    let history = [("kept", "programs.history()", "programs.history()")];
    let before = attempts(history).and(&both("show('before');", "show('before')"));
    let copying = shown_attempts([
        (
            "copy",
            r#"delegation.fork("Look left.")"#,
            r#"delegation.fork("Look left.")"#,
        ),
        (
            "early",
            "delegation.waitForSubagents([out.copy.id])",
            "delegation.wait_for_subagents([out['copy']['id']])",
        ),
        (
            "write",
            r#"delegation.sendMessage(out.copy.id, "Hi.")"#,
            r#"delegation.send_message(out["copy"]["id"], "Hi.")"#,
        ),
        (
            "blank",
            r#"delegation.fork(" ")"#,
            r#"delegation.fork(" ")"#,
        ),
    ]);
    let later = attempts([(
        "values",
        "delegation.waitForSubagents()",
        "delegation.wait_for_subagents()",
    )])
    .and(&both("show('later');", "show('later')"));
    let copied = attempts([
        (
            "deeper",
            r#"delegation.fork("Again.")"#,
            r#"delegation.fork("Again.")"#,
        ),
        (
            "kept",
            "programs.history().map((it) => it.turn)",
            "[it.turn for it in programs.history()]",
        ),
    ])
    .and(&hand_in());
    on_each(|arm| {
        let operations = [CALLS.as_slice(), &PROGRAMS].concat();
        let capabilities = [subagents(1), plain("fork"), library(0)];
        let root = coder_of(arm, "root", &capabilities, &operations, &["root"]);
        let turns = [&before, &copying, &later].map(|body| submit(arm, body));
        let copied = submit(arm, &copied);
        let run = Run::builder()
            .launch(cast([root]).limit("maxParallel", 1))
            .answers(move |request: &Request, _| {
                if is_copy(request) {
                    return copied.clone();
                }
                let next = turns.get(request.turn()).cloned();
                next.unwrap_or_else(|| finish(arm, "Both."))
            })
            .run();
        run.ended(0, "completed");
        assert_eq!(shown(&run, "before")["kept"], json!([]));
        let out = shown(&run, "out");
        assert_eq!(out["copy"], json!({ "id": "agent-1" }));
        let wait = "wait_for_subagents";
        refused(&out, "early", "refused", wait, &["when this turn ends"]);
        refused(&out, "write", "refused", "send_message", &["`agent-1`"]);
        refused(&out, "blank", "invalid-argument", "fork", &["`prompt`"]);
        let value = &shown(&run, "later")["values"][0];
        let copied: Value = serde_json::from_str(value["text"].as_str().unwrap()).unwrap();
        refused(&copied, "deeper", "limit-exceeded", "fork", &["1 level"]);
        failed_in_each_way(&[&out, &copied], &["delegation.fork"], &[]);
        assert_eq!(
            copied["kept"],
            json!([1, 2]),
            "a copy has what its maker kept"
        );
    });
}

#[test]
fn a_program_leaves_its_state_along_an_edge() {
    let states = json!([
        { "name": "plan", "agent": "planner", "transitions": [
            { "to": "build", "transfer": ["history"], "description": "When the plan stands." },
        ] },
        { "name": "build", "agent": "builder", "transitions": [] },
    ]);
    let process = json!({
        "slug": "process", "name": "process", "tools": [], "operations": [],
        "capabilities": [{ "id": "fsm", "enabled": true, "params": { "states": states } }],
    });
    let leaving = shown_attempts([
        (
            "nowhere",
            r#"delegation.transitionState("review")"#,
            r#"delegation.transition_state("review")"#,
        ),
        (
            "blank",
            r#"delegation.transitionState(" ")"#,
            r#"delegation.transition_state(" ")"#,
        ),
        (
            "go",
            r#"delegation.transitionState("build", { note: "Oak." })"#,
            r#"delegation.transition_state("build", note="Oak.")"#,
        ),
        (
            "twice",
            r#"delegation.transitionState("build")"#,
            r#"delegation.transition_state("build")"#,
        ),
    ]);
    let built = attempts([
        (
            "back",
            r#"delegation.transitionState("plan")"#,
            r#"delegation.transition_state("plan")"#,
        ),
        (
            "kept",
            "programs.history().map((it) => it.turn)",
            "[it.turn for it in programs.history()]",
        ),
    ])
    .and(&both("show('built');", "show('built')"));
    let first = both("show('one');", "show('one')");
    on_each(|arm| {
        let planner = coder_of(arm, "planner", &[library(0)], &PROGRAMS, &[]);
        let builder = coder_of(arm, "builder", &[library(1)], &PROGRAMS, &[]);
        let [first, leaving, built] = [&first, &leaving, &built].map(|body| submit(arm, body));
        let run = Run::builder()
            .launch(cast([process.clone(), planner, builder]))
            .answers(move |request: &Request, _| {
                match (asked_of(request).as_str(), request.turn()) {
                    ("planner", 0) => first.clone(),
                    ("planner", _) => leaving.clone(),
                    (_, 2) => built.clone(),
                    _ => finish(arm, "Built."),
                }
            })
            .run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        let (call, invalid) = ("transition_state", "invalid-argument");
        refused(&out, "nowhere", invalid, call, &["`review`", "`build`"]);
        refused(&out, "blank", invalid, call, &["`state`"]);
        refused(&out, "twice", "refused", call, &["`builder`"]);
        failed_in_each_way(&[&out], &["delegation.transition_state"], &[]);
        assert_eq!(out["go"], "ok");
        let built = shown(&run, "built");
        refused(&built, "back", "unavailable", call, &["is not available."]);
        assert_eq!(built["kept"], json!([2]), "as many as the successor keeps");
        let states: Vec<&Value> = run
            .events("fsm_state")
            .iter()
            .map(|it| &it["state"])
            .collect();
        assert_eq!(states, ["plan", "build"]);
        assert_eq!(handed_in(&run), "Built.");
    });
}
