//! What servers send in the field, as bytes in and a reply or a fault out.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::reading::Reading;

/// Reads an answer that arrives in pieces.
fn read_pieces<'a>(
    asked: Option<&str>,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Reply, Fault> {
    let mut reading = Reading::new(asked.map(Into::into));
    for piece in pieces {
        if reading.push(piece)?.done {
            break;
        }
    }
    reading.finish()
}

fn read(answer: &str) -> Result<Reply, Fault> {
    read_pieces(None, [answer.as_bytes()])
}

/// An event stream of chunks, ended by `[DONE]`.
fn stream(chunks: &[Value]) -> String {
    let mut stream = open_stream(chunks);
    stream.push_str("data: [DONE]\n\n");
    stream
}

fn open_stream(chunks: &[Value]) -> String {
    let events: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    events.concat()
}

fn delta(delta: Value) -> Value {
    json!({ "id": "gen-1", "provider": "Acme", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn end(reason: &str) -> Value {
    json!({ "choices": [{ "delta": {}, "finish_reason": reason }] })
}

fn usage() -> Value {
    json!({ "choices": [], "usage": { "prompt_tokens": 9, "completion_tokens": 2, "cost": 0.5 } })
}

/// A reply of calls alone, each delta a list of entries.
fn calls_of(deltas: &[Value]) -> Result<Vec<(String, String)>, Fault> {
    let mut chunks: Vec<Value> = deltas
        .iter()
        .map(|entries| delta(json!({ "tool_calls": entries })))
        .collect();
    chunks.push(end("tool_calls"));
    let reply = read(&stream(&chunks))?;
    Ok(reply
        .calls
        .iter()
        .map(|call| (call.name.clone(), call.arguments.to_string()))
        .collect())
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned()))
        .collect()
}

fn long_reply() -> String {
    stream(&[
        json!({ "id": "gen-1", "provider": "Acme", "choices": [] }),
        delta(json!({ "role": "assistant", "content": "" })),
        delta(json!({ "reasoning": "日本 " })),
        delta(json!({ "reasoning": "𝄞" })),
        delta(
            json!({ "reasoning_details": [{ "type": "reasoning.text", "text": "日", "index": 0 }] }),
        ),
        delta(
            json!({ "reasoning_details": [{ "type": "reasoning.text", "text": "本𝄞", "index": 0 }] }),
        ),
        delta(json!({ "content": "Grüße, " })),
        delta(json!({ "content": "世界 \u{1F642}\u{1F642}" })),
        delta(
            json!({ "tool_calls": [{ "index": 0, "id": "a", "type": "function",
            "function": { "name": "write_file", "arguments": "" } }] }),
        ),
        delta(
            json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{\"path\":\"ä" } }] }),
        ),
        delta(
            json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "\u{1F642}\"}" } }] }),
        ),
        end("tool_calls"),
        usage(),
    ])
}

/// What can be compared of a result.
fn shown(result: &Result<Reply, Fault>) -> String {
    format!("{result:?}")
}

#[test]
fn a_reply_is_whole_with_everything_it_named() {
    let reply = read(&long_reply()).unwrap();
    assert_eq!(
        reply.text.as_deref(),
        Some("Grüße, 世界 \u{1F642}\u{1F642}")
    );
    assert_eq!(reply.reasoning.as_deref(), Some("日本 𝄞"));
    assert_eq!(
        &*reply.reasoning_items[0].json,
        r#"{"type":"reasoning.text","text":"日本𝄞","index":0}"#
    );
    assert_eq!(reply.calls.len(), 1);
    assert_eq!(reply.calls[0].id.as_str(), "a");
    assert_eq!(&*reply.calls[0].arguments, "{\"path\":\"ä\u{1F642}\"}");
    assert_eq!(reply.finish_reason.as_deref(), Some("tool_calls"));
    assert_eq!(reply.usage.unwrap().cost, Some(0.5));
    assert_eq!(reply.provider, Some("Acme".into()));
    assert_eq!(reply.generation, Some("gen-1".into()));
}

