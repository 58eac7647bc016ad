//! Replacing the credential in whatever is about to be recorded or said to a model (R23).
//!
//! Records are masked as serialized lines, in the last step before they are written, so that no
//! field can be forgotten; only string values are touched, never a key. What a command or a file
//! gives back is masked as text, before a model reads it.

use std::borrow::Cow;
use std::sync::Arc;

pub use vocab::credential::MARK;
use vocab::credential::{SHORTEST, hidden};

use crate::json;

/// Replaces one secret value. The default replaces nothing.
#[derive(Clone, Default)]
pub struct Mask(Option<Secret>);

#[derive(Clone)]
struct Secret {
    text: Arc<str>,
    /// The value as it stands inside a JSON string.
    escaped: Arc<[u8]>,
}

impl Mask {
    /// A mask for a credential; one shorter than 8 bytes masks nothing.
    pub fn new(credential: &str) -> Self {
        if credential.len() < SHORTEST {
            return Self::default();
        }
        let quoted = serde_json::to_vec(credential).expect("a text always serializes");
        Self(Some(Secret {
            text: credential.into(),
            escaped: quoted[1..quoted.len() - 1].into(),
        }))
    }

    /// The text without the credential.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.0 {
            Some(secret) => hidden(text, &secret.text),
            None => Cow::Borrowed(text),
        }
    }

    /// Masks the JSON text that starts at `from` and ends with the buffer.
    pub(crate) fn apply_to_json(&self, text: &mut Vec<u8>, from: usize) {
        let Some(Secret { escaped, .. }) = &self.0 else {
            return;
        };
        if memchr::memmem::find(&text[from..], escaped).is_none() {
            return;
        }
        let part = text.split_off(from);
        let mut copied = 0;
        for value in json::string_values(&part) {
            let start = value.start;
            for found in memchr::memmem::find_iter(&part[value], escaped) {
                text.extend_from_slice(&part[copied..start + found]);
                text.extend_from_slice(MARK.as_bytes());
                copied = start + found + escaped.len();
            }
        }
        text.extend_from_slice(&part[copied..]);
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mask(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lose_the_credential_and_keys_do_not() {
        let mask = Mask::new("sk-or-\"secret");
        let mut text =
            br#"before {"a":"x sk-or-\"secret y sk-or-\"secret","sk-or-\"secret":1}"#.to_vec();
        mask.apply_to_json(&mut text, 7);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            r#"before {"a":"x [credential] y [credential]","sk-or-\"secret":1}"#
        );
        assert_eq!(format!("{mask:?}"), "Mask(…)");
    }

    #[test]
    fn every_appearance_in_a_text_is_replaced_and_other_text_is_not_copied() {
        let mask = Mask::new("sk-or-v1-1");
        assert_eq!(
            mask.apply("a sk-or-v1-1 b sk-or-v1-1"),
            "a [credential] b [credential]"
        );
        assert!(matches!(mask.apply("clean"), Cow::Borrowed("clean")));
    }

    #[test]
    fn a_short_value_is_no_credential() {
        for short in ["", "test"] {
            let mask = Mask::new(short);
            let mut line = br#"{"a":"a test"}"#.to_vec();
            mask.apply_to_json(&mut line, 0);
            assert_eq!(line, br#"{"a":"a test"}"#);
            assert!(matches!(mask.apply("a test"), Cow::Borrowed("a test")));
        }
    }
}
