//! What a line keeps while its stream is checked: all but the long texts, which no rule reads.
//!
//! A stream is checked whole, because its last lines sum up all others. Without its texts, and with
//! each request's messages told from the last one's, it takes memory by the number of its lines,
//! however much was said and however long its windows are.

use serde_json::{Map, Value};

/// Fields that were checked with the envelope, or stand beside the line's value.
const ENVELOPE: &[&str] = &["type", "seq", "sessionId", "agentId", "turn"];

/// Fields that hold what was said, shown or run.
const PAYLOAD: &[(&str, &[&str])] = &[
    ("assistant_message", &["text", "calls", "reasoning"]),
    ("agent_spawned", &["brief"]),
    ("context_message", &["content", "toolCalls", "images"]),
    ("code_execution", &["logs", "finished"]),
    ("log", &["message"]),
    ("shell", &["command", "stdout", "stderr"]),
    ("tool_call", &["arguments"]),
    ("tool_result", &["preview"]),
];

/// The call that leaves a state of a machine: of its arguments, the state it chooses is kept.
pub(super) const LEAVING: &str = "transition_state";

/// Of an issue in a snapshot, the fields that a rule looks at.
const LOOKED_AT: &[&str] = &["id", "epic", "status", "reviewers", "blockedBy"];

/// Characters that are kept of any other text: more than of any word, id or preview a rule looks at.
const LONGEST: usize = 512;

/// Leaves only those messages in a prompt that do not stand in its agent's last one at the same
/// place, and says how many did. The window is the last one's, and becomes this one's.
pub(super) fn continue_from(window: &mut Vec<Value>, prompt: &mut Value) -> usize {
    let Some(messages) = prompt.get_mut("messages").and_then(Value::as_array_mut) else {
        return 0;
    };
    let pairs = window.iter().zip(&*messages);
    let repeated = pairs.take_while(|(last, now)| last == now).count();
    messages.drain(..repeated);
    messages.shrink_to_fit();
    window.truncate(repeated);
    window.extend_from_slice(messages);
    repeated
}

/// Takes out of a checked line's value what is not needed any more.
pub(super) fn make(kind: &str, value: &mut Value) {
    if let Value::Object(fields) = value {
        if kind == "tool_call" && fields.get("tool").is_some_and(|tool| tool == LEAVING) {
            keep_choice(fields);
        }
        if kind == "board_state" {
            keep_edges(fields);
        }
        let payload = PAYLOAD.iter().find(|(of, _)| *of == kind);
        let payload = payload.map_or(&[][..], |(_, fields)| fields);
        fields
            .retain(|key, _| !ENVELOPE.contains(&key.as_str()) && !payload.contains(&key.as_str()));
    }
    cut(value);
}

/// Leaves of a board's issues what a rule looks at: a snapshot is as long as the board, and there
/// is one a write.
fn keep_edges(fields: &mut Map<String, Value>) {
    let issues = fields.get_mut("issues").and_then(Value::as_array_mut);
    for issue in issues.into_iter().flatten() {
        if let Value::Object(row) = issue {
            row.retain(|key, _| LOOKED_AT.contains(&key.as_str()));
        }
    }
}

/// Puts the state that a call chooses beside its arguments, which go.
fn keep_choice(fields: &mut Map<String, Value>) {
    let arguments = fields.get("arguments").and_then(Value::as_str);
    let arguments: Option<Value> = arguments.and_then(|text| serde_json::from_str(text).ok());
    let state = arguments.and_then(|mut it| Some(it.get_mut("state")?.take()));
    fields.insert("state".to_owned(), state.unwrap_or_default());
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
    fn a_prompt_keeps_what_its_last_one_did_not_have() {
        let mut window = Vec::new();
        let mut next = |ids: Value| {
            let mut prompt = json!({ "messages": ids });
            let repeated = continue_from(&mut window, &mut prompt);
            (repeated, prompt["messages"].take())
        };
        assert_eq!(next(json!(["a", "b"])), (0, json!(["a", "b"])));
        assert_eq!(next(json!(["a", "b", "c"])), (2, json!(["c"])));
        assert_eq!(next(json!(["a", "x", "c"])), (1, json!(["x", "c"])));
        assert_eq!(next(json!(["a", "x"])), (2, json!([])));
        assert_eq!(next(json!(null)), (0, json!(null)));
        assert_eq!(next(json!(["a", "x", "d"])), (2, json!(["d"])));
    }

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
