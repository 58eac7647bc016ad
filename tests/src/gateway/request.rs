//! One request as it arrived, whole.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

/// One request, recorded before it is answered.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its place among all requests, from 0.
    pub number: usize,
    /// The connection it came on, from 0.
    pub connection: usize,
    /// `POST`.
    pub method: String,
    /// Path and query, as sent.
    pub path: String,
    /// Names and values as sent, in order.
    pub headers: Vec<(String, String)>,
    /// The body's bytes, unframed.
    pub body: Arc<[u8]>,
    /// When its last byte was read.
    pub arrived: Instant,
}

impl Request {
    /// A header's value; names compare without case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The messages it carries.
    pub fn messages(&self) -> Vec<Value> {
        match self.json()["messages"].take() {
            Value::Array(messages) => messages,
            _ => Vec::new(),
        }
    }

    /// How many replies of the model it carries: the turn it asks for, from 0.
    pub fn turn(&self) -> usize {
        self.messages()
            .iter()
            .filter(|message| message["role"] == "assistant")
            .count()
    }

    /// The texts of the tool results that stand after its last assistant message, in order.
    pub fn results(&self) -> Vec<String> {
        let messages = self.messages();
        let after = messages
            .iter()
            .rposition(|message| message["role"] == "assistant")
            .map_or(messages.len(), |place| place + 1);
        messages[after..]
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| content_text(&message["content"]))
            .collect()
    }
}

/// How the note begins that a copy of an agent finds behind the conversation it shares with it.
const COPIED: &str = "Task: you are a copy of ";

/// How a conversation opens, which tells it from others: its system text, what the model is told
/// first, and what it was told as it became a copy.
pub(super) fn opening(messages: &[Value]) -> String {
    let users = messages.iter().filter(|message| message["role"] == "user");
    let texts = users.map(|message| content_text(&message["content"]));
    let copied: Vec<_> = texts.filter(|text| text.starts_with(COPIED)).collect();
    let first = |role: &str| {
        messages
            .iter()
            .find(|message| message["role"] == role)
            .map(|message| content_text(&message["content"]))
            .unwrap_or_default()
    };
    [first("system"), first("user"), copied.join("\0")].join("\0")
}

/// A message's text, whether its content is a string or parts.
pub fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}
