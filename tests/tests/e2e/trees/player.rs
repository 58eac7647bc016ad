//! A model that plays a plan, and looks at what every call of it came to.
//!
//! All it knows of an agent stands in the agent's own conversation: the ids of whom it started,
//! the values its waits brought; where a conversation stays behind, the note handed over has it. A result that is not what the plan says panics, which the gateway
//! keeps as a violation and the run's checks report.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tests::gateway::{self, Answer, Reply, Request};

use super::plan::{End, Exit, MAX_DEPTH, PROFILES, Plan, STATES, Step, Turn};
use crate::families::task;

/// How the note begins that a copy opens on.
const COPY: &str = "Task: you are a copy of `";
/// What the note says by which whoever comes without a conversation begins.
const RESET: &str = "Nothing of its conversation came with you.";
/// How the ids begin of reads that gg makes as an agent opens on a desk.
const DESK: &str = "desk-";

/// See the module.
pub(super) struct Player {
    plan: Plan,
}

/// Whose request it is: its node, and the turn of the node's it asks for.
struct Asked {
    node: usize,
    turn: usize,
    /// What was handed over, as of the turn it was handed over at.
    from: usize,
    known: Known,
}

impl Asked {
    /// A copy's conversation is its maker's up to the note it opens on; of a turn that left the
    /// conversation behind only the note is left.
    fn of(request: &Request) -> Self {
        let messages = request.messages();
        let told = |message: &Value| {
            let own = message["role"] == "user";
            own.then(|| gateway::content_text(&message["content"]))
                .filter(|text| text.starts_with(COPY) || text.contains(RESET))
        };
        let note = messages.iter().rposition(|it| told(it).is_some());
        let replies = messages[note.unwrap_or_default()..]
            .iter()
            .filter(|it| it["role"] == "assistant")
            .filter(|it| {
                let id = it["tool_calls"][0]["id"].as_str();
                !id.is_some_and(|id| id.starts_with(DESK))
            })
            .count();
        let said = note.and_then(|note| told(&messages[note]));
        let last = said.as_deref().and_then(|text| text.lines().last());
        let (brief, from, known) = match last {
            Some(brief) if brief.starts_with("Node ") => (brief.to_owned(), 0, Known::default()),
            Some(memo) => {
                let (from, known) = serde_json::from_str(memo).expect("a note of this player's");
                (task(request), from, known)
            }
            None => (task(request), 0, Known::default()),
        };
        Self {
            node: node_of(&brief),
            turn: from + replies,
            from,
            known,
        }
    }
}

/// What the results of a conversation say so far.
#[derive(Default, Serialize, Deserialize)]
struct Known {
    /// The children that were started, in order.
    children: Vec<(usize, String)>,
    collected: BTreeSet<usize>,
}

/// What a turn has declared for its close.
#[derive(Default)]
struct Closing {
    copies: Vec<(usize, String)>,
    becomes: bool,
}

impl Player {
    pub(super) const fn new(plan: Plan) -> Self {
        Self { plan }
    }

    /// The reply to a request.
    pub(super) fn reply(&self, request: &Request) -> Reply {
        let asked = Asked::of(request);
        let (node, turn) = (asked.node, asked.turn);
        let known = self.read(asked, request);
        let it = &self.plan.nodes[node];
        // Replies come in different orders in each run; a pause of some makes it differ more.
        let pause = Duration::from_millis(((node * 7 + turn * 3) % 4) as u64);
        let answer = match it.turns.get(turn) {
            Some(Turn::Mute) => Answer::text("I wonder."),
            Some(Turn::Calls(steps)) => self.calls(node, turn, steps, &known),
            None if it.end == End::Refused => return Reply::error(400, "no such thing"),
            None if it.end == End::Blank && turn == it.turns.len() => Answer::finish("  "),
            None if it.end == End::Beats => {
                let (tool, target) = match it.ends_as.exits().first() {
                    Some(exit) => leave(*exit, turn, &known),
                    None => ("exec", json!({ "agent": PROFILES[1] })),
                };
                Answer::default()
                    .and_call_as(&call(node, turn, 0), tool, &target.to_string())
                    .and_call("finish", json!({ "summary": word(node) }))
            }
            None => Answer::finish(&word(node)),
        };
        Reply::from(answer).insert(0, gateway::Step::Pause(pause))
    }

