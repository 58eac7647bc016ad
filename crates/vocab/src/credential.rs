//! What stands where the credential stood, and which values are none (R23).

use std::borrow::Cow;

/// The variable the credential arrives in. Nothing that gg starts sees it.
pub const VARIABLE: &str = "OPENROUTER_API_KEY";

/// What stands where the credential stood.
pub const MARK: &str = "[credential]";

/// Shorter values are no credentials: a server of one's own takes any, such as `key` or `none`, and
/// replacing that would shred every text it is part of.
pub const SHORTEST: usize = 8;

/// The text without the credential.
pub fn hidden<'a>(text: &'a str, credential: &str) -> Cow<'a, str> {
    if credential.len() >= SHORTEST && text.contains(credential) {
        Cow::Owned(text.replace(credential, MARK))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_is_hidden_and_a_word_is_not() {
        assert_eq!(
            hidden("bad key sk-or-v1-7", "sk-or-v1-7"),
            "bad key [credential]"
        );
        assert_eq!(
            hidden("unknown: prompt_cache_key", "key"),
            "unknown: prompt_cache_key"
        );
        assert_eq!(hidden("x", ""), "x");
    }
}
