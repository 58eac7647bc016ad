//! The strict checker: what a provider that takes nothing amiss would refuse.
//!
//! Looks at each chat request alone, then against the one before it of the same conversation.
//! Conversations are told apart by their system text and first user message. Faults are
//! sentences; a request without faults becomes the one the next is held against.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::providers::plain;
use super::reply::Said;
use super::request::{content_text, opening};

mod reasoning;

/// What is held against a request beyond its own shape.
#[derive(Clone, Copy, Debug)]
pub struct Strict {
    /// Whether the messages of the request before, without its signal, must be a byte prefix of
    /// this one's (R57).
    pub prefix: bool,
    /// Whether `provider.only`, `provider.quantizations` and `allow_fallbacks` must be there.
    pub routing: bool,
    /// Whether `session_id` and `prompt_cache_key` must be there; where they are, they are the
    /// same on every request of a run in any case.
    pub keys: bool,
    /// Whether reasoning that came as text alone must come back; where it does, it is unchanged in
    /// any case.
    pub reasoning_text: bool,
    /// Whether a last message is the context-usage signal, which the next request leaves out.
    pub is_signal: fn(&Value) -> bool,
}

impl Default for Strict {
    fn default() -> Self {
        Self {
            prefix: true,
            routing: true,
            keys: true,
            reasoning_text: false,
            is_signal: |_| false,
        }
    }
}

/// The checker and what it remembers.
#[derive(Debug)]
pub struct Checker {
    strict: Strict,
    conversations: HashMap<String, Conversation>,
    routing_key: Option<String>,
    said: reasoning::Memory,
}

#[derive(Debug)]
struct Conversation {
    /// The messages array up to the end of its last kept message, without the closing bracket.
    messages: Vec<u8>,
    /// Role, content shape and text of each kept message.
    shapes: Vec<(String, Shape, String)>,
    tools: String,
    /// The provider asked.
    provider: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Null,
    Text,
    Parts,
    Other,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
}

/// What a request sent, as far as the request before it matters.
struct Sent<'a> {
    messages: &'a [Value],
    written: &'a RawValue,
    tools: &'a str,
    provider: String,
}

impl Checker {
    /// A checker that has seen nothing.
    pub fn new(strict: Strict) -> Self {
        Self {
            strict,
            conversations: HashMap::new(),
            routing_key: None,
            said: reasoning::Memory::default(),
        }
    }

    /// Forgets conversations and routing key: another run begins.
    pub fn next_run(&mut self) {
        *self = Self::new(self.strict);
    }

    /// Remembers what a reply said, to know it when it comes back.
    pub fn said(&mut self, said: &Said) {
        self.said.remember(said);
    }

    /// The faults of a request; none: it becomes the one the next is held against.
    pub fn request(&mut self, body: &[u8]) -> Vec<String> {
        let mut faults = Vec::new();
        let (Ok(json @ Value::Object(_)), Ok(raw)) = (
            serde_json::from_slice::<Value>(body),
            serde_json::from_slice::<Body<'_>>(body),
        ) else {
            return vec!["the body is not a JSON object".to_owned()];
        };
        self.fields(&json, &mut faults);
        let Some(messages) = json["messages"].as_array() else {
            faults.push("`messages` is not a list".to_owned());
            return faults;
        };
        order(messages, &mut faults);
        shapes(messages, &mut faults);
        let provider = provider_of(&json);
        let text = self.strict.reasoning_text;
        self.said.check(messages, &provider, text, &mut faults);
        if let Some(written) = raw.messages {
            let tools = raw.tools.map_or("", RawValue::get);
            let sent = Sent {
                messages,
                written,
                tools,
                provider,
            };
            self.against_last(&sent, faults.is_empty(), &mut faults);
        }
        faults
    }