#[test]
fn single_bytes_and_carriage_returns_change_nothing() {
    let whole = shown(&read(&long_reply()));
    assert!(!whole.contains('\u{FFFD}'));
    for line_end in ["\n", "\r\n", "\r"] {
        let answer = long_reply().replace('\n', line_end);
        assert_eq!(
            shown(&read_pieces(None, answer.as_bytes().chunks(1))),
            whole
        );
        assert_eq!(shown(&read(&answer)), whole);
    }
}

#[test]
fn content_and_a_call_without_a_finish_reason_are_accepted_at_done() {
    let reply = read(&stream(&[
        delta(json!({ "content": "hi" })),
        delta(json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{}" } }] })),
    ]))
    .unwrap();
    assert_eq!(reply.finish_reason, None);
    assert_eq!(reply.calls.len(), 1);
}

#[test]
fn usage_comes_in_a_chunk_with_empty_absent_or_null_choices() {
    let report = json!({ "prompt_tokens": 9 });
    for last in [
        json!({ "choices": [], "usage": report }),
        json!({ "usage": report }),
        json!({ "choices": null, "usage": report }),
    ] {
        let first = json!({ "choices": [] });
        let text = delta(json!({ "content": "hi" }));
        let reply = read(&stream(&[first, text, end("stop"), last])).unwrap();
        assert_eq!(reply.usage.unwrap().prompt, Some(9));
        assert_eq!(reply.text.as_deref(), Some("hi"));
    }
}

#[test]
fn an_error_object_inside_a_stream_discards_what_came_before() {
    let failed = |error: Value| {
        let mut answer = String::from(": OPENROUTER PROCESSING\n\n");
        answer.push_str(&stream(&[
            delta(json!({ "content": "half" })),
            json!({ "error": error, "choices": [] }),
        ]));
        read(&answer).unwrap_err()
    };
    for code in [json!(502), json!("502"), json!(null), json!("server_error")] {
        let fault = failed(json!({ "code": code, "message": "m" }));
        assert!(matches!(fault, Fault::Server { .. }), "{code}: {fault:?}");
        assert_eq!(fault.provider(), Some(&"Acme".into()));
    }
    assert!(matches!(
        failed(json!({ "code": 429 })),
        Fault::RateLimited { .. }
    ));
    assert!(matches!(
        failed(json!({ "code": "404" })),
        Fault::NotFound { .. }
    ));
    assert!(matches!(failed(json!({ "code": 401 })), Fault::Auth { .. }));
    assert!(matches!(
        failed(json!({ "code": 400 })),
        Fault::Rejected { status: 400, .. }
    ));
    assert!(matches!(failed(json!("no words")), Fault::Server { .. }));
}

#[test]
fn errors_are_found_where_servers_put_them() {
    let error = json!({ "code": 429, "message": "slow down" });
    let inside = json!({ "choices": [{ "delta": { "content": "" }, "error": error }] });
    let object = json!({ "object": "error", "code": 429, "message": "slow down" });
    for answer in [
        stream(&[inside]),
        stream(std::slice::from_ref(&object)),
        json!({ "error": error }).to_string(),
        object.to_string(),
    ] {
        let fault = read(&answer).unwrap_err();
        assert!(matches!(fault, Fault::RateLimited { .. }), "{answer}");
        assert!(fault.body().unwrap().contains("slow down"));
    }
    let reason = stream(&[delta(json!({ "content": "half" })), end("error")]);
    assert!(matches!(read(&reason).unwrap_err(), Fault::Server { .. }));
    let none = json!({ "error": null, "choices": [{ "delta": { "content": "hi" } }] });
    assert!(read(&stream(&[none])).is_ok());
}

#[test]
fn a_reply_cut_at_the_cap_is_rejected_whole_with_its_cost() {
    let fault = read(&stream(&[
        delta(json!({ "content": "hé" })),
        delta(json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{}" } }] })),
        end("length"),
        usage(),
    ]))
    .unwrap_err();
    let Fault::LengthCapped(capped) = fault else {
        panic!("{fault:?}")
    };
    assert_eq!((capped.content.as_str(), capped.chars()), ("hé{}", 4));
    assert_eq!(capped.usage.as_ref().unwrap().cost, Some(0.5));
    assert_eq!(capped.provider, Some("Acme".into()));
}

#[test]
fn the_first_finish_reason_wins_and_a_blank_one_is_none() {
    let text = delta(json!({ "content": "hi" }));
    let reply = read(&stream(&[text, end(""), end("stop"), end("length")])).unwrap();
    assert_eq!(reply.finish_reason.as_deref(), Some("stop"));
}

#[test]
fn another_provider_is_a_mismatch_and_an_unnamed_one_is_none() {
    let answer = stream(&[delta(json!({ "content": "hi" })), end("stop")]);
    let asked = |name| read_pieces(Some(name), [answer.as_bytes()]);
    assert!(asked("a.c-m e").is_ok());
    let fault = asked("Other").unwrap_err();
    assert_eq!(
        fault.to_string(),
        "provider mismatch: `Other` was asked and `Acme` answered"
    );
    let unnamed = stream(&[json!({ "choices": [{ "delta": { "content": "hi" } }] })]);
    assert_eq!(
        read_pieces(Some("Other"), [unnamed.as_bytes()])
            .unwrap()
            .provider,
        None
    );
}

#[test]
fn a_stream_that_ends_early_is_a_transport_fault() {
    let half = open_stream(&[delta(json!({ "content": "half" }))]);
    for answer in ["", " \n", ": only comments\n\n", "data: [DONE]\n\n", &half] {
        let fault = read(answer).unwrap_err();
        assert!(
            matches!(fault, Fault::Transport { .. }),
            "{answer:?}: {fault:?}"
        );
    }
    let torn = &half[..half.len() - 9];
    assert!(matches!(read(torn).unwrap_err(), Fault::Transport { .. }));
}

#[test]
fn a_finish_reason_stands_for_done() {
    let whole = open_stream(&[delta(json!({ "content": "hi" })), end("stop"), usage()]);
    assert!(read(&whole).unwrap().usage.is_some());
    // Cut inside the usage chunk: the reply itself is whole.
    assert!(read(&whole[..whole.len() - 9]).unwrap().usage.is_none());
    assert!(read(whole.trim_end()).unwrap().usage.is_some());
}

#[test]
fn what_is_no_completion_is_unreadable() {
    for answer in [
        "data: {\"choices\": [{\n\ndata: [DONE]\n\n",
        "data: hello\n\n",
        "data: [1]\n\n",
        "data: {\"choices\": 3}\n\n",
        "data: {\"choices\": [{\"delta\": 3}]}\n\n",
        "hello",
        "<!DOCTYPE html><title>Login</title>",
        "{\"detail\": \"Not Found\"}",
        "{\"choices\": [",
    ] {
        let fault = read(answer).unwrap_err();
        assert!(
            matches!(fault, Fault::Parse { .. }),
            "{answer:?}: {fault:?}"
        );
    }
    let page = read("<html><title>Login</title>").unwrap_err();
    assert_eq!(
        page.to_string(),
        "unreadable reply: an HTML page titled `Login`"
    );
    let invalid = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n";
    let fault = read_pieces(None, [&invalid[..]]).unwrap_err();
    assert!(matches!(fault, Fault::Parse { .. }));
}

#[test]
fn a_whole_answer_to_a_streaming_request_is_accepted() {
    let answer = json!({
        "id": "gen-2", "provider": "Acme",
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "hi",
            "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "f", "arguments": "{}" } },
                { "id": "a", "type": "function", "function": { "name": "f", "arguments": "" } },
            ],
        } }],
        "usage": { "prompt_tokens": 9 },
    });
    let text = format!("\n  {answer:#}\n");
    let reply = read_pieces(None, text.as_bytes().chunks(1)).unwrap();
    assert_eq!(reply.text.as_deref(), Some("hi"));
    assert_eq!(reply.calls.len(), 2);
    assert_eq!(reply.usage.unwrap().prompt, Some(9));
    // Without a finish reason too: there is nothing that could still come.
    assert!(read(r#"{"choices":[{"message":{"content":"hi"}}]}"#).is_ok());
}

#[test]
fn texts_may_be_null_or_lists_of_parts() {
    let reply = read(&stream(&[
        delta(json!({ "content": null, "tool_calls": null, "reasoning": null })),
        delta(json!({ "content": [{ "type": "text", "text": "a" }, { "type": "image" }, "b"] })),
        delta(json!({ "reasoning_content": "r" })),
        delta(json!(null)),
        end("stop"),
    ]))
    .unwrap();
    assert_eq!(reply.text.as_deref(), Some("ab"));
    assert_eq!(reply.reasoning.as_deref(), Some("r"));
    let aside = read(&stream(&[
        delta(json!({ "reasoning_details": [{ "type": "reasoning.text", "text": "r" }] })),
        delta(json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": "x" }] })),
        delta(json!({ "refusal": "I will not." })),
    ]))
    .unwrap();
    assert_eq!(aside.reasoning.as_deref(), Some("r"));
    assert_eq!(aside.text.as_deref(), Some("I will not."));
}

#[test]
fn only_content_reasoning_and_arguments_move_the_clock() {
    let moved = |chunk: Value| {
        let mut assembly = Assembly::new(None);
        assembly.push(chunk.to_string().as_bytes()).unwrap().moved
    };
    for still in [
        json!({ "choices": [] }),
        usage(),
        end("stop"),
        delta(json!({ "role": "assistant", "content": "" })),
        delta(
            json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "f", "arguments": "" } }] }),
        ),
        delta(json!({ "reasoning_details": [] })),
    ] {
        assert!(!moved(still.clone()), "{still}");
    }
    for moving in [
        delta(json!({ "content": "a" })),
        delta(json!({ "reasoning": "a" })),
        delta(json!({ "reasoning_content": "a" })),
        delta(json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": "x" }] })),
        delta(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{" } }] })),
    ] {
        assert!(moved(moving.clone()), "{moving}");
    }
}

#[test]
fn a_call_without_index_is_put_together() {
    let piece = |arguments| json!([{ "function": { "arguments": arguments } }]);
    let deltas = [
        json!([{ "id": "a", "function": { "name": "f", "arguments": "" } }]),
        piece("{\"a\""),
        piece(":"),
        piece("1"),
        piece("}"),
    ];
    assert_eq!(calls_of(&deltas).unwrap(), named(&[("f", "{\"a\":1}")]));
    // Name, and even id, on every piece.
    let every =
        |arguments| json!([{ "id": "a", "function": { "name": "f", "arguments": arguments } }]);
    let deltas = [every(""), every("{\"a\""), every(":1}"), every("")];
    assert_eq!(calls_of(&deltas).unwrap(), named(&[("f", "{\"a\":1}")]));
}

#[test]
fn interleaved_calls_are_told_apart_by_id() {
    let piece = |id: &str, name: Value, arguments: &str| json!([{ "id": id, "function": { "name": name, "arguments": arguments } }]);
    let deltas = [
        piece("a", json!("f"), "{\"a\""),
        piece("b", json!("g"), "{\"b\""),
        piece("a", json!(null), ":1}"),
        piece("b", json!(null), ":2}"),
    ];
    assert_eq!(
        calls_of(&deltas).unwrap(),
        named(&[("f", "{\"a\":1}"), ("g", "{\"b\":2}")])
    );
}

#[test]
fn indexes_order_calls_however_they_arrive() {
    let piece = |index: Value, id: &str, name: &str, arguments: &str| json!([{ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }]);
    let deltas = [
        piece(json!(1), "b", "g", "{\"b\""),
        piece(json!(0), "a", "f", "{\"a\""),
        piece(json!("1"), "", "", ":2}"),
        piece(json!(0), "", "", ":1}"),
    ];
    assert_eq!(
        calls_of(&deltas).unwrap(),
        named(&[("f", "{\"a\":1}"), ("g", "{\"b\":2}")])
    );
}

#[test]
fn whole_calls_under_one_index_or_id_stay_two() {
    let two = named(&[("f", "{}"), ("g", "{}")]);
    let entry = |extra: Value, name: &str| {
        let mut entry = json!({ "function": { "name": name, "arguments": "{}" } });
        entry
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        entry
    };
    let same_index = [
        json!([entry(json!({ "index": 0, "id": "a" }), "f")]),
        json!([entry(json!({ "index": 0, "id": "b" }), "g")]),
    ];
    let same_id = [
        json!([entry(json!({ "id": "x:1" }), "f")]),
        json!([entry(json!({ "id": "x:1" }), "g")]),
    ];
    let same_id_by_index = [json!([
        entry(json!({ "index": 0, "id": "x:1" }), "f"),
        entry(json!({ "index": 1, "id": "x:1" }), "g"),
    ])];
    let neither = [json!([entry(json!({}), "f"), entry(json!({}), "g")])];
    let neither_apart = [
        json!([entry(json!({}), "f")]),
        json!([entry(json!({}), "g")]),
    ];
    for deltas in [
        &same_index[..],
        &same_id,
        &same_id_by_index,
        &neither,
        &neither_apart,
    ] {
        assert_eq!(calls_of(deltas).unwrap(), two, "{deltas:?}");
    }
    let twice = [
        json!([entry(json!({}), "f")]),
        json!([entry(json!({}), "f")]),
    ];
    assert_eq!(
        calls_of(&twice).unwrap(),
        named(&[("f", "{}"), ("f", "{}")])
    );
}

#[test]
fn blank_arguments_are_an_empty_object() {
    for arguments in [json!(""), json!(" \n"), json!(null), json!("null")] {
        let deltas = [
            json!([{ "index": 0, "id": "a", "function": { "name": "f", "arguments": arguments } }]),
        ];
        assert_eq!(calls_of(&deltas).unwrap(), named(&[("f", "{}")]));
    }
    let missing = [json!([{ "index": 0, "id": "a", "function": { "name": "f" } }])];
    assert_eq!(calls_of(&missing).unwrap(), named(&[("f", "{}")]));
}

#[test]
fn arguments_given_as_an_object_are_serialized() {
    let deltas = [json!([{ "id": "a", "function": { "name": "f", "arguments": { "a": [1] } } }])];
    assert_eq!(calls_of(&deltas).unwrap(), named(&[("f", "{\"a\":[1]}")]));
}

#[test]
fn arguments_that_are_not_json_make_the_reply_unreadable_and_keep_its_cost() {
    let fault = read(&stream(&[
        delta(json!({ "content": "hi" })),
        delta(json!({ "tool_calls": [{ "index": 0, "id": "a", "function": { "name": "f", "arguments": "{\"a\": " } }] })),
        end("tool_calls"),
        usage(),
    ]))
    .unwrap_err();
    assert!(
        fault
            .to_string()
            .contains("the arguments of `f` are not JSON"),
        "{fault}"
    );
    let discarded = fault.discarded().unwrap();
    assert_eq!(discarded.content, "hi{\"a\": ");
    assert_eq!(discarded.usage.as_ref().unwrap().cost, Some(0.5));
}

#[test]
fn a_call_needs_a_name_and_an_empty_entry_is_none() {
    let nameless = [json!([{ "index": 0, "id": "a", "function": { "arguments": "{}" } }])];
    assert!(matches!(
        calls_of(&nameless).unwrap_err(),
        Fault::Parse { .. }
    ));
    assert_eq!(
        calls_of(&[json!([{ "index": 0 }, {}])]).unwrap(),
        named(&[])
    );
}

#[test]
fn endless_calls_are_refused() {
    let many: Vec<Value> = (0..2000)
        .map(|n| json!({ "index": n, "function": { "name": "f", "arguments": "{}" } }))
        .collect();
    let fault = calls_of(&[json!(many)]).unwrap_err();
    assert!(
        fault.to_string().contains("more than 1024 tool calls"),
        "{fault}"
    );
}

/// Something a server might send: mostly well-formed, in any order, with any line ends.
fn answer() -> impl Strategy<Value = Vec<u8>> {
    let text = "[a-zäß日𝄞\u{1F642}\"\\\\{}:, ]{0,8}";
    let entry = (proptest::option::of(0_u8..3), "(|a|b)", "(|f|g)", text).prop_map(
        |(index, id, name, arguments)| {
            json!({ "index": index, "id": id, "function": { "name": name, "arguments": arguments } })
        },
    );
    let chunk = prop_oneof![
        6 => text.prop_map(|text| delta(json!({ "content": text }))),
        2 => text.prop_map(|text| delta(json!({ "reasoning": text }))),
        2 => (text, 0..2).prop_map(|(text, index)| delta(json!({ "reasoning_details": [
            { "type": "reasoning.text", "text": text, "index": index }] }))),
        4 => proptest::collection::vec(entry, 0..3).prop_map(|entries| delta(json!({ "tool_calls": entries }))),
        1 => Just(end("stop")),
        1 => Just(end("length")),
        1 => Just(usage()),
        1 => Just(json!({ "error": { "code": "429" } })),
        1 => Just(json!({ "provider": "Other" })),
    ];
    let event = prop_oneof![
        8 => chunk.prop_map(|chunk| format!("data: {chunk}\n\n")),
        1 => Just(": keepalive\n\n".to_owned()),
        1 => Just("event: x\nid: 1\n".to_owned()),
        1 => text.prop_map(|junk| format!("data: {junk}\n")),
        1 => Just("data: [DONE]\n\n".to_owned()),
    ];
    let stream = proptest::collection::vec(event, 0..10);
    let line_end = prop_oneof![Just("\n"), Just("\r\n"), Just("\r")];
    let whole = text
        .prop_map(|text| json!({ "choices": [{ "message": { "content": text } }] }).to_string());
    prop_oneof![
        8 => (stream, line_end)
            .prop_map(|(events, line_end)| events.concat().replace('\n', line_end).into_bytes()),
        1 => whole.prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..60),
    ]
}

proptest! {
    #[test]
    fn any_split_of_the_bytes_gives_the_same_reply(
        bytes in answer(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let whole = shown(&read_pieces(Some("acme"), [bytes.as_slice()]));
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(&shown(&read_pieces(Some("acme"), pieces)), &whole);
        prop_assert_eq!(&shown(&read_pieces(Some("acme"), bytes.chunks(1))), &whole);
    }

    /// A cheap stand-in for the fuzz target: a good answer with bytes changed, cut, doubled.
    #[test]
    fn no_bytes_make_it_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..12),
        piece in 1_usize..300,
    ) {
        let mut bytes = long_reply().into_bytes();
        for (place, byte, kind) in changes {
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => { bytes.remove(at); }
                _ => {
                    let tail = bytes[at..].to_vec();
                    bytes.extend_from_slice(&tail);
                    bytes.truncate(20_000);
                }
            }
        }
        let whole = shown(&read_pieces(None, [bytes.as_slice()]));
        prop_assert_eq!(shown(&read_pieces(None, bytes.chunks(piece))), whole);
    }
}
