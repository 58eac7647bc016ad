//! A name in one line of gg's own: whoever chose it, it ends no line and moves no cursor.

use std::borrow::Cow;

/// Whether a character would break the line it stands in, or steer a terminal.
pub fn breaks(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// A name with such characters escaped as Rust writes them; any other name as it is.
pub fn one_line(name: &str) -> Cow<'_, str> {
    if !name.contains(breaks) {
        return Cow::Borrowed(name);
    }
    let mut line = String::with_capacity(name.len() + 8);
    for character in name.chars() {
        if breaks(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    Cow::Owned(line)
}

/// Characters of a caller's word that a sentence repeats.
const MOST_QUOTED: usize = 100;

/// A caller's word as a sentence of gg's repeats it: in one line, and no more than its beginning.
pub fn quoted(word: &str) -> String {
    match word.char_indices().nth(MOST_QUOTED) {
        Some((end, _)) => format!("{}…", one_line(&word[..end])),
        None => one_line(word).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_repeated_in_one_line_and_only_its_beginning() {
        assert_eq!(quoted("a\nb é"), "a\\nb é");
        assert_eq!(quoted(&"é".repeat(100)), "é".repeat(100));
        assert_eq!(
            quoted(&"é".repeat(1_000_000)),
            format!("{}…", "é".repeat(100))
        );
    }

    #[test]
    fn what_would_end_a_line_is_escaped_and_nothing_else_is() {
        assert!(matches!(one_line("a b/é \\n漢"), Cow::Borrowed(_)));
        assert_eq!(
            one_line("a\n----\r\tb\u{85}\u{2028}\u{1b}[1m"),
            "a\\n----\\r\\tb\\u{85}\\u{2028}\\u{1b}[1m"
        );
    }
}
