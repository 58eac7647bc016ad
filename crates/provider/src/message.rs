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
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};
    use vocab::message::ImageFormat;

    use super::*;

    fn shaped(message: &Message, shape: Shape) -> Value {
        let mut out = Vec::new();
        write(message, shape, &mut out);
        serde_json::from_slice(&out).unwrap()
    }

    fn wire(message: &Message) -> Value {
        shaped(message, Shape::Bare)
    }

    fn thought(items: &[(&str, bool)], text: Option<&str>) -> Message {
        let items = items.iter().map(|&(json, sealed)| ReasoningItem {
            json: json.into(),
            sealed,
        });
        Message::Assistant {
            text: Some("so".into()),
            calls: vec![],
            reasoning: Some(Arc::new(Reasoning {
                provider: None,
                items: items.collect(),
                text: text.map(Arc::from),
            })),
        }
    }

    fn picture() -> Image {
        Image {
            format: ImageFormat::Png,
            bytes: vec![1, 2, 3, 4].into(),
            dimensions: None,
        }
    }

    #[test]
    fn text_alone_is_a_bare_string() {
        assert_eq!(
            wire(&Message::System {
                text: "a\"b\u{1F642}\u{1}".into()
            }),
            json!({ "role": "system", "content": "a\"b\u{1F642}\u{1}" })
        );
        assert_eq!(
            wire(&Message::User {
                text: "go".into(),
                images: vec![]
            }),
            json!({ "role": "user", "content": "go" })
        );
    }

    #[test]
    fn pictures_ride_as_parts_beside_the_text() {
        assert_eq!(
            wire(&Message::Tool {
                call: "c1".into(),
                text: "two".into(),
                images: vec![picture(), picture()]
            }),
            json!({ "role": "tool", "tool_call_id": "c1", "content": [
                { "type": "text", "text": "two" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AQIDBA==" } },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AQIDBA==" } },
            ] })
        );
        assert_eq!(
            wire(&Message::User {
                text: "".into(),
                images: vec![picture()]
            })["content"]
                .as_array()
                .map(Vec::len),
            Some(1)
        );
    }

    #[test]
    fn an_assistant_message_carries_its_calls_with_arguments_as_text() {
        let call = ToolCall {
            id: "c1".into(),
            name: "shell".to_owned(),
            arguments: "{\"command\": \"ls\"}".into(),
        };
        assert_eq!(
            wire(&Message::Assistant {
                text: None,
                calls: vec![call],
                reasoning: None
            }),
            json!({ "role": "assistant", "content": null, "tool_calls": [{
                "id": "c1", "type": "function",
                "function": { "name": "shell", "arguments": "{\"command\": \"ls\"}" },
            }] })
        );
        assert_eq!(
            wire(&Message::Assistant {
                text: None,
                calls: vec![],
                reasoning: None
            }),
            json!({ "role": "assistant", "content": "" })
        );
    }

    #[test]
    fn anthropic_s_models_take_parts_and_no_other_do() {
        for id in [
            "anthropic/claude-1",
            "Anthropic/claude-1:beta",
            "~anthropic/claude-latest",
            "ANTHROPIC/x",
        ] {
            assert_eq!(Shape::of(&id.into()), Shape::Parts, "{id}");
        }
        for id in [
            "openai/anthropic",
            "anthropic",
            "claude-1",
            "anthropic2/claude",
            "mock/anthropic/claude",
            "",
        ] {
            assert_eq!(Shape::of(&id.into()), Shape::Bare, "{id}");
        }
    }

    #[test]
    fn text_alone_is_one_part_where_the_family_takes_parts() {
        let part = json!([{ "type": "text", "text": "a" }]);
        let text: Arc<str> = "a".into();
        let images = vec![];
        for message in [
            Message::System { text: text.clone() },
            Message::User {
                text: text.clone(),
                images: images.clone(),
            },
            Message::Tool {
                call: "c".into(),
                text: text.clone(),
                images,
            },
            Message::Assistant {
                text: Some(text),
                calls: vec![],
                reasoning: None,
            },
        ] {
            assert_eq!(shaped(&message, Shape::Parts)["content"], part);
        }
    }

    #[test]
    fn a_message_says_where_a_marker_may_stand() {
        let marked = |message: &Message| {
            let mut out = b"before".to_vec();
            let written = write(message, Shape::Parts, &mut out);
            let at = written.mark? + 6;
            out.splice(at..at, *br#","cache_control":1"#);
            Some(serde_json::from_slice::<Value>(&out[6..]).unwrap())
        };
        let user = |text: &str, images| Message::User {
            text: text.into(),
            images,
        };
        assert_eq!(
            marked(&user("a", vec![])).unwrap()["content"],
            json!([{ "type": "text", "text": "a", "cache_control": 1 }])
        );
        for text in ["", "a"] {
            let value = marked(&user(text, vec![picture()])).unwrap();
            let parts = value["content"].as_array().unwrap();
            assert_eq!(parts.last().unwrap()["cache_control"], 1);
            assert!(
                parts
                    .iter()
                    .rev()
                    .skip(1)
                    .all(|part| part["cache_control"].is_null())
            );
        }
        let silent = Message::Assistant {
            text: None,
            calls: vec![],
            reasoning: None,
        };
        for message in [user("", vec![]), user(" \n", vec![]), silent] {
            assert_eq!(marked(&message), None);
        }
        assert_eq!(
            write(&user("a", vec![picture()]), Shape::Bare, &mut vec![]).mark,
            None
        );
    }

    #[test]
    fn blocks_are_counted_as_a_provider_sees_them() {
        let call = ToolCall {
            id: "c".into(),
            name: "f".to_owned(),
            arguments: "{}".into(),
        };
        let Message::Assistant { reasoning, .. } = thought(&[("{}", true), ("{}", false)], None)
        else {
            unreachable!()
        };
        let said = |text: Option<&str>, reasoning| Message::Assistant {
            text: text.map(Arc::from),
            calls: vec![call.clone(), call.clone()],
            reasoning,
        };
        for (message, blocks, behind) in [
            (said(Some("a"), reasoning), 3, 2),
            (said(None, None), 0, 2),
            (
                Message::User {
                    text: "a".into(),
                    images: vec![picture(), picture()],
                },
                3,
                0,
            ),
        ] {
            let written = write(&message, Shape::Parts, &mut Vec::new());
            assert_eq!((written.blocks, written.blocks_behind), (blocks, behind));
        }
    }

    #[test]
    fn reasoning_goes_back_as_items_or_as_text() {
        let items = thought(
            &[(r#"{"b" : 1,"a":2}"#, false), (r#"{"data":"x"}"#, true)],
            Some("t"),
        );
        let mut out = Vec::new();
        let written = write(&items, Shape::Bare, &mut out);
        assert_eq!(
            String::from_utf8(out.clone()).unwrap(),
            r#"{"role":"assistant","content":"so","reasoning_details":[{"b" : 1,"a":2},{"data":"x"}]}"#
        );
        let sealed = written.sealed.unwrap();
        assert_eq!(sealed.items, 1);
        out.splice(sealed.span, sealed.readable);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"role":"assistant","content":"so","reasoning_details":[{"b" : 1,"a":2}]}"#
        );
        assert_eq!(wire(&thought(&[], Some("t")))["reasoning"], "t");
        assert_eq!(
            wire(&thought(&[], None)),
            json!({ "role": "assistant", "content": "so" })
        );
    }

    #[test]
    fn reasoning_that_is_sealed_whole_leaves_nothing_behind() {
        let message = thought(
            &[(r#"{"data":"x"}"#, true), (r#"{"data":"y"}"#, true)],
            Some("t"),
        );
        let mut out = vec![0];
        let mut sealed = write(&message, Shape::Parts, &mut out).sealed.unwrap();
        out.remove(0);
        assert_eq!(sealed.items, 2);
        out.splice(sealed.span, std::mem::take(&mut sealed.readable));
        let mut plain = Vec::new();
        write(&thought(&[], None), Shape::Parts, &mut plain);
        assert_eq!(out, plain);
    }
}
