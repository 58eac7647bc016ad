//! The credential's mask: a captured text never carries the key (R23).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What stands in the key's place.
const MASKED: &str = "[credential]";

/// Replaces the credential wherever it appears.
#[derive(Clone, Default)]
pub struct Mask(Option<Arc<str>>);

impl Mask {
    /// A mask for a key; none, and for an empty one, nothing is masked.
    pub fn new(credential: Option<&str>) -> Self {
        Self(credential.filter(|key| !key.is_empty()).map(Into::into))
    }

    /// The text without the key.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.0 {
            Some(key) if text.contains(&**key) => Cow::Owned(text.replace(&**key, MASKED)),
            _ => Cow::Borrowed(text),
        }
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mask")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_appearance_is_replaced_and_other_text_is_not_copied() {
        let mask = Mask::new(Some("sk-1"));
        assert_eq!(mask.apply("a sk-1 b sk-1"), "a [credential] b [credential]");
        assert!(matches!(mask.apply("clean"), Cow::Borrowed("clean")));
        assert!(matches!(Mask::new(Some("")).apply("x"), Cow::Borrowed("x")));
    }
}
