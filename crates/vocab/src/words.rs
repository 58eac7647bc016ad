//! Closed vocabularies: an enum whose variants each have one fixed spelling.

use thiserror::Error;

/// A text that is no word of a closed vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{found}` is no {vocabulary}")]
pub struct UnknownWord {
    /// The text as found.
    pub found: String,
    /// What kind of word was expected, for a person: `failure class`, `band`.
    pub vocabulary: &'static str,
}

/// Declares an enum with one spelling a variant: `as_str`, `ALL` in declaration order, `Display`,
/// `FromStr`, serde by that spelling, and JSON Schema under the feature `schema`.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $name:ident ($vocabulary:literal) {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
        }

        impl $name {
            /// Every word, in declaration order.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The one spelling used on every wire.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $( $text => Ok(Self::$variant), )+
                    _ => Err($crate::UnknownWord {
                        found: text.to_owned(),
                        vocabulary: $vocabulary,
                    }),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [ $($text),+ ] })
            }
        }
    };
}

pub(crate) use words;
