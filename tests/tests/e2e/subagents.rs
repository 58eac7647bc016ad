//! Agents that start others, over real sockets: field cases F66, F68, F70 to F72, and runs of many.

use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Reply, Request};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::common::CEILING;
use crate::families::{And, ended, figure, of_root, start, task, wait};

/// A live root that may start workers, who may start workers.
fn family(cap: u64, max_depth: u64) -> Launch {
    let roster = json!([{ "agentId": "worker", "description": "Works.", "scopes": ["subagent"] }]);
    let tools = [
        "shell",
        "list_dir",
        "spawn_subagent",
        "wait_for_subagents",
        "send_message",
    ];
    let profile = |slug: &str| {
        json!({
            "slug": slug, "name": slug, "modelId": MODEL,
            "capabilities": [
                { "id": "shell", "enabled": true, "implementation": "inline",
                  "params": { "maxLines": 20, "maxChars": 2000 } },
                { "id": "list-dir", "enabled": true, "params": {} },
                { "id": "subagents", "enabled": true, "params": { "maxDepth": max_depth } },
            ],
            "tools": tools, "operations": [], "subagents": roster,
        })
    };
    Launch::live().limit("maxParallel", cap).set(
        "/capabilitySet/agents",
        json!([profile("root"), profile("worker")]),
    )
}

fn spawn(prompt: &str) -> Answer {
    start("worker", prompt)
}

