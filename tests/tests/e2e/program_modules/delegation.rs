//! Programs that put other agents to work, wait for them and write to them, on every arm.

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::gateway::{Answer, Request};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::arms::{
    Arm, Texts, attempts, both, coder_of, failed_in_each_way, finish, on_each, shown_attempts,
    submit,
};
use crate::coders::{cast, refused, shown, told};
use crate::families::{ended, figure, of_root, subagents, task};

pub(super) const CALLS: [&str; 5] = [
    "delegation.spawn_subagent",
    "delegation.wait_for_subagents",
    "delegation.send_message",
    "delegation.exec",
    "delegation.fork",
];

pub(super) fn plain(id: &str) -> Value {
    json!({ "id": id, "enabled": true, "params": {} })
}

/// A tool agent whose prompt names it.
pub(super) fn clerk(slug: &str, capabilities: &[Value], tools: &[&str], roster: &[&str]) -> Value {
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
pub(super) fn hand_in() -> Texts {
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
