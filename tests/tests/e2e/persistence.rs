//! Profiles that run one agent at a time, and the desk each of their agents opens on (03 §4).

mod desk;
mod exchange;
mod keys;

use serde_json::{Value, json};
use tests::gateway::{Answer, Request, content_text};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

const TOOLS: [&str; 6] = [
    "shell",
    "read_file",
    "list_dir",
    "evict_file_view",
    "spawn_subagent",
    "wait_for_subagents",
];

/// A profile that reads files, runs commands and starts others.
fn profile(slug: &str, more: &[Value]) -> Value {
    let mut capabilities = vec![
        json!({ "id": "shell", "enabled": true, "implementation": "inline",
            "params": { "maxLines": 20, "maxChars": 2000 } }),
        json!({ "id": "read-file", "enabled": true, "implementation": "default-cap",
            "params": { "lineCap": 250 } }),
        json!({ "id": "list-dir", "enabled": true, "params": {} }),
        json!({ "id": "agent-managed-context", "enabled": true,
            "params": { "topFileViews": 0, "signalThresholdPercent": 100 } }),
        json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": 3 } }),
    ];
    capabilities.extend_from_slice(more);
    let roster = ["keeper", "helper"]
        .map(|slug| json!({ "agentId": slug, "description": "Works.", "scopes": ["subagent"] }));
    json!({
        "slug": slug, "name": slug, "modelId": MODEL, "capabilities": capabilities,
        "tools": TOOLS, "operations": [], "subagents": roster,
    })
}

fn persistent(enabled: bool) -> Value {
    json!({ "id": "agent-persistence", "enabled": enabled, "params": {} })
}

/// A live root that may start keepers, one of whom runs at a time, and helpers.
fn house(cap: u64) -> Launch {
    house_of(cap, profile("keeper", &[persistent(true)]))
}

/// The same with another keeper.
fn house_of(cap: u64, keeper: Value) -> Launch {
    Launch::live().limit("maxParallel", cap).set(
        "/capabilitySet/agents",
        json!([profile("root", &[]), keeper, profile("helper", &[])]),
    )
}

/// The task an agent was given.
fn task(request: &Request) -> String {
    let messages = request.messages();
    let task = messages.iter().find(|message| message["role"] == "user");
    task.map(|message| content_text(&message["content"]))
        .unwrap_or_default()
}

/// Who asks: the root, or whoever was given a task.
fn who(request: &Request) -> String {
    let task = task(request);
    if task == "Do what the script says." {
        "root".to_owned()
    } else {
        task
    }
}

/// Replies of the model that a request carries: what gg opened is none.
fn turn(request: &Request) -> usize {
    request.turn() - opened(request).len()
}

/// The arguments of the reads that gg made for an agent, each with its result.
fn opened(request: &Request) -> Vec<(Value, String)> {
    let messages = request.messages();
    let pairs = messages.windows(2);
    let pairs = pairs.filter_map(|pair| {
        let call = &pair[0]["tool_calls"][0];
        let id = call["id"].as_str()?;
        if !(id.starts_with("desk-") || id.starts_with("autoload-")) {
            return None;
        }
        assert_eq!(pair[1]["tool_call_id"], id);
        let arguments = call["function"]["arguments"].as_str()?;
        let result = content_text(&pair[1]["content"]);
        Some((serde_json::from_str(arguments).ok()?, result))
    });
    pairs.collect()
}

fn spawn(agent: &str, prompt: &str) -> Answer {
    Answer::call("spawn_subagent", task_of(agent, prompt))
}

fn task_of(agent: &str, prompt: &str) -> Value {
    json!({ "agent": agent, "prompt": prompt })
}

trait And {
    fn and_spawn(self, agent: &str, prompt: &str) -> Self;
    fn and_wait(self) -> Self;
    fn and_read(self, arguments: Value) -> Self;
}

impl And for Answer {
    fn and_spawn(self, agent: &str, prompt: &str) -> Self {
        self.and_call("spawn_subagent", task_of(agent, prompt))
    }

    fn and_wait(self) -> Self {
        self.and_call("wait_for_subagents", json!({}))
    }

    fn and_read(self, arguments: Value) -> Self {
        self.and_call("read_file", arguments)
    }
}

fn read(arguments: Value) -> Answer {
    Answer::call("read_file", arguments)
}

/// What happened to agents, in order: each with its status.
fn places(run: &Run) -> Vec<(&str, &str)> {
    let statuses = run.events("agent_status").into_iter();
    statuses
        .map(|it| {
            let (agent, status) = (&it["agentId"], &it["status"]);
            (agent.as_str().unwrap(), status.as_str().unwrap())
        })
        .collect()
}

/// The first request an agent made.
fn first_of(run: &Run, who_asks: &str) -> Request {
    let requests = run.gateway.as_ref().unwrap().requests();
    let mut own = requests.iter().filter(|request| who(request) == who_asks);
    Request::clone(own.next().unwrap_or_else(|| panic!("{}", run.describe())))
}

/// What the operator is told of desks.
fn told(run: &Run) -> Vec<&str> {
    let logs = run.events("log").into_iter();
    logs.filter(|log| log["code"] == "desk")
        .map(|log| log["message"].as_str().unwrap())
        .collect()
}
