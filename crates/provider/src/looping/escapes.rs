//! JSON text with its escapes undone, piece by piece.
//!
//! A program inside a call's arguments has its line ends written `\n`; read as they stand they
//! would glue its words together (R4). Escapes are undone wherever they stand: outside a string
//! JSON has none.

use super::words::{REPLACEMENT, encode};

/// The state between two pieces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Escapes {
    /// Outside an escape.
    #[default]
    Plain,
    /// Behind a backslash.
    Backslash,
    /// Behind `\u` and this many digits, which make this number.
    Unicode { digits: u8, unit: u32 },
}

impl Escapes {
    /// Appends what the next piece stands for. Halves of surrogate pairs are written each by
    /// itself. What is no escape of JSON stands as it is; digits that are none become U+FFFD.
    pub(super) fn undo(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let mut rest = piece;
        while let Some(&byte) = rest.first() {
            match *self {
                Self::Plain => {
                    let Some(at) = memchr::memchr(b'\\', rest) else {
                        out.extend_from_slice(rest);
                        return;
                    };
                    out.extend_from_slice(&rest[..at]);
                    rest = &rest[at + 1..];
                    *self = Self::Backslash;
                    continue;
                }
                Self::Backslash => {
                    *self = Self::Plain;
                    match byte {
                        b'n' => out.push(b'\n'),
                        b't' => out.push(b'\t'),
                        b'r' => out.push(b'\r'),
                        b'b' => out.push(0x08),
                        b'f' => out.push(0x0C),
                        b'"' | b'\\' | b'/' => out.push(byte),
                        b'u' => *self = Self::Unicode { digits: 0, unit: 0 },
                        _ => {
                            out.push(b'\\');
                            continue;
                        }
                    }
                }
                Self::Unicode { digits, unit } => {
                    let Some(digit) = char::from(byte).to_digit(16) else {
                        *self = Self::Plain;
                        encode(REPLACEMENT, out);
                        continue;
                    };
                    let unit = unit << 4 | digit;
                    *self = if digits < 3 {
                        let digits = digits + 1;
                        Self::Unicode { digits, unit }
                    } else {
                        encode(unit, out);
                        Self::Plain
                    };
                }
            }
            rest = &rest[1..];
        }
    }

    /// The end of the text: an escape that was cut off stands for what is there of it.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        match std::mem::take(self) {
            Self::Plain => {}
            Self::Backslash => out.push(b'\\'),
            Self::Unicode { .. } => encode(REPLACEMENT, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn undone<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let (mut escapes, mut out) = (Escapes::default(), Vec::new());
        for piece in pieces {
            escapes.undo(piece, &mut out);
        }
        escapes.end(&mut out);
        out
    }

    fn text(json: &str) -> String {
        String::from_utf8(undone([json.as_bytes()])).unwrap()
    }

    #[test]
    fn every_escape_of_json_is_undone() {
        assert_eq!(
            text(r#"{"a":"\n\t\r\b\f\"\\\/\u0041\u00e9\u65E5"}"#),
            "{\"a\":\"\n\t\r\u{8}\u{c}\"\\/Aé日\"}"
        );
        assert_eq!(text(r"\\n"), "\\n", "an escaped backslash escapes nothing");
    }

    #[test]
    fn what_is_no_escape_is_kept_and_broken_digits_are_marked() {
        assert_eq!(text(r"\x\"), r"\x\");
        assert_eq!(text(r"\u12"), "\u{FFFD}");
        assert_eq!(text(r"\u00zz\n"), "\u{FFFD}zz\n");
        assert_eq!(text(r"\u1\n"), "\u{FFFD}\n");
    }

    proptest! {
        #[test]
        fn a_string_comes_back_as_it_was_wherever_its_json_is_cut(
            said in "(\\PC|[\n\t\"\\\\\u{1}]){0,40}",
            cut in 0..80_usize,
        ) {
            let json = serde_json::to_string(&said).unwrap();
            let bytes = &json.as_bytes()[1..json.len() - 1];
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            prop_assert_eq!(undone([left, right]), said.as_bytes());
            prop_assert_eq!(undone(bytes.chunks(1)), said.as_bytes());
        }
    }
}
