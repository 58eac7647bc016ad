//! Names a model chooses, of tasks and of memories: one rule for both (02 §8, §9).

/// Characters of a name at most.
const LONGEST: usize = 64;

/// Why a text cannot name anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{key}` is {found:?}; expected 1 to {LONGEST} characters of `a` to `z`, `A` to `Z`, `0` to \
     `9`, `-`, `_` and `.`"
)]
pub struct BadName {
    /// The argument.
    pub key: &'static str,
    /// Its first characters.
    pub found: String,
}

/// Checks a name that a call gives to something new.
pub(super) fn check(key: &'static str, name: &str) -> Result<(), BadName> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if (1..=LONGEST).contains(&name.len()) && name.bytes().all(legal) {
        return Ok(());
    }
    Err(BadName {
        key,
        found: name.chars().take(LONGEST + 1).collect(),
    })
}

/// Why a text cannot stand in a list of one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` has a line break; it is one line")]
pub struct NotOneLine(pub &'static str);

/// Checks a text that a block shows in one line.
pub(super) fn one_line(key: &'static str, text: &str) -> Result<(), NotOneLine> {
    // What `str::lines` and a terminal both take for the end of a line, and the two of Unicode.
    if text.contains([
        '\n', '\r', '\u{0b}', '\u{0c}', '\u{85}', '\u{2028}', '\u{2029}',
    ]) {
        return Err(NotOneLine(key));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_1_to_64_letters_digits_hyphens_underscores_and_dots() {
        let longest = "a".repeat(64);
        for good in ["a", "A-1_b.c", "..", &longest] {
            assert_eq!(check("name", good), Ok(()));
        }
        let too_long = "a".repeat(65);
        for bad in ["", " a", "a b", "ä", "a/b", "a\n", &too_long] {
            assert!(check("name", bad).is_err(), "{bad:?}");
        }
        let told = check("id", "a b").unwrap_err().to_string();
        assert!(
            told.starts_with("`id` is \"a b\"; expected 1 to 64"),
            "{told}"
        );
    }

    #[test]
    fn no_line_end_passes_for_one_line() {
        assert_eq!(one_line("title", "a\tb — c"), Ok(()));
        for bad in ["a\nb", "a\r", "\u{2028}"] {
            assert_eq!(one_line("title", bad), Err(NotOneLine("title")));
        }
    }
}
