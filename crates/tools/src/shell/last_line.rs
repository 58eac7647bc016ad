//! The last line of a stream that is not blank: where a hook's script says what it decided
//! (01 §8.3).
//!
//! Always true: the stream is read whole, and what is kept of it is two lines of bounded length.

/// The longest line that is kept.
const LONGEST: usize = 8 << 20;

/// The last line that is not blank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LastLine {
    /// Nothing but blank lines was written.
    #[default]
    Nothing,
    /// It is this, without blanks around it. What is no UTF-8 in it is U+FFFD.
    Line(String),
    /// It has more than 8 MiB.
    TooLong,
}

/// Watches a stream go by.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    last: Kept,
    open: Kept,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    too_long: bool,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        if self.too_long || self.bytes.len() + bytes.len() > LONGEST {
            self.too_long = true;
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    fn is_blank(&self) -> bool {
        !self.too_long && self.bytes.iter().all(u8::is_ascii_whitespace)
    }

    fn line(&self) -> LastLine {
        if self.too_long {
            return LastLine::TooLong;
        }
        let text = String::from_utf8_lossy(&self.bytes);
        match text.trim() {
            "" => LastLine::Nothing,
            line => LastLine::Line(line.to_owned()),
        }
    }
}

impl Watch {
    /// Takes the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.open.add(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.open);
                if !line.is_blank() {
                    self.last = line;
                }
            }
        }
    }

    /// The line, if the stream ends here.
    pub(crate) fn line(&self) -> LastLine {
        if self.open.is_blank() {
            self.last.line()
        } else {
            self.open.line()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(pieces: &[&[u8]]) -> LastLine {
        let mut watch = Watch::default();
        for piece in pieces {
            watch.take(piece);
        }
        watch.line()
    }

    fn line(text: &str) -> LastLine {
        LastLine::Line(text.to_owned())
    }

    #[test]
    fn the_last_line_that_says_something_counts_with_or_without_its_end() {
        assert_eq!(last(&[b"a\nb"]), line("b"));
        assert_eq!(last(&[b"a\nb\r\n\n \t\n"]), line("b"));
        assert_eq!(last(&[b"a\n", b"b", b"c", b"\n  "]), line("bc"));
        assert_eq!(last(&[b"", b"\n \n"]), LastLine::Nothing);
        assert_eq!(last(&[]), LastLine::Nothing);
    }

    #[test]
    fn a_line_too_long_is_forgotten_once_another_follows() {
        let long = vec![b'x'; LONGEST];
        assert!(matches!(last(&[&long]), LastLine::Line(_)));
        assert_eq!(last(&[&long, b"x\n\n"]), LastLine::TooLong);
        assert_eq!(last(&[&long, b"x\n", b"yes"]), line("yes"));
    }

    proptest::proptest! {
        /// However reads cut the bytes, the line is that of the whole text.
        #[test]
        fn cuts_do_not_show(text in "[ a漢\n]{0,40}", cuts in proptest::collection::vec(0_usize..9, 0..9)) {
            let mut watch = Watch::default();
            let mut rest = text.as_bytes();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                watch.take(piece);
                rest = after;
            }
            watch.take(rest);
            let expected = text.lines().rfind(|line| !line.trim().is_empty());
            let expected = expected.map_or(LastLine::Nothing, |found| line(found.trim()));
            proptest::prop_assert_eq!(watch.line(), expected);
        }
    }
}
