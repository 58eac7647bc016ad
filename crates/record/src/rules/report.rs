//! The rules asked of a stream that somebody recorded: whole, killed, damaged or no stream at all.
//!
//! [`read`] takes it from a reader, line by line; what it keeps grows with the number of lines, not
//! with their texts. How the process ended is told by the stream itself: with a `session_ended` it
//! finished, without one it was killed or has not ended yet, and only what needs no end is asked.

use std::io::{self, BufRead};

use serde_json::Value;

use super::line::{Line, Parser, is_known};
use super::{Ending, Found, Violation, judge};
use crate::stream::LINE_CEILING_BYTES;

/// Bytes of a line that are kept to be read. A damaged stream may have joined some lines; what is
/// longer has no lines.
const LONGEST: usize = 4 * LINE_CEILING_BYTES;

/// What the checker says of a recorded stream.
#[derive(Clone, Debug)]
pub struct Report {
    /// What breaks a rule, by line; the first ten thousand that were met.
    pub violations: Vec<Violation>,
    /// Violations beyond those.
    pub left_out: u64,
    /// Whether the stream has its end.
    pub ending: Ending,
    /// What there was to check.
    pub counts: Counts,
    /// What the stream says of its run.
    pub run: RunFacts,
}

impl Report {
    /// Whether nothing breaks a rule.
    pub const fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// Everything that breaks a rule, counted.
    pub const fn broken(&self) -> u64 {
        self.violations.len() as u64 + self.left_out
    }
}

/// What there was to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines, blank and unreadable ones too, without a last one that has no end.
    pub lines: u64,
    /// Lines that are objects.
    pub events: u64,
    /// Of these, those of a type that is not known here.
    pub unknown: u64,
    /// Incarnations.
    pub agents: u64,
    /// Exchanges with a model.
    pub exchanges: u64,
    /// Calls of tools and of operations.
    pub calls: u64,
}

/// What a stream says of its run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// Its session, where a line is that of one.
    pub session: Option<String>,
    /// The routing key, which no two runs share.
    pub routing_key: Option<String>,
    /// Where it worked.
    pub workspace: Option<String>,
    /// Status and exit code, where it ended.
    pub ended: Option<(String, u64)>,
}

/// Checks a stream, however it ended. The error is one of reading.
pub fn read(mut reader: impl BufRead) -> io::Result<Report> {
    let mut found = Found::default();
    let mut parser = Parser::default();
    let mut run = RunFacts::default();
    let mut piece = Vec::new();
    loop {
        let bytes = next(&mut reader, &mut piece)?;
        match piece.pop() {
            None => break,
            Some(b'\n') if bytes > LONGEST as u64 => parser.too_long(bytes, &mut found),
            Some(b'\n') => {
                if run.session.is_none() {
                    run.begin(&piece);
                }
                parser.take(&piece, &mut found);
            }
            Some(_) => {
                parser.torn = true;
                break;
            }
        }
    }
    let last = parser.lines().iter().rev();
    let end = last.into_iter().find(|line| line.kind == "session_ended");
    run.ended = end.map(|line| {
        let code = line.get("exitCode").as_u64().unwrap_or_default();
        (line.text("status").to_owned(), code)
    });
    let ending = if end.is_some() {
        Ending::Finished
    } else {
        Ending::Killed
    };
    let taken = parser.taken() as u64;
    let lines = parser.conclude(ending, &mut found);
    judge(&lines, ending, &mut found);
    Ok(Report {
        counts: Counts::of(&lines, taken),
        violations: found.violations,
        left_out: found.left_out,
        ending,
        run,
    })
}

/// Reads to the next line end: its bytes as they are, or only its last one where there are more
/// than a line can have. The answer is how many there were.
fn next(reader: &mut impl BufRead, piece: &mut Vec<u8>) -> io::Result<u64> {
    piece.clear();
    let mut bytes = 0;
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr::memchr(b'\n', buffer);
        let part = end.map_or(buffer, |at| &buffer[..=at]);
        let taken = part.len();
        bytes += taken as u64;
        if bytes <= LONGEST as u64 {
            piece.extend_from_slice(part);
        } else if let Some(last) = part.last() {
            piece.clear();
            piece.push(*last);
        }
        reader.consume(taken);
        if end.is_some() || taken == 0 {
            return Ok(bytes);
        }
    }
}

impl RunFacts {
    /// What the first event says.
    fn begin(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        let text = |field: &str| line[field].as_str().map(str::to_owned);
        if line["type"].is_string() {
            self.session = text("sessionId");
            self.routing_key = text("routingKey");
            self.workspace = text("workspace");
        }
    }
}

impl Counts {
    fn of(lines: &[Line], taken: u64) -> Self {
        let mut counts = Self {
            lines: taken,
            events: lines.len() as u64,
            ..Self::default()
        };
        for line in lines {
            match line.kind.as_str() {
                "agent_spawned" => counts.agents += 1,
                "prompt" => counts.exchanges += 1,
                "tool_call" | "api_call" => counts.calls += 1,
                kind if !is_known(kind) => counts.unknown += 1,
                _ => {}
            }
        }
        counts
    }
}
