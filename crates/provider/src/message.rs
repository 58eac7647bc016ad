//! The wire shape of one chat message.
//!
//! Content is a bare string; it is an array of parts only where a picture rides beside the text
//! (R56), and a picture is always written the same way, so that a message sent twice is the same
//! bytes twice.
//!
//! Always true: what is written depends on the message alone.

use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use vocab::message::{Image, Message, ToolCall};

/// Appends the JSON object of one message, without any separator.
pub fn write(message: &Message, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"role\":\"");
    out.extend_from_slice(message.role().as_str().as_bytes());
    out.push(b'"');
    match message {
        Message::System { text } => {
            out.extend_from_slice(b",\"content\":");
            string(text, out);
        }
        Message::User { text, images } => content(text, images, out),
        Message::Assistant { text, calls, .. } => assistant(text.as_deref(), calls, out),
        Message::Tool { call, text, images } => {
            out.extend_from_slice(b",\"tool_call_id\":");
            string(call.as_str(), out);
            content(text, images, out);
        }
    }
    out.push(b'}');
}

fn assistant(text: Option<&str>, calls: &[ToolCall], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"content\":");
    match text {
        Some(text) => string(text, out),
        // Null is the form for "only calls"; without calls many servers refuse it.
        None if calls.is_empty() => out.extend_from_slice(b"\"\""),
        None => out.extend_from_slice(b"null"),
    }
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

fn content(text: &str, images: &[Image], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"content\":");
    if images.is_empty() {
        return string(text, out);
    }
    out.push(b'[');
    // An empty text part is refused by some servers; pictures alone are not.
    if !text.is_empty() {
        out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
        string(text, out);
        out.extend_from_slice(b"},");
    }
    for (place, image) in images.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:");
        out.extend_from_slice(image.format.as_str().as_bytes());
        out.extend_from_slice(b";base64,");
        base64(&image.bytes, out);
        out.extend_from_slice(b"\"}}");
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
    use serde_json::{Value, json};
    use vocab::message::ImageFormat;

    use super::*;

    fn wire(message: &Message) -> Value {
        let mut out = Vec::new();
        write(message, &mut out);
        serde_json::from_slice(&out).unwrap()
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
}
