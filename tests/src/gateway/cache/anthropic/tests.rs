//! Sequences computed by hand.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;

const SHORT: &str = "short";
const LONG: &str = "long";

/// A message of one text part, marked or not.
fn said(role: &str, text: &str, mark: &str) -> Value {
    let mut part = json!({ "type": "text", "text": text });
    match mark {
        SHORT => part["cache_control"] = json!({ "type": "ephemeral" }),
        LONG => part["cache_control"] = json!({ "type": "ephemeral", "ttl": "1h" }),
        _ => {}
    }
    json!({ "role": role, "content": [part] })
}

/// A system message of some 2,000 tokens and `more` small messages.
fn thread(more: usize) -> Vec<Value> {
    let small = |n: usize| said("user", &format!("{n:04}"), "");
    std::iter::once(said("system", &"x".repeat(8_000), ""))
        .chain((0..more).map(small))
        .collect()
}

fn mark(messages: &mut [Value], place: usize, mark: &str) {
    let role = messages[place]["role"].as_str().unwrap().to_owned();
    let text = messages[place]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    messages[place] = said(&role, &text, mark);
}

/// `more` small messages behind the system message, marked at these places.
fn marked(more: usize, places: &[usize]) -> Vec<Value> {
    let mut messages = thread(more);
    for place in places {
        mark(&mut messages, *place, SHORT);
    }
    messages
}

fn ask(cache: &mut Anthropic, secs: u64, messages: Vec<Value>) -> Result<Served, String> {
    let body = json!({
        "model": "anthropic/claude-1", "tools": [], "tool_choice": "auto", "messages": messages,
    });
    let body = body.to_string();
    let prompt = Prompt::read(body.as_bytes()).unwrap();
    let signal = |message: &Value| message["content"][0]["text"] == "signal";
    cache.serve(Duration::from_secs(secs), &prompt, signal)
}

fn serve(cache: &mut Anthropic, secs: u64, messages: Vec<Value>) -> Served {
    ask(cache, secs, messages).unwrap()
}

#[test]
fn without_marks_nothing_is_cached() {
    let mut cache = Anthropic::default();
    for _ in 0..2 {
        let served = serve(&mut cache, 0, thread(5));
        assert_eq!((served.read, served.written), (0, 0));
        assert!(served.repeatable > 2_000);
    }
}

#[test]
fn a_marked_prefix_is_written_once_and_read_from_then_on() {
    let mut cache = Anthropic::default();
    let first = serve(&mut cache, 0, marked(1, &[1]));
    assert_eq!((first.read, first.written), (0, first.prompt));
    // Another mark, elsewhere: the prefix is the same without it.
    let second = serve(&mut cache, 1, marked(3, &[0, 3]));
    assert_eq!(second.read, first.prompt);
    assert_eq!(second.written, second.prompt - first.prompt);
    assert_eq!(second.common, first.prompt);
    assert_eq!(first.repeatable, first.prompt);
}

#[test]
fn what_stands_behind_the_last_mark_is_neither_read_nor_written() {
    let mut cache = Anthropic::default();
    let served = serve(&mut cache, 0, marked(5, &[0]));
    let system = serve(&mut Anthropic::default(), 0, thread(0)).prompt;
    assert_eq!(served.written, system);
    assert_eq!(serve(&mut cache, 0, marked(5, &[0, 5])).read, system);
}

#[test]
fn a_mark_looks_back_twenty_blocks_and_no_further() {
    for (more, found) in [(19, true), (20, false)] {
        let mut cache = Anthropic::default();
        // Block 0 is kept; the mark at block `more` looks at itself and at 19 before it.
        serve(&mut cache, 0, marked(0, &[0]));
        let served = serve(&mut cache, 0, marked(more, &[more]));
        assert_eq!(served.read > 0, found, "{more} blocks later");
    }
    // A second mark on the way finds it, and the first one's entry counts for both.
    let mut cache = Anthropic::default();
    let kept = serve(&mut cache, 0, marked(0, &[0])).written;
    assert_eq!(serve(&mut cache, 0, marked(30, &[15, 30])).read, kept);
}

#[test]
fn calls_and_results_are_blocks_of_their_own() {
    let call = |n: usize| {
        json!({ "id": format!("c{n}"), "type": "function",
                "function": { "name": "shell", "arguments": "{}" } })
    };
    let turn = |calls: usize| {
        let mut messages = marked(0, &[0]);
        let calls: Vec<usize> = (0..calls).collect();
        messages.push(json!({
            "role": "assistant", "content": null,
            "tool_calls": calls.iter().map(|n| call(*n)).collect::<Vec<_>>(),
        }));
        for n in &calls {
            messages.push(json!({ "role": "tool", "tool_call_id": format!("c{n}"),
                                  "content": [{ "type": "text", "text": "ok" }] }));
        }
        messages
    };
    for (calls, found) in [(9, true), (10, false)] {
        let mut cache = Anthropic::default();
        serve(&mut cache, 0, marked(0, &[0]));
        let mut messages = turn(calls);
        // Only the last result is marked: 2 blocks a call lie between it and the system message.
        messages[0] = thread(0).remove(0);
        let last = messages.len() - 1;
        messages[last]["content"][0]["cache_control"] = json!({ "type": "ephemeral" });
        let served = serve(&mut cache, 0, messages);
        assert_eq!(served.read > 0, found, "{calls} calls");
    }
}

