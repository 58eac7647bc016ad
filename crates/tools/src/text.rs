//! Small things about text that several rooms share: cutting on characters, counting lines.

/// The largest prefix length up to `bytes` that ends on a character.
pub(crate) fn floor(text: &str, bytes: usize) -> usize {
    let mut at = bytes.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The smallest start from `from` on that begins on a character.
pub(crate) fn ceil(text: &str, from: usize) -> usize {
    let mut at = from.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Where the last `chars` characters begin.
pub(crate) fn last_chars(text: &str, chars: u64) -> usize {
    // A text of no more bytes than that has no more characters either.
    if text.len() as u64 <= chars {
        return 0;
    }
    let Some(skip) = chars.checked_sub(1) else {
        return text.len();
    };
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    text.char_indices().rev().nth(skip).map_or(0, |(at, _)| at)
}

/// Where the last `lines` lines begin, counted as `tail -n` does: a final line end closes its
/// line.
pub(crate) fn last_lines(text: &str, lines: u64) -> usize {
    if lines == 0 {
        return text.len();
    }
    let body = text.strip_suffix('\n').unwrap_or(text);
    let before = usize::try_from(lines - 1).unwrap_or(usize::MAX);
    memchr::memrchr_iter(b'\n', body.as_bytes())
        .nth(before)
        .map_or(0, |at| at + 1)
}

/// Lines of a text; a last one without its line end counts.
pub(crate) fn lines(text: &str) -> u64 {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    ends + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The text up to `chars` characters, and how many more there are.
pub(crate) fn head(text: &str, chars: usize) -> (&str, usize) {
    match text.char_indices().nth(chars) {
        Some((at, _)) => (&text[..at], text[at..].chars().count()),
        None => (text, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_fall_on_characters() {
        let text = "aé漢🎈";
        assert_eq!(floor(text, 2), 1);
        assert_eq!(ceil(text, 2), 3);
        assert_eq!(&text[last_chars(text, 2)..], "漢🎈");
        assert_eq!(&text[last_chars(text, 9)..], text);
        assert_eq!(&text[last_chars(text, 0)..], "");
        assert_eq!(head(text, 2), ("aé", 2));
        assert_eq!(head(text, 4), (text, 0));
    }

    #[test]
    fn lines_are_counted_as_tail_counts_them() {
        for (text, count) in [
            ("", 0),
            ("a", 1),
            ("a\n", 1),
            ("\n", 1),
            ("a\nb", 2),
            ("\n\n", 2),
        ] {
            assert_eq!(lines(text), count, "{text:?}");
        }
        assert_eq!(&"a\nb\nc\n"[last_lines("a\nb\nc\n", 2)..], "b\nc\n");
        assert_eq!(&"a\nb\nc"[last_lines("a\nb\nc", 2)..], "b\nc");
        assert_eq!(last_lines("a\nb", 5), 0);
    }
}
