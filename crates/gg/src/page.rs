//! Counts, texts and columns as a person reads them in a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use vocab::figures::grouped;

use provider::fault::is_hidden;

/// A count with its noun.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    let figure = grouped(count);
    match count {
        1 => format!("{figure} {noun}"),
        _ => format!("{figure} {noun}s"),
    }
}

/// Milliseconds in the unit a person reads them in.
pub(crate) fn duration(ms: f64) -> String {
    if ms < 1_000.0 {
        format!("{ms:.0} ms")
    } else if ms < 600_000.0 {
        format!("{:.2} s", ms / 1e3)
    } else {
        format!("{:.1} min", ms / 6e4)
    }
}

/// Somebody else's name or sentence on one line: what would move a terminal's cursor or turn the
/// direction of its text is written as an escape.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Somebody else's prose on one line: the same characters become spaces, since most of them are
/// line ends.
pub(crate) fn prose(text: &str) -> String {
    let shown = |c: char| if is_hidden(c) { ' ' } else { c };
    text.trim_end().chars().map(shown).collect()
}

/// Somebody else's text with its lines and tabs as they are, the last line ended too, and what else
/// is hidden in it escaped.
pub(crate) fn lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let cells: Vec<_> = line.split('\t').map(one_line).collect();
        shown.push_str(&cells.join("\t"));
        shown.push('\n');
    }
    shown
}

/// The first characters of somebody else's prose.
pub(crate) fn glimpse(text: &str, chars: usize) -> String {
    let text = text.trim_end();
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", prose(&text[..at])),
        None => prose(text),
    }
}

/// Rows in columns: those of `right`, which hold figures, stand right, the others left.
pub(crate) fn columns<R: AsRef<[String]>>(rows: &[R], right: &[usize]) -> String {
    let shown = |row: &R| -> Vec<_> {
        let cells = row.as_ref().iter();
        cells.map(|cell| one_line(cell).into_owned()).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(shown).collect();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if right.contains(&column) {
                write!(line, "{cell:>width$}  ")
            } else {
                write!(line, "{cell:<width$}  ")
            }
            .expect("a string takes any text");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        let counts = [0, 1, 2_000].map(|count| plural(count, "message"));
        assert_eq!(counts, ["0 messages", "1 message", "2,000 messages"]);
    }

    #[test]
    fn a_text_of_somebody_elses_stays_on_its_line() {
        assert_eq!(one_line("Acme é"), "Acme é");
        assert_eq!(
            one_line("a\n\u{1b}[2Jb\u{202e}c"),
            "a\\n\\u{1b}[2Jb\\u{202e}c"
        );
    }

    #[test]
    fn a_glimpse_ends_on_a_character_and_steers_nothing() {
        assert_eq!(glimpse("é\u{1b}[2Jx\n", 6), "é [2Jx");
        assert_eq!(glimpse("é\nab", 2), "é…");
    }

    #[test]
    fn columns_hold_words_left_and_figures_right() {
        let rows = [["a", "1", ""], ["bé", "20", "why"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows, &[1]), "a    1\nbé  20  why\n");
    }
}
