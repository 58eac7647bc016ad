//! Text that arrives in pieces, each a JSON string.
//!
//! A server that counts in UTF-16 units may cut a character in two and send each half as an
//! escaped surrogate in its own piece. So pieces are held as WTF-8, where a lone half is legal,
//! and halves that meet become the character they are.

use serde::de::{Deserializer as _, Visitor};
use serde_json::value::RawValue;

/// A text that grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Text(Vec<u8>);

impl Text {
    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes so far: UTF-8 but for halves of characters.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds text as it stands.
    pub(super) fn push_str(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Adds another text.
    pub(super) fn append(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// Adds the value of a JSON string; false where it is no string.
    pub(super) fn push_json(&mut self, raw: &RawValue) -> bool {
        struct Append<'a>(&'a mut Vec<u8>);
        impl Visitor<'_> for Append<'_> {
            type Value = ();
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<(), E> {
                self.0.extend_from_slice(bytes);
                Ok(())
            }
        }
        raw.get().starts_with('"')
            && serde_json::Deserializer::from_str(raw.get())
                .deserialize_bytes(Append(&mut self.0))
                .is_ok()
    }

    /// The whole text: halves that met are joined, a half left alone becomes U+FFFD.
    pub(super) fn into_string(self) -> String {
        match String::from_utf8(self.0) {
            Ok(text) => text,
            Err(error) => join_halves(error.as_bytes()),
        }
    }
}

fn join_halves(bytes: &[u8]) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (good, at) = match std::str::from_utf8(rest) {
            Ok(text) => (text, rest.len()),
            Err(error) => {
                let at = error.valid_up_to();
                let text = std::str::from_utf8(&rest[..at]).expect("checked up to here");
                (text, at)
            }
        };
        if !good.is_empty() {
            out.push_str(&String::from_utf16_lossy(&units));
            units.clear();
            out.push_str(good);
        }
        rest = &rest[at..];
        if let Some(&[first, second, third]) = rest.first_chunk::<3>()
            && first == 0xED
            && second >= 0xA0
        {
            units.push(0xD000 | (u16::from(second) & 0x3F) << 6 | u16::from(third) & 0x3F);
            rest = &rest[3..];
        } else if !rest.is_empty() {
            units.push(0xFFFD);
            rest = &rest[1..];
        }
    }
    out.push_str(&String::from_utf16_lossy(&units));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: &[&str]) -> String {
        let mut text = Text::default();
        for piece in pieces {
            assert!(text.push_json(serde_json::from_str(piece).unwrap()));
        }
        text.into_string()
    }

    #[test]
    fn halves_of_a_character_meet_across_pieces() {
        assert_eq!(joined(&[r#""a\ud83d""#, r#""\ude42b""#]), "a\u{1F642}b");
        assert_eq!(joined(&[r#""\ud83d\ude42""#, r#""é\n""#]), "\u{1F642}é\n");
    }

    #[test]
    fn a_half_left_alone_is_marked() {
        assert_eq!(joined(&[r#""a\ud83d""#, r#""b""#]), "a\u{FFFD}b");
        assert_eq!(joined(&[r#""\ude42\ud83d""#]), "\u{FFFD}\u{FFFD}");
    }

    #[test]
    fn what_is_no_string_is_not_taken() {
        let mut text = Text::default();
        assert!(!text.push_json(serde_json::from_str("[1]").unwrap()));
        assert!(!text.push_json(serde_json::from_str("3").unwrap()));
        assert!(text.is_empty());
    }
}
