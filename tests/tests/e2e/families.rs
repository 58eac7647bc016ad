//! What the suites on many agents say in the same words.

use serde_json::{Value, json};
use tests::gateway::{Answer, Request, content_text};
use tests::launch::MODEL;
use tests::run::Run;

/// The task a root is given by [`Launch::live`](tests::launch::Launch::live).
pub(crate) const ROOT: &str = "Do what the script says.";

/// The task an agent was given: its first user message.
pub(crate) fn task(request: &Request) -> String {
    let messages = request.messages();
    let task = messages.iter().find(|message| message["role"] == "user");
    let text = task.map(|message| content_text(&message["content"]));
    let text = text.unwrap_or_default();
    // An agent that writes programs has it under a heading.
    let bare = text.strip_prefix("Task\n----\n").map(str::to_owned);
    bare.unwrap_or(text)
}

/// Whether a request is the root's.
pub(crate) fn of_root(request: &Request) -> bool {
    task(request) == ROOT
}

/// A profile on the live model with these capabilities, that may start one of `roster`.
pub(crate) fn profile(
    slug: &str,
    capabilities: &[Value],
    tools: &[&str],
    roster: &[&str],
) -> Value {
    let roster: Vec<Value> = roster
        .iter()
        .map(|slug| json!({ "agentId": slug, "description": "Works.", "scopes": ["subagent"] }))
        .collect();
    json!({
        "slug": slug, "name": slug, "modelId": MODEL,
        "capabilities": capabilities, "tools": tools, "operations": [], "subagents": roster,
    })
}

/// The declaration by which agents start others, this deep.
pub(crate) fn subagents(max_depth: u64) -> Value {
    json!({ "id": "subagents", "enabled": true, "params": { "maxDepth": max_depth } })
}

/// The declaration by which agents run commands, their output shown to 20 lines.
pub(crate) fn inline_shell() -> Value {
    json!({ "id": "shell", "enabled": true, "implementation": "inline",
        "params": { "maxLines": 20, "maxChars": 2000 } })
}

/// The calls that come with [`subagents`].
pub(crate) const DELEGATING: [&str; 3] = ["spawn_subagent", "wait_for_subagents", "send_message"];

/// Ids of the agents that ended, by how.
pub(crate) fn ended<'a>(run: &'a Run, how: &str) -> Vec<&'a str> {
    run.events("agent_status")
        .into_iter()
        .filter(|status| status["endedAs"] == how)
        .filter_map(|status| status["agentId"].as_str())
        .collect()
}

/// A figure of the summary.
#[track_caller]
pub(crate) fn figure(run: &Run, name: &str) -> u64 {
    run.summary()[name].as_u64().unwrap()
}

/// What each call of a tool was answered.
pub(crate) fn previews(run: &Run, tool: &str) -> Vec<String> {
    let results = run.results(tool).into_iter();
    results
        .map(|result| result["preview"].as_str().unwrap().to_owned())
        .collect()
}

/// An answer that starts an agent of a profile.
pub(crate) fn start(profile: &str, prompt: &str) -> Answer {
    Answer::call(
        "spawn_subagent",
        json!({ "agent": profile, "prompt": prompt }),
    )
}

/// An answer that waits.
pub(crate) fn wait(ids: &[&str]) -> Answer {
    Answer::call("wait_for_subagents", json!({ "ids": ids }))
}

/// More of the same in one answer.
pub(crate) trait And {
    /// Starts another.
    fn and_start(self, profile: &str, prompt: &str) -> Self;
    /// Waits.
    fn and_wait(self, ids: &[&str]) -> Self;
    /// Waits for everybody whose value was not collected yet.
    fn and_wait_for_all(self) -> Self;
}

impl And for Answer {
    fn and_start(self, profile: &str, prompt: &str) -> Self {
        self.and_call(
            "spawn_subagent",
            json!({ "agent": profile, "prompt": prompt }),
        )
    }

    fn and_wait(self, ids: &[&str]) -> Self {
        self.and_call("wait_for_subagents", json!({ "ids": ids }))
    }
    fn and_wait_for_all(self) -> Self {
        self.and_call("wait_for_subagents", json!({}))
    }
}
