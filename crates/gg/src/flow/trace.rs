//! A whole run as a Chrome trace: one track an actor, one slice a handled message, an arrow from
//! where a message was sent to where it was handled.
//!
//! The format is the JSON object form of the Trace Event Format; times are microseconds from the
//! first sending. An arrow's tail needs a slice to stand on. Where the sender was handling a
//! message just then, that slice is the one; where it was not (a future of its own, or no actor at
//! all), a slice of one microsecond named after the message is put there.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::log::{FlowLog, Message};

/// The trace, as JSON text.
pub(crate) fn render(log: &FlowLog) -> String {
    let actors = log.actors(&log.messages);
    let tracks: HashMap<u32, usize> = actors
        .iter()
        .enumerate()
        .map(|(place, actor)| (*actor, place + 1))
        .collect();
    let track = |actor: u32| tracks.get(&actor).copied().unwrap_or(0);
    let start = log.messages.iter().map(Message::sent_us).min().unwrap_or(0);
    let handled = Handled::of(log);

    let mut events = vec![json!({
        "ph": "M", "pid": 1, "name": "process_name", "args": { "name": "gg" },
    })];
    for actor in &actors {
        let tid = track(*actor);
        events.push(json!({
            "ph": "M", "pid": 1, "tid": tid, "name": "thread_name",
            "args": { "name": log.name(*actor) },
        }));
        events.push(json!({
            "ph": "M", "pid": 1, "tid": tid, "name": "thread_sort_index",
            "args": { "sort_index": tid },
        }));
    }
    for m in &log.messages {
        let (from, to, name) = (track(m.from), track(m.to), log.name(m.kind));
        let sent = m.sent_us().saturating_sub(start);
        let began = m.began_us.saturating_sub(start);
        events.push(slice(log, m, to, began));
        if !handled.covers(m.from, m.sent_us()) {
            events.push(json!({
                "ph": "X", "pid": 1, "tid": from, "ts": sent, "dur": 1, "cat": "send",
                "name": format!("send {name}"),
            }));
        }
        events.push(arrow("s", m.seq, from, sent, name));
        events.push(arrow("f", m.seq, to, began, name));
    }
    let trace = json!({
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": { "remarks": log.remarks },
    });
    trace.to_string() + "\n"
}

fn slice(log: &FlowLog, m: &Message, tid: usize, ts: i64) -> Value {
    let mut slice = json!({
        "ph": "X", "pid": 1, "tid": tid, "ts": ts, "dur": m.handled_us.max(1), "cat": "message",
        "name": log.name(m.kind),
        "args": {
            "from": log.name(m.from), "seq": m.seq, "queuedUs": m.queued_us,
            "handledUs": m.handled_us, "depth": m.depth,
        },
    });
    if let Some(displaced) = m.displaced_us {
        slice["args"]["displacedUs"] = displaced.into();
    }
    slice
}

fn arrow(phase: &str, id: u64, tid: usize, ts: i64, name: &str) -> Value {
    let mut event = json!({
        "ph": phase, "pid": 1, "tid": tid, "ts": ts, "id": id, "cat": "message", "name": name,
    });
    if phase == "f" {
        event["bp"] = json!("e");
    }
    event
}

/// When each actor was handling a message.
struct Handled(HashMap<u32, Vec<(i64, i64)>>);

impl Handled {
    fn of(log: &FlowLog) -> Self {
        let mut spans: HashMap<u32, Vec<(i64, i64)>> = HashMap::new();
        for m in &log.messages {
            spans
                .entry(m.to)
                .or_default()
                .push((m.began_us, m.returned_us()));
        }
        for spans in spans.values_mut() {
            spans.sort_unstable();
        }
        Self(spans)
    }

    /// Whether the actor was in a handler then. An actor handles one message at a time, so the
    /// last handler called before that moment is the one that counts.
    fn covers(&self, actor: u32, at: i64) -> bool {
        self.0.get(&actor).is_some_and(|spans| {
            let before = spans.partition_point(|(began, _)| *began <= at);
            before > 0 && at < spans[before - 1].1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::tests::{line, log, two_turns};
    use super::*;

    fn trace(text: &str) -> Vec<Value> {
        let trace: Value = serde_json::from_str(&render(&log(text))).unwrap();
        trace["traceEvents"].as_array().unwrap().clone()
    }

    fn of_phase<'a>(events: &'a [Value], phase: &str) -> Vec<&'a Value> {
        events.iter().filter(|event| event["ph"] == phase).collect()
    }

    #[test]
    fn every_message_is_a_slice_with_an_arrow_between_two_named_tracks() {
        let events = trace(&two_turns());
        let named: Vec<&Value> = events
            .iter()
            .filter(|event| event["name"] == "thread_name")
            .collect();
        assert_eq!(named.len(), 6);
        let slices = events
            .iter()
            .filter(|event| event["cat"] == "message" && event["ph"] == "X");
        assert_eq!(slices.count(), 16);
        let (starts, ends) = (of_phase(&events, "s"), of_phase(&events, "f"));
        assert_eq!((starts.len(), ends.len()), (16, 16));
        for (start, end) in starts.iter().zip(&ends) {
            assert_eq!(start["id"], end["id"]);
            assert_ne!(start["tid"], end["tid"]);
            assert!(start["ts"].as_i64() <= end["ts"].as_i64());
        }
    }

    #[test]
    fn an_arrow_stands_on_the_handler_that_sent_it_where_there_was_one() {
        // `b` handles M from 10 to 110. It sends N within that, at 39, and P after it, at 488.
        let text = line(0, 10, "a", "b", "M")
            + &line(1, 150, "b", "c", "N")
            + &line(2, 500, "b", "c", "P");
        let text = text.replace("\"queuedUs\":11", "\"queuedUs\":111");
        let sends: Vec<String> = trace(&text)
            .iter()
            .filter(|event| event["cat"] == "send")
            .map(|event| event["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(sends, ["send M", "send P"]);
    }

    #[test]
    fn a_slice_tells_how_much_of_it_had_no_processor() {
        let known = line(0, 10, "a", "b", "M").replace("\"depth\"", "\"displacedUs\":7,\"depth\"");
        let told = |text: &str| {
            let events = trace(text);
            let mut slices = events.iter().filter(|event| event["cat"] == "message");
            slices.next().unwrap()["args"]["displacedUs"].clone()
        };
        assert_eq!(told(&known), 7);
        assert_eq!(told(&line(0, 10, "a", "b", "M")), Value::Null);
    }

    #[test]
    fn an_empty_log_is_a_trace_without_tracks() {
        assert_eq!(trace("").len(), 1);
    }
}
