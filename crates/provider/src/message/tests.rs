//! The shape of each message, and what is known of it once it is written.

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
    let Message::Assistant { reasoning, .. } = thought(&[("{}", true), ("{}", false)], None) else {
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
