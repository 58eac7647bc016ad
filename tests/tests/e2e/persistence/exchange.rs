//! Lineages that go on under a persistent profile, or leave one (03 §4, §5).

use serde_json::json;
use tests::gateway::{Answer, Gateway, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::windowed::edited;

use super::{
    And, first_of, house, opened, persistent, places, profile, read, spawn, told, turn, who,
};

/// A house in which keepers and porters, of whom one each runs at a time, may become one another,
/// and helpers either; all may make copies of themselves.
fn changing(cap: u64) -> Launch {
    let more = [
        json!({ "id": "exec", "enabled": true, "params": {} }),
        json!({ "id": "fork", "enabled": true, "params": {} }),
    ];
    let who = |slug: &str, persists: bool| {
        let mut more = more.to_vec();
        more.push(persistent(persists));
        let mut profile = profile(slug, &more);
        let tools = profile["tools"].as_array_mut().unwrap();
        tools.extend([json!("exec"), json!("fork")]);
        let roster = ["keeper", "porter", "helper"];
        profile["subagents"] = json!(roster.map(
            |slug| json!({ "agentId": slug, "description": "Works.", "scopes": ["subagent"] })
        ));
        profile
    };
    house(cap).set(
        "/capabilitySet/agents",
        json!([
            who("root", false),
            who("keeper", true),
            who("porter", true),
            who("helper", false)
        ]),
    )
}

fn become_a(agent: &str) -> Answer {
    Answer::call("exec", json!({ "agent": agent }))
}

/// Ends once these files are there, having left one of its own.
fn meet(own: &str, other: &str) -> String {
    format!("touch {own}; until [ -e {other} ]; do sleep 0.01; done")
}

fn of<'a>(places: &[(&'a str, &'a str)], agent: &str) -> Vec<&'a str> {
    let own = places.iter().filter(|(id, _)| *id == agent);
    own.map(|(_, status)| *status).collect()
}

#[test]
fn two_that_become_each_other_s_profile_both_finish() {
    for cap in [2, 16] {
        let run = Run::builder()
            .launch(changing(cap))
            .answers(
                |request: &Request, _| match (who(request).as_str(), turn(request)) {
                    ("root", 0) => spawn("keeper", "K").and_spawn("porter", "P").and_wait(),
                    // Both hold their keys as both go on to the other's.
                    ("K", 0) => Answer::shell(&meet("K", "P")),
                    ("P", 0) => Answer::shell(&meet("P", "K")),
                    ("K", 1) => become_a("porter"),
                    ("P", 1) => become_a("keeper"),
                    _ => Answer::finish("Done."),
                },
            )
            .run();
        run.ended(0, "completed");
        let values = run.results("wait_for_subagents")[0]["preview"]
            .as_str()
            .unwrap();
        assert!(values.contains("`agent-1` (porter) finished"), "{values}");
        assert!(values.contains("`agent-2` (keeper) finished"), "{values}");
    }
}

#[test]
fn a_successor_keeps_its_slot_where_its_key_is_free_and_queues_where_it_is_held() {
    let run = Run::builder()
        .launch(changing(16))
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => spawn("porter", "P").and_wait(),
                ("P", 0) => become_a("keeper"),
                ("P", 1) => become_a("helper"),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let told = places(&run);
    assert_eq!(of(&told, "agent-2"), ["running", "done"]);
    assert_eq!(of(&told, "agent-3"), ["running", "done"]);

    let run = Run::builder()
        .launch(changing(16))
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => spawn("keeper", "K").and_spawn("porter", "P").and_wait(),
                // The keeper ends once another porter runs: the first has given up its key.
                ("K", 0) => Answer::shell("touch K; until [ -e Q ]; do sleep 0.01; done"),
                ("P", 0) => spawn("porter", "Q"),
                ("P", 1) => Answer::shell("until [ -e K ]; do sleep 0.01; done"),
                ("P", 2) => become_a("keeper"),
                ("Q", 0) => Answer::shell("touch Q"),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let told = places(&run);
    assert_eq!(of(&told, "agent-4"), ["queued", "running", "done"]);
}

#[test]
fn one_slot_is_enough_for_lineages_that_change_profiles() {
    let run = Run::builder()
        .launch(changing(1))
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => spawn("keeper", "K").and_spawn("porter", "P").and_wait(),
                ("K", 0) => become_a("porter"),
                ("P", 0) | ("K" | "P", 2) => become_a("keeper"),
                ("K" | "P", 1) => become_a("helper"),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(run.summary()["agents"], 9);
    assert_eq!(run.summary()["peakParallel"], 1);
}

#[test]
fn a_copy_of_a_persistent_agent_queues_for_the_key_and_opens_on_no_desk() {
    let run = Run::builder()
        .launch(changing(16))
        .file("a.txt", "a\n")
        .file("b.txt", "b\n")
        // A copy goes on from its maker's requests beside it: two go on from one.
        .gateway(Gateway::with_checker(
            Some(edited()),
            |request: &Request, _| {
                // A copy's window is its maker's, and its own task stands at the end.
                if request.text().contains("Copy this.") && request.text().contains("the copy of") {
                    return Answer::finish("Copied.");
                }
                match (who(request).as_str(), turn(request)) {
                    ("root", 0) => spawn("keeper", "K1").and_wait(),
                    ("root", 1) => spawn("keeper", "K2").and_wait(),
                    ("K1", 0) => read(json!({ "path": "a.txt" })),
                    ("K2", 0) => Answer::call("fork", json!({ "prompt": "Copy this." }))
                        .and_read(json!({ "path": "b.txt" })),
                    ("K2", 1) => Answer::call("wait_for_subagents", json!({})),
                    _ => Answer::finish("Done."),
                }
            },
        ))
        .run();
    run.ended(0, "completed");
    assert_eq!(opened(&first_of(&run, "K2")).len(), 1);
    let told_of_desks = told(&run);
    assert_eq!(told_of_desks.len(), 1, "{told_of_desks:?}");
    let told = places(&run);
    assert_eq!(of(&told, "agent-3"), ["queued", "running", "done"]);
}

#[test]
fn a_succession_leaves_the_desk_as_it_was_and_the_profile_that_ends_has_one() {
    let run = Run::builder()
        .launch(changing(16))
        .file("a.txt", "a\n")
        .file("b.txt", "b\n")
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => spawn("keeper", "K1").and_wait(),
                ("root", 1) => spawn("keeper", "K2").and_wait(),
                ("root", 2) => spawn("keeper", "K3").and_wait(),
                ("root", 3) => spawn("porter", "P").and_wait(),
                ("K1", 0) => read(json!({ "path": "a.txt" })),
                ("K2", 0) => read(json!({ "path": "b.txt" })),
                ("K2", 1) => become_a("porter"),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let paths = |keeper: &str| -> Vec<_> {
        let opened = opened(&first_of(&run, keeper)).into_iter();
        opened
            .map(|(arguments, _)| arguments["path"].clone())
            .collect()
    };
    // Who became a porter ended as one, with what it had opened on and what it had read.
    assert_eq!(paths("K3"), ["a.txt"]);
    assert_eq!(paths("P"), ["a.txt", "b.txt"]);
}
