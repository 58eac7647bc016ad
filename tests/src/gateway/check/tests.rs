//! Each rule broken once, beside the request that keeps them all.

use serde_json::{Value, json};

use super::{Checker, Strict};
use crate::gateway::Said;

fn body(messages: Value) -> Value {
    json!({
        "model": "acme/coder-1",
        "tools": [{ "type": "function", "function": { "name": "shell", "parameters": {} } }],
        "tool_choice": "auto",
        "stream": true,
        "stream_options": { "include_usage": true },
        "provider": { "only": ["Acme"], "quantizations": ["fp8"], "allow_fallbacks": false },
        "session_id": "k",
        "prompt_cache_key": "k",
        "messages": messages,
    })
}

fn opening() -> Vec<Value> {
    vec![
        json!({ "role": "system", "content": "You are gg." }),
        json!({ "role": "user", "content": "Go." }),
    ]
}

fn call(id: &str) -> Value {
    json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": id, "type": "function", "function": { "name": "shell", "arguments": "{}" } }
    ]})
}

fn result(id: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": "exit code: 0" })
}

fn with(more: impl IntoIterator<Item = Value>) -> Value {
    let mut messages = opening();
    messages.extend(more);
    Value::Array(messages)
}

/// The faults of the last request, after the ones before it, which must have none.
fn check(strict: Strict, bodies: &[Value]) -> Vec<String> {
    let mut checker = Checker::new(strict);
    let (last, before) = bodies.split_last().unwrap();
    for body in before {
        assert_eq!(
            checker.request(body.to_string().as_bytes()),
            Vec::<String>::new()
        );
    }
    checker.request(last.to_string().as_bytes())
}

#[track_caller]
fn refused(bodies: &[Value], why: &str) {
    let faults = check(Strict::default(), bodies);
    assert!(
        faults.iter().any(|fault| fault.contains(why)),
        "expected {why:?} among {faults:?}"
    );
}

#[track_caller]
fn accepted(bodies: &[Value]) {
    assert_eq!(check(Strict::default(), bodies), Vec::<String>::new());
}

#[test]
fn a_good_conversation_has_no_faults() {
    accepted(&[
        body(with([])),
        body(with([call("a"), result("a")])),
        body(with([call("a"), result("a")])),
        body(with([
            call("a"),
            result("a"),
            json!({ "role": "assistant", "content": "Done?" }),
            json!({ "role": "user", "content": "Call finish." }),
        ])),
    ]);
}

#[test]
fn two_conversations_do_not_mix() {
    let mut other = opening();
    other[1]["content"] = json!("Something else.");
    accepted(&[
        body(with([call("a"), result("a")])),
        body(Value::Array(other)),
        body(with([call("a"), result("a"), call("b"), result("b")])),
    ]);
}

#[test]
fn a_result_must_answer_a_call_of_the_message_before() {
    refused(&[body(with([result("a")]))], "which the assistant message");
    refused(
        &[body(with([
            call("a"),
            result("a"),
            json!({ "role": "user", "content": "x" }),
            result("a"),
        ]))],
        "which the assistant message",
    );
    refused(
        &[body(with([call("a"), result("a"), result("a")]))],
        "which the assistant message",
    );
}

#[test]
fn every_call_must_be_answered() {
    refused(&[body(with([call("a")]))], "are not answered");
    refused(
        &[body(with([
            call("a"),
            json!({ "role": "user", "content": "x" }),
        ]))],
        "are not answered before it",
    );
}

#[test]
fn call_ids_are_unique_in_the_conversation() {
    refused(
        &[body(with([call("a"), result("a"), call("a"), result("a")]))],
        "is not unique",
    );
}

#[test]
fn arguments_are_an_object_as_text() {
    let mut bad = call("a");
    bad["tool_calls"][0]["function"]["arguments"] = json!("");
    refused(&[body(with([bad, result("a")]))], "is malformed");
}

#[test]
fn system_comes_first_and_once() {
    refused(
        &[body(json!([{ "role": "user", "content": "Go." }]))],
        "the first message is not `system`",
    );
    refused(
        &[body(with([
            json!({ "role": "system", "content": "More." }),
        ]))],
        "a second `system`",
    );
}

#[test]
fn the_assistant_never_has_the_last_word() {
    refused(
        &[body(with([
            json!({ "role": "assistant", "content": "Well." }),
        ]))],
        "the last message is the assistant's",
    );
}

fn signed(text: &str) -> Value {
    json!({ "type": "reasoning.text", "text": text, "signature": "s" })
}

fn readable(text: &str) -> Value {
    json!({ "type": "reasoning.summary", "summary": text })
}