#[test]
fn a_bare_string_is_another_prefix_than_a_list_of_one() {
    let mut cache = Anthropic::default();
    serve(&mut cache, 0, marked(3, &[3]));
    let mut bare = marked(3, &[3]);
    bare[1]["content"] = json!("0000");
    let served = serve(&mut cache, 0, bare);
    assert_eq!(served.read, 0);
    let system = serve(&mut Anthropic::default(), 0, thread(0)).prompt;
    assert_eq!(served.common, system);
}

#[test]
fn what_is_shorter_than_the_minimum_is_not_kept() {
    let mut cache = Anthropic::default();
    let short = || vec![said("system", &"x".repeat(4_000), SHORT)];
    // Some 1,010 tokens, the role and the part around the text included.
    assert_eq!(serve(&mut cache, 0, short()).written, 0);
    assert_eq!(serve(&mut cache, 0, short()).read, 0);
}

#[test]
fn five_marks_are_one_too_many() {
    let mut cache = Anthropic::default();
    assert!(ask(&mut cache, 0, marked(4, &[0, 1, 2, 3])).is_ok());
    let fault = ask(&mut cache, 0, marked(4, &[0, 1, 2, 3, 4])).unwrap_err();
    assert!(fault.ends_with("Found 5."), "{fault}");
}

#[test]
fn a_blank_text_cannot_be_marked() {
    for blank in ["", " \n"] {
        let mut messages = thread(0);
        messages.push(said("user", blank, SHORT));
        let fault = ask(&mut Anthropic::default(), 0, messages).unwrap_err();
        assert!(fault.contains("empty text blocks"), "{fault}");
        let mut messages = thread(0);
        messages.push(said("user", blank, ""));
        assert!(ask(&mut Anthropic::default(), 0, messages).is_ok());
    }
}

#[test]
fn longer_lifetimes_come_first() {
    let mut cache = Anthropic::default();
    let mut right = marked(2, &[2]);
    mark(&mut right, 0, LONG);
    assert!(ask(&mut cache, 0, right).is_ok());
    let mut wrong = marked(2, &[0]);
    mark(&mut wrong, 2, LONG);
    let fault = ask(&mut cache, 0, wrong).unwrap_err();
    assert!(fault.contains("must not come after"), "{fault}");
}

#[test]
fn an_entry_lives_as_long_as_it_asked_for() {
    let mut cache = Anthropic::default();
    let asked = || {
        let mut messages = marked(2, &[2]);
        mark(&mut messages, 0, LONG);
        messages
    };
    let first = serve(&mut cache, 0, asked());
    let system = serve(&mut Anthropic::default(), 0, thread(0)).prompt;
    assert_eq!(first.written_long, system);
    assert_eq!(first.written, first.prompt - system);
    // In time both, then the one that was asked to stay, then none.
    assert_eq!(serve(&mut cache, 299, asked()).read, first.prompt);
    let late = serve(&mut cache, 299 + 300, asked());
    assert_eq!((late.read, late.written_long), (system, 0));
    let too_late = serve(&mut cache, 599 + 3_600, asked());
    assert_eq!(too_late.read, 0);
}

#[test]
fn a_reasoning_setting_parts_the_messages_but_not_the_system() {
    let mut cache = Anthropic::default();
    let body = |reasoning: Value| {
        json!({ "model": "m", "reasoning": reasoning, "messages": marked(3, &[0, 3]) }).to_string()
    };
    let mut ask = |reasoning: Value| {
        let body = body(reasoning);
        let prompt = Prompt::read(body.as_bytes()).unwrap();
        cache.serve(Duration::ZERO, &prompt, |_| false).unwrap()
    };
    let first = ask(json!({ "effort": "low" }));
    assert_eq!(ask(json!({ "effort": "low" })).read, first.prompt);
    let other = ask(json!({ "effort": "high" })).read;
    assert!(other > 0 && other < first.prompt, "{other}");
}

#[test]
fn a_signal_is_not_repeatable() {
    let mut messages = marked(2, &[2]);
    let plain = serve(&mut Anthropic::default(), 0, messages.clone());
    messages.push(said("user", "signal", ""));
    let signalled = serve(&mut Anthropic::default(), 0, messages);
    assert_eq!(signalled.repeatable, plain.repeatable);
    assert!(signalled.prompt > plain.prompt);
}
