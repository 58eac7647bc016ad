//! Surgery on JSON text that is already serialized: keeping it on one line, and finding the
//! string values in it.
//!
//! Everything here works on the bytes of one valid JSON text and leaves one. Parsing it instead
//! would lose what only the text has: numbers beyond `f64`, duplicate keys, escapes as written.

use std::ops::Range;

/// Takes line breaks out of the JSON text that starts at `from`, with all other blanks between
/// its tokens. A document quoted verbatim may be written over many lines; a record line may not.
pub(crate) fn keep_on_one_line(text: &mut Vec<u8>, from: usize) {
    if memchr::memchr2(b'\n', b'\r', &text[from..]).is_none() {
        return;
    }
    let mut kept = from;
    let mut in_string = false;
    let mut escaped = false;
    for at in from..text.len() {
        let byte = text[at];
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
        } else if byte.is_ascii_whitespace() {
            continue;
        } else if byte == b'"' {
            in_string = true;
        }
        text[kept] = byte;
        kept += 1;
    }
    text.truncate(kept);
}

/// Where the string values of a JSON text stand, without their quotes and without keys.
pub(crate) fn string_values(text: &[u8]) -> Vec<Range<usize>> {
    let mut values = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'"' {
            at += 1;
            continue;
        }
        let start = at + 1;
        let end = string_end(text, start);
        at = end + 1;
        let next = text[at.min(text.len())..]
            .iter()
            .find(|byte| !byte.is_ascii_whitespace());
        if next != Some(&b':') {
            values.push(start..end);
        }
    }
    values
}

