//! Lines a program printed, for the operator: the tail within three bounds (04 §14).

use std::collections::VecDeque;

use crate::contract::feedback::LogLevel;

const MAX_LINES: usize = 200;
const MAX_BYTES: usize = 16 * 1024;
const MAX_LINE_BYTES: usize = 2 * 1024;

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// How much it matters.
    pub level: LogLevel,
    /// Its first 2 KiB.
    pub text: String,
}

/// The last lines of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logs {
    /// In the order they were printed.
    pub lines: VecDeque<LogLine>,
    /// Lines that are gone, and lines that were cut.
    pub suppressed: u64,
    bytes: usize,
}

impl Logs {
    /// Adds a line; the oldest go where it would not fit.
    pub fn push(&mut self, level: LogLevel, line: &str) {
        let text = line[..line.floor_char_boundary(MAX_LINE_BYTES)].to_owned();
        if text.len() < line.len() {
            self.suppressed += 1;
        }
        self.bytes += text.len();
        self.lines.push_back(LogLine { level, text });
        while self.lines.len() > MAX_LINES || self.bytes > MAX_BYTES {
            let Some(gone) = self.lines.pop_front() else {
                break;
            };
            self.bytes -= gone.text.len();
            self.suppressed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_tail_stays_and_all_bounds_hold(
            lines in prop::collection::vec("[a-zäöü]{0,3000}", 0..300),
        ) {
            let mut logs = Logs::default();
            for line in &lines {
                logs.push(LogLevel::Info, line);
            }
            let bytes: usize = logs.lines.iter().map(|line| line.text.len()).sum();
            prop_assert!(logs.lines.len() <= MAX_LINES && bytes <= MAX_BYTES);
            let tail = &lines[lines.len() - logs.lines.len()..];
            for (kept, line) in logs.lines.iter().zip(tail) {
                prop_assert!(line.starts_with(&kept.text));
                prop_assert!(kept.text.len() <= MAX_LINE_BYTES);
            }
            prop_assert!(lines.is_empty() || !logs.lines.is_empty());
        }
    }
}
