//! The wire shape of one chat message.
//!
//! Content is a bare string, or an array of parts throughout where the model's family is told what
//! to cache: a `cache_control` has to ride a part, and a message that changed from one to the
//! other when a marker came or went would be an edit amid what was sent. A picture is one part
//! more, the same way every time (R56). What the model reasoned goes back as it came (R26).
//!
//! Always true: what is written depends on the message and the shape alone.

use std::io::Write;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use vocab::ids::ModelId;
use vocab::message::{Image, Message, Reasoning, ReasoningItem, ToolCall};

/// How text alone is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// As a string. Providers that cache by themselves match what is forwarded to them, and take
    /// any change of shape for another prefix.
    #[default]
    Bare,
    /// As an array of one part, so that a cache marker may ride it.
    Parts,
}

impl Shape {
    /// The shape a model's family takes: parts for Anthropic's, whose cache holds only what a
    /// request marks, and strings for all others. A `~` before the vendor asks the gateway for the
    /// newest of a name.
    pub fn of(model: &ModelId) -> Self {
        let id = model.as_str();
        let vendor = id.strip_prefix('~').unwrap_or(id).split_once('/');
        match vendor {
            Some((vendor, _)) if vendor.eq_ignore_ascii_case("anthropic") => Self::Parts,
            _ => Self::Bare,
        }
    }
}

/// What is known of a message once it is written. Offsets count from its first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Where a `cache_control` may be inserted: the end of the last part of its content. `None`
    /// where the content is a string or says nothing.
    pub mark: Option<usize>,
    /// Content blocks up to that place, reasoning first: what a provider counts when it looks back
    /// for what it cached.
    pub blocks: u64,
    /// Content blocks behind that place: its calls.
    pub blocks_behind: u64,
    /// The reasoning that not everybody can read.
    pub sealed: Option<Sealed>,
}

/// The field of a message that holds sealed reasoning, and what takes its place for a provider
/// that did not make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// The field, from the comma before it.
    pub span: Range<usize>,
    /// The field with the readable items alone; empty where there are none.
    pub readable: Vec<u8>,
    /// How many items are left out.
    pub items: usize,
}

/// Appends the JSON object of one message, without any separator.
pub fn write(message: &Message, shape: Shape, out: &mut Vec<u8>) -> Written {
    let start = out.len();
    let mut written = Written::default();
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(message.role().as_str().as_bytes());
    out.push(b'"');
    match message {
        Message::System { text } => content(text, &[], shape, out, &mut written),
        Message::User { text, images } => content(text, images, shape, out, &mut written),
        Message::Assistant {
            text,
            calls,
            reasoning: thought,
        } => {
            match text {
                Some(text) => content(text, &[], shape, out, &mut written),
                // Null is the form for "only calls"; without calls many servers refuse it.
                None if calls.is_empty() => out.extend_from_slice(b",\"content\":\"\""),
                None => out.extend_from_slice(b",\"content\":null"),
            }
            if let Some(thought) = thought {
                reasoning(thought, out, &mut written);
            }
            tool_calls(calls, out);
            written.blocks_behind = calls.len() as u64;
        }
        Message::Tool { call, text, images } => {
            out.extend_from_slice(b",\"tool_call_id\":");
            string(call.as_str(), out);
            content(text, images, shape, out, &mut written);
        }
    }
    out.push(b'}');
    if let Some(mark) = &mut written.mark {
        *mark -= start;
    }
    if let Some(sealed) = &mut written.sealed {
        sealed.span.start -= start;
        sealed.span.end -= start;
    }
    written
}

fn tool_calls(calls: &[ToolCall], out: &mut Vec<u8>) {
    if calls.is_empty() {
        return;
    }
    out.extend_from_slice(b",\"tool_calls\":[");
    for (place, call) in calls.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"id\":");
        string(call.id.as_str(), out);
        out.extend_from_slice(b",\"type\":\"function\",\"function\":{\"name\":");
        string(&call.name, out);
        out.extend_from_slice(b",\"arguments\":");
        string(&call.arguments, out);
        out.extend_from_slice(b"}}");
    }
    out.push(b']');
}

fn reasoning(thought: &Reasoning, out: &mut Vec<u8>, written: &mut Written) {
    let start = out.len();
    if thought.items.is_empty() {
        if let Some(text) = &thought.text {
            out.extend_from_slice(b",\"reasoning\":");
            string(text, out);
            written.blocks += 1;
        }
        return;
    }
    items(thought.items.iter(), out);
    written.blocks += thought.items.len() as u64;
    let sealed = thought.items.iter().filter(|item| item.sealed).count();
    if sealed > 0 {
        let mut readable = Vec::new();
        items(
            thought.items.iter().filter(|item| !item.sealed),
            &mut readable,
        );
        written.sealed = Some(Sealed {
            span: start..out.len(),
            readable,
            items: sealed,
        });
    }
}

/// Writes the field of the items, or nothing where there are none.
fn items<'a>(items: impl Iterator<Item = &'a ReasoningItem>, out: &mut Vec<u8>) {
    let mut any = false;
    for item in items {
        let before: &[u8] = if any {
            b","
        } else {
            b",\"reasoning_details\":["
        };
        out.extend_from_slice(before);
        out.extend_from_slice(item.json.as_bytes());
        any = true;
    }
    if any {
        out.push(b']');
    }
}

fn content(text: &str, images: &[Image], shape: Shape, out: &mut Vec<u8>, written: &mut Written) {
    out.extend_from_slice(b",\"content\":");
    // An empty text part is refused by some servers; an empty string, or pictures alone, are not.
    let alone = shape == Shape::Bare || text.is_empty();
    written.blocks += u64::from(!text.is_empty()) + images.len() as u64;
    if images.is_empty() && alone {
        return string(text, out);
    }
    out.push(b'[');
    if !text.is_empty() {
        out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
        string(text, out);
        out.push(b'}');
    }
    for (place, image) in images.iter().enumerate() {
        if place > 0 || !text.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:");
        out.extend_from_slice(image.format.as_str().as_bytes());
        out.extend_from_slice(b";base64,");
        base64(&image.bytes, out);
        out.extend_from_slice(b"\"}}");
    }
    // A marker on blank text is refused.
    if shape == Shape::Parts && (!images.is_empty() || !text.trim().is_empty()) {
        written.mark = Some(out.len() - 1);
    }
    out.push(b']');
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    STANDARD
        .encode_slice(bytes, &mut out[start..])
        .expect("padded base64 takes four bytes for every three begun");
}

/// Appends a JSON string.
pub(crate) fn string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out.by_ref(), text).expect("a string serializes into memory");
}

#[cfg(test)]
mod tests;
