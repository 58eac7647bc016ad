//! From an emission to its line: the envelope spliced into the serialized event.
//!
//! The event serializes itself as `{"type":"…",…}`; the envelope's members go right behind the
//! type, so every line starts with what a reader needs to skip it.

use serde::Serialize;
use vocab::ids::SessionId;

use super::LINE_CEILING_BYTES;
use super::time::Clock;
use crate::event::{Emission, Event, Log, LogLevel, Prompt};
use crate::json;
use crate::mask::Mask;

/// Serializes emissions into one reused buffer of lines.
pub(super) struct Encoder {
    lines: Vec<u8>,
    event: Vec<u8>,
    /// `,"sessionId":"…"`
    session: Vec<u8>,
    clock: Clock,
    digits: itoa::Buffer,
    seq: u64,
    mask: Mask,
}

impl Encoder {
    pub(super) fn new(session: &SessionId, mask: Mask) -> Self {
        let mut member = b",\"sessionId\":".to_vec();
        string(session.as_str(), &mut member);
        Self {
            lines: Vec::with_capacity(64 << 10),
            event: Vec::with_capacity(4 << 10),
            session: member,
            clock: Clock::new(),
            digits: itoa::Buffer::new(),
            seq: 0,
            mask,
        }
    }

    /// The next `seq`.
    pub(super) const fn seq(&self) -> u64 {
        self.seq
    }

    /// The lines not yet cleared.
    pub(super) fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// Forgets the lines, and the memory of an unusually long one.
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.lines.shrink_to(1 << 20);
        self.event.shrink_to(1 << 20);
    }

    pub(super) fn batch(&mut self, batch: &[Emission]) {
        for emission in batch {
            self.line(emission);
        }
    }

    fn line(&mut self, emission: &Emission) {
        self.event.clear();
        if let Err(why) = to_json(&emission.event, &mut self.event) {
            // A gap in `seq` would accuse the copy; a line that says what is missing does not.
            self.event.clear();
            let note = Event::Log(Log {
                level: LogLevel::Error,
                message: format!("an event could not be written: {why}"),
                code: Some("unwritable_event"),
            });
            to_json(&note, &mut self.event).expect("texts always serialize");
        }
        let start = self.lines.len();
        // `{"type":"name"`: a tag is a plain word, so its second quote ends it.
        let tag = TAG.len()
            + self.event[TAG.len()..]
                .iter()
                .take_while(|b| **b != b'"')
                .count();
        let (head, fields) = self.event.split_at((tag + 1).min(self.event.len()));
        self.lines.extend_from_slice(head);
        self.lines.extend_from_slice(b",\"ts\":\"");
        self.lines
            .extend_from_slice(self.clock.format(emission.at_ms));
        self.lines.extend_from_slice(b"\",\"seq\":");
        self.lines
            .extend_from_slice(self.digits.format(self.seq).as_bytes());
        self.lines.extend_from_slice(&self.session);
        if let Some(agent) = &emission.agent {
            self.lines.extend_from_slice(b",\"agentId\":");
            string(agent.as_str(), &mut self.lines);
        }
        if let Some(turn) = emission.turn {
            self.lines.extend_from_slice(b",\"turn\":");
            self.lines
                .extend_from_slice(self.digits.format(turn).as_bytes());
        }
        let envelope = self.lines.len() - start;
        self.lines.extend_from_slice(fields);
        json::keep_on_one_line(&mut self.lines, start);
        self.mask.apply_to_json(&mut self.lines, start);
        if self.lines.len() - start >= LINE_CEILING_BYTES {
            let mut line = self.lines.split_off(start);
            json::clip(&mut line, envelope, LINE_CEILING_BYTES - 1);
            self.lines.append(&mut line);
        }
        self.lines.push(b'\n');
        self.seq += 1;
    }
}

const TAG: &[u8] = b"{\"type\":\"";

fn to_json(event: &Event, out: &mut Vec<u8>) -> serde_json::Result<()> {
    if let Event::Prompt(prompt) = event {
        return prompt_to_json(prompt, out);
    }
    event.serialize(&mut serde_json::Serializer::new(out))
}

/// Up to where the ids of a `prompt` stand.
const BEFORE_IDS: &[u8] = b"{\"type\":\"prompt\",\"messages\":[";

/// The one event that grows with its run: each turn's names every message of its window. Its ids are
/// plain words, and go into the text as they are.
fn prompt_to_json(prompt: &Prompt, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let without_ids = Event::Prompt(Box::new(Prompt {
        messages: Vec::new(),
        reply: prompt.reply,
        finish_reason: prompt.finish_reason.clone(),
        tokens: prompt.tokens,
        duration_ms: prompt.duration_ms,
        provider: prompt.provider.clone(),
    }));
    let start = out.len();
    without_ids.serialize(&mut serde_json::Serializer::new(&mut *out))?;
    debug_assert!(out[start..].starts_with(BEFORE_IDS), "ids stand first");
    let rest = out.split_off(start + BEFORE_IDS.len());
    out.reserve(prompt.messages.len() * "\"0123456789abcdef\",".len() + rest.len());
    for (place, id) in prompt.messages.iter().enumerate() {
        out.extend_from_slice(if place == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(&id.digits());
        out.push(b'"');
    }
    out.extend_from_slice(&rest);
    Ok(())
}

fn string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a text serializes and a buffer takes it");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vocab::ids::MessageId;
    use vocab::usage::Tokens;

    use super::*;

    proptest! {
        #[test]
        fn a_prompt_is_written_as_it_would_serialize_itself(
            ids in proptest::collection::vec(any::<u64>(), 0..40),
            reply in proptest::option::of(any::<u64>()),
            finish_reason in proptest::option::of(".*"),
        ) {
            let event = Event::Prompt(Box::new(Prompt {
                messages: ids.into_iter().map(MessageId).collect(),
                reply: reply.map(MessageId),
                finish_reason,
                tokens: Tokens::default(),
                duration_ms: 7,
                provider: None,
            }));
            let mut written = Vec::new();
            to_json(&event, &mut written).unwrap();
            prop_assert_eq!(written, serde_json::to_vec(&event).unwrap());
        }
    }
}
