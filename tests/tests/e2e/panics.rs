//! A panic in every kind of actor, with agents queued, running and suspended (03 §10.5, §10.6).
//!
//! The gg run here is built with the feature `trip`: it panics as a place is passed for the nth
//! time. Whatever died, the run ends by itself with exit code 1, each agent has one outcome, and
//! the stream holds its rules and has its last line.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::gateway::{Answer, Gate, Gateway, Reply, Request, Step, content_text};
use tests::launch::Launch;
use tests::run::{Builder, Run};

use crate::compaction::scratchpad;
use crate::families::{And, DELEGATING, profile, start, subagents, task, wait};
use crate::memories::{memories, tools};
use crate::windowed::{compaction, edited, window};

/// A root with two levels below it at two slots, all of whom write to its memories, the middle one
/// of agents that copy themselves and become others: at any time some run, some queue and some
/// wait.
fn launch() -> Launch {
    let agent = |slug: &str, scope: &str| {
        let mut keeping = memories("markdown");
        keeping["params"]["scope"] = json!(scope);
        let shell = json!({ "id": "shell", "enabled": true, "implementation": "inline",
            "params": { "maxLines": 20, "maxChars": 2000 } });
        let [fork, exec] =
            ["fork", "exec"].map(|id| json!({ "id": id, "enabled": true, "params": {} }));
        let calls = [tools("markdown"), &["shell", "fork", "exec"], &DELEGATING].concat();
        let capabilities = [keeping, shell, subagents(2), fork, exec];
        profile(slug, &capabilities, &calls, &["worker"])
    };
    Launch::live().limit("maxParallel", 2).set(
        "/capabilitySet/agents",
        json!([agent("root", "isolated"), agent("worker", "inherited")]),
    )
}

const MIDDLES: usize = 4;

fn keep(name: &str) -> Answer {
    Answer::call(
        "create_memory",
        json!({ "name": name.to_lowercase().replace(' ', "-"), "description": "d", "body": "b" }),
    )
}

fn reply(request: &Request) -> Answer {
    let task = task(request);
    match (task.split(' ').next().unwrap_or_default(), request.turn()) {
        // A copy has its maker's conversation, and ends at once.
        ("Middle", 1) if copied(request) => Answer::finish("Copied."),
        ("Middle", 0) => keep(&task)
            .and_start("worker", &format!("Leaf of {task}"))
            .and_call("fork", json!({ "prompt": "End at once." })),
        ("Middle", 1) => wait(&[]).and_call("exec", json!({ "agent": "worker" })),
        ("Leaf", 0) => Answer::shell("echo here"),
        ("Do", 0) => (1..MIDDLES).fold(start("worker", "Middle 0"), |answer, n| {
            answer.and_start("worker", &format!("Middle {n}"))
        }),
        ("Do", 1) => keep("own").and_wait(&[]),
        _ => Answer::finish("Done."),
    }
}

/// Whether a request is a copy's.
fn copied(request: &Request) -> bool {
    let messages = request.messages();
    let mut texts = messages.iter().map(|it| content_text(&it["content"]));
    texts.any(|text| text.starts_with("Task: you are a copy of"))
}

fn family() -> Builder {
    Run::builder()
        .launch(launch())
        .gateway(gateway(|request| reply(request).into()))
}

/// A copy's conversation opens as its maker's does: no prefix is held against another.
fn gateway(reply: impl Fn(&Request) -> Reply + Send + 'static) -> Gateway {
    Gateway::with_checker(Some(edited()), move |request: &Request, _: usize| {
        reply(request)
    })
}

/// How each agent of a run ended, an outcome an agent.
#[track_caller]
fn outcomes(run: &Run, place: &str) -> Vec<String> {
    let spawned = run.events("agent_spawned").into_iter();
    spawned
        .map(|agent| {
            let ends: Vec<&Value> = run
                .events("agent_status")
                .into_iter()
                .filter(|status| status["agentId"] == agent["agentId"])
                .filter(|status| !status["endedAs"].is_null())
                .map(|status| &status["endedAs"])
                .collect();
            assert_eq!(ends.len(), 1, "{place}: {agent}\n{}", run.describe());
            ends[0].as_str().unwrap().to_owned()
        })
        .collect()
}

/// The run ended as gg's defect, told which, and left a whole record.
#[track_caller]
fn a_defect(run: &Run, place: &str) {
    assert_eq!(run.code, Some(1), "{place}\n{}", run.describe());
    let last = run.last();
    assert_eq!(
        (&last["type"], &last["status"]),
        (&json!("session_ended"), &json!("internal_error")),
        "{place}\n{}",
        run.describe()
    );
    let name = place.split('@').next().unwrap_or(place);
    let told = format!("tripped in {name}");
    assert!(run.stdout.contains(&told), "{place}\n{}", run.describe());
    assert_eq!(run.events("session_summary").len(), 1, "{place}");
    assert_eq!(run.journal_lines().last().unwrap()["t"], "end", "{place}");
}

/// Plays the family with a panic in a place; what died is told, and everybody ended once.
#[track_caller]
fn dies_of(place: &str) -> Vec<String> {
    let run = family().tripping(place).run();
    a_defect(&run, place);
    crate::kill9::agrees(&run);
    outcomes(&run, place)
}

#[test]
fn without_a_panic_everybody_completes() {
    let run = family().run();
    run.ended(0, "completed");
    let outcomes = outcomes(&run, "nowhere");
    let count = |how: &str| outcomes.iter().filter(|it| *it == how).count();
    // The root; of each below it the copy, the successor and the leaf.
    assert_eq!(count("completed"), 1 + 3 * MIDDLES);
    assert_eq!(count("transitioned"), MIDDLES);
    assert_eq!(run.summary()["peakParallel"], 2);
}

