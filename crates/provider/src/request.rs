//! The body of a chat completion request, built by appending to bytes already serialized.
//!
//! A [`Thread`] holds the messages of one window as shared bytes; a [`Snapshot`] of it is what one
//! request sends, so the cost of a turn does not grow with the window. [`body()`] puts a head
//! before the snapshot and a bracket behind it, and knows its exact length.
//!
//! Always true: `messages` is the last key of the body, and the messages of a snapshot, without
//! the signal and with cache markers stripped, are a byte prefix of every later snapshot of the
//! same thread (R57).

mod body;
mod thread;

use std::sync::Arc;

use serde_json::json;
use serde_json::value::RawValue;
use vocab::candidate::Candidate;
use vocab::ids::{ModelId, RoutingKey};
use vocab::message::Message;
use vocab::rewrite::Rewrite;
use vocab::tools::Definition;

pub use self::body::{Body, body};
pub(crate) use self::thread::equal_bytes;
pub use self::thread::{Common, Snapshot, Thread};
use crate::degraded::RoutingFields;
pub use crate::message::Shape;

/// The tools a request offers, serialized once.
#[derive(Clone, Debug)]
pub struct Toolset {
    /// The `tools` array of the body.
    pub json: Arc<RawValue>,
    /// How many tools it offers; a request with none sends neither `tools` nor `tool_choice`
    /// (R55).
    pub len: usize,
}

/// Serializes definitions as the `tools` array, in order.
pub fn toolset(definitions: &[Definition]) -> Toolset {
    let tools: Vec<_> = definitions
        .iter()
        .map(|tool| {
            json!({
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            })
        })
        .collect();
    let json = serde_json::value::to_raw_value(&tools).expect("JSON values serialize");
    Toolset {
        json: Arc::from(json),
        len: definitions.len(),
    }
}

/// What the model may answer with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// Text, calls or both.
    Auto,
    /// At least one call.
    Required,
    /// A call of this tool.
    Named(String),
}

/// What an agent asks: its messages and what may be answered.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The window's messages, the system message first.
    pub thread: Snapshot,
    /// The context signal: behind the messages of this request, never part of the thread.
    pub signal: Option<Message>,
    /// The tools offered.
    pub toolset: Arc<Toolset>,
    /// What may be answered with; not sent where no tool is offered.
    pub tool_choice: ToolChoice,
    /// What changed messages that the agent's last request sent; `None` where it only appended.
    pub rewritten: Option<Rewrite>,
}

/// How much a model shall reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReasoningSetting {
    /// A level by its word, from `none` to `xhigh`.
    Effort(&'static str),
    /// At most so many tokens.
    MaxTokens(u64),
}

/// How long the entries a request writes into a provider's cache shall live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheLifetime {
    /// The provider's own five minutes.
    #[default]
    Default,
    /// An hour, for all but the entry that the next turn reads.
    Extended,
    /// Nothing is written: no request will extend this one, and writing costs more than sending.
    None,
}

/// What the run adds to an agent's request.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The model asked.
    pub model: &'a ModelId,
    /// Who shall serve it; `None` sends no routing at all.
    pub candidate: Option<&'a Candidate>,
    /// The run's key, sent as `session_id` and `prompt_cache_key`.
    pub routing_key: &'a RoutingKey,
    /// How much it shall reason; `None` sends nothing of it.
    pub reasoning: Option<&'a ReasoningSetting>,
    /// How long what the agent has cached shall live.
    pub lifetime: CacheLifetime,
    /// The fields that its server does not know (R14).
    pub dropped: RoutingFields,
}

#[cfg(test)]
mod tests;
