//! Lines and columns, for a person; and the depth of a text, before anything recurses into it.

use std::fmt;

use super::{MAX_DEPTH, Unreadable};

/// A place in a text: both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// The place of a byte offset; inside a character, that character's.
    pub(super) fn of(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line,
            column: before[start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The byte offset of a line and a byte column, both from 1, as `serde_json` reports them.
pub(super) fn offset(text: &str, line: usize, column: usize) -> usize {
    let start = if line <= 1 {
        0
    } else {
        text.match_indices('\n')
            .nth(line - 2)
            .map_or(text.len(), |(newline, _)| newline + 1)
    };
    (start + column.saturating_sub(1)).min(text.len())
}

/// Refuses a text that nests too deeply. Brackets inside strings do not count; a text that is no
/// JSON is left to the parser.
pub(super) fn check_depth(text: &str) -> Result<(), Unreadable> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (offset, byte) in text.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Unreadable::at(
                        format_args!("it nests deeper than {MAX_DEPTH} levels"),
                        text,
                        offset,
                    ));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "ab\n日本x";
        assert_eq!(Place::of(text, 9).to_string(), "line 2, column 3");
        assert_eq!(Place::of(text, 4).to_string(), "line 2, column 1");
        assert_eq!(Place::of(text, 99).to_string(), "line 2, column 4");
        assert_eq!(offset(text, 2, 1), 3);
        assert_eq!(offset(text, 9, 9), text.len());
    }
}
