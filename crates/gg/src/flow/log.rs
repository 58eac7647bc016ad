//! Reading a flow log: every line that can be read, and a tally of what cannot.
//!
//! Names are interned, so a log of a million messages takes some tens of megabytes. A run that was
//! killed leaves a half line at the end and no closing line; a copy may be damaged anywhere. None
//! of that is an error here: it becomes a sentence of [`FlowLog::remarks`].

use std::collections::HashMap;
use std::io::{self, BufRead};

use actors::flow::{FlowEnd, FlowLine};
use record::lines::piece;

use crate::page::plural;

/// One message. Names are places in [`FlowLog::names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Microseconds since the Unix epoch when its handler began.
    pub(crate) began_us: i64,
    /// Its place in the log as written.
    pub(crate) seq: u64,
    /// The sending actor.
    pub(crate) from: u32,
    /// The receiving actor.
    pub(crate) to: u32,
    /// The message's type.
    pub(crate) kind: u32,
    /// Time in the mailbox.
    pub(crate) queued_us: u64,
    /// Time in the handler.
    pub(crate) handled_us: u64,
    /// Of that, ready to run and without a processor.
    pub(crate) displaced_us: Option<u64>,
    /// Messages in the mailbox.
    pub(crate) depth: u32,
}

impl Message {
    /// When it was sent.
    pub(crate) fn sent_us(&self) -> i64 {
        self.began_us.saturating_sub_unsigned(self.queued_us)
    }

    /// When its handler returned.
    pub(crate) fn returned_us(&self) -> i64 {
        self.began_us.saturating_add_unsigned(self.handled_us)
    }
}

/// A log as far as it could be read.
#[derive(Debug, Default)]
pub(crate) struct FlowLog {
    /// Every readable message, in the order of the log, which is that of handling.
    pub(crate) messages: Vec<Message>,
    names: Vec<String>,
    /// What a reader must know before trusting the figures, a sentence each.
    pub(crate) remarks: Vec<String>,
    /// The closing line, where the log has one.
    pub(crate) end: Option<FlowEnd>,
}

impl FlowLog {
    /// The name an id stands for.
    pub(crate) fn name(&self, id: u32) -> &str {
        &self.names[id as usize]
    }

    /// Every actor of these messages, in the order in which they first send or receive.
    pub(crate) fn actors(&self, messages: &[Message]) -> Vec<u32> {
        let mut seen = vec![false; self.names.len()];
        let mut actors = Vec::new();
        for id in messages.iter().flat_map(|m| [m.from, m.to]) {
            if !std::mem::replace(&mut seen[id as usize], true) {
                actors.push(id);
            }
        }
        actors
    }

    /// From the first sending to the last return, in microseconds.
    pub(crate) fn span_us(&self) -> u64 {
        let first = self.messages.iter().map(Message::sent_us).min();
        let last = self.messages.iter().map(Message::returned_us).max();
        match (first, last) {
            (Some(first), Some(last)) => last.saturating_sub(first).unsigned_abs(),
            _ => 0,
        }
    }
}

/// Reads a log to its end. An error is a failure of the disk, or a file whose lines have no end.
pub(crate) fn read(mut input: impl BufRead) -> io::Result<FlowLog> {
    let mut reader = Reader::default();
    let mut number = 0;
    while let Some(line) = piece(&mut input, number + 1)? {
        number += 1;
        reader.line(&line);
    }
    Ok(reader.finish())
}

#[derive(Default)]
struct Reader {
    log: FlowLog,
    ids: HashMap<String, u32>,
    lines: u64,
    bad: u64,
    first_bad: Option<(u64, String)>,
    gaps: u64,
    first_gap: Option<u64>,
    expected_seq: u64,
    after_end: u64,
}

impl Reader {
    fn line(&mut self, bytes: &[u8]) {
        self.lines += 1;
        let whole = bytes.last() == Some(&b'\n');
        let text = bytes.trim_ascii();
        if text.is_empty() && whole {
            return;
        }
        match understand(text) {
            Ok(Read::Message(line, began_us)) => self.message(&line, began_us),
            Ok(Read::End(end)) => {
                self.log.end = Some(end);
                return;
            }
            Err(why) => {
                self.bad += 1;
                let why = if whole { why } else { "it is cut".to_owned() };
                self.first_bad.get_or_insert((self.lines, why));
                // A bad line most likely held one message, so it makes no second remark as a gap.
                self.expected_seq += 1;
                return;
            }
        }
        if self.log.end.is_some() {
            self.after_end += 1;
        }
    }

