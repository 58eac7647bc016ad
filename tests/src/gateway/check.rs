//! The strict checker: what a provider that takes nothing amiss would refuse.
//!
//! Looks at each chat request alone, then against the one before it of the same conversation.
//! Conversations are told apart by their system text and first user message. Faults are
//! sentences; a request without faults becomes the one the next is held against.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::reply::Said;
use super::request::content_text;

/// What is held against a request beyond its own shape.
#[derive(Clone, Copy, Debug)]
pub struct Strict {
    /// Whether the messages of the request before, without its signal, must be a byte prefix of
    /// this one's (R57).
    pub prefix: bool,
    /// Whether `provider.only`, `provider.quantizations` and `allow_fallbacks` must be there.
    pub routing: bool,
    /// Whether a last message is the context-usage signal, which the next request leaves out.
    pub is_signal: fn(&Value) -> bool,
}

impl Default for Strict {
    fn default() -> Self {
        Self {
            prefix: true,
            routing: true,
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
    said: Vec<Said>,
}

#[derive(Debug)]
struct Conversation {
    /// The messages array up to the end of its last kept message, without the closing bracket.
    messages: Vec<u8>,
    /// Role and content shape of each kept message.
    shapes: Vec<(String, Shape)>,
    tools: String,
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

impl Checker {
    /// A checker that has seen nothing.
    pub fn new(strict: Strict) -> Self {
        Self {
            strict,
            conversations: HashMap::new(),
            routing_key: None,
            said: Vec::new(),
        }
    }

    /// Remembers what a reply said, to know it when it comes back.
    pub fn said(&mut self, said: &Said) {
        self.said.push(said.clone());
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
        self.reasoning(messages, &mut faults);
        if let Some(written) = raw.messages {
            let tools = raw.tools.map_or("", RawValue::get);
            self.against_last(messages, written, tools, faults.is_empty(), &mut faults);
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
        need(!key.is_empty(), "`session_id` is missing");
        need(
            body["prompt_cache_key"] == body["session_id"],
            "`prompt_cache_key` is not `session_id`",
        );
        let first = self.routing_key.get_or_insert_with(|| key.to_owned());
        need(
            first == key,
            "`session_id` is another than on the first request",
        );
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

    fn reasoning(&self, messages: &[Value], faults: &mut Vec<String>) {
        for (place, message) in messages.iter().enumerate() {
            if message["role"] != "assistant" {
                continue;
            }
            let calls: Vec<&str> = calls_of(message).iter().map(|(id, _)| *id).collect();
            let text = content_text(&message["content"]);
            let same = |said: &&Said| {
                if calls.is_empty() {
                    said.calls.is_empty() && said.text == text
                } else {
                    said.calls == calls
                }
            };
            let mut matching = self.said.iter().filter(same);
            // A reply that was said twice alike cannot be told from its twin.
            let (Some(said), None) = (matching.next(), matching.next()) else {
                continue;
            };
            let back = Some(&message["reasoning_details"]).filter(|details| !details.is_null());
            if back != said.reasoning_details.as_ref() {
                faults.push(format!(
                    "message {place}: its reasoning items did not come back as they were sent"
                ));
            }
        }
    }

    fn against_last(
        &mut self,
        messages: &[Value],
        written: &RawValue,
        tools: &str,
        keep: bool,
        faults: &mut Vec<String>,
    ) {
        let kept = match messages.last() {
            Some(last) if (self.strict.is_signal)(last) => messages.len() - 1,
            _ => messages.len(),
        };
        let shapes: Vec<(String, Shape)> = messages[..kept]
            .iter()
            .map(|message| (text_of(&message["role"]), shape(&message["content"])))
            .collect();
        let bytes = prefix_bytes(messages, written, kept);
        let name = name_of(messages);
        if let Some(last) = self.conversations.get(&name) {
            if last.tools != tools {
                faults.push("`tools` changed within the conversation".to_owned());
            }
            for (place, (now, before)) in shapes.iter().zip(&last.shapes).enumerate() {
                // Where what was sent may be edited, a picture may have been taken out.
                let stripped =
                    !self.strict.prefix && (before.1, now.1) == (Shape::Parts, Shape::Text);
                if now.0 == before.0 && now.1 != before.1 && !stripped {
                    faults.push(format!("message {place}: its content changed its shape"));
                }
            }
            if self.strict.prefix && !extends(&bytes, &last.messages) {
                let place = bytes
                    .iter()
                    .zip(&last.messages)
                    .position(|(now, before)| now != before)
                    .unwrap_or(bytes.len().min(last.messages.len()));
                faults.push(format!(
                    "the messages of the request before are not a prefix of this one's: they part \
                     at byte {place}: {:?} became {:?}",
                    around(&last.messages, place),
                    around(&bytes, place)
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
/// message has them (marked requests).
fn shapes(messages: &[Value], faults: &mut Vec<String>) {
    let marked = messages
        .iter()
        .all(|message| matches!(shape(&message["content"]), Shape::Parts | Shape::Null));
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

fn name_of(messages: &[Value]) -> String {
    let first = |role: &str| {
        messages
            .iter()
            .find(|message| message["role"] == role)
            .map(|message| content_text(&message["content"]))
            .unwrap_or_default()
    };
    format!("{}\0{}", first("system"), first("user"))
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

/// The array's bytes from its bracket to the end of message `kept`, cache markers stripped.
fn prefix_bytes(messages: &[Value], written: &RawValue, kept: usize) -> Vec<u8> {
    let text = written.get();
    if text.contains("\"cache_control\"") {
        let stripped: Vec<String> = messages[..kept].iter().map(without_markers).collect();
        return format!("[{}", stripped.join(",")).into_bytes();
    }
    let items: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
    let end = match kept.checked_sub(1).and_then(|last| items.get(last)) {
        Some(last) => last.get().as_ptr() as usize - text.as_ptr() as usize + last.get().len(),
        None => 1,
    };
    text.as_bytes()[..end].to_vec()
}

fn without_markers(message: &Value) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.shift_remove("cache_control");
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut message = message.clone();
    strip(&mut message);
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
