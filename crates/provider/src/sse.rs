//! Server-sent events, as far as a completion stream uses them (WHATWG HTML §9.2).
//!
//! Bytes go in as they arrive, cut anywhere; whole events come out. Lines end in LF, CR LF or CR;
//! comments, blank lines and every field but `data` are passed over. Two liberties are taken with
//! what servers send in the field: a `data` line that follows a whole JSON value starts an event
//! of its own even where the blank line between them is missing, and the last event counts even
//! where nothing ends it.
//!
//! Always true: the events do not depend on where the bytes were cut, and what is held is at most
//! one event of [`LARGEST_EVENT`] bytes.

use serde::de::IgnoredAny;

/// Bytes of one event, or of one line, that are taken at most.
pub const LARGEST_EVENT: usize = 16 * 1024 * 1024;

/// Lines of one event that are joined at most.
const MOST_LINES: usize = 4096;

/// One event: its data, the lines joined by LF. Not yet known to be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What followed `data:`.
    pub data: Vec<u8>,
}

/// An event that is too large to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is larger than {LARGEST_EVENT} bytes or {MOST_LINES} lines")]
pub struct TooLarge;

/// The state between two pieces of a stream.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    data: Vec<u8>,
    /// `data` lines in `data`.
    lines: usize,
    after_cr: bool,
    past_first_line: bool,
}

impl Decoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and appends the events they complete, in order. Those before what is
    /// too large are appended all the same.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLarge> {
        let mut rest = bytes;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            self.hold(&rest[..end])?;
            let cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if cr {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            self.end_line(events)?;
        }
        self.hold(rest)
    }

    /// The end of the stream: the event that nothing ended, if there is one.
    pub fn finish(mut self) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut events)?;
        }
        self.dispatch(&mut events);
        Ok(events)
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + bytes.len() > LARGEST_EVENT {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, events: &mut Vec<Event>) -> Result<(), TooLarge> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.past_first_line, true) && line.starts_with(b"\xEF\xBB\xBF")
        {
            line.drain(..3);
        }
        if line.is_empty() {
            self.dispatch(events);
        } else if let Some(value) = line.strip_prefix(b"data:") {
            self.data_line(value.strip_prefix(b" ").unwrap_or(value), events)?;
        } else if line == b"data" {
            self.data_line(b"", events)?;
        }
        line.clear();
        self.line = line; // its buffer serves the next line
        Ok(())
    }

    fn data_line(&mut self, value: &[u8], events: &mut Vec<Event>) -> Result<(), TooLarge> {
        if self.lines > 0 {
            if serde_json::from_slice::<IgnoredAny>(&self.data).is_ok() {
                self.dispatch(events);
            } else if self.data.len() + value.len() >= LARGEST_EVENT || self.lines >= MOST_LINES {
                return Err(TooLarge);
            } else {
                self.data.push(b'\n');
            }
        }
        self.data.extend_from_slice(value);
        self.lines += 1;
        Ok(())
    }

    fn dispatch(&mut self, events: &mut Vec<Event>) {
        if self.lines > 0 {
            self.lines = 0;
            events.push(Event {
                data: std::mem::take(&mut self.data),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::new();
        let mut events = Vec::new();
        for piece in pieces {
            decoder.push(piece, &mut events).unwrap();
        }
        events.extend(decoder.finish().unwrap());
        events
            .into_iter()
            .map(|event| String::from_utf8(event.data).unwrap())
            .collect()
    }

    #[test]
    fn every_line_end_separates_events() {
        for end in ["\n", "\r\n", "\r"] {
            let stream =
                ": note\n\ndata: a\n\ndata:b\nid: 7\n\n\n\ndata:  c\n\n".replace('\n', end);
            assert_eq!(decode(&[stream.as_bytes()]), ["a", "b", " c"], "{end:?}");
        }
    }

    #[test]
    fn data_lines_of_one_event_are_joined() {
        assert_eq!(decode(&[b"data: {\ndata: }\ndata\n\n"]), ["{\n}", ""]);
        assert_eq!(decode(&[b"data\n\n", b"data:\n\n"]), ["", ""]);
    }

    #[test]
    fn a_missing_blank_line_does_not_join_whole_values() {
        assert_eq!(
            decode(&[b"data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n"]),
            ["{\"a\":1}", "{\"b\":2}", "[DONE]"]
        );
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_once() {
        assert_eq!(decode(&[b"\xEF\xBB", b"\xBFdata: a\n\n"]), ["a"]);
    }

    #[test]
    fn an_unended_event_counts() {
        assert_eq!(decode(&[b"data: [DONE]"]), ["[DONE]"]);
        assert_eq!(decode(&[b"data: a\n"]), ["a"]);
        assert!(decode(&[b"dat"]).is_empty());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut decoder = Decoder::new();
        let piece = vec![b'x'; 1 << 20];
        let refused = (0..17).find_map(|_| decoder.push(&piece, &mut Vec::new()).err());
        assert_eq!(refused, Some(TooLarge));
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_events(
            stream in "(data: ?[a-zé日𝄞{}\"]{0,6}|: c|event: x|data|)((\r\n|\n|\r){1,3}(data: ?[a-zé日𝄞{}\"]{0,6}|:|id: 1|data|)){0,12}",
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let bytes = stream.as_bytes();
            let whole = decode(&[bytes]);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
            prop_assert_eq!(&decode(&pieces), &whole);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(&decode(&single), &whole);
        }
    }
}
