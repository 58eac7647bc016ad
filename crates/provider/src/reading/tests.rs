//! A loop detector that reads along.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const KNOBS: Knobs = Knobs {
    window_words: 8,
    repeat_threshold: 2,
    min_offenders: 2,
    min_saturated_run: 20,
    max_response_chars: 400,
};

/// The stream of these deltas, in order.
fn stream(deltas: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for delta in deltas {
        let chunk = json!({ "id": "gen-1", "provider": "Acme", "choices": [{ "delta": delta }] });
        bytes.extend_from_slice(format!("data: {chunk}\n\n").as_bytes());
    }
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    bytes
}

/// Words and characters at which the detector trips; `None` where the reply is whole.
fn size<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Option<(u64, u64)> {
    let mut reading = Reading::new(Some("Acme".into())).watched(Some(KNOBS));
    let fault = 'read: {
        for piece in pieces {
            match reading.push(piece) {
                Ok(progress) if progress.done => break,
                Ok(_) => {}
                Err(fault) => break 'read Err(fault),
            }
        }
        reading.finish()
    };
    match fault {
        Ok(_) => None,
        Err(Fault::Looped {
            words,
            chars,
            generation,
            provider,
        }) => {
            assert_eq!(generation, Some("gen-1".into()));
            assert_eq!(provider, Some("Acme".into()));
            Some((words, chars))
        }
        Err(fault) => panic!("{fault:?}"),
    }
}

fn size_of(deltas: &[Value]) -> Option<(u64, u64)> {
    size(std::iter::once(&stream(deltas)[..]))
}

fn arguments(call: u64, text: &str) -> Value {
    json!({ "tool_calls": [{ "index": call, "function": { "name": "f", "arguments": text } }] })
}

#[test]
fn whatever_a_model_says_is_read() {
    // Saturated from word 6 on: 20 words in a row are reached at word 25, an `a`.
    let text = "a b\n".repeat(20);
    let at = Some((25, 50));
    for delta in [
        json!({ "content": text }),
        json!({ "content": [{ "type": "text", "text": text }] }),
        json!({ "refusal": text }),
        json!({ "reasoning": text }),
        json!({ "reasoning_content": text }),
        json!({ "reasoning": text, "reasoning_details": [{ "text": text }] }),
        json!({ "reasoning_details": [{ "type": "reasoning.text", "text": text }] }),
        arguments(
            0,
            r"a b\na b\na b\na b\na b\na b\na b\na b\na b\na b\na b\na b\na b\n",
        ),
    ] {
        assert_eq!(size_of(std::slice::from_ref(&delta)), at, "{delta}");
    }
    let sealed = json!({ "reasoning_details": [{ "type": "reasoning.encrypted", "data": text }] });
    assert_eq!(size_of(&[sealed]), None, "nobody reads what is sealed");
}

#[test]
fn one_detector_reads_all_of_a_reply_in_the_order_it_is_said() {
    let half = "a b\n".repeat(6);
    let both = json!({ "content": half, "reasoning": format!("I see.\n{half}") });
    // `I see.`, then 24 words of the loop, 19 of them while saturated: the next one decides.
    assert_eq!(size_of(std::slice::from_ref(&both)), None);
    assert_eq!(
        size_of(&[both, arguments(0, "a "), arguments(1, "b ")]),
        Some((27, 57))
    );
    assert_eq!(
        size_of(&[arguments(0, &"a ".repeat(201))]),
        Some((200, 401))
    );
}

#[test]
fn an_answer_that_is_one_object_is_read_too() {
    let whole = json!({
        "id": "gen-1",
        "provider": "Acme",
        "choices": [{ "message": { "content": "a b\n".repeat(20) }, "finish_reason": "stop" }],
    });
    let whole = whole.to_string();
    assert_eq!(size(std::iter::once(whole.as_bytes())), Some((25, 50)));
}

#[test]
fn without_knobs_nothing_trips() {
    let mut reading = Reading::new(None).watched(None);
    let bytes = stream(&[json!({ "content": "a b\n".repeat(1000) })]);
    assert!(reading.push(&bytes).unwrap().done);
    assert!(reading.finish().is_ok());
}

proptest! {
    #[test]
    fn a_trip_does_not_depend_on_deltas_or_on_packets(
        cuts in proptest::collection::vec(1..9_usize, 1..9),
        packet in 1..90_usize,
    ) {
        let text: Vec<char> = "x\u{1F642} y\t\"\n".repeat(30).chars().collect();
        let program = json!({ "program": text.iter().collect::<String>() }).to_string();
        let mut deltas = Vec::new();
        let mut rest: &str = &program;
        for cut in cuts.iter().cycle() {
            let end = rest.char_indices().nth(*cut).map_or(rest.len(), |(at, _)| at);
            deltas.push(arguments(0, &rest[..end]));
            rest = &rest[end..];
            if rest.is_empty() {
                break;
            }
        }
        let expected = size_of(&[arguments(0, &program)]);
        prop_assert!(expected.is_some());
        prop_assert_eq!(size_of(&deltas), expected);
        prop_assert_eq!(size(stream(&deltas).chunks(packet)), expected);
    }
}
