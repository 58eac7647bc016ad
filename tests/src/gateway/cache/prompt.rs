//! The parts of a request that a cache looks at, as they stand in the body.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A request's parts, borrowed from its bytes.
#[derive(Debug)]
pub struct Prompt<'a> {
    /// The model.
    pub model: String,
    /// The `tools` array as written; empty where there is none.
    pub tools: &'a str,
    /// Each message as written.
    pub messages: Vec<&'a str>,
    /// What else changes a prefix at some providers: tool choice and reasoning settings.
    pub settings: String,
    /// Whether it names the session that keeps it on one endpoint.
    pub sticky: bool,
}

#[derive(Deserialize)]
struct Body<'a> {
    model: Option<String>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_choice: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    session_id: Option<String>,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

impl<'a> Prompt<'a> {
    /// Reads a body; `None` where it is no request.
    pub fn read(body: &'a [u8]) -> Option<Self> {
        let body: Body<'a> = serde_json::from_slice(body).ok()?;
        let text = |value: Option<&'a RawValue>| value.map_or("", RawValue::get);
        Some(Self {
            model: body.model.unwrap_or_default(),
            tools: text(body.tools),
            messages: body.messages.iter().map(|message| message.get()).collect(),
            settings: format!("{}\0{}", text(body.tool_choice), text(body.reasoning)),
            sticky: body.session_id.is_some_and(|id| !id.is_empty()),
        })
    }

    /// How many of its messages the next request repeats: all but a trailing signal.
    pub fn kept(&self, is_signal: fn(&Value) -> bool) -> usize {
        let last = self
            .messages
            .last()
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        match last {
            Some(last) if is_signal(&last) => self.messages.len() - 1,
            _ => self.messages.len(),
        }
    }
}