    fn message(&mut self, line: &FlowLine, began_us: i64) {
        if line.seq != self.expected_seq {
            self.gaps += 1;
            self.first_gap.get_or_insert(self.lines);
        }
        self.expected_seq = line.seq.saturating_add(1);
        let message = Message {
            began_us,
            seq: line.seq,
            from: self.id(&line.from),
            to: self.id(&line.to),
            kind: self.id(&line.message),
            queued_us: line.queued_us,
            handled_us: line.handled_us,
            displaced_us: line.displaced_us,
            depth: line.depth,
        };
        self.log.messages.push(message);
    }

    fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.log.names.len() as u32;
        self.log.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    fn finish(mut self) -> FlowLog {
        let mut remarks = Vec::new();
        if let Some((line, why)) = self.first_bad {
            let of = self.lines;
            remarks.push(match self.bad {
                1 => format!("1 of {of} lines could not be read: line {line} ({why})"),
                bad => format!(
                    "{bad} of {of} lines could not be read, the first of them line {line} ({why})"
                ),
            });
        }
        if let Some(line) = self.first_gap {
            remarks.push(format!(
                "`seq` does not go on by one at {}, the first at line {line}: messages are missing \
                 or out of order",
                plural(self.gaps, "place")
            ));
        }
        let read = self.log.messages.len() as u64;
        match self.log.end {
            None if self.lines > 0 => remarks.push(
                "there is no closing line: the run was killed, or is not over yet".to_owned(),
            ),
            None => remarks.push("the log is empty".to_owned()),
            Some(end) if end.messages != read => remarks.push(format!(
                "the closing line counts {}, of which {read} could be read",
                plural(end.messages, "message")
            )),
            Some(_) => {}
        }
        if self.after_end > 0 {
            remarks.push(format!(
                "{} after the closing line: two runs may have written to one file",
                plural(self.after_end, "message")
            ));
        }
        self.log.remarks = remarks;
        settle(&mut self.log.messages);
        self.log
    }
}

/// Undoes the rounding of `ts`. Handlers run one after another on one thread, so where a handler
/// seems to begin before the last one returned, within the coarsest unit a log may be stamped in,
/// it began when that one returned.
fn settle(messages: &mut [Message]) {
    const COARSEST_US: i64 = 1_000;
    let mut free_us = i64::MIN;
    for message in messages {
        let early = free_us.saturating_sub(message.began_us);
        if (1..=COARSEST_US).contains(&early) {
            message.began_us = free_us;
        }
        free_us = message.returned_us();
    }
}

enum Read {
    Message(FlowLine, i64),
    End(FlowEnd),
}

fn understand(text: &[u8]) -> Result<Read, String> {
    match serde_json::from_slice::<FlowLine>(text) {
        Ok(line) => match line.ts.parse::<jiff::Timestamp>() {
            Ok(began) => {
                let began_us = began.as_microsecond();
                Ok(Read::Message(line, began_us))
            }
            Err(_) => Err(format!("`ts` is \"{}\", no RFC 3339 time", line.ts)),
        },
        Err(error) => match serde_json::from_slice::<FlowEnd>(text) {
            Ok(end) if end.end => Ok(Read::End(end)),
            _ => Err(reason(&error)),
        },
    }
}

