//! Cutting texts on characters, from either end (F119).
//!
//! Always true: nothing here splits a character, and a text that fits comes back whole.

/// The first `max` characters of a text.
pub fn head(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    match text.char_indices().nth(max) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// The first `max` characters, owned: what an event's `preview` holds.
pub fn preview(text: &str, max: usize) -> String {
    head(text, max).to_owned()
}

/// The last `max` characters of a text, and how many were cut before them.
pub fn tail(text: &str, max: usize) -> (&str, u64) {
    if text.len() <= max {
        return (text, 0);
    }
    let Some(last) = max.checked_sub(1) else {
        return ("", chars(text));
    };
    match text.char_indices().rev().nth(last) {
        Some((at, _)) => (&text[at..], chars(&text[..at])),
        None => (text, 0),
    }
}

/// The longest tail of a text that fits in `max` bytes.
pub fn tail_bytes(text: &str, max: usize) -> &str {
    let mut at = text.len().saturating_sub(max);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    &text[at..]
}

/// The characters of a text.
pub fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cut_never_splits_a_character() {
        let text = "日本🦀é";
        assert_eq!(head(text, 3), "日本🦀");
        assert_eq!(head(text, 9), text);
        assert_eq!(tail(text, 2), ("🦀é", 2));
        assert_eq!(tail(text, 0), ("", 4));
        assert_eq!(tail(text, 4), (text, 0));
        assert_eq!(tail_bytes(text, 5), "é");
        assert_eq!(tail_bytes(text, 6), "🦀é");
    }

    proptest! {
        #[test]
        fn head_and_tail_keep_exactly_what_they_say(text in "\\PC{0,40}", max in 0usize..50) {
            let whole: Vec<char> = text.chars().collect();
            let kept = max.min(whole.len());
            prop_assert_eq!(head(&text, max).chars().collect::<Vec<_>>(), &whole[..kept]);
            let (end, dropped) = tail(&text, max);
            prop_assert_eq!(end.chars().collect::<Vec<_>>(), &whole[whole.len() - kept..]);
            prop_assert_eq!(dropped as usize, whole.len() - kept);
            let bytes = tail_bytes(&text, max);
            prop_assert!(bytes.len() <= max && text.ends_with(bytes));
            prop_assert!(bytes.len() + 4 > max.min(text.len()));
        }
    }
}