fn previews(run: &Run, tool: &str) -> Vec<String> {
    let results = run.results(tool).into_iter();
    results
        .map(|result| result["preview"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn f66_twelve_children_one_after_another_all_run() {
    let run = Run::builder()
        .launch(family(2, 1))
        .answers(|request: &Request, _| match request.turn() {
            turn if of_root(request) && turn < 24 => {
                if turn % 2 == 0 {
                    spawn(&format!("Child {turn}."))
                } else {
                    wait(&[])
                }
            }
            _ => Answer::finish("Done."),
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(figure(&run, "agents"), 13);
    assert!(figure(&run, "peakParallel") <= 2);
    assert_eq!(ended(&run, "completed").len(), 13);
    for preview in previews(&run, "wait_for_subagents") {
        assert!(preview.contains("finished:\nDone."), "{preview}");
    }
}

#[test]
fn f68_two_waits_of_one_reply_at_one_slot_are_answered_in_order() {
    let run = Run::builder()
        .launch(family(1, 1))
        .answers(
            |request: &Request, _| match (of_root(request), request.turn()) {
                (true, 0) => spawn("A").and_start("worker", "B"),
                (true, 1) => wait(&["agent-1"]).and_wait(&["agent-2"]),
                (true, _) => Answer::finish("Both."),
                (false, _) => Answer::finish(&format!("{} is done.", task(request))),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(figure(&run, "peakParallel"), 1);
    assert_eq!(
        previews(&run, "wait_for_subagents"),
        [
            "`agent-1` (worker) finished:\nA is done.",
            "`agent-2` (worker) finished:\nB is done.",
        ]
    );
}

#[test]
fn f70_a_parent_stays_suspended_while_its_child_s_child_stumbles() {
    let run = Run::builder()
        .launch(family(2, 2))
        .answers(
            |request: &Request, _| match (task(request).as_str(), request.turn()) {
                ("Middle.", 0) => spawn("Leaf.").and_wait(&[]),
                ("Leaf.", 0) => Answer::finish("  "),
                ("Leaf.", _) => Answer::finish("Leaf done."),
                ("Middle.", _) => Answer::finish("Middle done."),
                (_, 0) => spawn("Middle.").and_wait(&[]),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let blank = &run.results("finish")[0];
    assert_eq!(
        (&blank["agentId"], &blank["ok"]),
        (&json!("agent-2"), &json!(false))
    );
    assert_eq!(blank["failure"], "invalid-argument");
    let resumed: Vec<&str> = run
        .events("agent_status")
        .into_iter()
        .filter(|status| !status["endedAs"].is_null() || status["status"] == "blocked")
        .map(|status| status["agentId"].as_str().unwrap())
        .collect();
    assert_eq!(resumed, ["root", "agent-1", "agent-2", "agent-1", "root"]);
    assert_eq!(figure(&run, "maxDepth"), 2);
}

/// Every agent starts five at each of its first two turns, then collects them and ends.
fn breeder() -> impl Fn(&Request, usize) -> Answer + Send + Sync + 'static {
    let next = AtomicUsize::new(0);
    move |request: &Request, _| {
        let prompt = || format!("Task {}.", next.fetch_add(1, Ordering::Relaxed));
        match request.turn() {
            0 | 1 => (1..5).fold(spawn(&prompt()), |answer, _| {
                answer.and_start("worker", &prompt())
            }),
            2 => wait(&[]),
            _ => Answer::finish("Enough."),
        }
    }
}

#[test]
fn f71_agents_started_are_bounded_over_the_run() {
    let run = Run::builder()
        .launch(family(8, 2).limit("maxAgents", 30))
        .answers(breeder())
        .run();
    run.ended(0, "completed");
    assert_eq!(figure(&run, "agents"), 30);
    let refused = previews(&run, "spawn_subagent")
        .into_iter()
        .filter(|text| text.contains("(limit-exceeded)"));
    let (by_count, by_depth): (Vec<_>, Vec<_>) =
        refused.partition(|text| text.contains("30 agents at most"));
    assert!(!by_count.is_empty() && !by_depth.is_empty());
    assert!(figure(&run, "peakParallel") <= 8);
}

#[test]
fn f71_without_a_bound_the_operator_is_told_each_hundred() {
    let run = Run::builder()
        .launch(family(16, 2))
        .answers(breeder())
        .run();
    run.ended(0, "completed");
    // The root, its ten, and ten of each.
    assert_eq!(figure(&run, "agents"), 111);
    let told = run
        .events("log")
        .into_iter()
        .filter(|log| log["code"] == "many_agents");
    assert_eq!(told.count(), 1);
    assert_eq!(figure(&run, "agentsFailed"), 0);
}

/// Each agent holds a window of nearly a hundred thousand characters while it lives, five at a time.
#[test]
fn f71_memory_stays_flat_however_many_agents_come_and_go() {
    const TURNS: usize = 30;
    const PART: u64 = 16_000;
    const HELD: u64 = 6 * PART;

    let running = Run::builder()
        .launch(family(5, 1))
        .answers(
            |request: &Request, _| match (of_root(request), request.turn()) {
                (true, turn) if turn < TURNS => {
                    let brief = |n: usize| format!("Child {n} of turn {turn}.");
                    let answer = (1..5).fold(spawn(&brief(0)), |answer, n| {
                        answer.and_start("worker", &brief(n))
                    });
                    answer.and_wait(&[])
                }
                (false, 0) => (0..HELD / PART).fold(Answer::default(), |answer, _| {
                    let command = format!("yes one two | tr '\\n' ' ' | head -c {PART}");
                    answer.and_call("shell", json!({ "command": command }))
                }),
                _ => Answer::finish("Done."),
            },
        )
        .start();
    running.wait_for("the thirtieth child's end", |line| {
        line["agentId"] == "agent-30" && line["endedAs"] == "completed"
    });
    let before = running.probe().unwrap().memory;
    let run = running.finish();
    run.ended(0, "completed");
    assert_eq!(figure(&run, "agents"), 1 + 5 * TURNS as u64);
    let requests = run.gateway.as_ref().unwrap().requests();
    let held = requests
        .iter()
        .filter(|it| it.text().len() as u64 > HELD)
        .count();
    assert!(held >= 5 * TURNS, "{held}");
    // Windows that were kept would come to twice as much, were nothing but their texts kept.
    let risen = run.peak.memory.saturating_sub(before);
    let kept = (5 * TURNS as u64 - 30) * HELD;
    assert!(risen < kept / 2, "memory rose by {risen} of {kept} bytes");
}

#[test]
fn f72_a_profile_that_starts_itself_stops_at_the_depth() {
    let run = Run::builder()
        .launch(family(4, 3))
        // Conversations that open alike are one to the strict checker.
        .gateway(Gateway::lenient(|request: &Request, _| {
            let refused = request
                .results()
                .iter()
                .any(|text| text.contains("limit-exceeded"));
            match request.turn() {
                0 => spawn("The same."),
                1 if !refused => wait(&[]),
                _ => Answer::finish("Done."),
            }
        }))
        .run();
    run.ended(0, "completed");
    assert_eq!((figure(&run, "agents"), figure(&run, "maxDepth")), (4, 3));
    let refused = previews(&run, "spawn_subagent");
    let refused: Vec<_> = refused
        .iter()
        .filter(|text| text.contains("(limit-exceeded)"))
        .collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].contains("3 levels"), "{refused:?}");
}

/// Starts `count` children in one reply, who each run a command, and collects them.
fn many(count: usize) -> impl Fn(&Request, usize) -> Answer + Send + Sync + 'static {
    move |request: &Request, _| match (of_root(request), request.turn()) {
        (true, 0) => (1..count).fold(spawn("Child 0."), |answer, n| {
            answer.and_start("worker", &format!("Child {n}."))
        }),
        (true, 1) => wait(&[]),
        (false, 0) => Answer::shell("echo here"),
        _ => Answer::finish("Done."),
    }
}

#[test]
fn two_hundred_agents_run_at_every_cap_and_each_ends_once() {
    for cap in [1, 2, 16] {
        let run = Run::builder()
            .launch(family(cap, 1))
            .answers(many(200))
            .run();
        run.ended(0, "completed");
        assert_eq!(figure(&run, "agents"), 201, "{cap}");
        assert_eq!(figure(&run, "peakParallel"), cap);
        assert_eq!(ended(&run, "completed").len(), 201, "{cap}");
        let gateway = run.gateway.as_ref().unwrap();
        assert_eq!(gateway.requests().len(), 3 + 2 * 200, "{cap}");
    }
}

/// Starts 60 children that each run a command that does not end, and waits for them.
fn sleepers(request: &Request, _: usize) -> Answer {
    match (of_root(request), request.turn()) {
        (true, 0) => (1..60).fold(spawn("Sleep 0."), |answer, n| {
            answer.and_start("worker", &format!("Sleep {n}."))
        }),
        (true, _) => wait(&[]),
        (false, _) => Answer::shell("echo begun >> begun; sleep 90"),
    }
}

fn begun(workspace: &std::path::Path, count: usize) {
    let begun = workspace.join("begun");
    let lines = || std::fs::read_to_string(&begun).map_or(0, |text| text.lines().count());
    while lines() < count {
        std::thread::yield_now();
    }
}

#[test]
fn a_signal_and_a_cancel_file_end_a_run_of_many_with_commands_running() {
    for by_file in [false, true] {
        let builder = Run::builder();
        let cancel = builder.folder().join("cancel");
        let running = builder
            .launch(family(16, 1).set("/cancelFile", cancel.display().to_string()))
            .answers(sleepers)
            .start();
        begun(running.workspace(), 16);
        if by_file {
            std::fs::write(&cancel, "").unwrap();
        } else {
            running.signal(Signal::TERM);
        }
        let run = running.finish();
        run.ended(0, "canceled");
        assert_eq!(ended(&run, "canceled").len(), 61, "{by_file}");
        assert_eq!(run.events("session_summary").len(), 1);
    }
}

#[test]
fn a_spent_clock_releases_every_wait() {
    let run = Run::builder()
        .launch(family(8, 1).limit("maxRuntimeSecs", 2))
        .answers(sleepers)
        .run();
    run.ended(3, "timed_out");
    assert_eq!(ended(&run, "timed_out").len(), 61);
}

#[test]
fn spent_money_releases_a_wait_and_lets_a_turn_complete() {
    let run = Run::builder()
        .launch(family(2, 1).limit("maxCost", 0.00025))
        .answers(
            move |request: &Request, _| match (of_root(request), request.turn()) {
                (true, 0) => spawn("Spend.").and_wait(&[]),
                (true, _) => Answer::finish("never asked again"),
                (false, _) => Answer::shell("true"),
            },
        )
        .run();
    run.ended(3, "limit_exceeded");
    assert_eq!(ended(&run, "limit_exceeded").len(), 2);
    let waits = previews(&run, "wait_for_subagents");
    assert!(waits[0].contains("(refused)"), "{waits:?}");
}

#[test]
fn a_child_that_breaches_a_ceiling_is_done_to_its_parent_and_exit_three_for_the_run() {
    let run = Run::builder()
        .launch(family(2, 1).limit("maxTurns", 3))
        .answers(
            |request: &Request, _| match (of_root(request), request.turn()) {
                (true, 0) => spawn("Go round.").and_wait(&[]),
                (true, _) => Answer::finish("Done."),
                (false, _) => Answer::call("list_dir", json!({})),
            },
        )
        .run();
    assert_eq!(run.code, Some(3));
    let summary = run.summary();
    assert_eq!(summary["status"], "completed");
    assert_eq!(summary["limitHit"], Value::Null);
    assert_eq!(summary["agentsFailed"], 0);
    assert_eq!(
        previews(&run, "wait_for_subagents"),
        ["`agent-1` (worker) did not finish, exhausted:\nits 3 turns were spent"]
    );
}

#[test]
fn a_refused_credential_fails_a_child_alone_and_a_root_s_failure_stops_the_others() {
    let run = Run::builder()
        .launch(family(2, 1))
        .answers(|request: &Request, _| -> Reply {
            match (of_root(request), request.turn()) {
                (true, 0) => spawn("Ask.").and_wait(&[]).into(),
                (true, _) => Answer::finish("Done.").into(),
                (false, _) => Reply::error(401, "no such key"),
            }
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(ended(&run, "auth_error"), ["agent-1"]);
    let waits = previews(&run, "wait_for_subagents");
    assert!(waits[0].contains("failed, auth_error:\n"), "{waits:?}");

    let run = Run::builder()
        .launch(family(2, 1))
        .answers(|request: &Request, _| -> Reply {
            match (of_root(request), request.turn()) {
                (true, 0) => spawn("Sleep.").into(),
                (true, _) => Reply::error(400, "no such parameter"),
                (false, _) => Answer::shell("sleep 90").into(),
            }
        })
        .run();
    run.ended(1, "model_error");
    assert_eq!(ended(&run, "canceled"), ["agent-1"]);
    assert!(CEILING.as_millis() > run.summary()["wallMs"].as_u64().unwrap().into());
}

#[test]
fn written_and_off_is_left_out_byte_for_byte() {
    let first = |launch: Launch| {
        let run = Run::builder()
            .launch(launch)
            .answers(tests::gateway::script([Answer::finish("Done.")]))
            .run();
        run.ended(0, "completed");
        let key = run.lines[0]["routingKey"].as_str().unwrap().to_owned();
        let text = run.gateway.as_ref().unwrap().requests()[0].text();
        text.replace(&key, "KEY")
    };
    let on = family(4, 3);
    let off = family(4, 3).in_capability("subagents", "/enabled", false);
    let out = family(4, 3)
        .without_capability("subagents")
        .root("/subagents", json!([]));
    let out = out.root("/tools", json!(["shell", "list_dir"]));
    let (on, off, out) = (first(on), first(off), first(out));
    assert_eq!(off, out);
    assert!(on.contains("spawn_subagent") && !off.contains("subagent"));
    // Nobody on the roster is nobody to start.
    let alone = first(family(4, 3).root("/subagents", json!([])));
    assert_eq!(alone, out);
}