/// `serde_json`'s words without its place: a line of a log is always "line 1".
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split_once(" at line ")
        .map_or(text.as_str(), |(reason, _)| reason)
        .to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A message of a test log; `at` is when its handler began, in microseconds after midnight.
    pub(crate) fn line(seq: u64, at: u64, from: &str, to: &str, message: &str) -> String {
        let (seconds, us) = (at / 1_000_000, at % 1_000_000);
        let depth = 1 + seq % 3;
        format!(
            "{{\"ts\":\"2026-01-02T00:00:{seconds:02}.{us:06}Z\",\"seq\":{seq},\"from\":\"{from}\",\
             \"to\":\"{to}\",\"message\":\"{message}\",\"queuedUs\":{},\"handledUs\":{},\
             \"depth\":{depth}}}\n",
            10 + seq,
            100 + 10 * seq,
        )
    }

    /// The closing line of a test log.
    pub(crate) fn end(messages: u64) -> String {
        format!("{{\"end\":true,\"messages\":{messages},\"unhandled\":0}}\n")
    }

    /// A log of two turns between six actors.
    pub(crate) fn two_turns() -> String {
        let mut text = String::new();
        let mut seq = 0;
        let mut say = |from: &str, to: &str, message: &str| {
            text.push_str(&line(seq, 1_000 * seq, from, to, message));
            seq += 1;
        };
        say("main", "Supervisor", "Start");
        for _ in 0..2 {
            say("Agent root", "Supervisor", "Boundary");
            say("Agent root", "Scheduler", "Acquire");
            say("Agent root", "ProviderClient mock/demo", "Complete");
            say("Agent root", "Telemetry", "Emit");
            say("Agent root", "Telemetry", "Emit");
            say("Agent root", "Telemetry", "Emit");
            say("Agent root", "Supervisor", "RecordTurn");
        }
        say("Agent root", "Supervisor", "Ended");
        text.push_str(&end(seq));
        text
    }

    pub(crate) fn log(text: &str) -> FlowLog {
        read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_whole_log_has_no_remarks() {
        let log = log(&two_turns());
        assert_eq!(log.messages.len(), 16);
        assert_eq!(log.remarks, Vec::<String>::new());
        assert_eq!(log.actors(&log.messages).len(), 6);
        assert_eq!(log.span_us(), 10 + 15_000 + 250);
    }

    #[test]
    fn milliseconds_and_offsets_are_times_too() {
        let text = line(0, 0, "a", "b", "M").replace("00:00:00.000000Z", "01:00:00.5+01:00");
        assert_eq!(log(&text).messages[0].began_us % 1_000_000, 500_000);
    }

    #[test]
    fn handlers_stamped_within_one_millisecond_stand_one_after_another() {
        let text = line(0, 2_000, "a", "b", "M")
            + &line(1, 2_000, "a", "b", "M")
            + &line(2, 2_000, "a", "b", "M")
            + &line(3, 9_000, "a", "b", "M");
        let began: Vec<i64> = log(&text)
            .messages
            .iter()
            .map(|m| m.began_us % 1_000_000)
            .collect();
        assert_eq!(began, [2_000, 2_100, 2_210, 9_000]);
    }

    #[test]
    fn a_cut_log_says_where_and_keeps_the_rest() {
        let text = two_turns();
        let log = log(&text[..text.len() * 2 / 3]);
        assert_eq!(log.messages.len(), 10);
        assert_eq!(
            log.remarks,
            [
                "1 of 11 lines could not be read: line 11 (it is cut)",
                "there is no closing line: the run was killed, or is not over yet",
            ]
        );
    }

    #[test]
    fn damage_in_the_middle_is_counted_at_its_line() {
        let mut lines: Vec<String> = two_turns().lines().map(|l| format!("{l}\n")).collect();
        lines[3] = "{\"ts\":\"yesterday\",\"seq\":3,\"from\":\"a\",\"to\":\"b\",\"message\":\"M\",\
                    \"queuedUs\":0,\"handledUs\":0,\"depth\":0}\n"
            .to_owned();
        lines[5] = "\u{0}\u{0}\n".to_owned();
        lines.remove(8);
        let log = log(&lines.concat());
        assert_eq!(log.messages.len(), 13);
        assert_eq!(
            log.remarks,
            [
                "2 of 16 lines could not be read, the first of them line 4 (`ts` is \"yesterday\", \
                 no RFC 3339 time)",
                "`seq` does not go on by one at 1 place, the first at line 9: messages are missing \
                 or out of order",
                "the closing line counts 16 messages, of which 13 could be read",
            ]
        );
    }

    #[test]
    fn an_empty_file_and_two_runs_in_one_file_are_said() {
        assert_eq!(log("").remarks, ["the log is empty"]);
        let twice = two_turns() + &two_turns();
        let remarks = log(&twice).remarks;
        assert!(remarks.last().unwrap().contains("two runs"), "{remarks:?}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_to_the_end(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            read(bytes.as_slice()).unwrap();
        }

        #[test]
        // Without its last line end alone, a log is still whole.
        fn a_log_cut_anywhere_keeps_every_whole_line(cut in 0..two_turns().len() - 1) {
            let text = two_turns();
            let whole = text[..cut].matches("\"from\"").count();
            let log = log(&text[..cut]);
            // A line without its line end may still be whole.
            prop_assert!(log.messages.len() == whole || log.messages.len() + 1 == whole);
            prop_assert!(!log.remarks.is_empty());
        }
    }
}