    fn fields(&mut self, body: &Value, faults: &mut Vec<String>) {
        let mut need = |holds: bool, what: &str| {
            if !holds {
                faults.push(what.to_owned());
            }
        };
        need(
            body["model"]
                .as_str()
                .is_some_and(|model| !model.is_empty()),
            "`model` is missing",
        );
        need(body["stream"] == true, "`stream` is not true");
        need(
            body["stream_options"]["include_usage"] == true,
            "`stream_options.include_usage` is not true",
        );
        if self.strict.routing {
            let provider = &body["provider"];
            let one = |list: &Value| {
                list.as_array()
                    .is_some_and(|list| list.len() == 1 && list[0].is_string())
            };
            need(one(&provider["only"]), "`provider.only` is not one name");
            need(
                one(&provider["quantizations"]),
                "`provider.quantizations` is not one level",
            );
            need(
                provider["allow_fallbacks"] == false,
                "`provider.allow_fallbacks` is not false",
            );
        }
        let key = body["session_id"].as_str().unwrap_or("");
        need(
            !key.is_empty() || !self.strict.keys,
            "`session_id` is missing",
        );
        let other = body["prompt_cache_key"].as_str().unwrap_or("");
        need(
            other == key || (!self.strict.keys && (other.is_empty() || key.is_empty())),
            "`prompt_cache_key` is not `session_id`",
        );
        if self.strict.keys || !key.is_empty() {
            let first = self.routing_key.get_or_insert_with(|| key.to_owned());
            need(
                first == key,
                "`session_id` is another than on the first request",
            );
        }
        need(
            body.as_object()
                .and_then(|body| body.keys().next_back())
                .is_some_and(|last| last == "messages"),
            "`messages` is not the last key",
        );
        let named = body["tools"].as_array().map(|tools| {
            tools
                .iter()
                .filter_map(|tool| tool["function"]["name"].as_str())
                .collect::<Vec<_>>()
        });
        if let Some(names) = named {
            let distinct: HashSet<_> = names.iter().collect();
            need(
                !names.is_empty() && distinct.len() == names.len(),
                "`tools` is empty or names a tool twice",
            );
            need(!body["tool_choice"].is_null(), "`tool_choice` is missing");
        }
    }

    fn against_last(&mut self, sent: &Sent<'_>, keep: bool, faults: &mut Vec<String>) {
        let Sent {
            messages,
            written,
            tools,
            ref provider,
        } = *sent;
        let kept = match messages.last() {
            Some(last) if (self.strict.is_signal)(last) => messages.len() - 1,
            _ => messages.len(),
        };
        let shapes: Vec<(String, Shape, String)> = messages[..kept]
            .iter()
            .map(|message| {
                let content = &message["content"];
                (
                    text_of(&message["role"]),
                    shape(content),
                    content_text(content),
                )
            })
            .collect();
        let bytes = prefix_bytes(messages, written, kept);
        let name = opening(messages);
        if let Some(last) = self.conversations.get(&name) {
            if last.tools != tools {
                faults.push("`tools` changed within the conversation".to_owned());
            }
            for (place, (now, before)) in shapes.iter().zip(&last.shapes).enumerate() {
                // Where what was sent may be edited, a picture may have been taken out.
                let stripped =
                    !self.strict.prefix && (before.1, now.1) == (Shape::Parts, Shape::Text);
                // And another message may have come to stand there.
                let same = now.0 == before.0 && (self.strict.prefix || now.2 == before.2);
                if same && now.1 != before.1 && !stripped {
                    faults.push(format!("message {place}: its content changed its shape"));
                }
            }
            let (now, before) = if last.provider == *provider {
                (bytes.clone(), last.messages.clone())
            } else {
                // On a move the new provider is not sent what only the old one can read.
                (bare(&bytes), bare(&last.messages))
            };
            if self.strict.prefix && !extends(&now, &before) {
                let place = now
                    .iter()
                    .zip(&before)
                    .position(|(now, before)| now != before)
                    .unwrap_or(now.len().min(before.len()));
                faults.push(format!(
                    "the messages of the request before are not a prefix of this one's: they part \
                     at byte {place}: {:?} became {:?}",
                    around(&before, place),
                    around(&now, place)
                ));
            }
        }
        if keep && faults.is_empty() {
            self.conversations.insert(
                name,
                Conversation {
                    messages: bytes,
                    shapes,
                    tools: tools.to_owned(),
                    provider: provider.clone(),
                },
            );
        }
    }
}

/// System first and once; calls answered, all of them, by what directly follows; ids unique.
fn order(messages: &[Value], faults: &mut Vec<String>) {
    if messages
        .first()
        .is_none_or(|first| first["role"] != "system")
    {
        faults.push("the first message is not `system`".to_owned());
    }
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or("");
        if role != "tool" && !open.is_empty() {
            faults.push(format!(
                "message {place}: calls {open:?} are not answered before it"
            ));
            open.clear();
        }
        match role {
            "system" if place > 0 => {
                faults.push(format!("message {place}: a second `system`"));
            }
            "system" | "user" => {}
            "assistant" => {
                for (id, call) in calls_of(message) {
                    if id.is_empty() || !ids.insert(id) {
                        faults.push(format!("message {place}: call id {id:?} is not unique"));
                    }
                    let arguments = call["function"]["arguments"].as_str().unwrap_or("");
                    let object = serde_json::from_str::<Value>(arguments)
                        .is_ok_and(|arguments| arguments.is_object());
                    if call["type"] != "function"
                        || call["function"]["name"].as_str().is_none_or(str::is_empty)
                        || !object
                    {
                        faults.push(format!("message {place}: call {id:?} is malformed"));
                    }
                    open.push(id);
                }
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or("");
                match open.iter().position(|call| *call == id) {
                    Some(call) => {
                        open.remove(call);
                    }
                    None => faults.push(format!(
                        "message {place}: a result for {id:?}, which the assistant message before \
                         it did not call or which is answered"
                    )),
                }
            }
            other => faults.push(format!("message {place}: role {other:?}")),
        }
    }
    if !open.is_empty() {
        faults.push(format!("calls {open:?} are not answered"));
    }
    if messages
        .last()
        .is_some_and(|last| last["role"] == "assistant")
    {
        faults.push("the last message is the assistant's".to_owned());
    }
}

