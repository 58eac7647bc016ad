//! What of a Python source is code, byte by byte (05 §9).
//!
//! Holes of formatted strings are read as text. A source that does not lex cleanly, because a string
//! is open where its line or the file ends, has no mask.
//!
//! Always true: a mask has an entry for every byte; a byte that is no ASCII is never a bracket, a
//! quote or the end of a line.

/// What a byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The program.
    Code,
    /// A string, with its quotes.
    Text,
    /// A comment, without the end of its line.
    Comment,
}

/// The kind of every byte; `None` for a source that does not lex cleanly.
pub(super) fn mask(source: &str) -> Option<Vec<Kind>> {
    let bytes = source.as_bytes();
    let mut kinds = vec![Kind::Code; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'#' => {
                let end = end_of_line(bytes, at);
                kinds[at..end].fill(Kind::Comment);
                end
            }
            b'"' | b'\'' => {
                let end = end_of_text(bytes, at)?;
                kinds[at..end].fill(Kind::Text);
                end
            }
            _ => at + 1,
        };
        at = end;
    }
    Some(kinds)
}

/// Where the line ends that a byte stands in.
fn end_of_line(bytes: &[u8], at: usize) -> usize {
    let line = bytes[at..].iter().position(|byte| *byte == b'\n');
    line.map_or(bytes.len(), |length| at + length)
}

/// Where the string ends that begins at a quote. A backslash hides what follows it, in raw strings
/// too.
fn end_of_text(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let fence = [quote; 3];
    let long = bytes[at..].starts_with(&fence);
    let mut at = at + if long { 3 } else { 1 };
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' if !long => return None,
            byte if byte == quote && !long => return Some(at + 1),
            byte if byte == quote && bytes[at..].starts_with(&fence) => return Some(at + 3),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A source with a letter for each byte's kind.
    fn drawn(source: &str) -> Option<String> {
        let letter = |kind: &Kind| match kind {
            Kind::Code => '.',
            Kind::Text => 's',
            Kind::Comment => '#',
        };
        mask(source).map(|kinds| kinds.iter().map(letter).collect())
    }

    #[test]
    fn strings_and_comments_are_told_from_code() {
        for (source, expected) in [
            ("a = 'b' # c\nd", "....sss.###.."),
            ("\"\\\"\"+x", "ssss.."),
            ("'''a\n'b'''+1", "ssssssssss.."),
            ("r'\\'+'", ".sssss"),
            // The hole is text too.
            ("f\"{a['b']}\"", ".ssssssssss"),
            ("'' \"\"", "ss.ss"),
            ("# 'open", "#######"),
        ] {
            assert_eq!(drawn(source).as_deref(), Some(expected), "{source}");
        }
    }

    #[test]
    fn a_string_that_is_open_has_no_mask() {
        for source in ["'a\nb'", "'''a''", "\"", "'\\"] {
            assert_eq!(mask(source), None, "{source}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_mask_of_its_length_or_none(source in "[a'\"#\\\\\nü]{0,24}") {
            if let Some(kinds) = mask(&source) {
                prop_assert_eq!(kinds.len(), source.len());
            }
        }
    }
}
