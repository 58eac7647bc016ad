//! One good stream, and for every rule the smallest change that breaks it.

mod board;
mod delegation;
mod good;
mod held;
mod hooks;
mod machine;
mod persistence;
mod programs;
mod providers;
mod recorded;
mod succession;

use serde_json::{Value, json};

use good::good;

use super::*;
use crate::sample;
use crate::stream::Stream;

fn number(lines: &mut [Value]) {
    for (seq, line) in lines.iter_mut().enumerate() {
        line["seq"] = json!(seq);
    }
}

/// Lines as a stream has them: of one session, timed and numbered.
fn of_one_session(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        line["sessionId"] = json!("s");
        line["ts"] = json!("2026-01-31T09:08:07.123Z");
    }
    number(&mut lines);
    lines
}

fn text(lines: &[Value]) -> String {
    let mut text: Vec<String> = lines.iter().map(Value::to_string).collect();
    text.push(String::new());
    text.join("\n")
}

/// Where the `nth` line of a type stands, from 0.
fn at(lines: &[Value], kind: &str, nth: usize) -> usize {
    let mut places = (0..lines.len()).filter(|at| lines[*at]["type"] == kind);
    places.nth(nth).expect("the good stream has such a line")
}

/// A change of one line or of its place.
enum Change {
    /// The field at a JSON pointer becomes a value; `null` takes it away.
    Set(&'static str, usize, &'static str, Value),
    /// The line goes.
    Drop(&'static str, usize),
    /// The line stands twice.
    Twice(&'static str, usize),
    /// The line moves directly before another.
    Move((&'static str, usize), (&'static str, usize)),
}

use Change::{Drop, Move, Set, Twice};

fn changed(good: &[Value], change: &Change) -> Vec<Value> {
    let mut lines = good.to_vec();
    let renumber = !matches!(change, Set(_, _, "/seq", _));
    match change {
        Set(kind, nth, pointer, value) => {
            let place = at(&lines, kind, *nth);
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            let object = lines[place].pointer_mut(parent).unwrap();
            match object {
                Value::Object(object) if value.is_null() => {
                    object.remove(field);
                }
                Value::Array(rows) => rows[field.parse::<usize>().unwrap()] = value.clone(),
                object => object[field] = value.clone(),
            }
        }
        Drop(kind, nth) => {
            let place = at(&lines, kind, *nth);
            lines.remove(place);
        }
        Twice(kind, nth) => {
            let place = at(&lines, kind, *nth);
            lines.insert(place, lines[place].clone());
        }
        Move(from, to) => {
            let from = at(&lines, from.0, from.1);
            let to = at(&lines, to.0, to.1);
            let line = lines.remove(from);
            lines.insert(if from < to { to - 1 } else { to }, line);
        }
    }
    if renumber {
        number(&mut lines);
    }
    lines
}

#[test]
fn a_good_stream_breaks_nothing() {
    assert_eq!(check(&text(&good())), []);
}

#[test]
fn what_the_writer_and_the_fold_make_breaks_nothing() {
    for turns in [1, 2, 30] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("telemetry.ndjson");
        let file = std::fs::File::create(&path).unwrap();
        let stream =
            Stream::start(sample::session_id(), Box::new(file), None, Box::new(|| {})).unwrap();
        stream.send(sample::session(turns));
        stream.finish();
        assert_eq!(check(&std::fs::read_to_string(path).unwrap()), []);
    }
}

#[test]
fn every_rule_is_broken_by_a_small_change() {
    let table = [
        // Envelope.
        (Set("prompt", 0, "/type", json!("")), rule::ENVELOPE),
        (
            Set("prompt", 0, "/ts", json!("2026-01-31 09:08:07")),
            rule::ENVELOPE,
        ),
        (
            Set("prompt", 0, "/ts", json!("2026-01-31T09:08:07.123+01:00")),
            rule::ENVELOPE,
        ),
        (Set("prompt", 0, "/seq", json!(99)), rule::ENVELOPE),
        (Set("prompt", 0, "/sessionId", json!("t")), rule::ENVELOPE),
        (
            Set("something_new", 0, "/sessionId", json!(null)),
            rule::ENVELOPE,
        ),
        (
            Set("turn_timing", 0, "/agentId", json!(null)),
            rule::ENVELOPE,
        ),
        (
            Set("slot_usage", 0, "/agentId", json!("root")),
            rule::ENVELOPE,
        ),
        (Set("turn_outcome", 0, "/turn", json!(null)), rule::ENVELOPE),
        // The run.
        (Drop("session_started", 0), rule::FIRST_LINE),
        (Twice("session_started", 0), rule::FIRST_LINE),
        (
            Move(("session_started", 0), ("agent_modules", 0)),
            rule::FIRST_LINE,
        ),
        (Drop("session_ended", 0), rule::LAST_LINES),
        (Drop("session_summary", 0), rule::LAST_LINES),
        (Twice("session_summary", 0), rule::LAST_LINES),
        (
            Move(("session_summary", 0), ("slot_usage", 0)),
            rule::LAST_LINES,
        ),
        (
            Move(("slot_usage", 0), ("session_ended", 0)),
            rule::LAST_LINES,
        ),
        (Move(("log", 3), ("session_ended", 0)), rule::LAST_LINES),
        (Move(("slot_usage", 0), ("agent_status", 2)), rule::JOINED),
        (Drop("agent_status", 1), rule::JOINED),
        (
            Set("agent_transition", 0, "/toAgentId", json!("agent-2")),
            rule::TRANSITION,
        ),
        (
            Move(("agent_transition", 0), ("turn_outcome", 0)),
            rule::TRANSITION,
        ),
        // An agent's opening and end.
        (Drop("agent_spawned", 0), rule::OPENING),
        (Drop("agent_modules", 0), rule::OPENING),
        (Drop("agent_surface", 1), rule::OPENING),
        (Twice("agent_surface", 0), rule::OPENING),
        (Twice("agent_spawned", 0), rule::OPENING),
        (
            Move(("agent_status", 0), ("agent_surface", 0)),
            rule::OPENING,
        ),
        (Move(("agent_surface", 1), ("fsm_state", 0)), rule::OPENING),
        (
            Move(("agent_status", 1), ("turn_timing", 2)),
            rule::AFTER_END,
        ),
        (Twice("agent_status", 1), rule::AFTER_END),
        (
            Set("agent_status", 1, "/status", json!("failed")),
            rule::STATUS,
        ),
        (
            Set("agent_status", 1, "/endedAs", json!(null)),
            rule::STATUS,
        ),
        (
            Set("agent_status", 1, "/endedAs", json!("model_error")),
            rule::STATUS,
        ),
        // Messages.
        (Twice("context_message", 0), rule::POOL),
        (Drop("context_message", 0), rule::POOL),
        (Set("prompt", 1, "/messages/0", json!("99")), rule::POOL),
        (Set("prompt", 0, "/reply", json!("99")), rule::POOL),
        (
            Set("context_message", 4, "/agentId", json!("root")),
            rule::POOL,
        ),
        // The order within a turn.
        (
            Move(("prompt", 0), ("context_message", 2)),
            rule::TURN_ORDER,
        ),
        (
            Move(("prompt", 0), ("context_breakdown", 0)),
            rule::TURN_ORDER,
        ),
        (Move(("usage", 0), ("prompt", 0)), rule::TURN_ORDER),
        (
            Move(("assistant_message", 0), ("usage", 0)),
            rule::TURN_ORDER,
        ),
        (
            Move(("tool_call", 0), ("assistant_message", 0)),
            rule::TURN_ORDER,
        ),
        (
            Move(("turn_outcome", 0), ("tool_call", 0)),
            rule::TURN_ORDER,
        ),
        (
            Move(("turn_timing", 0), ("turn_outcome", 0)),
            rule::TURN_ORDER,
        ),
        (Drop("context_breakdown", 0), rule::TURN_ORDER),
        (Twice("context_breakdown", 0), rule::TURN_ORDER),
        (Twice("prompt", 0), rule::TURN_ORDER),
        (Twice("turn_outcome", 0), rule::TURN_ORDER),
        (Twice("turn_timing", 0), rule::TURN_ORDER),
        (Set("turn_timing", 0, "/turn", json!(2)), rule::TURN_ORDER),
        (Drop("turn_outcome", 0), rule::TURN_CLOSED),
        (Drop("turn_timing", 0), rule::TURN_CLOSED),
        (Drop("turn_timing", 4), rule::TURN_CLOSED),
        (Drop("turn_outcome", 4), rule::TURN_CLOSED),
        (Set("turn_timing", 0, "/requestMs", json!(6)), rule::TIMING),
        // Outcomes.
        (
            Set("turn_outcome", 0, "/error", json!("model_api")),
            rule::OUTCOME,
        ),
        (Set("turn_outcome", 1, "/error", json!(null)), rule::OUTCOME),
        (
            Set("turn_outcome", 1, "/errorType", json!(null)),
            rule::OUTCOME,
        ),
        (
            Set("turn_outcome", 1, "/error", json!("transpile")),
            rule::OUTCOME,
        ),
        (
            Set("turn_outcome", 1, "/consecutiveErrors", json!(0)),
            rule::OUTCOME,
        ),
        (
            Set("turn_outcome", 1, "/consecutiveErrors", json!(2)),
            rule::OUTCOME,
        ),
        (
            Set("turn_outcome", 0, "/consecutiveErrors", json!(1)),
            rule::OUTCOME,
        ),
        // Calls.
        (Drop("tool_call", 0), rule::PAIRING),
        (Drop("tool_result", 0), rule::PAIRING),
        (Twice("tool_call", 0), rule::PAIRING),
        (Twice("tool_result", 0), rule::PAIRING),
        (Move(("tool_result", 0), ("tool_call", 0)), rule::PAIRING),
        (
            Set("tool_result", 0, "/tool", json!("search")),
            rule::PAIRING,
        ),
        (Set("tool_result", 0, "/callId", json!("c9")), rule::PAIRING),
        (
            Set("tool_result", 0, "/type", json!("api_result")),
            rule::PAIRING,
        ),
        (
            Set("tool_result", 2, "/failure", json!(null)),
            rule::FAILURE,
        ),
        (
            Set("tool_result", 0, "/failure", json!("other")),
            rule::FAILURE,
        ),
        (Move(("shell", 0), ("tool_call", 0)), rule::ENCLOSURE),
        (
            Set("shell", 0, "/origin", json!("program")),
            rule::ENCLOSURE,
        ),
        // The limit.
        (Move(("limit_exceeded", 0), ("log", 3)), rule::LIMIT),
        (
            Set("limit_exceeded", 0, "/limit", json!("runtime")),
            rule::LIMIT,
        ),
        (
            Set("limit_exceeded", 0, "/agentId", json!("agent-1")),
            rule::AFTER_END,
        ),
        (Drop("agent_status", 2), rule::LIMIT),
        // Sums.
        (Set("context_breakdown", 0, "/total", json!(5)), rule::BANDS),
        (Drop("usage", 0), rule::SLOT_SUMS),
        (Drop("slot_usage", 0), rule::SLOT_SUMS),
        (Twice("slot_usage", 0), rule::SLOT_SUMS),
        (Set("usage", 0, "/figure", json!("total")), rule::SLOT_SUMS),
        (Set("usage", 0, "/modelId", json!("n")), rule::SLOT_SUMS),
        (Set("usage", 0, "/cost", json!(null)), rule::SLOT_SUMS),
        (
            Set("usage", 0, "/cost/comparable", json!(null)),
            rule::SLOT_SUMS,
        ),
        (Set("usage", 0, "/tokens/output", json!(4)), rule::SLOT_SUMS),
        (
            Set("slot_usage", 0, "/workCost/actual", json!(0.4)),
            rule::SLOT_SUMS,
        ),
        (Set("slot_usage", 0, "/calls", json!(7)), rule::SLOT_SUMS),
        (
            Set("session_summary", 0, "/cost", json!(0.5)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/comparableCost", json!(null)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/tokens/output", json!(1)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/unpricedCalls", json!(1)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/agents", json!(1)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/modelMs", json!(30)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/toolCalls", json!(null)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/peakContextTokens", json!(8)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/rejectedResponses/count", json!(0)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/errors/turns", json!(4)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/errors/errors", json!(3)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/errors/transpile", json!(1)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set(
                "session_summary",
                0,
                "/errors/byType/model_timeout",
                json!(1),
            ),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/errors/toolFailures", json!({})),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/slotCosts/0/calls", json!(1)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/slotCosts", json!([])),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_summary", 0, "/providerStats/0/turns", json!(3)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_ended", 0, "/exitCode", json!(0)),
            rule::SUMMARY_SUMS,
        ),
        (
            Set("session_ended", 0, "/status", json!("completed")),
            rule::SUMMARY_SUMS,
        ),
    ];
    assert_breaks(&table);
}

/// Each change breaks the rule beside it.
fn assert_breaks(table: &[(Change, &str)]) {
    assert_breaks_in(&good(), table);
}

/// Each change of a stream breaks the rule beside it.
fn assert_breaks_in(good: &[Value], table: &[(Change, &str)]) {
    for (at, (change, rule)) in table.iter().enumerate() {
        let violations = check(&text(&changed(good, change)));
        assert!(
            violations.iter().any(|violation| violation.rule == *rule),
            "row {at} should break {rule}, and breaks {violations:#?}"
        );
    }
}

#[test]
fn framing_is_a_matter_of_the_text() {
    let good = text(&good());
    let broken = |text: String| {
        let violations = check(&text);
        let framing = violations.iter().find(|found| found.rule == rule::FRAMING);
        framing.or(violations.first()).map(|found| found.rule)
    };
    assert_eq!(broken(good.clone()), None);
    let whole = good.trim_end().to_owned();
    assert_eq!(broken(whole), Some(rule::FRAMING));
    assert_eq!(broken(good.replacen('\n', "\n\n", 1)), Some(rule::FRAMING));
    assert_eq!(broken(good.replacen('{', "[{", 1)), Some(rule::FRAMING));
    assert_eq!(broken(format!("17\n{good}")), Some(rule::FRAMING));
    let twice = good.replacen("\"seq\":1}", "\"seq\":1,\"seq\":1}", 1);
    assert_eq!(broken(twice), Some(rule::FRAMING));
    let long = "x".repeat(crate::stream::LINE_CEILING_BYTES);
    let grown = good.replacen("\"brief\":\"b\"", &format!("\"brief\":\"{long}\""), 1);
    assert_eq!(broken(grown), Some(rule::FRAMING));
    assert_eq!(broken(String::new()), Some(rule::FIRST_LINE));
}

#[test]
fn a_killed_stream_may_stop_anywhere_and_a_finished_one_nowhere() {
    let good = text(&good());
    // Each cut is checked whole: a step keeps their number in bounds and meets every kind of place.
    for cut in (1..good.len()).step_by(7) {
        let part = &good[..cut];
        if part.contains('\n') {
            assert_eq!(check_with(part, Ending::Killed), [], "cut at {cut}");
        }
        if cut % 13 == 0 {
            assert_ne!(check(part), [], "cut at {cut}");
        }
    }
}

#[test]
fn a_refused_launch_has_no_summary() {
    let line = |seq: u64, kind: &str, rest: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"ts\":\"2026-01-31T09:08:07.123Z\",\"seq\":{seq},\"sessionId\":\"s\"{rest}}}\n"
        )
    };
    let stream = [
        line(0, "session_started", ""),
        line(1, "log", ",\"level\":\"error\""),
        line(
            2,
            "session_ended",
            ",\"status\":\"launch_refused\",\"exitCode\":1",
        ),
    ]
    .concat();
    assert_eq!(check(&stream), []);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_checker_panic(noise in "\\PC{0,200}", place in 0usize..100_000) {
        let mut lines = text(&good());
        let mut place = place % lines.len();
        while !lines.is_char_boundary(place) {
            place -= 1;
        }
        lines.insert_str(place, &noise);
        check(&lines);
        check_with(&noise, Ending::Killed);
    }
}