/// Content is a string; `null` beside calls; parts exactly where a picture rides, or where every
/// message that says something has them (marked requests).
fn shapes(messages: &[Value], faults: &mut Vec<String>) {
    // A part without text is refused by some, so nothing at all is an empty string in any case.
    let marked = messages.iter().all(|message| {
        message["content"] == "" || matches!(shape(&message["content"]), Shape::Parts | Shape::Null)
    });
    for (place, message) in messages.iter().enumerate() {
        let content = &message["content"];
        let right = match shape(content) {
            Shape::Text => {
                message["role"] != "assistant" || content != "" || !calls_of(message).is_empty()
            }
            Shape::Null => message["role"] == "assistant" && !calls_of(message).is_empty(),
            Shape::Parts => {
                marked
                    || content.as_array().is_some_and(|parts| {
                        parts.iter().any(|part| {
                            part["image_url"]["url"]
                                .as_str()
                                .is_some_and(|url| url.starts_with("data:image/"))
                        })
                    })
            }
            Shape::Other => false,
        };
        if !right {
            faults.push(format!("message {place}: its content has no legal shape"));
        }
    }
}

fn shape(content: &Value) -> Shape {
    match content {
        Value::Null => Shape::Null,
        Value::String(_) => Shape::Text,
        Value::Array(_) => Shape::Parts,
        _ => Shape::Other,
    }
}

fn calls_of(message: &Value) -> Vec<(&str, &Value)> {
    message["tool_calls"]
        .as_array()
        .map(|calls| {
            calls
                .iter()
                .map(|call| (call["id"].as_str().unwrap_or(""), call))
                .collect()
        })
        .unwrap_or_default()
}

/// The provider a request allows, without case and punctuation; empty where it names none.
fn provider_of(body: &Value) -> String {
    plain(body["provider"]["only"][0].as_str().unwrap_or(""))
}

/// The messages of a prefix without their reasoning: what stays the same on a move.
fn bare(prefix: &[u8]) -> Vec<u8> {
    let whole = [prefix, b"]"].concat();
    let messages: Vec<Value> = serde_json::from_slice(&whole).unwrap_or_default();
    let texts: Vec<String> = messages
        .iter()
        .map(|message| without(message, &["reasoning_details", "reasoning"]))
        .collect();
    format!("[{}", texts.join(",")).into_bytes()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

/// The array's bytes from its bracket to the end of message `kept`, cache markers stripped.
fn prefix_bytes(messages: &[Value], written: &RawValue, kept: usize) -> Vec<u8> {
    let text = written.get();
    if text.contains("\"cache_control\"") {
        let stripped: Vec<String> = messages[..kept]
            .iter()
            .map(|message| without(message, &["cache_control"]))
            .collect();
        return format!("[{}", stripped.join(",")).into_bytes();
    }
    let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    let end = match kept.checked_sub(1).and_then(|last| items.get(last)) {
        Some(last) => last.get().as_ptr() as usize - text.as_ptr() as usize + last.get().len(),
        None => 1,
    };
    text.as_bytes()[..end].to_vec()
}

fn without(message: &Value, names: &[&str]) -> String {
    fn strip(value: &mut Value, names: &[&str]) {
        match value {
            Value::Object(fields) => {
                for name in names {
                    fields.shift_remove(*name);
                }
                fields.values_mut().for_each(|field| strip(field, names));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| strip(item, names)),
            _ => {}
        }
    }
    let mut message = message.clone();
    strip(&mut message, names);
    message.to_string()
}

/// Whether `now` is `before`, or `before` and more messages.
fn extends(now: &[u8], before: &[u8]) -> bool {
    now.strip_prefix(before)
        .is_some_and(|rest| rest.is_empty() || rest[0] == b',')
}

fn around(bytes: &[u8], place: usize) -> String {
    let end = bytes.len().min(place + 40);
    String::from_utf8_lossy(&bytes[place.saturating_sub(20).min(end)..end]).into_owned()
}

#[cfg(test)]
mod tests;
