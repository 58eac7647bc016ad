//! Sequences computed by hand.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::gateway::cache::{Prompt, Served};

fn body(key: &str, messages: Value) -> String {
    json!({
        "model": "acme/coder-1", "tools": [], "session_id": key, "prompt_cache_key": key,
        "messages": messages,
    })
    .to_string()
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn serve(cache: &mut Automatic, secs: u64, body: &str) -> Served {
    let prompt = Prompt::read(body.as_bytes()).unwrap();
    let signal = |message: &Value| message["content"] == "signal";
    cache.serve(Duration::from_secs(secs), &prompt, signal)
}

/// Bytes before the text of the first message: `[]`, NUL, `{"role":"user","content":"`.
const OPENING: u64 = 2 + 1 + 26;

#[test]
fn the_first_request_reads_nothing_and_the_second_whole_blocks() {
    let mut cache = cache();
    let first = serve(&mut cache, 0, &body("a", json!([user(&"x".repeat(8_000))])));
    // 29 + 8,000 + 2 bytes: 2,007 tokens, in whole blocks of 512 bytes 15 times 128.
    assert_eq!(first.prompt, (OPENING + 8_000 + 2) / 4);
    assert_eq!((first.read, first.common), (0, 0));
    assert_eq!(first.repeatable, 15 * 128);
    let longer = json!([user(&"x".repeat(8_000)), user(&"y".repeat(100))]);
    let second = serve(&mut cache, 1, &body("a", longer));
    assert_eq!((second.read, second.common), (1_920, 1_920));
    assert_eq!((second.written, second.written_long), (0, 0));
}

#[test]
fn the_first_byte_that_differs_ends_the_prefix() {
    let mut cache = cache();
    let text = "x".repeat(8_000);
    serve(&mut cache, 0, &body("a", json!([user(&text)])));
    // Byte 5,000 of the text is byte 5,029 of all: in block 9, from 0.
    let changed = format!("{}y{}", &text[..5_000], &text[5_001..]);
    let served = serve(&mut cache, 1, &body("a", json!([user(&changed)])));
    assert_eq!(served.read, 9 * 128);
    // Seven blocks are 896 tokens, too few.
    let changed = format!("{}y{}", &text[..4_000], &text[4_001..]);
    assert_eq!(
        serve(&mut cache, 1, &body("a", json!([user(&changed)]))).read,
        0
    );
    // As an array the same text is other bytes from its start.
    let parts = json!([{ "role": "user", "content": [{ "type": "text", "text": text }] }]);
    assert_eq!(serve(&mut cache, 1, &body("a", parts)).read, 0);
}

#[test]
fn the_key_is_a_hint_and_its_absence_is_cold() {
    let mut cache = cache();
    let messages = json!([user(&"x".repeat(8_000))]);
    serve(&mut cache, 0, &body("a", messages.clone()));
    assert_eq!(
        serve(&mut cache, 1, &body("b", messages.clone())).read,
        1_920
    );
    assert_eq!(serve(&mut cache, 1, &body("", messages)).read, 0);
}

#[test]
fn another_model_and_other_tools_share_nothing() {
    let mut cache = cache();
    let first = body("a", json!([user(&"x".repeat(8_000))]));
    serve(&mut cache, 0, &first);
    let model = first.replace("coder-1", "coder-2");
    assert_eq!(serve(&mut cache, 1, &model).read, 0);
    let tools = first.replace("\"tools\":[]", "\"tools\":[{}]");
    assert_eq!(serve(&mut cache, 1, &tools).read, 0);
}

#[test]
fn five_idle_minutes_are_the_end_and_a_read_is_a_new_start() {
    let mut cache = cache();
    let first = body("a", json!([user(&"x".repeat(8_000))]));
    serve(&mut cache, 0, &first);
    assert_eq!(serve(&mut cache, 299, &first).read, 1_920);
    assert_eq!(serve(&mut cache, 598, &first).read, 1_920);
    let late = serve(&mut cache, 898, &first);
    assert_eq!((late.read, late.common), (0, 1_920));
}

#[test]
fn a_signal_is_not_repeatable() {
    let mut cache = cache();
    let text = "x".repeat(8_000);
    let plain = serve(&mut cache, 0, &body("a", json!([user(&text)])));
    let signalled = serve(
        &mut cache,
        0,
        &body("a", json!([user(&text), user("signal")])),
    );
    assert_eq!(signalled.repeatable, plain.repeatable);
    assert!(signalled.prompt > plain.prompt);
}
