//! Programs that put other agents to work, become them, copy themselves and leave a state, on every arm.

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::gateway::{Answer, Request, content_text};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::arms::{
    Arm, Texts, attempts, both, coder_of, failed_in_each_way, finish, on_each, shown_attempts,
    submit,
};
use crate::coders::{PROGRAMS, cast, handed_in, library, refused, shown, told};
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
fn family(arm: Arm, cap: u64) -> Launch {
    let coder = |slug, roster: &[&str]| coder_of(arm, slug, &[subagents(1)], &CALLS[..3], roster);
    cast([
        coder("root", &["worker", "clerk"]),
        coder("worker", &["worker"]),
        clerk("clerk", &[], &[], &[]),
    ])
    .limit("maxParallel", cap)
}

/// A program that ends its agent with all it was told.
fn hand_in() -> Texts {
    both(
        "session.finish(JSON.stringify(out));",
        "session.finish(json.dumps(out))",
    )
}

#[test]
fn a_program_fans_work_out_and_collects_it_also_where_one_slot_is_all_there_is() {
    let starting = both(
        r#"
        const start = (agent, task) => delegation.spawnSubagent(agent, task).id;
        const ids = [start("worker", "A"), start("clerk", "B"), start("worker", "Deep")];
        "#,
        r#"
        start = lambda agent, task: delegation.spawn_subagent(agent, task).id
        ids = [start("worker", "A"), start("clerk", "B"), start("worker", "Deep")]
        "#,
    );
    let calls = shown_attempts([
        ("ids", "ids", "ids"),
        (
            "message",
            r#"delegation.sendMessage(ids[0], "Be quick.")"#,
            r#"delegation.send_message(ids[0], "Be quick.")"#,
        ),
        (
            "values",
            "delegation.waitForSubagents([...ids].reverse())",
            "delegation.wait_for_subagents(ids[::-1])",
        ),
        (
            "again",
            "delegation.waitForSubagents([ids[1]])",
            "delegation.wait_for_subagents([ids[1]])",
        ),
        (
            "rest",
            "delegation.waitForSubagents()",
            "delegation.wait_for_subagents()",
        ),
        (
            "none",
            r#"delegation.waitForSubagents(["agent-9"])"#,
            r#"delegation.wait_for_subagents(["agent-9"])"#,
        ),
        (
            "blankId",
            r#"delegation.waitForSubagents([" "])"#,
            r#"delegation.wait_for_subagents([" "])"#,
        ),
        (
            "offRoster",
            r#"delegation.spawnSubagent("root", "x")"#,
            r#"delegation.spawn_subagent("root", "x")"#,
        ),
        (
            "blankTask",
            r#"delegation.spawnSubagent("clerk", " ")"#,
            r#"delegation.spawn_subagent("clerk", " ")"#,
        ),
        (
            "ended",
            r#"delegation.sendMessage(ids[0], "Late.")"#,
            r#"delegation.send_message(ids[0], "Late.")"#,
        ),
        (
            "noChild",
            r#"delegation.sendMessage("agent-9", "Hi.")"#,
            r#"delegation.send_message("agent-9", "Hi.")"#,
        ),
        (
            "blankText",
            r#"delegation.sendMessage(ids[0], "")"#,
            r#"delegation.send_message(ids[0], "")"#,
        ),
    ]);
    let fanning = starting.and(&calls);
    let deeper = attempts([(
        "deeper",
        r#"delegation.spawnSubagent("worker", "x")"#,
        r#"delegation.spawn_subagent("worker", "x")"#,
    )])
    .and(&hand_in());
    on_each(|arm| {
        let (fanning, deeper) = (typed(arm, &fanning), deeper.clone());
        let run = Run::builder()
            .launch(family(arm, 1))
            .answers(move |request: &Request, _| {
                if of_root(request) {
                    return match request.turn() {
                        0 => submit(arm, &fanning),
                        _ => finish(arm, "All."),
                    };
                }
                match task(request).as_str() {
                    "B" => Answer::finish("B is done."),
                    "Deep" => submit(arm, &deeper),
                    other => finish(arm, &format!("{other} is done.")),
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
        let spawn = "spawn_subagent";
        refused(&deep, "deeper", "limit-exceeded", spawn, &["1 level"]);
        for value in values {
            assert_eq!(value["status"], "completed", "{out:#}");
            // How a language tells the kinds of endings apart is its own.
            let ending = value["ending"].as_object().unwrap();
            assert!(ending.values().any(|it| *it == value["text"]), "{out:#}");
        }
        assert_eq!(values[2]["text"], "A is done.");
        assert_eq!(out["again"], json!([values[1].clone()]));
        assert_eq!(out["rest"], json!([]));
        let (wait, send) = ("wait_for_subagents", "send_message");
        let invalid = "invalid-argument";
        refused(&out, "none", "not-found", wait, &["`agent-9`", "`agent-1`"]);
        refused(&out, "blankId", invalid, wait, &["`ids[0]`"]);
        refused(&out, "offRoster", invalid, spawn, &["`worker`, `clerk`"]);
        refused(&out, "blankTask", invalid, spawn, &["`prompt`"]);
        refused(&out, "ended", "refused", send, &["completed"]);
        refused(&out, "noChild", "not-found", send, &["`agent-9`"]);
        refused(&out, "blankText", invalid, send, &["`message`"]);
        failed_in_each_way(&[&out, &deep], &CALLS[..3], &[(CALLS[1], "refused")]);
        assert!(told(&run, "Task: message from `root`")[0].contains("Be quick."));
        let execution = &run.events("code_execution")[0];
        assert_eq!(execution["ok"], true, "{execution}");
    });
}

/// A text of JavaScript that TypeScript has with types.
fn typed(arm: Arm, body: &Texts) -> Texts {
    match arm {
        Arm::Typescript => body
            .replacing("(agent, task) =>", "(agent: string, task: string) =>")
            .replacing("ids[0]", "ids[0]!")
            .replacing("ids[1]", "ids[1]!"),
        Arm::Javascript | Arm::Python => body.clone(),
    }
}

#[test]
fn no_more_agents_are_started_than_the_run_may_have() {
    let body = shown_attempts([
        (
            "one",
            r#"delegation.spawnSubagent("clerk", "x").id"#,
            r#"delegation.spawn_subagent("clerk", "x").id"#,
        ),
        (
            "two",
            r#"delegation.spawnSubagent("clerk", "x").id"#,
            r#"delegation.spawn_subagent("clerk", "x").id"#,
        ),
        (
            "all",
            "delegation.waitForSubagents().length",
            "len(delegation.wait_for_subagents())",
        ),
    ]);
    on_each(|arm| {
        let body = body.clone();
        let run = Run::builder()
            .launch(family(arm, 2).limit("maxAgents", 2))
            .answers(move |request: &Request, _| match request.turn() {
                _ if !of_root(request) => Answer::finish("x"),
                0 => submit(arm, &body),
                _ => finish(arm, "All."),
            })
            .run();
        run.ended(0, "completed");
        let out = shown(&run, "out");
        assert_eq!(out["one"], "agent-1");
        refused(&out, "two", "limit-exceeded", "spawn_subagent", &["2"]);
        assert_eq!(out["all"], 1);
    });
}

#[test]
fn a_wait_that_gives_its_slot_up_leaves_others_to_run_and_takes_no_time_of_its_program() {
    let body = both(
        r#"delegation.spawnSubagent("clerk", "Work.");"#,
        r#"delegation.spawn_subagent("clerk", "Work.")"#,
    )
    .and(&shown_attempts([(
        "values",
        "delegation.waitForSubagents()",
        "delegation.wait_for_subagents()",
    )]));
    on_each(|arm| {
        // The child's first turn lasts longer than the parent's program may run.
        let shell = crate::families::inline_shell();
        let root = coder_of(arm, "root", &[subagents(1)], &CALLS[..3], &["clerk"]);
        let launch = cast([root, clerk("clerk", &[shell], &["shell"], &[])])
            .in_capability("responses-as-code", "/params/timeoutSecs", 1)
            .limit("maxParallel", 1);
        let body = body.clone();
        let run = Run::builder()
            .launch(launch)
            .answers(
                move |request: &Request, _| match (of_root(request), request.turn()) {
                    (true, 0) => submit(arm, &body),
                    (true, _) => finish(arm, "All."),
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
    });
}

#[test]
fn a_program_parked_on_a_child_hears_the_run_s_stop() {
    let waits = both(
        r#"
        delegation.spawnSubagent("worker", "Long.");
        delegation.waitForSubagents();
        session.finish("too late");
        "#,
        r#"
        delegation.spawn_subagent("worker", "Long.")
        delegation.wait_for_subagents()
        session.finish("too late")
        "#,
    );
    let endless = both("for (;;);", "while True: pass");
    on_each(|arm| {
        let (waits, endless) = (waits.clone(), endless.clone());
        let running = Run::builder()
            .launch(family(arm, 2))
            .answers(move |request: &Request, _| {
                let root = of_root(request);
                submit(arm, if root { &waits } else { &endless })
            })
            .start();
        running.wait_for("the root waits", |event| {
            event["type"] == "agent_status" && event["status"] == "blocked"
        });
        running.signal(Signal::INT);
        let run = running.finish();
        assert_eq!(run.last()["status"], "canceled", "{}", run.describe());
        assert_eq!(ended(&run, "canceled").len(), 2);
        assert_eq!(ended(&run, "completed"), [""; 0]);
    });
}

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
