//! A model that plays a plan, and looks at what every call of it came to.
//!
//! All it knows of an agent stands in the agent's own conversation: the ids of whom it started,
//! the values its waits brought. A result that is not what the plan says panics, which the gateway
//! keeps as a violation and the run's checks report.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde_json::json;
use tests::gateway::{self, Answer, Reply, Request};

use super::plan::{End, Plan, Step, Turn};
use crate::families::task;

/// See the module.
pub(super) struct Player {
    plan: Plan,
}

/// What the results of a conversation say so far.
#[derive(Default)]
struct Known {
    /// The children that were started, in order.
    children: Vec<(usize, String)>,
    collected: BTreeSet<usize>,
}

impl Player {
    pub(super) const fn new(plan: Plan) -> Self {
        Self { plan }
    }

    /// The reply to a request.
    pub(super) fn reply(&self, request: &Request) -> Reply {
        let node = node_of(&task(request));
        let turn = request.turn();
        let known = self.read(node, turn, request);
        let it = &self.plan.nodes[node];
        // Replies come in different orders in each run; a pause of some makes it differ more.
        let pause = Duration::from_millis(((node * 7 + turn * 3) % 4) as u64);
        let answer = match it.turns.get(turn) {
            Some(Turn::Mute) => Answer::text("I wonder."),
            Some(Turn::Calls(steps)) => calls(node, turn, steps, &known),
            None if it.end == End::Refused => return Reply::error(400, "no such thing"),
            None if it.end == End::Blank && turn == it.turns.len() => Answer::finish("  "),
            None => Answer::finish(&word(node)),
        };
        Reply::from(answer).insert(0, gateway::Step::Pause(pause))
    }

    /// Reads the results of the turns before, and holds each against the plan.
    fn read(&self, node: usize, turn: usize, request: &Request) -> Known {
        let results: HashMap<String, String> = request
            .messages()
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                (id.to_owned(), gateway::content_text(&message["content"]))
            })
            .collect();
        let mut known = Known::default();
        for (turn, said) in self.plan.nodes[node].turns.iter().enumerate().take(turn) {
            let Turn::Calls(steps) = said else { continue };
            // Ids that a reply named are those known before it.
            let before = known.children.clone();
            for (place, step) in steps.iter().enumerate() {
                let call = call(node, turn, place);
                let text = results.get(&call).map(String::as_str);
                let text = text.unwrap_or_else(|| panic!("{call} has no result"));
                self.hold(node, step, text, &before, &mut known);
            }
        }
        known
    }

    fn hold(
        &self,
        node: usize,
        step: &Step,
        text: &str,
        before: &[(usize, String)],
        known: &mut Known,
    ) {
        match step {
            Step::Spawn(child) => {
                let started = text
                    .strip_prefix('`')
                    .and_then(|rest| rest.split_once("` (worker) started"));
                let deep = self.plan.nodes[node].depth == super::plan::MAX_DEPTH;
                match started {
                    Some((id, _)) if !deep => known.children.push((*child, id.to_owned())),
                    None if deep && text.contains("(limit-exceeded)") => {}
                    _ => panic!("node {node} starts {child}: {text}"),
                }
            }
            Step::Wait(whom) => {
                let named: Vec<_> = whom
                    .iter()
                    .filter_map(|child| before.iter().find(|(it, _)| it == child))
                    .cloned()
                    .collect();
                let bare = named.is_empty();
                let asked = if bare { known.uncollected() } else { named };
                self.values(node, &asked, text);
                known
                    .collected
                    .extend(asked.iter().map(|(child, _)| *child));
            }
            Step::Stranger => {
                assert!(text.contains("(not-found)"), "node {node}: {text}");
            }
            Step::Message(child) => {
                let started = before.iter().any(|(it, _)| it == child);
                let reads = text.contains("finds the message") || text.contains("(refused)");
                assert!(
                    if started {
                        reads
                    } else {
                        text.contains("(not-found)")
                    },
                    "node {node} writes to {child}: {text}"
                );
            }
            Step::Stumble => assert!(text.contains("failed"), "node {node}: {text}"),
            Step::Command => assert!(text.contains("exit code: 0"), "node {node}: {text}"),
            Step::Look => assert!(!text.contains("failed ("), "node {node}: {text}"),
        }
    }

    /// A wait brings a value a child, in asked order, each as its child ended.
    fn values(&self, node: usize, asked: &[(usize, String)], text: &str) {
        if asked.is_empty() {
            assert!(text.starts_with("there is nobody"), "node {node}: {text}");
            return;
        }
        let mut rest = text;
        for (child, id) in asked {
            let row = match self.plan.nodes[*child].end {
                End::Finish | End::Blank => {
                    format!("`{id}` (worker) finished:\n{}", word(*child))
                }
                End::Refused => format!("`{id}` (worker) failed, model_error:\n"),
            };
            let Some(place) = rest.find(&row) else {
                panic!("node {node} lacks {row:?} in {text:?}");
            };
            rest = &rest[place + row.len()..];
        }
    }
}

/// A reply that says these calls.
fn calls(node: usize, turn: usize, steps: &[Step], known: &Known) -> Answer {
    let mut answer = Answer::default();
    for (place, step) in steps.iter().enumerate() {
        let (tool, arguments) = match step {
            Step::Spawn(child) => (
                "spawn_subagent",
                json!({ "agent": "worker", "prompt": brief(*child) }),
            ),
            Step::Wait(whom) => ("wait_for_subagents", json!({ "ids": known.ids(whom) })),
            Step::Stranger => ("wait_for_subagents", json!({ "ids": ["agent-999"] })),
            Step::Message(child) => (
                "send_message",
                json!({ "id": known.id(*child).unwrap_or("agent-999"), "message": "Go on." }),
            ),
            Step::Command => ("shell", json!({ "command": format!("echo {node} {turn}") })),
            Step::Look => ("list_dir", json!({})),
            Step::Stumble => ("list_dir", json!({ "path": "nowhere" })),
        };
        answer = answer.and_call_as(&call(node, turn, place), tool, &arguments.to_string());
    }
    answer
}

impl Known {
    fn id(&self, child: usize) -> Option<&str> {
        let started = self.children.iter().find(|(it, _)| *it == child);
        started.map(|(_, id)| id.as_str())
    }

    fn ids(&self, whom: &[usize]) -> Vec<&str> {
        whom.iter().filter_map(|child| self.id(*child)).collect()
    }

    fn uncollected(&self) -> Vec<(usize, String)> {
        let left = self.children.iter();
        left.filter(|(child, _)| !self.collected.contains(child))
            .cloned()
            .collect()
    }
}

/// The task of a node's agent.
fn brief(node: usize) -> String {
    format!("Node {node}.")
}

/// The node of a task; the root's is none of these.
pub(super) fn node_of(task: &str) -> usize {
    let number = task
        .strip_prefix("Node ")
        .and_then(|rest| rest.strip_suffix('.'));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What a node's agent ends with.
pub(super) fn word(node: usize) -> String {
    format!("Node {node} is done.")
}

fn call(node: usize, turn: usize, place: usize) -> String {
    format!("call-{node}-{turn}-{place}")
}
