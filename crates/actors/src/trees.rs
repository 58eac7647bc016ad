//! Random trees of agents on scripted models, in the process (03 §10.6): many more than the binary
//! is played with, and such that a failing one shrinks.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;

use proptest::prelude::*;
use record::rules;
use serde_json::{Value, json};
use vocab::outcome::EndStatus;

use crate::nets::{Played, document, session};

/// Levels below the root.
const LEVELS: u32 = 4;

/// What one agent does, and how long its model thinks.
#[derive(Clone, Debug)]
struct Node {
    steps: Vec<Step>,
    delay_ms: u64,
    /// Whether its model refuses its last request.
    refused: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Spawn(Node),
    /// For everybody not collected.
    Wait,
    Look,
    /// What follows stands in another reply.
    Reply,
    /// A reply without a call.
    Mute,
}

fn leaf() -> impl Strategy<Value = Node> {
    let step = prop_oneof![
        Just(Step::Wait),
        Just(Step::Look),
        Just(Step::Reply),
        Just(Step::Mute)
    ];
    node(proptest::collection::vec(step, 0..4))
}

fn node(steps: impl Strategy<Value = Vec<Step>>) -> impl Strategy<Value = Node> {
    (steps, 0..3_u64, proptest::bool::weighted(0.1)).prop_map(|(steps, delay_ms, refused)| Node {
        steps,
        delay_ms,
        refused,
    })
}

fn tree() -> impl Strategy<Value = Node> {
    let tree = leaf().prop_recursive(LEVELS, 24, 4, |inner| {
        let step = prop_oneof![
            4 => inner.prop_map(Step::Spawn),
            2 => Just(Step::Wait),
            1 => Just(Step::Look),
            2 => Just(Step::Reply),
            1 => Just(Step::Mute),
        ];
        node(proptest::collection::vec(step, 1..9))
    });
    // A root that is refused ends the run of everybody.
    tree.prop_map(|root| Node {
        refused: false,
        ..root
    })
}

/// The nodes of a tree, numbered, each a profile of its own, so that a script can tell them apart.
#[derive(Default)]
struct Cast {
    scripts: serde_json::Map<String, Value>,
    /// Of each node, the children each of its waits is for.
    waits: Vec<Vec<Vec<usize>>>,
    refused: Vec<bool>,
}

fn slug(node: usize) -> String {
    format!("n{node}")
}

impl Cast {
    fn add(&mut self, node: &Node) -> usize {
        let number = self.refused.len();
        self.refused.push(node.refused);
        self.waits.push(Vec::new());
        let mut replies = Vec::new();
        let (mut calls, mut uncollected) = (Vec::new(), Vec::new());
        let said = |calls: &mut Vec<Value>| {
            let calls = std::mem::take(calls);
            (!calls.is_empty()).then(|| json!({ "calls": calls, "delayMs": node.delay_ms }))
        };
        for step in &node.steps {
            match step {
                Step::Spawn(child) => {
                    let child = self.add(child);
                    uncollected.push(child);
                    let ask = json!({ "agent": slug(child), "prompt": format!("Be {child}.") });
                    calls.push(json!({ "tool": "spawn_subagent", "arguments": ask }));
                }
                Step::Wait => {
                    self.waits[number].push(std::mem::take(&mut uncollected));
                    calls.push(json!({ "tool": "wait_for_subagents", "arguments": {} }));
                }
                Step::Look => calls.push(json!({ "tool": "list_dir", "arguments": {} })),
                Step::Reply => replies.extend(said(&mut calls)),
                Step::Mute => {
                    replies.extend(said(&mut calls));
                    replies.push(json!({ "text": "I wonder." }));
                }
            }
        }
        replies.extend(said(&mut calls));
        replies.push(if node.refused {
            json!({ "fault": { "status": 400, "body": "no such thing" } })
        } else {
            json!({ "finish": word(number), "delayMs": node.delay_ms })
        });
        self.scripts.insert(slug(number), Value::Array(replies));
        number
    }