/// The closing quote of the string whose content starts at `start`.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < text.len() {
        match text[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

/// The longest head of a string's content that fits in `room` bytes and ends between two
/// characters, and how many characters stand behind it.
fn head_of_string(content: &[u8], room: usize) -> (usize, u64) {
    let mut at = 0;
    let mut kept = 0;
    let mut cut = 0;
    while at < content.len() {
        let length = character_length(&content[at..]);
        if cut == 0 && at + length <= room {
            kept = at + length;
        } else {
            cut += 1;
        }
        at += length;
    }
    (kept, cut)
}

/// Bytes of the character, escaped or not, that a string's content starts with.
fn character_length(content: &[u8]) -> usize {
    let length = match content {
        [b'\\', b'u', ..] if is_high_surrogate(content) && content.get(6) == Some(&b'\\') => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\', ..] => 2,
        [byte, ..] if *byte >= 0xf0 => 4,
        [byte, ..] if *byte >= 0xe0 => 3,
        [byte, ..] if *byte >= 0xc0 => 2,
        _ => 1,
    };
    length.min(content.len())
}

fn is_high_surrogate(escape: &[u8]) -> bool {
    matches!(escape.get(2), Some(b'd' | b'D'))
        && matches!(escape.get(3), Some(b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B'))
}

/// Cuts the longest string values of an object until it fits in `ceiling` bytes, and adds
/// `clippedChars`. Values before `from` are the envelope's and stay whole.
///
/// An object that is too long without long texts stays as it is: a valid line is worth more than
/// a short one.
pub(crate) fn clip(text: &mut Vec<u8>, from: usize, ceiling: usize) {
    /// Room for the member that says so.
    const NOTE: usize = 48;
    /// Shorter texts are names and ids.
    const SHORTEST: usize = 256;

    let mut excess = (text.len() + NOTE).saturating_sub(ceiling);
    let mut values: Vec<Range<usize>> = string_values(text)
        .into_iter()
        .filter(|value| value.start >= from && value.len() > SHORTEST)
        .collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let mut clipped_chars = 0;
    let mut cuts = Vec::new();
    for value in values {
        if excess == 0 {
            break;
        }
        let room = value.len().saturating_sub(excess).max(SHORTEST);
        let (kept, cut) = head_of_string(&text[value.clone()], room);
        excess = excess.saturating_sub(value.len() - kept);
        clipped_chars += cut;
        cuts.push(value.start + kept..value.end);
    }
    if clipped_chars == 0 {
        return;
    }
    cuts.sort_by_key(|cut| cut.start);
    let mut short = Vec::with_capacity(ceiling);
    let mut copied = 0;
    for cut in cuts {
        short.extend_from_slice(&text[copied..cut.start]);
        copied = cut.end;
    }
    short.extend_from_slice(&text[copied..]);
    *text = short;
    if text.last() == Some(&b'}') {
        text.pop();
        text.extend_from_slice(format!(",\"clippedChars\":{clipped_chars}}}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn clipped(value: &Value, ceiling: usize) -> (usize, Value) {
        let mut text = serde_json::to_vec(value).unwrap();
        clip(&mut text, 0, ceiling);
        (text.len(), serde_json::from_slice(&text).unwrap())
    }

    #[test]
    fn blanks_between_tokens_go_and_blanks_in_strings_stay() {
        let mut text = b"{\"a\": { \"b\" :\r\n\t[ 1, \"x y\\\"\\n z\" ] } }".to_vec();
        keep_on_one_line(&mut text, 0);
        assert_eq!(text, br#"{"a":{"b":[1,"x y\"\n z"]}}"#);
    }

    #[test]
    fn string_values_are_found_and_keys_are_not() {
        let text = br#"{"key":"one","k\"2" : ["two\\",{"x":"th\"ree"}],"n":1}"#;
        let found: Vec<&[u8]> = string_values(text).into_iter().map(|v| &text[v]).collect();
        assert_eq!(found, [&b"one"[..], br"two\\", br#"th\"ree"#]);
    }

    #[test]
    fn the_longest_text_is_cut_first_and_the_cut_is_counted() {
        let (length, value) = clipped(
            &json!({"short": "s".repeat(300), "long": "日".repeat(1000)}),
            1500,
        );
        assert!(length <= 1500, "{length}");
        let kept = value["long"].as_str().unwrap().chars().count() as u64;
        assert!(kept > 300);
        assert_eq!(value["short"].as_str().unwrap().len(), 300);
        assert_eq!(value["clippedChars"], 1000 - kept);
    }

    #[test]
    fn a_line_long_by_many_ids_stays_whole() {
        let value = json!({"ids": vec!["0123456789abcdef"; 100]});
        assert_eq!(clipped(&value, 500).1, value);
    }

    #[test]
    fn an_escaped_pair_is_one_character() {
        assert_eq!(head_of_string(br"\ud83e\udd80x", 11), (0, 2));
        assert_eq!(head_of_string(br"\ud83e\udd80x", 12), (12, 1));
        assert_eq!(head_of_string(br"a\n\u0001", 4), (3, 1));
    }

    proptest! {
        #[test]
        fn a_clipped_line_is_valid_fits_and_counts_right(
            texts in proptest::collection::vec("[a-z\"\\\\\u{1}日🦀]{0,900}", 1..5),
            ceiling in 1500usize..4000,
        ) {
            let whole = serde_json::to_vec(&json!({"texts": texts})).unwrap();
            let (length, value) = clipped(&json!({"texts": texts}), ceiling);
            if whole.len() + 48 <= ceiling {
                prop_assert!(value.get("clippedChars").is_none());
            } else {
                prop_assert!(length <= ceiling.max(texts.len() * 300 + 100));
            }
            let kept: u64 = value["texts"].as_array().unwrap().iter().zip(&texts).map(|(kept, whole)| {
                let kept = kept.as_str().unwrap();
                assert!(whole.starts_with(kept));
                kept.chars().count() as u64
            }).sum();
            let total: u64 = texts.iter().map(|text| text.chars().count() as u64).sum();
            prop_assert_eq!(kept + value["clippedChars"].as_u64().unwrap_or(0), total);
        }
    }
}
