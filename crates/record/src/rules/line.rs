//! From a stream's text to its lines, each an object with a sound envelope.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{Ending, Found, lean, rule};
use crate::stream::LINE_CEILING_BYTES;

/// Types that belong to the run and carry no agent.
const RUN_SCOPED: &[&str] = &[
    "session_started",
    "issue_status",
    "issue_review",
    "worktree_merged",
    "slot_usage",
    "session_summary",
    "session_ended",
];

/// Types known to belong to an agent. `log` is either's.
const AGENT_SCOPED: &[&str] = &[
    "limit_exceeded",
    "provider_fault",
    "provider_switch",
    "prefix_broken",
    "hook",
    "agent_spawned",
    "agent_status",
    "agent_message",
    "fsm_state",
    "agent_transition",
    "agent_modules",
    "agent_surface",
    "memory_state",
    "memory_revision",
    "tasks_state",
    "skills_state",
    "board_state",
    "archive_state",
    "context_breakdown",
    "context_message",
    "prompt",
    "context_managed",
    "compaction",
    "assistant_message",
    "turn_timing",
    "turn_outcome",
    "response_rejected",
    "code_execution",
    "tool_call",
    "tool_result",
    "api_call",
    "api_result",
    "shell",
    "usage",
];

/// Types that belong to a turn.
const TURN_SCOPED: &[&str] = &[
    "provider_fault",
    "provider_switch",
    "prefix_broken",
    "context_breakdown",
    "context_message",
    "prompt",
    "context_managed",
    "compaction",
    "assistant_message",
    "turn_timing",
    "turn_outcome",
    "response_rejected",
    "code_execution",
    "tool_call",
    "tool_result",
    "api_call",
    "api_result",
];

/// One line.
pub(super) struct Line {
    /// From 1.
    pub(super) number: usize,
    pub(super) kind: String,
    pub(super) agent: Option<String>,
    pub(super) turn: Option<u64>,
    /// Of a prompt: messages it shares with its agent's last one from the start on. They stood
    /// there, and are left out of its own list.
    pub(super) repeated: usize,
    value: Value,
}

impl Line {
    /// A field; `null` where absent.
    pub(super) fn get(&self, field: &str) -> &Value {
        self.value.get(field).unwrap_or(&Value::Null)
    }

    /// A text field; empty where it is none.
    pub(super) fn text(&self, field: &str) -> &str {
        self.get(field).as_str().unwrap_or_default()
    }

    /// The whole object.
    pub(super) const fn object(&self) -> &Value {
        &self.value
    }
}

/// The hand-over that stands directly before a spawn, where one does.
pub(super) fn hand_over_before(lines: &[Line], spawn: usize) -> Option<&Line> {
    let before = lines.get(spawn.checked_sub(1)?)?;
    (before.kind == "agent_transition").then_some(before)
}

/// Whether a type is one of the catalogue.
pub(super) fn is_known(kind: &str) -> bool {
    kind == "log" || RUN_SCOPED.contains(&kind) || AGENT_SCOPED.contains(&kind)
}

/// Parses the lines and checks framing and envelopes. Lines that are no object are left out.
pub(super) fn parse(stream: &str, ending: Ending, found: &mut Found) -> Vec<Line> {
    let mut parser = Parser::default();
    for text in stream.split_inclusive('\n') {
        match text.strip_suffix('\n') {
            Some(text) => parser.take(text.as_bytes(), found),
            None => parser.torn = true,
        }
    }
    parser.conclude(ending, found)
}

/// Takes a stream line by line.
#[derive(Default)]
pub(super) struct Parser {
    lines: Vec<Line>,
    /// Lines taken, whatever they were.
    taken: usize,
    session: Option<String>,
    /// The messages of each agent's last prompt.
    windows: HashMap<Option<String>, Vec<Value>>,
    /// Whether something without a line end stands behind them.
    pub(super) torn: bool,
}

