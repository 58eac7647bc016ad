//! Bodies against the plain serialization, and what is added to one or left out of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::Value;
use vocab::ids::ProviderName;
use vocab::message::{Image, ImageFormat, Reasoning, ReasoningItem, ToolCall};

use super::thread::SEGMENT;
use super::*;
use crate::degraded::RoutingField;
use crate::markers::{Marker, markers};

pub(crate) fn reasoning() -> impl Strategy<Value = Option<Arc<Reasoning>>> {
    let item = (any::<bool>(), "[a-z]{0,9}").prop_map(|(sealed, text)| ReasoningItem {
        json: if sealed {
            format!(r#"{{"type":"reasoning.encrypted","data":"{text}"}}"#)
        } else {
            format!(r#"{{"type":"reasoning.text","text":"{text}"}}"#)
        }
        .into(),
        sealed,
    });
    let maker = proptest::option::of(prop_oneof![Just("Acme"), Just("acme"), Just("Umbra")]);
    let items = proptest::collection::vec(item, 0..4);
    let thought = (maker, items, proptest::option::of("[a-z]{1,5}"));
    proptest::option::of(thought.prop_map(|(maker, items, text)| {
        Arc::new(Reasoning {
            provider: maker.map(ProviderName::from),
            items,
            text: text.map(Arc::from),
        })
    }))
}

fn message() -> impl Strategy<Value = Message> {
    let text = prop_oneof![
        4 => ".{0,40}",
        1 => Just(String::new()),
        1 => Just("x".repeat(20_000)),
        1 => Just("é".repeat(40_000))
    ];
    let images = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..2);
    let id = ".{1,8}";
    let calls = 0..3_usize;
    (0..5, text, images, id, calls, reasoning()).prop_map(
        |(role, text, images, id, calls, reasoning)| {
            let images = images
                .into_iter()
                .map(|bytes| Image {
                    format: ImageFormat::Webp,
                    bytes: bytes.into(),
                    dimensions: None,
                })
                .collect();
            let text: Arc<str> = text.into();
            match role {
                0 => Message::System { text },
                1 => Message::User { text, images },
                2 => Message::Tool {
                    call: id.into(),
                    text,
                    images,
                },
                _ => Message::Assistant {
                    text: (role == 3).then(|| text.clone()),
                    calls: (0..calls)
                        .map(|_| ToolCall {
                            id: id.as_str().into(),
                            name: "shell".to_owned(),
                            arguments: text.clone(),
                        })
                        .collect(),
                    reasoning,
                },
            }
        },
    )
}

/// The obvious way to write a message for a provider.
fn plain(message: &Message, shape: Shape, candidate: Option<&ProviderName>) -> Value {
    let mut value = json!({ "role": message.role() });
    if let Some(call) = message.answers() {
        value["tool_call_id"] = json!(call);
    }
    let mut parts = Vec::new();
    if !message.text().is_empty() {
        parts.push(json!({ "type": "text", "text": message.text() }));
    }
    for image in message.images() {
        let url = format!("data:image/webp;base64,{}", STANDARD.encode(&image.bytes));
        parts.push(json!({ "type": "image_url", "image_url": { "url": url } }));
    }
    let silent = matches!(message, Message::Assistant { text: None, .. });
    value["content"] = if silent && !message.calls().is_empty() {
        Value::Null
    } else if parts.is_empty() || (message.images().is_empty() && shape == Shape::Bare) {
        json!(message.text())
    } else {
        json!(parts)
    };
    if let Some(thought) = message.reasoning() {
        let foreign = thought
            .provider
            .as_ref()
            .is_some_and(|maker| candidate.is_some_and(|candidate| !maker.same_as(candidate)));
        let items: Vec<Value> = thought
            .items
            .iter()
            .filter(|item| !(foreign && item.sealed))
            .map(|item| serde_json::from_str(&item.json).unwrap())
            .collect();
        if thought.items.is_empty() {
            if let Some(text) = &thought.text {
                value["reasoning"] = json!(text);
            }
        } else if !items.is_empty() {
            value["reasoning_details"] = json!(items);
        }
    }
    if !message.calls().is_empty() {
        let calls = message.calls().iter().map(|call| {
            json!({ "id": call.id, "type": "function",
                "function": { "name": call.name, "arguments": call.arguments } })
        });
        value["tool_calls"] = calls.collect();
    }
    value
}

/// The whole body, serialized at once, without markers.
fn naive(
    head: &Head<'_>,
    request: &ModelRequest,
    messages: &[Message],
    markers: &[Marker],
) -> Vec<u8> {
    let shape = request.thread.shape();
    let candidate = head.candidate.unwrap();
    let provider = Some(&candidate.provider);
    let mut values: Vec<Value> = messages
        .iter()
        .chain(&request.signal)
        .map(|message| plain(message, shape, provider))
        .collect();
    for marker in markers {
        let parts = values[marker.message]["content"].as_array_mut().unwrap();
        parts.last_mut().unwrap()["cache_control"] = if marker.extended {
            json!({ "type": "ephemeral", "ttl": "1h" })
        } else {
            json!({ "type": "ephemeral" })
        };
    }
    serde_json::to_vec(&json!({
        "model": head.model,
        "stream": true,
        "stream_options": { "include_usage": true },
        "provider": {
            "only": [candidate.provider],
            "quantizations": [candidate.quantization],
            "allow_fallbacks": false,
        },
        "reasoning": { "effort": "high" },
        "tools": serde_json::from_str::<Value>(request.toolset.json.get()).unwrap(),
        "tool_choice": "auto",
        "session_id": head.routing_key,
        "prompt_cache_key": head.routing_key,
        "messages": values,
    }))
    .unwrap()
}

fn tools() -> Arc<Toolset> {
    Arc::new(toolset(&[Definition {
        name: "list_dir",
        description: "List.".to_owned(),
        parameters: json!({ "type": "object" }),
    }]))
}

fn asked(thread: Snapshot) -> ModelRequest {
    ModelRequest {
        thread,
        signal: None,
        toolset: Arc::new(toolset(&[])),
        tool_choice: ToolChoice::Auto,
        rewritten: None,
    }
}

fn head<'a>(model: &'a ModelId, key: &'a RoutingKey) -> Head<'a> {
    Head {
        model,
        candidate: None,
        routing_key: key,
        reasoning: None,
        lifetime: CacheLifetime::Default,
        dropped: RoutingFields::default(),
    }
}

fn without(mut bytes: Vec<u8>, what: &[u8]) -> Vec<u8> {
    while let Some(at) = memchr::memmem::find(&bytes, what) {
        bytes.drain(at..at + what.len());
    }
    bytes
}

fn stripped(bytes: Vec<u8>) -> Vec<u8> {
    let bytes = without(bytes, br#","cache_control":{"type":"ephemeral"}"#);
    without(
        bytes,
        br#","cache_control":{"type":"ephemeral","ttl":"1h"}"#,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_body_is_the_plain_serialization_and_extends_the_one_before(
        messages in proptest::collection::vec(message(), 1..16),
        signal in proptest::option::of(".{0,9}"),
        shape in prop_oneof![Just(Shape::Bare), Just(Shape::Parts)],
        lifetime in prop_oneof![Just(CacheLifetime::Default), Just(CacheLifetime::Extended)],
        serving in prop_oneof![Just("Acme"), Just("Umbra"), Just("Third \"3\"")],
    ) {
        let candidate = Candidate { provider: serving.into(), quantization: "fp8".to_owned() };
        let (model, key) = (ModelId::from("acme/coder-1"), RoutingKey::from("k3"));
        let setting = ReasoningSetting::Effort("high");
        let head = Head {
            candidate: Some(&candidate),
            reasoning: Some(&setting),
            lifetime,
            ..head(&model, &key)
        };
        let signal = signal.map(|text| Message::User { text: text.into(), images: vec![] });
        let mut thread = Thread::of(shape);
        let mut before = Vec::new();
        let mut messages_before = Vec::new();
        for (count, message) in messages.iter().enumerate() {
            thread.push(message);
            let request = ModelRequest {
                signal: signal.clone(),
                toolset: tools(),
                ..asked(thread.snapshot())
            };
            let body = body(&head, &request);
            let bytes = body.to_vec();
            prop_assert_eq!(body.len(), bytes.len() as u64);
            let marked = markers(&request.thread, lifetime);
            let expected = naive(&head, &request, &messages[..=count], &marked);
            // Megabytes do not read well as a debugger writes them.
            prop_assert!(bytes == expected, "{}", String::from_utf8_lossy(&bytes));
            let plain = naive(&head, &request, &messages[..=count], &[]);
            prop_assert!(stripped(bytes) == plain);
            // What is sent of the messages, as this provider is sent them, only grows.
            let signal = signal.as_ref().map_or(0, |signal| {
                let mut bytes = Vec::new();
                crate::message::write(signal, shape, &mut bytes);
                bytes.len() + 1
            });
            let start = memchr::memmem::find(&plain, b",\"messages\":[").unwrap();
            let sent = plain[start..plain.len() - 2 - signal].to_vec();
            prop_assert!(sent.starts_with(&messages_before));
            messages_before = sent;
            let held = request.thread.to_vec();
            prop_assert_eq!(held.len(), thread.len_bytes());
            prop_assert!(held.starts_with(&before));
            before = held;
        }
        prop_assert_eq!(thread.messages(), messages.len());
        for segment in thread.snapshot().segments() {
            prop_assert!(segment.len() < 8 * SEGMENT);
        }
    }

    #[test]
    fn what_two_snapshots_share_is_what_their_bytes_share(
        start in proptest::collection::vec(message(), 0..12),
        one in proptest::collection::vec(message(), 0..4),
        other in proptest::collection::vec(message(), 0..4),
        rebuilt in any::<bool>(),
    ) {
        let mut thread = Thread::of(Shape::Parts);
        thread.extend(&start);
        let shared = thread.clone();
        thread.extend(&one);
        let (earlier, mut later) = (thread.snapshot(), shared);
        if rebuilt {
            later = Thread::of(Shape::Parts);
            later.extend(&start);
        }
        later.extend(&other);
        let later = later.snapshot();
        let (a, b) = (earlier.to_vec(), later.to_vec());
        let bytes = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let all = |messages: &[Message]| {
            let messages = start.iter().chain(messages);
            messages.map(|it| plain(it, Shape::Parts, None)).collect::<Vec<_>>()
        };
        let (one, other) = (all(&one), all(&other));
        let messages = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
        let whole = messages == one.len();
        prop_assert_eq!(earlier.common_prefix(&later), Common { bytes, messages, whole });
    }
}

#[test]
fn a_snapshot_is_unmoved_by_later_pushes() {
    let said = |text: &str| Message::System { text: text.into() };
    let mut thread: Thread = [&said("a")].into_iter().collect();
    let first = thread.snapshot();
    thread.push(&said(&"b".repeat(100_000)));
    assert_eq!(first.to_vec(), br#"{"role":"system","content":"a"}"#);
    assert_eq!(first.len_bytes(), first.to_vec().len());
    assert_eq!(first.messages(), 1);
}

#[test]
fn neither_a_marker_nor_reasoning_left_out_copies_a_message() {
    let mut thread = Thread::of(Shape::Parts);
    for place in 0..40 {
        thread.push(&Message::User {
            text: "x".repeat(5_000).into(),
            images: vec![],
        });
        thread.push(&Message::Assistant {
            text: Some("y".repeat(5_000).into()),
            calls: vec![],
            reasoning: (place % 2 == 0).then(|| {
                Arc::new(Reasoning {
                    provider: Some("Acme".into()),
                    items: vec![ReasoningItem {
                        json: "{\"data\":\"z\"}".into(),
                        sealed: true,
                    }],
                    text: None,
                })
            }),
        });
    }
    let (model, key) = (ModelId::from("anthropic/m"), RoutingKey::from("k"));
    let candidate = Candidate {
        provider: "Umbra".into(),
        quantization: "fp8".to_owned(),
    };
    let head = Head {
        candidate: Some(&candidate),
        ..head(&model, &key)
    };
    let request = asked(thread.snapshot());
    let body = body(&head, &request);
    assert_eq!(body.left_out(), 20);
    assert!(memchr::memmem::find(&body.to_vec(), b"reasoning").is_none());
    let held: Vec<_> = request
        .thread
        .segments()
        .map(|it| it.as_ptr_range())
        .collect();
    let shared = |part: &&bytes::Bytes| {
        let part = part.as_ptr_range();
        let lies =
            |held: &std::ops::Range<*const u8>| held.start <= part.start && part.end <= held.end;
        held.iter().any(lies)
    };
    let parts: Vec<_> = body.parts().collect();
    let own: usize = parts
        .iter()
        .filter(|part| !shared(part))
        .map(|part| part.len())
        .sum();
    assert!(own < 600, "{own}");
}

#[test]
fn reasoning_of_the_candidate_or_of_nobody_is_sent_whole() {
    let thought = |maker: Option<&str>| Message::Assistant {
        text: None,
        calls: vec![],
        reasoning: Some(Arc::new(Reasoning {
            provider: maker.map(ProviderName::from),
            items: vec![ReasoningItem {
                json: "{\"data\":\"z\"}".into(),
                sealed: true,
            }],
            text: None,
        })),
    };
    let (model, key) = (ModelId::from("m"), RoutingKey::from("k"));
    let left_out = |maker, serving: Option<&str>| {
        let mut thread = Thread::new();
        thread.push(&thought(maker));
        let candidate = serving.map(|serving| Candidate {
            provider: serving.into(),
            quantization: String::new(),
        });
        let head = Head {
            candidate: candidate.as_ref(),
            ..head(&model, &key)
        };
        body(&head, &asked(thread.snapshot())).left_out()
    };
    assert_eq!(left_out(Some("Z.AI"), Some("z-ai")), 0);
    assert_eq!(left_out(None, Some("z-ai")), 0);
    assert_eq!(left_out(Some("Z.AI"), None), 0);
    assert_eq!(left_out(Some("Z.AI"), Some("Acme")), 1);
}

#[test]
fn without_tools_neither_tools_nor_a_choice_are_sent() {
    let (model, key) = (ModelId::from("m"), RoutingKey::from("k"));
    let request = ModelRequest {
        tool_choice: ToolChoice::Required,
        ..asked(Thread::new().snapshot())
    };
    assert_eq!(
        String::from_utf8(body(&head(&model, &key), &request).to_vec()).unwrap(),
        r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"session_id":"k","prompt_cache_key":"k","messages":[]}"#
    );
}

#[test]
fn a_field_the_server_does_not_know_is_not_sent() {
    let (model, key) = (ModelId::from("m"), RoutingKey::from("k"));
    let candidate = Candidate {
        provider: "Acme".into(),
        quantization: "fp8".to_owned(),
    };
    let keys = |dropped: &[RoutingField]| {
        let setting = ReasoningSetting::MaxTokens(2000);
        let head = Head {
            candidate: Some(&candidate),
            reasoning: Some(&setting),
            dropped: dropped.iter().copied().collect(),
            ..head(&model, &key)
        };
        let body = body(&head, &asked(Thread::new().snapshot())).to_vec();
        let value: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(value["reasoning"], json!({ "max_tokens": 2000 }));
        let keys = value.as_object().unwrap().keys().cloned();
        keys.skip(3).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        keys(&[]),
        "provider reasoning session_id prompt_cache_key messages"
    );
    assert_eq!(
        keys(&[RoutingField::Provider, RoutingField::PromptCacheKey]),
        "reasoning session_id messages"
    );
    assert_eq!(
        keys(&[RoutingField::SessionId]),
        "provider reasoning prompt_cache_key messages"
    );
}

#[test]
fn a_pinned_tool_is_named() {
    let (model, key) = (ModelId::from("m"), RoutingKey::from("k"));
    let request = ModelRequest {
        toolset: tools(),
        tool_choice: ToolChoice::Named("submit_program".to_owned()),
        ..asked(Thread::new().snapshot())
    };
    let value: Value =
        serde_json::from_slice(&body(&head(&model, &key), &request).to_vec()).unwrap();
    assert_eq!(value["tool_choice"]["function"]["name"], "submit_program");
    assert_eq!(value["tools"][0]["function"]["name"], "list_dir");
}
