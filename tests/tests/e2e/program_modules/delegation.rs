//! Programs that put other agents to work, become them, copy themselves and leave a state.

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::gateway::{Answer, Request, content_text};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::coders::{
    PROGRAMS, cast, coder, finish, handed_in, library, refused, shown, submit, told,
};
use crate::exec::{asked_of, last_told};
use crate::families::{ended, figure, of_root, subagents, task};

const CALLS: [&str; 5] = [
    "delegation.spawn_subagent",
    "delegation.wait_for_subagents",
    "delegation.send_message",
    "delegation.exec",
    "delegation.fork",
];

fn plain(id: &str) -> Value {
    json!({ "id": id, "enabled": true, "params": {} })
}

/// A tool agent whose prompt names it.
fn clerk(slug: &str, capabilities: &[Value], tools: &[&str], roster: &[&str]) -> Value {
    let roster: Vec<Value> = roster
        .iter()
        .map(|slug| json!({ "agentId": slug, "description": "", "scopes": ["subagent"] }))
        .collect();
    json!({
        "slug": slug, "name": slug, "modelId": MODEL, "customInstructions": format!("I am {slug}."),
        "capabilities": capabilities, "tools": tools, "operations": [], "subagents": roster,
    })
}

/// A root that may start two kinds of workers: one writes programs, one calls tools.
fn family(cap: u64) -> Launch {
    cast([
        coder("root", &[subagents(1)], &CALLS[..3], &["worker", "clerk"]),
        coder("worker", &[subagents(1)], &CALLS[..3], &["worker"]),
        clerk("clerk", &[], &[], &[]),
    ])
    .limit("maxParallel", cap)
}

