//! Random trees of agents through the binary (03 §10.6): none hangs, every rule holds of each
//! stream, the peak never passes the cap, every value reaches who waits for it.
//!
//! A few trees a cap are played in any run of the tests; `GG_TREES=1000` plays as many in all.

mod plan;
mod player;
mod seed;

use std::collections::HashMap;

use serde_json::{Value, json};
use tests::gateway::{Gateway, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::families::{DELEGATING, figure, inline_shell, profile, subagents};
use crate::windowed::edited;
use plan::{End, MAX_DEPTH, PROFILES, Plan};
use player::{Player, node_of};

const CAPS: [u64; 4] = [1, 2, 16, 256];
/// Trees of a cap in any run.
const FEW: u64 = 12;

fn launch(cap: u64) -> Launch {
    let capabilities = [
        inline_shell(),
        json!({ "id": "list-dir", "enabled": true, "params": {} }),
        subagents(MAX_DEPTH as u64),
        json!({ "id": "fork", "enabled": true, "params": {} }),
        json!({ "id": "exec", "enabled": true, "params": {} }),
    ];
    let tools = [&["shell", "list_dir", "fork", "exec"][..], &DELEGATING].concat();
    let agents = PROFILES.map(|slug| profile(slug, &capabilities, &tools, &PROFILES[1..]));
    Launch::live()
        .limit("maxParallel", cap)
        .set("/capabilitySet/agents", json!(agents))
}

/// Plays the tree of a seed at a cap.
#[track_caller]
fn tree(seed: u64, cap: u64) {
    let plan = Plan::of(seed);
    let ends: Vec<End> = plan.nodes.iter().map(|node| node.end).collect();
    let player = Player::new(plan);
    let run = Run::builder()
        .launch(launch(cap))
        // A copy's conversation opens as its maker's does: no prefix is held against another.
        .gateway(Gateway::with_checker(
            Some(edited()),
            move |request: &Request, _: usize| player.reply(request),
        ))
        .run();
    let what = format!("seed {seed} at cap {cap}");
    assert_eq!(
        (run.code, run.last()["status"].as_str()),
        (Some(0), Some("completed")),
        "{what}\n{}",
        run.describe()
    );
    let spawned = run.events("agent_spawned");
    assert_eq!(figure(&run, "agents"), spawned.len() as u64, "{what}");
    // Who took whose place.
    let heirs: HashMap<&str, &str> = run
        .events("agent_transition")
        .into_iter()
        .filter(|passage| passage["kind"] == "exec")
        .map(|passage| [&passage["toAgentId"], &passage["agentId"]].map(|id| id.as_str().unwrap()))
        .map(|[heir, before]| (heir, before))
        .collect();
    let mut nodes: HashMap<&str, usize> = HashMap::new();
    for agent in spawned {
        let id = agent["agentId"].as_str().unwrap();
        let node = match heirs.get(id) {
            Some(before) => nodes[before],
            None => node_of(agent["brief"].as_str().unwrap()),
        };
        nodes.insert(id, node);
        let ended: Vec<&Value> = run
            .events("agent_status")
            .into_iter()
            .filter(|status| status["agentId"] == id && !status["endedAs"].is_null())
            .map(|status| &status["endedAs"])
            .collect();
        let how = match ends[node] {
            _ if heirs.values().any(|before| *before == id) => "transitioned",
            End::Finish | End::Blank | End::Beats => "completed",
            End::Refused => "model_error",
        };
        assert_eq!(ended, [how], "{what}: {agent}");
    }
    assert!(peak(&run) <= cap, "{what}: {} ran at once", peak(&run));
    assert_eq!(figure(&run, "peakParallel"), peak(&run), "{what}");
}

/// The most agents that ran at once, as the stream has it.
fn peak(run: &Run) -> u64 {
    let mut running = std::collections::BTreeSet::new();
    let statuses = run.events("agent_status").into_iter();
    let counts = statuses.map(|status| {
        let agent = status["agentId"].as_str().unwrap();
        if status["status"] == "running" {
            running.insert(agent);
        } else {
            running.remove(agent);
        }
        running.len() as u64
    });
    counts.max().unwrap_or_default()
}

/// Every fourth of the trees to play, from the `first`.
#[track_caller]
fn trees(first: usize) {
    let all = std::env::var("GG_TREES").ok();
    let all = all.map_or(FEW * CAPS.len() as u64, |all| {
        all.parse().expect("GG_TREES is a number of trees")
    });
    let seeds = (first as u64..all).step_by(CAPS.len());
    seeds.for_each(|seed| tree(seed, CAPS[first]));
}

#[test]
fn random_trees_at_one_slot() {
    trees(0);
}

#[test]
fn random_trees_at_two_slots() {
    trees(1);
}

#[test]
fn random_trees_at_sixteen_slots() {
    trees(2);
}

#[test]
fn random_trees_at_more_slots_than_agents() {
    trees(3);
}

#[test]
fn plans_hold_what_they_are_to_show() {
    let plans: Vec<String> = (0..200)
        .map(|seed| format!("{:?}", Plan::of(seed)))
        .collect();
    for step in [
        "Spawn", "Wait([])", "Wait([1", "Stranger", "Message", "Command", "Look", "Stumble",
        "Mute", "Blank", "Refused", "Beats", "Fork", "Become", "depth: 4",
    ] {
        let showing = plans.iter().filter(|plan| plan.contains(step)).count();
        assert!(showing > 10, "{step} stands in {showing} of 200 plans");
    }
    assert_eq!(plans[7], format!("{:?}", Plan::of(7)));
}