impl Parser {
    /// A line, without its end.
    pub(super) fn take(&mut self, text: &[u8], found: &mut Found) {
        let at = self.taken;
        let number = at + 1;
        self.taken = number;
        if text.len() >= LINE_CEILING_BYTES {
            found.add(
                number,
                rule::FRAMING,
                format!("{} bytes, at most {LINE_CEILING_BYTES}", text.len() + 1),
            );
        }
        let text = match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(error) => {
                found.add(number, rule::FRAMING, format!("no UTF-8: {error}"));
                return;
            }
        };
        let value = match serde_json::from_str(text) {
            Ok(value @ Value::Object(_)) => value,
            Ok(_) => {
                found.add(number, rule::FRAMING, "no JSON object");
                return;
            }
            Err(error) => {
                found.add(number, rule::FRAMING, format!("no JSON: {error}"));
                return;
            }
        };
        for key in repeated_keys(text) {
            found.add(number, rule::FRAMING, format!("`{key}` stands twice"));
        }
        let mut line = Line {
            number,
            kind: String::new(),
            agent: None,
            turn: None,
            repeated: 0,
            value,
        };
        envelope(&mut line, found);
        if line.get("seq").as_u64() != Some(at as u64) {
            let seq = line.get("seq");
            found.add(
                number,
                rule::ENVELOPE,
                format!("seq is {seq}, expected {at}"),
            );
        }
        let id = line.text("sessionId").to_owned();
        let session = self.session.get_or_insert_with(|| id.clone());
        // Empty in the stream of a refused document that had none.
        if *session != id {
            found.add(
                number,
                rule::ENVELOPE,
                format!(
                    "sessionId is {}, expected {session:?}",
                    line.get("sessionId")
                ),
            );
        }
        if line.kind == "prompt" {
            let window = self.windows.entry(line.agent.clone()).or_default();
            line.repeated = lean::continue_from(window, &mut line.value);
        }
        lean::make(&line.kind, &mut line.value);
        self.lines.push(line);
    }

    /// A line that was not kept because it is longer than any stream's.
    pub(super) fn too_long(&mut self, bytes: u64, found: &mut Found) {
        self.taken += 1;
        found.add(
            self.taken,
            rule::FRAMING,
            format!("{bytes} bytes, at most {LINE_CEILING_BYTES}; it was not read"),
        );
    }

    /// The lines taken that are objects, so far.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Lines taken, whatever they were.
    pub(super) const fn taken(&self) -> usize {
        self.taken
    }

    /// All lines. What stands behind the last line end is a line only a killed process leaves.
    pub(super) fn conclude(self, ending: Ending, found: &mut Found) -> Vec<Line> {
        if self.torn && ending == Ending::Finished {
            found.add(self.taken + 1, rule::FRAMING, "the last line has no end");
        }
        self.lines
    }
}

/// Keys of an object's text that stand in it more than once: readers disagree on which counts.
fn repeated_keys(text: &str) -> Vec<String> {
    struct Keys(Vec<String>);

    impl<'de> Deserialize<'de> for Keys {
        fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
            object.deserialize_map(Self(Vec::new()))
        }
    }

    impl<'de> Visitor<'de> for Keys {
        type Value = Self;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<Self, A::Error> {
            let mut seen = HashSet::new();
            while let Some((key, IgnoredAny)) = fields.next_entry::<String, IgnoredAny>()? {
                if !seen.insert(key.clone()) {
                    self.0.push(key);
                }
            }
            Ok(self)
        }
    }

    serde_json::from_str(text).map_or_else(|_| Vec::new(), |Keys(repeated)| repeated)
}

fn envelope(line: &mut Line, found: &mut Found) {
    let number = line.number;
    let kind = line.text("type").to_owned();
    if kind.is_empty() {
        found.add(number, rule::ENVELOPE, "no type");
    }
    if !is_timestamp(line.text("ts")) {
        let ts = line.get("ts");
        found.add(
            number,
            rule::ENVELOPE,
            format!("ts is {ts}, expected UTC with milliseconds"),
        );
    }
    line.agent = line.get("agentId").as_str().map(str::to_owned);
    line.turn = line.get("turn").as_u64();
    let of_run = RUN_SCOPED.contains(&kind.as_str());
    let of_agent = AGENT_SCOPED.contains(&kind.as_str());
    if of_run && line.agent.is_some() {
        found.add(
            number,
            rule::ENVELOPE,
            format!("{kind} is of the run and names an agent"),
        );
    }
    if of_agent && line.agent.is_none() {
        found.add(number, rule::ENVELOPE, format!("{kind} names no agent"));
    }
    if TURN_SCOPED.contains(&kind.as_str()) && line.turn.is_none() {
        found.add(number, rule::ENVELOPE, format!("{kind} names no turn"));
    }
    line.kind = kind;
}

/// `2026-01-31T09:08:07.123Z`
fn is_timestamp(text: &str) -> bool {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd.dddZ";
    text.len() == SHAPE.len()
        && text.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
            b'd' => byte.is_ascii_digit(),
            other => byte == *other,
        })
}