fn made_by(maker: Option<&str>, items: Value) -> Said {
    Said {
        calls: vec!["a".to_owned()],
        reasoning_details: Some(items),
        maker: maker.map(str::to_owned),
        ..Said::default()
    }
}

/// The faults of a request to Acme that carries `back` where `said` was said.
fn brought(said: &Said, back: Option<Value>) -> Vec<String> {
    let mut checker = Checker::new(Strict::default());
    checker.said(said);
    let mut message = call("a");
    if let Some(back) = back {
        message["reasoning_details"] = back;
    }
    checker.request(body(with([message, result("a")])).to_string().as_bytes())
}

#[test]
fn reasoning_items_come_back_unchanged_and_in_order() {
    let items = json!([signed("hm"), readable("so")]);
    let said = made_by(Some("ACME"), items.clone());
    assert_eq!(brought(&said, Some(items.clone())), Vec::<String>::new());
    for wrong in [
        None,
        Some(json!([])),
        Some(json!([signed("hm")])),
        Some(json!([readable("so"), signed("hm")])),
        Some(json!([signed("hmm"), readable("so")])),
    ] {
        let faults = brought(&said, wrong.clone());
        assert!(
            faults
                .iter()
                .any(|fault| fault.contains("did not come back")),
            "{wrong:?}: {faults:?}"
        );
    }
    let nobodys = made_by(None, items.clone());
    assert_eq!(brought(&nobodys, Some(items)), Vec::<String>::new());
}

#[test]
fn sealed_items_are_for_their_maker_alone() {
    let said = made_by(Some("Other"), json!([signed("hm"), readable("so")]));
    let faults = brought(&said, Some(json!([readable("so")])));
    assert_eq!(faults, Vec::<String>::new());
    let faults = brought(&said, Some(json!([signed("hm"), readable("so")])));
    assert!(
        faults[0].contains("sealed reasoning item of Other"),
        "{faults:?}"
    );
    // What anybody can read stays.
    let faults = brought(&said, None);
    assert!(faults[0].contains("did not come back"), "{faults:?}");
    let sealed = made_by(
        Some("Other"),
        json!([{ "type": "reasoning.encrypted", "data": "x" }]),
    );
    assert_eq!(brought(&sealed, None), Vec::<String>::new());
}

#[test]
fn reasoning_text_comes_back_unchanged_where_it_does() {
    let said = Said {
        calls: vec!["a".to_owned()],
        reasoning: Some("hm".to_owned()),
        ..Said::default()
    };
    for (text, reasoning_text, good) in [
        (None, false, true),
        (None, true, false),
        (Some("hm"), true, true),
        (Some("hmm"), false, false),
    ] {
        let mut checker = Checker::new(Strict {
            reasoning_text,
            ..Strict::default()
        });
        checker.said(&said);
        let mut message = call("a");
        if let Some(text) = text {
            message["reasoning"] = json!(text);
        }
        let faults = checker.request(body(with([message, result("a")])).to_string().as_bytes());
        assert_eq!(faults.is_empty(), good, "{text:?}: {faults:?}");
    }
}

#[test]
fn a_move_may_leave_out_reasoning_and_nothing_else() {
    let told = |reasoning: bool, text: &str, provider: &str| {
        let mut message = call("a");
        if reasoning {
            message["reasoning_details"] = json!([signed("hm")]);
        }
        let mut answer = result("a");
        answer["content"] = json!(text);
        let mut body = body(with([message, answer]));
        body["provider"]["only"] = json!([provider]);
        body
    };
    accepted(&[told(true, "x", "Acme"), told(false, "x", "Other")]);
    refused(
        &[told(true, "x", "Acme"), told(false, "x", "Acme")],
        "not a prefix",
    );
    refused(
        &[told(true, "x", "Acme"), told(false, "y", "Other")],
        "not a prefix",
    );
}

#[test]
fn keys_may_be_dropped_where_a_server_does_not_know_them() {
    let mut without = body(with([]));
    for field in ["session_id", "prompt_cache_key"] {
        without.as_object_mut().unwrap().shift_remove(field);
    }
    let strict = Strict {
        keys: false,
        ..Strict::default()
    };
    let bodies = [body(with([])), without];
    assert_eq!(check(strict, &bodies), Vec::<String>::new());
    let mut other = body(with([]));
    other["session_id"] = json!("l");
    assert!(!check(strict, &[body(with([])), other]).is_empty());
}