#[test]
fn a_program_fans_work_out_and_collects_it_also_where_one_slot_is_all_there_is() {
    let run = Run::builder()
        .launch(family(1))
        .answers(|request: &Request, _| {
            if of_root(request) {
                return match request.turn() {
                    0 => submit(
                        r#"
                        const start = (agent, task) => delegation.spawnSubagent(agent, task).id;
                        const ids = [
                          start("worker", "A"), start("clerk", "B"), start("worker", "Deep"),
                        ];
                        attempt("ids", () => ids);
                        attempt("message", () => delegation.sendMessage(ids[0], "Be quick."));
                        attempt("values", () => delegation.waitForSubagents([...ids].reverse()));
                        attempt("again", () => delegation.waitForSubagents([ids[1]]));
                        attempt("rest", () => delegation.waitForSubagents());
                        attempt("none", () => delegation.waitForSubagents(["agent-9"]));
                        attempt("blankId", () => delegation.waitForSubagents([" "]));
                        attempt("offRoster", () => delegation.spawnSubagent("root", "x"));
                        attempt("blankTask", () => delegation.spawnSubagent("clerk", " "));
                        attempt("ended", () => delegation.sendMessage(ids[0], "Late."));
                        attempt("noChild", () => delegation.sendMessage("agent-9", "Hi."));
                        attempt("blankText", () => delegation.sendMessage(ids[0], ""));
                        show("out");
                        "#,
                    ),
                    _ => finish("All."),
                };
            }
            match task(request).as_str() {
                "B" => Answer::finish("B is done."),
                "Deep" => submit(
                    r#"
                    attempt("deeper", () => delegation.spawnSubagent("worker", "x"));
                    session.finish(JSON.stringify(out));
                    "#,
                ),
                other => finish(&format!("{other} is done.")),
            }
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(figure(&run, "peakParallel"), 1);
    assert_eq!(figure(&run, "agents"), 4);
    assert_eq!(ended(&run, "completed").len(), 4);
    let out = shown(&run, "out");
    assert_eq!(out["ids"], json!(["agent-1", "agent-2", "agent-3"]));
    assert_eq!(out["message"], "ok");
    let values = out["values"].as_array().unwrap();
    let ids: Vec<&str> = values.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["agent-3", "agent-2", "agent-1"]);
    let deep: Value = serde_json::from_str(values[0]["text"].as_str().unwrap()).unwrap();
    refused(
        &deep,
        "deeper",
        "limit-exceeded",
        "spawn_subagent",
        &["1 level"],
    );
    for value in values {
        assert_eq!(value["status"], "completed", "{out:#}");
        assert_eq!(value["ending"]["kind"], "finish", "{out:#}");
        assert_eq!(value["ending"]["value"], value["text"], "{out:#}");
    }
    assert_eq!(values[2]["text"], "A is done.");
    assert_eq!(out["again"], json!([values[1].clone()]));
    assert_eq!(out["rest"], json!([]));
    let wait = "wait_for_subagents";
    refused(&out, "none", "not-found", wait, &["`agent-9`", "`agent-1`"]);
    refused(&out, "blankId", "invalid-argument", wait, &["`ids[0]`"]);
    let roster = ["`worker`, `clerk`"];
    refused(
        &out,
        "offRoster",
        "invalid-argument",
        "spawn_subagent",
        &roster,
    );
    refused(
        &out,
        "blankTask",
        "invalid-argument",
        "spawn_subagent",
        &["`prompt`"],
    );
    refused(&out, "ended", "refused", "send_message", &["completed"]);
    refused(&out, "noChild", "not-found", "send_message", &["`agent-9`"]);
    refused(
        &out,
        "blankText",
        "invalid-argument",
        "send_message",
        &["`message`"],
    );
    assert!(told(&run, "Task: message from `root`")[0].contains("Be quick."));
    let execution = &run.events("code_execution")[0];
    assert_eq!(execution["ok"], true, "{execution}");
}

#[test]
fn a_wait_that_gives_its_slot_up_leaves_others_to_run_and_takes_no_time_of_its_program() {
    // The child's second turn lasts longer than the parent's program may run.
    let patient = |mut profile: Value| {
        let capabilities = profile["capabilities"].as_array_mut().unwrap();
        let code = capabilities.last_mut().unwrap();
        code["params"]["timeoutSecs"] = json!(1);
        profile
    };
    let shell = crate::families::inline_shell();
    let launch = cast([
        patient(coder("root", &[subagents(1)], &CALLS[..3], &["clerk"])),
        clerk("clerk", &[shell], &["shell"], &[]),
    ]);
    let run = Run::builder()
        .launch(launch.limit("maxParallel", 1))
        .answers(
            |request: &Request, _| match (of_root(request), request.turn()) {
                (true, 0) => submit(
                    r#"
                delegation.spawnSubagent("clerk", "Work.");
                attempt("values", () => delegation.waitForSubagents());
                show("out");
                "#,
                ),
                (true, _) => finish("All."),
                (false, 0) => Answer::shell("sleep 2"),
                (false, _) => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(shown(&run, "out")["values"][0]["text"], "Done.");
    // The root's first turn ends behind all that its child did.
    assert_eq!(
        run.outcomes(),
        ["progressed", "finished", "progressed", "finished"]
    );
}

#[test]
fn a_program_parked_on_a_child_hears_the_run_s_stop() {
    let launch = family(2);
    let running = Run::builder()
        .launch(launch)
        .answers(
            |request: &Request, _| match (of_root(request), request.turn()) {
                (true, _) => submit(
                    r#"
                delegation.spawnSubagent("worker", "Long.");
                delegation.waitForSubagents();
                session.finish("too late");
                "#,
                ),
                (false, _) => submit("for (;;);"),
            },
        )
        .start();
    running.wait_for("the root waits", |event| {
        event["type"] == "agent_status" && event["status"] == "blocked"
    });
    running.signal(Signal::INT);
    let run = running.finish();
    assert_eq!(run.last()["status"], "canceled", "{}", run.describe());
    assert_eq!(ended(&run, "canceled").len(), 2);
    assert_eq!(ended(&run, "completed"), [""; 0]);
}

/// Two profiles that may become each other: one writes programs, one calls tools.
fn pair(root: &str) -> Launch {
    let scribe = coder("scribe", &[plain("exec")], &CALLS[3..4], &["clerk"]);
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
    let run = Run::builder()
        .launch(pair("scribe"))
        .answers(|request: &Request, _| match asked_of(request).as_str() {
            "scribe" => submit(
                r#"
                attempt("off", () => delegation.exec("nobody"));
                attempt("first", () => delegation.exec("clerk", { prompt: "List it." }));
                attempt("second", () => delegation.exec("clerk"));
                show("out");
                "#,
            ),
            _ if request.turn() == 1 => Answer::call("list_dir", json!({})),
            _ => Answer::finish("Listed."),
        })
        .run();
    run.ended(0, "completed");
    let out = shown(&run, "out");
    refused(
        &out,
        "off",
        "invalid-argument",
        "exec",
        &["`nobody`", "`clerk`"],
    );
    refused(&out, "second", "refused", "exec", &["`clerk`"]);
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
}

#[test]
fn a_tool_agent_becomes_a_code_agent() {
    let run = Run::builder()
        .launch(pair("clerk"))
        .answers(|request: &Request, _| match asked_of(request).as_str() {
            "clerk" => Answer::call("exec", json!({ "agent": "scribe", "prompt": "Write." })),
            _ if request.turn() == 1 => submit(r#"attempt("one", () => 1); show("out");"#),
            _ => finish("Written."),
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(shown(&run, "out")["one"], 1);
    assert_eq!(handed_in(&run), "Written.");
    let surfaces = run.events("agent_surface");
    assert_eq!(surfaces.len(), 2);
    assert_eq!(surfaces[1]["tools"], json!([]));
}

#[test]
fn a_succession_stands_though_its_program_fails_and_an_ending_beats_it() {
    let run = Run::builder()
        .launch(pair("scribe"))
        .answers(|request: &Request, _| match asked_of(request).as_str() {
            "scribe" => submit(r#"delegation.exec("clerk"); throw new Error("boom");"#),
            _ => Answer::finish("Carried on."),
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["program_throw", "finished"]);
    let errors = told(&run, "Runtime error\n----\n");
    assert!(
        errors[0].contains("boom"),
        "the successor reads what went wrong"
    );
    let run = Run::builder()
        .launch(pair("scribe"))
        .answers(|_: &Request, _| submit(r#"delegation.exec("clerk"); session.finish("Enough.");"#))
        .run();
    run.ended(0, "completed");
    assert_eq!(handed_in(&run), "Enough.");
    assert!(run.events("agent_transition").is_empty());
}

#[test]
fn a_program_copies_its_agent_and_the_copy_has_what_was_kept() {
    let operations = [CALLS.as_slice(), &PROGRAMS].concat();
    let capabilities = [subagents(1), plain("fork"), library(0)];
    let launch = cast([coder("root", &capabilities, &operations, &["root"])]);
    let is_copy = |request: &Request| {
        let messages = request.messages();
        let mut told = messages.iter().map(|it| content_text(&it["content"]));
        told.any(|text| text.starts_with("Task: you are a copy of "))
    };
    let run = Run::builder()
        .launch(launch.limit("maxParallel", 1))
        .answers(
            move |request: &Request, _| match (is_copy(request), request.turn()) {
                (false, 0) => {
                    submit(r#"attempt("kept", () => programs.history()); show("before");"#)
                }
                (false, 1) => submit(
                    r#"
                attempt("copy", () => delegation.fork("Look left."));
                attempt("early", () => delegation.waitForSubagents([out.copy.id]));
                attempt("write", () => delegation.sendMessage(out.copy.id, "Hi."));
                attempt("blank", () => delegation.fork(" "));
                show("out");
                "#,
                ),
                (false, 2) => submit(
                    r#"attempt("values", () => delegation.waitForSubagents()); show("later");"#,
                ),
                (false, _) => finish("Both."),
                (true, _) => submit(
                    r#"
                attempt("deeper", () => delegation.fork("Again."));
                attempt("kept", () => programs.history().map((it) => it.turn));
                session.finish(JSON.stringify(out));
                "#,
                ),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(shown(&run, "before")["kept"], json!([]));
    let out = shown(&run, "out");
    assert_eq!(out["copy"], json!({ "id": "agent-1" }));
    refused(
        &out,
        "early",
        "refused",
        "wait_for_subagents",
        &["when this turn ends"],
    );
    refused(&out, "write", "refused", "send_message", &["`agent-1`"]);
    refused(&out, "blank", "invalid-argument", "fork", &["`prompt`"]);
    let value = &shown(&run, "later")["values"][0];
    let copied: Value = serde_json::from_str(value["text"].as_str().unwrap()).unwrap();
    refused(&copied, "deeper", "limit-exceeded", "fork", &["1 level"]);
    assert_eq!(
        copied["kept"],
        json!([1, 2]),
        "a copy has what its maker kept"
    );
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
    let planner = coder("planner", &[library(0)], &PROGRAMS, &[]);
    let builder = coder("builder", &[library(1)], &PROGRAMS, &[]);
    let run = Run::builder()
        .launch(cast([process, planner, builder]))
        .answers(
            |request: &Request, _| match (asked_of(request).as_str(), request.turn()) {
                ("planner", 0) => submit(r#"attempt("one", () => 1); show("one");"#),
                ("planner", _) => submit(
                    r#"
                attempt("nowhere", () => delegation.transitionState("review"));
                attempt("blank", () => delegation.transitionState(" "));
                attempt("go", () => delegation.transitionState("build", { note: "Oak." }));
                attempt("twice", () => delegation.transitionState("build"));
                show("out");
                "#,
                ),
                (_, 2) => submit(
                    r#"
                attempt("back", () => delegation.transitionState("plan"));
                attempt("kept", () => programs.history().map((it) => it.turn));
                show("built");
                "#,
                ),
                _ => finish("Built."),
            },
        )
        .run();
    run.ended(0, "completed");
    let out = shown(&run, "out");
    let call = "transition_state";
    refused(
        &out,
        "nowhere",
        "invalid-argument",
        call,
        &["`review`", "`build`"],
    );
    refused(&out, "blank", "invalid-argument", call, &["`state`"]);
    refused(&out, "twice", "refused", call, &["`builder`"]);
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
}
