//! Names of things in a run. All are cheap to clone; none is ever parsed for meaning.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a text as it stands.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The text as it stands.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "minLength": 1 })
            }
        }
    };
}

text_id! {
    /// The caller's name for the run: any non-empty text, stamped on every event, sent to no
    /// provider (01 §2).
    SessionId
}
text_id! {
    /// One incarnation of an agent: `root`, `agent-3`, `UI-2.0i` (03 §3.4). The join key of
    /// every record.
    AgentId
}
text_id! {
    /// One issue of the run's board: `UI-2`, `ISSUE-1` (03 §7.2). Never given to another.
    IssueId
}
text_id! {
    /// One epic of the run's board: its prefix, `UI` (03 §7.2).
    EpicId
}
text_id! {
    /// The only name a model or a record uses for a profile (01 §4).
    Slug
}
text_id! {
    /// An OpenRouter model id, or `mock/<name>` for the client in the process.
    ModelId
}
text_id! {
    /// The id a tool call and its result share. Unique within a window.
    CallId
}
text_id! {
    /// One cuid2 of 24 characters minted per run, sent as `session_id` and `prompt_cache_key` on
    /// every request and carried by commands as `GG_RUN` (06 §6, R38).
    RoutingKey
}
text_id! {
    /// The gateway's id of one generation, for price look-ups after the fact.
    GenerationId
}
text_id! {
    /// A provider as the gateway names it (`provider_name` of its endpoints listing).
    ProviderName
}

impl ModelId {
    /// True for models served in the process, without network or key (R13).
    pub fn is_mock(&self) -> bool {
        self.as_str().starts_with("mock/")
    }
}

impl ProviderName {
    /// Whether two spellings name one provider: case and punctuation do not count (01 §6.2). Of
    /// names that are punctuation alone everything counts.
    pub fn same_as(&self, other: &Self) -> bool {
        let mut letters = self.letters().peekable();
        if letters.peek().is_none() {
            return self.as_str() == other.as_str();
        }
        letters.eq(other.letters())
    }

    /// The name without case and punctuation: equal for two spellings of one provider.
    pub fn folded(&self) -> String {
        let letters: String = self.letters().collect();
        if letters.is_empty() {
            self.as_str().to_owned()
        } else {
            letters
        }
    }

    fn letters(&self) -> impl Iterator<Item = char> + '_ {
        self.as_str()
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
    }
}

impl Slug {
    /// Whether a text is a legal slug: lowercase letters and digits in groups joined by single
    /// hyphens.
    pub fn is_legal(text: &str) -> bool {
        !text.is_empty()
            && text.split('-').all(|group| {
                !group.is_empty()
                    && group
                        .bytes()
                        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            })
    }
}

/// The 64-bit fingerprint of a message in an agent's pool (06 §2.5), written as 16 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u64);

/// One in each byte.
const EACH: u128 = u128::MAX / 0xFF;

impl MessageId {
    /// Its digits, as it is written. All at once: a turn writes those of its whole window.
    pub const fn digits(self) -> [u8; 16] {
        // A digit a byte, the first one highest: halves, quarters, bytes and nibbles move apart.
        let mut spread = self.0 as u128;
        spread = (spread | spread << 32) & 0x0000_0000_FFFF_FFFF_0000_0000_FFFF_FFFF;
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF_0000_FFFF_0000_FFFF;
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF_00FF_00FF_00FF_00FF;
        spread = (spread | spread << 4) & (EACH * 0x0F);
        // Ten and more carry into bit 4 of a byte where six is added.
        let letters = ((spread + EACH * 6) >> 4) & EACH;
        (spread + EACH * b'0' as u128 + letters * (b'a' - b'0' - 10) as u128).to_be_bytes()
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for MessageId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for MessageId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16)
            .map(Self)
            .map_err(|_| serde::de::Error::custom(format!("`{text}` is no message id")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_hyphenated_lowercase_groups() {
        for good in ["root", "a", "a-1", "scout-2b"] {
            assert!(Slug::is_legal(good), "{good}");
        }
        for bad in ["", "-a", "a-", "a--b", "A", "ä", "a b", "a_b"] {
            assert!(!Slug::is_legal(bad), "{bad}");
        }
    }

    #[test]
    fn providers_compare_without_case_and_punctuation() {
        let same = |a: &str, b: &str| ProviderName::from(a).same_as(&ProviderName::from(b));
        assert!(same("z-ai", "Z.AI"));
        assert!(!same("z-ai", "zai2"));
        assert!(!same("---", "...") && same("---", "---") && !same("---", ""));
        let folded = |name: &str| ProviderName::from(name).folded();
        assert_eq!(folded("Z.AI"), "zai");
        assert_ne!(folded("---"), folded("..."));
    }

    proptest::proptest! {
        #[test]
        fn digits_are_those_of_the_number(number: u64) {
            let digits = MessageId(number).digits();
            proptest::prop_assert_eq!(std::str::from_utf8(&digits).unwrap(), format!("{number:016x}"));
        }
    }

    #[test]
    fn message_ids_keep_their_leading_zeros_on_the_wire() {
        let id = MessageId(0x00ab);
        let wire = serde_json::to_string(&id).unwrap();
        assert_eq!(wire, "\"00000000000000ab\"");
        assert_eq!(wire, format!("\"{id}\""));
        assert_eq!(serde_json::from_str::<MessageId>(&wire).unwrap(), id);
    }
}