#[test]
fn an_agent_that_dies_running_has_one_outcome() {
    for place in ["turn@1", "turn@2", "turn@5", "turn@9", "child@1", "child@4"] {
        let outcomes = dies_of(place);
        assert!(outcomes.contains(&"internal_error".to_owned()), "{place}");
    }
}

#[test]
fn an_agent_that_dies_queued_has_one_outcome() {
    // The first is the root; the fourth and on wait behind it.
    for place in ["queued@1", "queued@2", "queued@4", "queued@5", "queued@8"] {
        let outcomes = dies_of(place);
        assert!(outcomes.contains(&"internal_error".to_owned()), "{place}");
    }
}

#[test]
fn an_agent_that_dies_suspended_has_one_outcome() {
    for place in ["suspended@1", "suspended@2", "suspended@3"] {
        let outcomes = dies_of(place);
        assert!(outcomes.contains(&"internal_error".to_owned()), "{place}");
    }
}

#[test]
fn an_agent_that_dies_opening_or_handing_itself_on_has_one_outcome() {
    // Of the root, of those it starts, and of copies and successors among those that come later.
    for passing in [1, 2, 4, 5, 6, 7, 9, 11, 13, 15] {
        let place = format!("opening@{passing}");
        let outcomes = dies_of(&place);
        assert!(outcomes.contains(&"internal_error".to_owned()), "{place}");
    }
    for place in ["handed_on@1", "handed_on@3"] {
        dies_of(place);
    }
}

#[test]
fn an_agent_that_dies_before_it_said_what_it_is_or_holds_has_one_outcome() {
    for place in ["arriving", "announced"] {
        // Of the root, of those it starts, and of copies and successors among those that come later.
        for passing in [1, 2, 4, 5, 6, 7, 9, 11, 13, 15] {
            let place = format!("{place}@{passing}");
            let run = family().tripping(&place).run();
            a_defect(&run, &place);
            crate::kill9::agrees(&run);
            // Whoever did not get to say what it is has an end all the same.
            outcomes(&run, &place);
            let died = crate::families::ended(&run, "internal_error");
            assert!(!died.is_empty(), "{place}");
            let once: BTreeSet<_> = died.iter().collect();
            assert_eq!(once.len(), died.len(), "{place}");
        }
    }
}

#[test]
fn an_agent_whose_handler_dies_has_one_outcome() {
    // A handler runs as the run stops: with two agents held at work, some queued, the root waiting.
    for place in ["agent@1", "agent@2", "agent@4"] {
        let never = Gate::new();
        let running = Run::builder()
            .launch(launch())
            .tripping(place)
            .gateway(gateway(move |request| {
                let answer = Reply::from(reply(request));
                if task(request).starts_with("Middle") {
                    return answer.insert(0, Step::Hold(never.clone()));
                }
                answer
            }))
            .start();
        running.wait_for("the root's wait", |line| line["status"] == "blocked");
        running.signal(Signal::TERM);
        let run = running.finish();
        a_defect(&run, place);
        let outcomes = outcomes(&run, place);
        let died = outcomes.iter().filter(|it| *it == "internal_error").count();
        assert!(died >= 1, "{place}: {outcomes:?}");
        assert_eq!(outcomes.len(), 1 + MIDDLES, "{place}");
    }
}

#[test]
fn a_shared_actor_that_dies_ends_the_run() {
    for place in [
        "scheduler@1",
        "scheduler@3",
        "scheduler@6",
        "scheduler_release@1",
        "scheduler_release@3",
        "client@1",
        "client@4",
        "client@9",
        "store@1",
        "store@2",
        "store@4",
    ] {
        dies_of(place);
    }
}

#[test]
fn a_supervisor_that_dies_leaves_a_closing_line() {
    for place in [
        "supervisor@1",
        "supervisor@5",
        "supervisor_ended@1",
        "supervisor_ended@3",
    ] {
        // Nobody is left who could record how each agent ended.
        let run = family().tripping(place).without_rules().run();
        a_defect(&run, place);
    }
}

#[test]
fn a_run_without_its_telemetry_ends_and_says_so() {
    for place in ["telemetry@1", "telemetry@30"] {
        let run = family().tripping(place).without_rules().run();
        assert_eq!(run.code, Some(1), "{place}\n{}", run.describe());
        assert!(run.stderr.contains("telemetry died"), "{}", run.describe());
    }
}

/// An answered turn is judged, also where what it asked for ends its agent. The window has opened
/// with the block of memories when the compaction asks the store for it again.
#[test]
fn a_store_that_dies_in_an_agent_s_own_compaction_leaves_its_turn_an_outcome() {
    let launch = scratchpad(window(200_000)).granting(
        compaction("self-compaction", 0.25, &json!({})),
        &["compact"],
    );
    let summary = json!({ "summary": "What there is to know.", "files": [] });
    let answer = move |_: &Request, n: usize| match n {
        0 => Answer::shell("echo here"),
        1 => Answer::call("compact", summary.clone()),
        _ => Answer::finish("Never."),
    };
    let run = Run::builder()
        .launch(launch)
        .answers(answer)
        .tripping("shown@2")
        .run();
    a_defect(&run, "shown@2");
    let outcomes = run.events("turn_outcome");
    let outcomes: Vec<_> = outcomes.iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, ["progressed", "fatal"]);
}
