//! The identity of a message: equal messages have one id, whenever and wherever they are sent.

use vocab::ids::MessageId;
use vocab::message::Message;
use xxhash_rust::xxh3::Xxh3Default;

/// The 64-bit fingerprint of a message over role, text, calls, answered call, the exact bytes of
/// its pictures and its reasoning.
///
/// Every field is preceded by its length and every optional one by its presence, so that no two
/// messages hash the same bytes.
pub fn fingerprint(message: &Message) -> MessageId {
    let mut hash = Xxh3Default::new();
    let mut field = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    field(message.role().as_str().as_bytes());
    let silent = matches!(message, Message::Assistant { text: None, .. });
    field(&[u8::from(silent)]);
    field(message.text().as_bytes());
    field(&(message.calls().len() as u64).to_le_bytes());
    for call in message.calls() {
        field(call.id.as_str().as_bytes());
        field(call.name.as_bytes());
        field(call.arguments.as_bytes());
    }
    field(
        message
            .answers()
            .map_or("", |call| call.as_str())
            .as_bytes(),
    );
    for image in message.images() {
        field(image.format.as_str().as_bytes());
        field(&image.bytes);
    }
    if let Some(reasoning) = message.reasoning() {
        field(b"reasoning");
        let maker = reasoning.provider.as_ref();
        field(maker.map_or("", |maker| maker.as_str()).as_bytes());
        field(&(reasoning.items.len() as u64).to_le_bytes());
        for item in &reasoning.items {
            field(item.json.as_bytes());
        }
        field(reasoning.text.as_deref().unwrap_or_default().as_bytes());
    }
    MessageId(hash.digest())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vocab::message::{Image, ImageFormat, ToolCall};

    fn user(text: &str) -> Message {
        Message::User {
            text: text.into(),
            images: Vec::new(),
        }
    }

    #[test]
    fn equal_messages_have_one_id_and_others_their_own() {
        let picture = |byte| Image {
            format: ImageFormat::Png,
            bytes: vec![byte; 9].into(),
            dimensions: None,
        };
        let tool = |text: &str, images| Message::Tool {
            call: "a".into(),
            text: text.into(),
            images,
        };
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "search".to_owned(),
            arguments: arguments.into(),
        };
        let assistant = |text: Option<&str>, calls| Message::Assistant {
            text: text.map(Into::into),
            calls,
            reasoning: None,
        };
        let messages = [
            user("a"),
            user("b"),
            Message::System { text: "a".into() },
            tool("a", vec![]),
            tool("a", vec![picture(1)]),
            tool("a", vec![picture(2)]),
            assistant(None, vec![]),
            assistant(Some(""), vec![]),
            assistant(None, vec![call("x", "{}")]),
            assistant(None, vec![call("x", "{} ")]),
            assistant(None, vec![call("x{", "}")]),
            assistant(None, vec![call("x", "{}"), call("y", "{}")]),
        ];
        for (place, one) in messages.iter().enumerate() {
            assert_eq!(fingerprint(one), fingerprint(&one.clone()));
            for other in &messages[place + 1..] {
                assert_ne!(fingerprint(one), fingerprint(other), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn ids_do_not_change_between_builds() {
        assert_eq!(fingerprint(&user("hello")).to_string(), "7a069d1cd2e11be7");
    }
}
