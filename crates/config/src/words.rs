//! Closed vocabularies of the launch document: an enum whose variants each have one spelling.

/// Declares an enum with one spelling a variant: `as_str`, `ALL` in declaration order, serde and
/// JSON Schema by that spelling.
///
/// The macro of the same name in `vocab` writes schemas of bare words. Here they are derived, since
/// an editor that completes a launch document shows each word's own description.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $( $(#[$variant_meta])* #[serde(rename = $text)] $variant, )+
        }

        impl $name {
            /// Every word, in declaration order.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];

            /// The one spelling used in a document.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text, )+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use words;
