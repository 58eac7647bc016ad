//! What a line keeps while its stream is checked: all but the long texts, which no rule reads.
//!
//! A stream is checked whole, because its last lines sum up all others. Without its texts it takes
//! memory by the number of its lines and of the messages its requests name, however much was said.

use serde_json::{Map, Value};

/// Fields that were checked with the envelope, or stand beside the line's value.
const ENVELOPE: &[&str] = &["type", "seq", "sessionId", "agentId", "turn"];

/// Fields that hold what was said, shown or run.
const PAYLOAD: &[(&str, &[&str])] = &[
    ("assistant_message", &["text", "calls", "reasoning"]),
    ("agent_spawned", &["brief"]),
    ("context_message", &["content", "toolCalls", "images"]),
    ("log", &["message"]),
    ("shell", &["command", "stdout", "stderr"]),
    ("tool_call", &["arguments"]),
    ("tool_result", &["preview"]),
];

/// Characters that are kept of any other text: more than of any word, id or preview a rule looks at.
const LONGEST: usize = 512;

/// Takes out of a checked line's value what is not needed any more.
pub(super) fn make(kind: &str, value: &mut Value) {
    if let Value::Object(fields) = value {
        let payload = PAYLOAD.iter().find(|(of, _)| *of == kind);
        let payload = payload.map_or(&[][..], |(_, fields)| fields);
        fields
            .retain(|key, _| !ENVELOPE.contains(&key.as_str()) && !payload.contains(&key.as_str()));
    }
    cut(value);
}

/// Cuts every text within. The depth of a value is bounded by what reads JSON.
fn cut(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > LONGEST => {
            let kept = crate::text::head(text, LONGEST).len();
            text.truncate(kept);
            text.shrink_to_fit();
        }
        Value::Array(items) => items.iter_mut().for_each(cut),
        Value::Object(fields) => shrunk(fields).values_mut().for_each(cut),
        _ => {}
    }
}

fn shrunk(fields: &mut Map<String, Value>) -> &mut Map<String, Value> {
    // A map grows by doubling, and there is one a line.
    let kept = std::mem::take(fields);
    *fields = kept.into_iter().collect();
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_texts_go_and_what_rules_read_stays() {
        let long = "é".repeat(LONGEST + 9);
        let mut value = json!({
            "type": "tool_result", "seq": 3, "agentId": "a", "turn": 1, "sessionId": "s",
            "callId": "c", "ok": true, "preview": long, "deep": [{ "text": long }],
        });
        make("tool_result", &mut value);
        assert_eq!(
            value,
            json!({ "callId": "c", "ok": true, "deep": [{ "text": "é".repeat(LONGEST) }] })
        );
    }
}
