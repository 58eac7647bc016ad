//! What a command wrote, held in bounded memory: the merged tail in order of arrival, the tail and
//! the figures of each stream, and both streams on disk where the policy keeps them there.
//!
//! Bytes are decoded as they come; what is no UTF-8 becomes U+FFFD in text and stays as it is on
//! disk. A character that two reads split is put together first, so that the other stream never
//! lands inside it.

use std::borrow::Cow;

use super::last_line::{LastLine, Watch};
use super::lines::Lines;
use super::spool::Pair;
use crate::text;

/// Bytes that stand behind every output policy.
pub(crate) const BYTE_CAP: usize = 16_384;

/// Characters of each stream a record keeps.
const RECORDED: u64 = 16_384;

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Stdout,
    Stderr,
}

/// The end of a text that went by.
#[derive(Debug)]
pub(crate) struct Tail {
    text: String,
    /// Bytes that are kept in any case.
    bytes: usize,
    dropped: bool,
}

impl Tail {
    pub(crate) fn of(bytes: usize) -> Self {
        Self {
            text: String::new(),
            bytes,
            dropped: false,
        }
    }

    pub(crate) fn take(&mut self, piece: &str) {
        let from = text::ceil(piece, piece.len().saturating_sub(self.bytes + 3));
        if from > 0 {
            self.text.clear();
            self.dropped = true;
        }
        self.text.push_str(&piece[from..]);
        // Cut only when it has grown to twice its size, so that each byte is moved once at most.
        if self.text.len() > self.bytes.saturating_mul(2) + 8 {
            self.text
                .drain(..text::ceil(&self.text, self.text.len() - self.bytes - 3));
            self.dropped = true;
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether text before this one is gone.
    pub(crate) fn dropped(&self) -> bool {
        self.dropped
    }
}

/// One stream.
#[derive(Debug)]
struct Stream {
    /// The first bytes of a character whose rest has not come yet.
    split: Vec<u8>,
    tail: Tail,
    lines: Lines,
}

impl Default for Stream {
    fn default() -> Self {
        // A character has at most four bytes.
        let tail = Tail::of(RECORDED as usize * 4);
        Self {
            split: Vec::new(),
            tail,
            lines: Lines::default(),
        }
    }
}

impl Stream {
    /// The text of the next bytes, as far as it is whole.
    fn decode<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        if self.split.is_empty() {
            let (whole, split) = bytes.split_at(bytes.len() - unfinished(bytes));
            self.split.extend_from_slice(split);
            return String::from_utf8_lossy(whole);
        }
        let mut joined = std::mem::take(&mut self.split);
        joined.extend_from_slice(bytes);
        self.split = joined.split_off(joined.len() - unfinished(&joined));
        Cow::Owned(String::from_utf8_lossy(&joined).into_owned())
    }

    /// The last characters, and how many stood before them.
    fn recorded(&self) -> (String, u64) {
        let text = self.tail.text();
        let text = &text[text::last_chars(text, RECORDED)..];
        (text.to_owned(), self.lines.chars().saturating_sub(RECORDED))
    }
}

/// Bytes at the end that begin a character and do not finish it.
fn unfinished(bytes: &[u8]) -> usize {
    let last = &bytes[bytes.len().saturating_sub(3)..];
    (0..last.len())
        .map(|at| &last[at..])
        .find(|end| {
            std::str::from_utf8(end)
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .map_or(0, <[u8]>::len)
}

/// Everything kept of one command's output.
#[derive(Debug)]
pub(crate) struct Capture {
    merged: Tail,
    stdout: Stream,
    stderr: Stream,
    last_line: Option<Watch>,
    disk: Option<Result<Pair, String>>,
}

impl Capture {
    /// `disk` is the pair of files, why there is none, or `None` where none is wanted.
    pub(crate) fn new(disk: Option<Result<Pair, String>>) -> Self {
        Self {
            merged: Tail::of(BYTE_CAP),
            stdout: Stream::default(),
            stderr: Stream::default(),
            last_line: None,
            disk,
        }
    }

    /// Keeps the last line of stdout that is not blank, wherever it stands.
    pub(crate) fn watch_last_line(&mut self) {
        self.last_line = Some(Watch::default());
    }

    /// That line, once the streams have ended.
    pub(crate) fn last_line(&self) -> LastLine {
        let watch = self.last_line.as_ref();
        watch.map_or(LastLine::Nothing, Watch::line)
    }

    /// Takes the next bytes of a stream.
    pub(crate) fn take(&mut self, source: Source, bytes: &[u8]) {
        self.spool(source, bytes);
        let stream = match source {
            Source::Stdout => {
                if let Some(watch) = &mut self.last_line {
                    watch.take(bytes);
                }
                &mut self.stdout
            }
            Source::Stderr => &mut self.stderr,
        };
        let piece = stream.decode(bytes);
        stream.tail.take(&piece);
        stream.lines.take(&piece);
        self.merged.take(&piece);
    }

    /// Puts bytes on disk and nowhere else: what comes after the result was told.
    pub(crate) fn spool(&mut self, source: Source, bytes: &[u8]) {
        if let Some(Ok(pair)) = &mut self.disk
            && let Err(reason) = pair.write(source, bytes)
        {
            self.disk = Some(Err(reason));
        }
    }

    /// Ends both streams: characters and lines that were open are closed as they are.
    pub(crate) fn finish(&mut self) {
        for stream in [&mut self.stdout, &mut self.stderr] {
            if !stream.split.is_empty() {
                stream.split.clear();
                stream.tail.take("\u{fffd}");
                stream.lines.take("\u{fffd}");
                self.merged.take("\u{fffd}");
            }
            stream.lines.finish();
        }
    }

    pub(crate) fn merged(&self) -> &Tail {
        &self.merged
    }

    pub(crate) fn lines(&self, source: Source) -> &Lines {
        match source {
            Source::Stdout => &self.stdout.lines,
            Source::Stderr => &self.stderr.lines,
        }
    }

    /// The last 16,384 characters of a stream, and how many stood before them.
    pub(crate) fn recorded(&self, source: Source) -> (String, u64) {
        match source {
            Source::Stdout => self.stdout.recorded(),
            Source::Stderr => self.stderr.recorded(),
        }
    }

    pub(crate) fn disk(&self) -> Option<Result<&Pair, &str>> {
        self.disk
            .as_ref()
            .map(|disk| disk.as_ref().map_err(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_split_between_reads_is_put_together() {
        let mut capture = Capture::new(None);
        capture.take(Source::Stdout, b"a\xe6\xbc");
        capture.take(Source::Stderr, b"!");
        capture.take(Source::Stdout, b"\xa2b");
        capture.finish();
        assert_eq!(capture.merged().text(), "a!漢b");
        assert_eq!(capture.recorded(Source::Stdout), ("a漢b".to_owned(), 0));
    }

    #[test]
    fn what_is_no_utf8_is_marked_once_it_is_sure() {
        let mut capture = Capture::new(None);
        capture.take(Source::Stdout, b"a\xffb\xf0\x9f");
        assert_eq!(capture.merged().text(), "a\u{fffd}b");
        capture.finish();
        assert_eq!(capture.merged().text(), "a\u{fffd}b\u{fffd}");
        assert_eq!(capture.lines(Source::Stdout).chars(), 4);
    }

    #[test]
    fn a_record_keeps_the_last_characters_and_counts_the_rest() {
        let mut capture = Capture::new(None);
        for _ in 0..100 {
            capture.take(Source::Stderr, "漢".repeat(1_000).as_bytes());
        }
        capture.finish();
        let (kept, dropped) = capture.recorded(Source::Stderr);
        assert_eq!(kept, "漢".repeat(16_384));
        assert_eq!(dropped, 100_000 - 16_384);
        assert!(capture.merged().text().len() >= BYTE_CAP && capture.merged().dropped());
    }

    proptest::proptest! {
        /// However reads cut the bytes, the text is that of all of them at once.
        #[test]
        fn cuts_do_not_show(bytes: Vec<u8>, cuts in proptest::collection::vec(0_usize..9, 0..9)) {
            let mut capture = Capture::new(None);
            let mut rest = &bytes[..];
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                capture.take(Source::Stdout, piece);
                rest = after;
            }
            capture.take(Source::Stdout, rest);
            capture.finish();
            proptest::prop_assert_eq!(capture.merged().text(), String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn a_tail_is_the_end_of_the_text(pieces in proptest::collection::vec("[a漢]{0,20}", 0..20)) {
            let mut tail = Tail::of(8);
            let mut whole = String::new();
            for piece in &pieces {
                tail.take(piece);
                whole += piece;
            }
            proptest::prop_assert!(whole.ends_with(tail.text()));
            proptest::prop_assert_eq!(tail.dropped(), tail.text() != whole);
            proptest::prop_assert!(!tail.dropped() || tail.text().len() >= 8);
        }
    }
}