    /// A reply that says these calls.
    fn calls(&self, node: usize, turn: usize, steps: &[Step], known: &Known) -> Answer {
        let mut answer = Answer::default();
        for (place, step) in steps.iter().enumerate() {
            let (tool, arguments) = match step {
                Step::Spawn(child) => (
                    "spawn_subagent",
                    json!({
                        "agent": PROFILES[self.plan.nodes[*child].target],
                        "prompt": brief(*child),
                    }),
                ),
                Step::Fork(child) => ("fork", json!({ "prompt": brief(*child) })),
                Step::Become(profile) => ("exec", json!({ "agent": PROFILES[*profile] })),
                Step::Leave(exit) => leave(*exit, turn, known),
                Step::Wait(whom) => ("wait_for_subagents", json!({ "ids": known.ids(whom) })),
                Step::Stranger => ("wait_for_subagents", json!({ "ids": ["agent-999"] })),
                Step::Message(child) => (
                    "send_message",
                    json!({ "id": known.id(*child).unwrap_or("agent-999"), "message": "Go on." }),
                ),
                Step::Command => ("shell", json!({ "command": format!("echo {node} {turn}") })),
                Step::Look => ("read_file", json!({ "path": READ })),
                Step::Stumble => ("list_dir", json!({ "path": "nowhere" })),
            };
            answer = answer.and_call_as(&call(node, turn, place), tool, &arguments.to_string());
        }
        answer
    }

    /// Reads the results of the turns before, and holds each against the plan.
    fn read(&self, asked: Asked, request: &Request) -> Known {
        let Asked {
            node,
            turn,
            from,
            mut known,
        } = asked;
        let results: HashMap<String, String> = request
            .messages()
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                (id.to_owned(), gateway::content_text(&message["content"]))
            })
            .collect();
        let turns = self.plan.nodes[node].turns.iter().enumerate();
        for (turn, said) in turns.take(turn).skip(from) {
            let Turn::Calls(steps) = said else { continue };
            // Ids that a reply named are those known before it.
            let before = known.children.clone();
            let mut closing = Closing::default();
            for (place, step) in steps.iter().enumerate() {
                let call = call(node, turn, place);
                let text = results.get(&call).map(String::as_str);
                let text = text.unwrap_or_else(|| panic!("{call} has no result"));
                self.hold(node, step, text, &before, &mut known, &mut closing);
            }
            // A copy is there once its maker's turn has closed.
            known.children.append(&mut closing.copies);
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
        closing: &mut Closing,
    ) {
        // Nobody is started below the last level.
        let deep = self.plan.nodes[node].depth == MAX_DEPTH;
        match step {
            Step::Spawn(child) => {
                let profile = PROFILES[self.plan.nodes[*child].target];
                let started = id_before(text, &format!("` ({profile}) started"));
                match started {
                    Some(id) if !deep => known.children.push((*child, id)),
                    None if deep && text.contains("(limit-exceeded)") => {}
                    _ => panic!("node {node} starts {child}: {text}"),
                }
            }
            Step::Fork(child) => match id_before(text, "` will start as a copy of you") {
                Some(id) if !deep => closing.copies.push((*child, id)),
                None if deep && text.contains("(limit-exceeded)") => {}
                _ => panic!("node {node} copies itself as {child}: {text}"),
            },
            Step::Become(_) | Step::Leave(_) => {
                let first = !std::mem::replace(&mut closing.becomes, true);
                let stands = text.starts_with("you become") || text.contains("` takes your place");
                assert!(stands == first, "node {node} becomes another: {text}");
                assert!(stands || text.contains("(refused)"), "node {node}: {text}");
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
            let it = &self.plan.nodes[*child];
            let profile = PROFILES[it.ends_as.profile];
            let row = match it.end {
                End::Finish | End::Blank | End::Beats => {
                    format!("`{id}` ({profile}) finished:\n{}", word(*child))
                }
                End::Refused => format!("`{id}` ({profile}) failed, model_error:\n"),
            };
            let Some(place) = rest.find(&row) else {
                panic!("node {node} lacks {row:?} in {text:?}");
            };
            rest = &rest[place + row.len()..];
        }
    }
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

/// A call that leaves a state, with what whoever comes has to know where it sees nothing else.
fn leave(exit: Exit, turn: usize, known: &Known) -> (&'static str, Value) {
    let memo = json!((turn + 1, known)).to_string();
    let note = (!exit.history).then_some(memo);
    let arguments = json!({ "state": STATES[exit.to].name, "note": note });
    ("transition_state", arguments)
}

/// The id a result begins with, where these words follow it.
fn id_before(text: &str, words: &str) -> Option<String> {
    let (id, _) = text.strip_prefix('`')?.split_once(words)?;
    Some(id.to_owned())
}

/// The file that everybody looks at.
pub(super) const READ: &str = "plan.txt";

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