    fn play(&self, cap: u64) -> Played {
        let folder = tempfile::tempdir().unwrap();
        let mut document = document(folder.path(), false);
        let set = &mut document["capabilitySet"];
        set["limits"]["maxParallel"] = json!(cap);
        let roster: Vec<Value> = (0..self.refused.len())
            .map(|node| {
                json!({ "agentId": slug(node), "description": "Is.", "scopes": ["subagent"] })
            })
            .collect();
        let agents = (0..self.refused.len()).map(|node| {
            json!({
                "slug": slug(node), "name": slug(node), "modelId": "mock/script",
                "capabilities": [
                    { "id": "list-dir", "enabled": true, "params": {} },
                    { "id": "subagents", "enabled": true,
                      "params": { "maxDepth": LEVELS + 1 } },
                ],
                "tools": ["list_dir", "spawn_subagent", "wait_for_subagents", "send_message"],
                "operations": [], "subagents": roster,
            })
        });
        set["agents"] = agents.collect();
        session(&document, &json!({ "profiles": self.scripts }))
    }

    /// What is wrong with a run of this cast.
    fn judge(&self, played: &Played) -> Result<(), TestCaseError> {
        let report = played.report.as_ref().unwrap();
        prop_assert_eq!(report.status, EndStatus::Completed);
        prop_assert_eq!(rules::check(&played.stream), []);
        let ids: HashMap<usize, String> = played
            .lines("agent_spawned")
            .iter()
            .map(|line| {
                let node = line["profileId"].as_str().unwrap()[1..].parse().unwrap();
                (node, line["agentId"].as_str().unwrap().to_owned())
            })
            .collect();
        prop_assert_eq!(ids.len(), self.refused.len());
        let results = played.lines("tool_result");
        for (node, waits) in self.waits.iter().enumerate() {
            let values: Vec<&str> = results
                .iter()
                .filter(|line| line["tool"] == "wait_for_subagents")
                .filter(|line| line["agentId"] == ids[&node].as_str())
                .map(|line| line["preview"].as_str().unwrap())
                .collect();
            prop_assert_eq!(values.len(), waits.len(), "node {}", node);
            for (value, children) in values.iter().zip(waits) {
                let mut rest = *value;
                for child in children {
                    let row = self.row(*child, &ids[child]);
                    let place = rest.find(&row);
                    prop_assert!(place.is_some(), "{row:?} is not in {value:?}");
                    rest = &rest[place.unwrap_or_default() + row.len()..];
                }
                prop_assert!(!children.is_empty() || value.starts_with("there is nobody"));
            }
        }
        Ok(())
    }

    fn row(&self, node: usize, id: &str) -> String {
        let slug = slug(node);
        if self.refused[node] {
            format!("`{id}` ({slug}) failed, model_error:\n")
        } else {
            format!("`{id}` ({slug}) finished:\n{}", word(node))
        }
    }
}

fn word(node: usize) -> String {
    format!("{node} is done.")
}

/// A tree takes about as long as fifty milliseconds; `GG_TREES` asks for more of them.
fn cases() -> u32 {
    let all = std::env::var("GG_TREES").ok();
    all.map_or(96, |all| {
        all.parse().expect("GG_TREES is a number of trees")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn every_tree_ends_under_its_cap_and_every_value_arrives(
        tree in tree(),
        cap in prop_oneof![Just(1_u64), Just(2), Just(16), Just(256)],
    ) {
        let mut cast = Cast::default();
        cast.add(&tree);
        let played = cast.play(cap);
        cast.judge(&played)?;
        // A rule holds the peak of the stream against this figure, and each moment against the cap.
        let peak = played.lines("session_summary")[0]["peakParallel"].as_u64();
        prop_assert!(peak.is_some_and(|peak| (1..=cap).contains(&peak)));
    }
}
