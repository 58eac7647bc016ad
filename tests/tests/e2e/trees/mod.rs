//! Random trees of agents through the binary (03 §10.6): none hangs, every rule holds of each
//! stream, the peak never passes the cap, every value reaches who waits for it.
//!
//! Agents of them stand in a machine, are persistent, and have their first ending held up. A few
//! trees a cap are played in any run of the tests; `GG_TREES=1000` plays as many in all.

mod plan;
mod player;
mod seed;

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};
use tests::gateway::{Gateway, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::families::{DELEGATING, figure, profile, subagents};
use crate::windowed::edited;
use plan::{End, MAX_DEPTH, PERSISTENT, PROFILES, Plan, STATES};
use player::{Player, READ, node_of};

const CAPS: [u64; 4] = [1, 2, 16, 256];
/// Trees of a cap in any run.
const FEW: u64 = 12;

/// Asks an agent that ends to look again, once.
const ONCE: &str = r#"
id=$(printf '%s' "$1" | sed 's/.*"agentId":"\([^"]*\)".*/\1/')
if mkdir ".ended-$id" 2>/dev/null
then echo '{"action":"block","reason":"Look again."}'
else echo '{"action":"continue"}'
fi
"#;

fn launch(plan: &Plan, cap: u64) -> Launch {
    let common = [
        json!({ "id": "shell", "enabled": true, "implementation": "inline",
            "params": { "maxLines": 20, "maxChars": 2000 } }),
        json!({ "id": "list-dir", "enabled": true, "params": {} }),
        json!({ "id": "read-file", "enabled": true, "implementation": "default-cap",
            "params": { "lineCap": 250 } }),
        subagents(MAX_DEPTH as u64),
        json!({ "id": "fork", "enabled": true, "params": {} }),
    ];
    let calls = [&["shell", "list_dir", "read_file", "fork"][..], &DELEGATING].concat();
    let targets = ["worker", "mason", "keeper", "process"];
    let of_states = STATES.each_ref().map(|state| PROFILES[state.profile]);
    let states = STATES.each_ref().map(|state| {
        let exits = state.exits.iter().map(|exit| {
            let transfer: &[&str] = if exit.history { &["history"] } else { &[] };
            json!({ "to": STATES[exit.to].name, "transfer": transfer })
        });
        json!({ "name": state.name, "agent": PROFILES[state.profile],
            "transitions": exits.collect::<Vec<_>>() })
    });
    let mut agents = PROFILES.map(|slug| {
        if slug == "process" {
            return json!({ "slug": slug, "name": slug, "tools": [], "operations": [],
                "capabilities": [{ "id": "fsm", "enabled": true, "params": { "states": states } }],
            });
        }
        let mut capabilities = common.to_vec();
        let mut calls = calls.clone();
        if !of_states.contains(&slug) {
            capabilities.push(json!({ "id": "exec", "enabled": true, "params": {} }));
            calls.push("exec");
        }
        if PERSISTENT.contains(&slug) {
            capabilities.push(json!({ "id": "agent-persistence", "enabled": true, "params": {} }));
        }
        let mut agent = profile(slug, &capabilities, &calls, &targets);
        if plan.gated {
            agent["hooks"] = json!([{ "event": "agent-stop",
                "action": { "type": "custom", "source": ONCE } }]);
        }
        agent
    });
    if plan.begins_in_a_state() {
        agents.swap(0, 4);
    }
    Launch::live()
        .limit("maxParallel", cap)
        .set("/capabilitySet/agents", json!(agents))
}

/// Plays the tree of a seed at a cap.
#[track_caller]
fn tree(seed: u64, cap: u64) {
    let plan = Plan::of(seed);
    let ends: Vec<End> = plan.nodes.iter().map(|node| node.end).collect();
    let launch = launch(&plan, cap);
    let gated = plan.gated;
    let player = Player::new(plan);
    let run = Run::builder()
        .launch(launch)
        .file(READ, "one\ntwo\n")
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
        .filter(|passage| passage["kind"] != "fork")
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
    let blocks = run.events("hook").into_iter();
    let blocks = blocks.filter(|hook| hook["decision"] == "block").count();
    let completed = crate::families::ended(&run, "completed").len();
    assert_eq!(blocks, if gated { completed } else { 0 }, "{what}");
    let most = peak(&run, &nodes.keys().copied().collect());
    assert!(most <= cap, "{what}: {most} ran at once");
    assert_eq!(figure(&run, "peakParallel"), most, "{what}");
    for slug in PERSISTENT {
        let of_profile = run.events("agent_spawned").into_iter();
        let of_profile = of_profile
            .filter(|agent| agent["profileId"] == slug)
            .map(|agent| agent["agentId"].as_str().unwrap());
        assert!(peak(&run, &of_profile.collect()) <= 1, "{what}: {slug}");
    }
}

/// The most of these agents that ran at once, as the stream has it.
fn peak(run: &Run, whom: &BTreeSet<&str>) -> u64 {
    let mut running = BTreeSet::new();
    let statuses = run.events("agent_status").into_iter();
    let statuses = statuses.filter(|status| whom.contains(status["agentId"].as_str().unwrap()));
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
        "Spawn",
        "Wait([])",
        "Wait([1",
        "Stranger",
        "Message",
        "Command",
        "Look",
        "Stumble",
        "Mute",
        "Blank",
        "Refused",
        "Beats",
        "Fork",
        "Become",
        "depth: 4",
        "Become(3)",
        "Become(4)",
        "target: 3",
        "target: 4",
        "history: true",
        "history: false",
        "gated: true",
    ] {
        let showing = plans.iter().filter(|plan| plan.contains(step)).count();
        assert!(showing > 10, "{step} stands in {showing} of 200 plans");
    }
    assert_eq!(plans[7], format!("{:?}", Plan::of(7)));
}
