//! A server's words, fit for one line of a log.

use std::fmt::Write;

/// Characters kept of what a server said.
pub const EXCERPT_CHARS: usize = 2_000;

/// What a server said, in at most [`EXCERPT_CHARS`] characters and a note of what was cut.
///
/// Bytes that are no UTF-8 become U+FFFD; control characters and those that steer the direction
/// of text are written as escapes; an HTML page becomes a sentence with its title.
pub fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    if text.is_empty() {
        return "(no body)".to_owned();
    }
    if let Some(sentence) = html(text) {
        return sentence;
    }
    cut(text, EXCERPT_CHARS)
}

fn cut(text: &str, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit + 64));
    let mut rest = text.chars();
    for (used, c) in rest.by_ref().enumerate() {
        if used == limit {
            let more = rest.count() + 1;
            write!(out, "… ({more} more characters)").expect("a string takes any text");
            break;
        }
        if is_hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Whether a character is seen by what it does: control characters, and those that have no width or
/// steer the direction of text.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

fn html(text: &str) -> Option<String> {
    let opening: String = text
        .chars()
        .take(15)
        .collect::<String>()
        .to_ascii_lowercase();
    if !opening.starts_with("<!doctype html") && !opening.starts_with("<html") {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let title = lower
        .find("<title")
        .and_then(|open| Some(open + lower[open..].find('>')? + 1))
        .and_then(|start| Some(&text[start..start + lower[start..].find("</title")?]))
        .map(|title| cut(&title.split_whitespace().collect::<Vec<_>>().join(" "), 200))
        .filter(|title| !title.is_empty());
    Some(match title {
        Some(title) => format!("an HTML page titled `{title}`"),
        None => "an HTML page without a title".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_body_is_cut_on_a_character_and_says_so() {
        let body = "é".repeat(EXCERPT_CHARS + 3);
        let text = excerpt(body.as_bytes());
        assert_eq!(
            text,
            format!("{}… (3 more characters)", "é".repeat(EXCERPT_CHARS))
        );
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(
            excerpt(b"a\x1b[31m\r\nb\xff"),
            "a\\u{1b}[31m\\r\\nb\u{FFFD}"
        );
        assert_eq!(excerpt("x\u{202E}y".as_bytes()), "x\\u{202e}y");
        assert_eq!(excerpt(b" \n "), "(no body)");
    }

    #[test]
    fn a_page_becomes_a_sentence() {
        let page = b"<!DOCTYPE html>\n<html><head><TITLE>502 Bad\n Gateway</TITLE></head>...";
        assert_eq!(excerpt(page), "an HTML page titled `502 Bad Gateway`");
        assert_eq!(excerpt(b"<html><p>no"), "an HTML page without a title");
    }

    proptest! {
        #[test]
        fn any_body_gives_a_bounded_line(body in proptest::collection::vec(any::<u8>(), 0..6000)) {
            let text = excerpt(&body);
            prop_assert!(!text.chars().any(char::is_control));
            prop_assert!(text.chars().count() <= EXCERPT_CHARS * 10 + 40);
        }
    }
}
