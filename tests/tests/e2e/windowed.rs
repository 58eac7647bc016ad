//! What the suites on living within a window say in the same words.

use serde_json::{Value, json};
use tests::gateway::{Request, Responder, Strict, content_text};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

/// The strict checker for a run that edits what it sent: pairing, ids, shapes, order. Where the
/// prefix may break is looked at by [`breaks`].
pub(crate) fn edited() -> Strict {
    Strict {
        prefix: false,
        is_signal,
        ..Strict::default()
    }
}

/// Whether a message is the context-usage signal.
pub(crate) fn is_signal(message: &Value) -> bool {
    message["role"] == "user" && content_text(&message["content"]).starts_with("Context Usage:")
}

/// Whether a request asks for a summary rather than for the agent's next turn.
pub(crate) fn is_handoff(request: &Request) -> bool {
    let messages = request.messages();
    content_text(&messages[0]["content"]).starts_with("You are given the conversation")
}

/// Whether the last thing a request says is that a compaction is due.
pub(crate) fn is_asked_to_compact(request: &Request) -> bool {
    let messages = request.messages();
    let said = messages.iter().rev().find(|message| !is_signal(message));
    said.is_some_and(|message| {
        let text = content_text(&message["content"]);
        message["role"] == "user" && text.contains("is nearly full, so the conversation")
    })
}

/// A root with a window of so many tokens.
pub(crate) fn window(tokens: u64) -> Launch {
    Launch::live()
        .set("/modelWindows", json!({ MODEL: tokens }))
        .limit("maxTurns", 2_000)
}

/// A declaration of compaction by a strategy, with these params besides a headroom of `headroom`.
pub(crate) fn compaction(strategy: &str, headroom: f64, more: &Value) -> Value {
    let mut params = json!({ "summaryHeadroom": headroom });
    if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
        params.extend(more.clone());
    }
    json!({ "id": "compaction", "enabled": true, "implementation": strategy, "params": params })
}

/// The declaration by which an agent manages its window.
pub(crate) fn managed(threshold: u64) -> Value {
    json!({ "id": "agent-managed-context", "enabled": true,
        "params": { "topFileViews": 3, "signalThresholdPercent": threshold } })
}

/// The calls by which an agent manages its window.
pub(crate) const MANAGING: [&str; 3] = ["evict_file_view", "archive_thread", "search_archive"];

/// The chat requests of the root itself, in order.
pub(crate) fn own_requests(run: &Run) -> Vec<std::sync::Arc<Request>> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let chats = requests
        .into_iter()
        .filter(|request| request.method == "POST" && !is_of_child(request));
    chats.filter(|request| !is_handoff(request)).collect()
}

/// Whether a request is an agent's that the root has started.
pub(crate) fn is_of_child(request: &Request) -> bool {
    !is_handoff(request) && !crate::families::of_root(request)
}

/// The requests that asked for a summary, in order.
pub(crate) fn handoffs(run: &Run) -> Vec<std::sync::Arc<Request>> {
    let requests = run.gateway.as_ref().unwrap().requests();
    requests.into_iter().filter(|it| is_handoff(it)).collect()
}

/// Holds every request of the agent against the one before: it extends it without the signal, or
/// the stream tells of a broken prefix, of its message and of the act. The acts, in order.
#[track_caller]
pub(crate) fn breaks(run: &Run) -> Vec<String> {
    let requests = own_requests(run);
    let told = run.events("prefix_broken").into_iter();
    let mut told = told.filter(|event| event["agentId"] == "root");
    let mut acts = Vec::new();
    let mut before: Option<Vec<Value>> = None;
    for request in &requests {
        let mut now = request.messages();
        now.iter_mut().for_each(unmarked);
        if let Some(before) = &before {
            let place = now.iter().zip(before).position(|(now, then)| now != then);
            let place = place.or_else(|| (now.len() < before.len()).then_some(now.len()));
            if let Some(place) = place {
                let broken = told.next();
                let broken = broken.unwrap_or_else(|| {
                    panic!(
                        "nobody told of a break at message {place}\n{}",
                        run.describe()
                    )
                });
                assert_eq!(broken["message"], place, "{broken}\n{}", run.describe());
                acts.push(broken["act"].as_str().unwrap_or("unknown").to_owned());
            }
        }
        if now.last().is_some_and(is_signal) {
            now.pop();
        }
        before = Some(now);
    }
    assert_eq!(told.next(), None, "{}", run.describe());
    acts
}

/// Takes the cache marker off a message: it moves from request to request.
fn unmarked(message: &mut Value) {
    for part in message["content"].as_array_mut().into_iter().flatten() {
        if let Some(part) = part.as_object_mut() {
            part.shift_remove("cache_control");
        }
    }
}

/// The last message of a request that is no signal, as text.
pub(crate) fn last_said(request: &Request) -> String {
    let messages = request.messages();
    let said = messages.iter().rev().find(|message| !is_signal(message));
    said.map_or_else(String::new, |message| content_text(&message["content"]))
}

/// The texts of a request's messages.
pub(crate) fn texts(request: &Request) -> Vec<String> {
    let messages = request.messages();
    messages
        .iter()
        .map(|message| content_text(&message["content"]))
        .collect()
}

/// Text of about so many tokens, another one for each `seed`.
pub(crate) fn prose(seed: usize, tokens: usize) -> String {
    let words = (0..tokens / 2).map(|word| format!("{} ", (word * 7919 + seed * 104_729) % 997));
    words.collect::<Vec<_>>().concat()
}

/// A responder that counts only the agent's own turns.
pub(crate) fn by_turn<R: Into<tests::gateway::Reply>>(
    mut own: impl FnMut(&Request, usize) -> R + Send + 'static,
    mut summary: impl FnMut(&Request, usize) -> R + Send + 'static,
) -> impl Responder {
    let (mut turns, mut summaries) = (0, 0);
    move |request: &Request, _: usize| {
        let count = if is_handoff(request) {
            &mut summaries
        } else {
            &mut turns
        };
        *count += 1;
        if is_handoff(request) {
            summary(request, summaries - 1)
        } else {
            own(request, turns - 1)
        }
    }
}