#[test]
fn another_run_has_a_key_of_its_own() {
    let mut other = body(with([]));
    other["session_id"] = json!("l");
    other["prompt_cache_key"] = json!("l");
    let mut checker = Checker::new(Strict::default());
    checker.request(body(with([])).to_string().as_bytes());
    checker.next_run();
    let faults = checker.request(other.to_string().as_bytes());
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn content_is_text_but_for_pictures() {
    let parts = json!({ "role": "user", "content": [{ "type": "text", "text": "x" }] });
    refused(&[body(with([parts]))], "no legal shape");
    let picture = json!({ "role": "user", "content": [
        { "type": "text", "text": "x" },
        { "type": "image_url", "image_url": { "url": "data:image/png;base64,AA==" } },
    ]});
    accepted(&[body(with([picture]))]);
    refused(
        &[body(with([json!({ "role": "user", "content": null })]))],
        "no legal shape",
    );
}

#[test]
fn content_keeps_its_shape() {
    let said = |content: Value| {
        let mut message = call("a");
        message["content"] = content;
        body(with([message, result("a")]))
    };
    let lenient = Strict {
        prefix: false,
        ..Strict::default()
    };
    let faults = check(lenient, &[said(Value::Null), said(json!(""))]);
    assert!(faults[0].contains("changed its shape"), "{faults:?}");
}

#[test]
fn messages_are_the_last_key() {
    let mut late = body(with([]));
    late["reasoning"] = json!({ "effort": "low" });
    refused(&[late], "not the last key");
}

#[test]
fn every_field_of_a_request_is_needed() {
    for (field, why) in [
        ("model", "`model` is missing"),
        ("stream", "`stream` is not true"),
        ("stream_options", "include_usage"),
        ("provider", "`provider.only`"),
        ("session_id", "`session_id` is missing"),
        ("prompt_cache_key", "`prompt_cache_key`"),
        ("tool_choice", "`tool_choice` is missing"),
        ("messages", "`messages` is not a list"),
    ] {
        let mut without = body(with([]));
        without.as_object_mut().unwrap().shift_remove(field);
        refused(&[without], why);
    }
}

#[test]
fn the_routing_key_stays() {
    let mut other = body(with([]));
    other["session_id"] = json!("l");
    other["prompt_cache_key"] = json!("l");
    refused(&[body(with([])), other], "another than on the first");
}

#[test]
fn tools_stay() {
    let mut other = body(with([]));
    other["tools"][0]["function"]["description"] = json!("More.");
    refused(&[body(with([])), other], "`tools` changed");
}

#[test]
fn each_request_extends_the_one_before() {
    let edited = {
        let mut messages = with([call("a"), result("a")]);
        messages[1]["content"] = json!("Go.");
        messages[3]["content"] = json!("exit code: 1");
        body(messages)
    };
    refused(
        &[body(with([call("a"), result("a")])), edited.clone()],
        "not a prefix",
    );
    refused(
        &[body(with([call("a"), result("a")])), body(with([]))],
        "not a prefix",
    );
    let off = Strict {
        prefix: false,
        ..Strict::default()
    };
    let bodies = [body(with([call("a"), result("a")])), edited];
    assert_eq!(check(off, &bodies), Vec::<String>::new());
}

#[test]
fn the_signal_is_no_part_of_the_prefix() {
    let strict = Strict {
        is_signal: |message| message["content"].as_str() == Some("signal"),
        ..Strict::default()
    };
    let signal = json!({ "role": "user", "content": "signal" });
    let bodies = [
        body(with([signal.clone()])),
        body(with([call("a"), result("a"), signal])),
    ];
    assert_eq!(check(strict, &bodies), Vec::<String>::new());
    refused(&bodies, "not a prefix");
}

#[test]
fn what_says_nothing_is_an_empty_string_among_parts() {
    let part = |role: &str, text: &str| json!({ "role": role, "content": [{ "type": "text", "text": text }] });
    let mut nothing = result("a");
    nothing["content"] = json!("");
    let messages = |nothing: &Value| {
        json!([
            part("system", "You are gg."),
            part("user", "Go."),
            call("a"),
            nothing
        ])
    };
    accepted(&[body(messages(&nothing))]);
    nothing["content"] = json!("something");
    refused(&[body(messages(&nothing))], "no legal shape");
}

#[test]
fn cache_markers_may_move() {
    let mark = |place: usize, messages: Value| {
        let mut messages = messages;
        for message in messages.as_array_mut().unwrap() {
            if let Some(text) = message["content"].as_str() {
                message["content"] = json!([{ "type": "text", "text": text }]);
            }
        }
        messages[place]["content"][0]["cache_control"] = json!({ "type": "ephemeral" });
        body(messages)
    };
    accepted(&[mark(1, with([])), mark(3, with([call("a"), result("a")]))]);
}
