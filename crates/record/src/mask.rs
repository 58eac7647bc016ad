//! Replacing the credential in whatever is about to be recorded (R23).
//!
//! The mask works on serialized lines, as the last step before they are written, so that no
//! field can be forgotten. Only string values are touched, never a key.

use crate::json;

/// What stands where the credential stood.
pub const MARK: &str = "[credential]";

/// Shorter values are no credentials, and replacing them would shred every text they are part of.
const SHORTEST: usize = 8;

/// Replaces one secret value in JSON lines.
#[derive(Clone)]
pub struct Mask {
    /// The value as it stands inside a JSON string.
    needle: Vec<u8>,
}

impl Mask {
    /// A mask for a credential; `None` where it is shorter than 8 bytes.
    pub fn new(credential: &str) -> Option<Self> {
        if credential.len() < SHORTEST {
            return None;
        }
        let quoted = serde_json::to_vec(credential).ok()?;
        Some(Self {
            needle: quoted[1..quoted.len() - 1].to_vec(),
        })
    }

    /// Masks the JSON text that starts at `from` and ends with the buffer.
    pub(crate) fn apply(&self, text: &mut Vec<u8>, from: usize) {
        if memchr::memmem::find(&text[from..], &self.needle).is_none() {
            return;
        }
        let part = text.split_off(from);
        let mut copied = 0;
        for value in json::string_values(&part) {
            let start = value.start;
            for found in memchr::memmem::find_iter(&part[value], &self.needle) {
                text.extend_from_slice(&part[copied..start + found]);
                text.extend_from_slice(MARK.as_bytes());
                copied = start + found + self.needle.len();
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
        let mask = Mask::new("sk-or-\"secret").unwrap();
        let mut text =
            br#"before {"a":"x sk-or-\"secret y sk-or-\"secret","sk-or-\"secret":1}"#.to_vec();
        mask.apply(&mut text, 7);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            r#"before {"a":"x [credential] y [credential]","sk-or-\"secret":1}"#
        );
        assert_eq!(format!("{mask:?}"), "Mask(…)");
    }

    #[test]
    fn a_short_value_is_no_credential() {
        assert!(Mask::new("test").is_none());
    }
}
