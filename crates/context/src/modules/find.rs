//! Finding a text in another in any case, and quoting the place.
//!
//! Case is folded character by character, in needle and text alike, so that a place in the folded
//! text can be led back to the text itself. Folding goes by way of upper case: letters of two small
//! forms, such as the two sigmas, have one large one.

/// A text to search for.
pub(super) struct Needle(String);

impl Needle {
    /// The text, its surrounding blanks aside; `None` where nothing is left.
    pub(super) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(folded(text)))
    }

    /// The text as it is compared.
    pub(super) fn folded(&self) -> &str {
        &self.0
    }
}

/// A text with its case folded.
pub(super) fn folded(text: &str) -> String {
    text.chars().flat_map(fold).collect()
}

/// A character as it is compared.
fn fold(c: char) -> impl Iterator<Item = char> {
    c.to_uppercase().flat_map(char::to_lowercase)
}

/// How often a needle occurs in a folded text, without overlaps.
pub(super) fn occurrences(folded: &str, needle: &Needle) -> u64 {
    folded.matches(needle.folded()).count() as u64
}

/// The first place, in characters of the text itself, where any of the needles occurs.
fn first_place(text: &str, needles: &[Needle]) -> Option<usize> {
    let seen = folded(text);
    let wanted = needles
        .iter()
        .filter_map(|needle| seen.find(needle.folded()))
        .min()?;
    let mut passed = 0;
    text.chars().position(|c| {
        passed += fold(c).map(char::len_utf8).sum::<usize>();
        passed > wanted
    })
}

/// At most `longest` characters of a text around the first needle, on one line, with an ellipsis
/// where something was left out.
pub(super) fn excerpt(text: &str, needles: &[Needle], longest: usize) -> String {
    const ELLIPSIS: char = '…';
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let total = line.chars().count();
    if total <= longest {
        return line;
    }
    // A needle may span what the line joins; then the beginning is shown.
    let place = first_place(&line, needles).unwrap_or(0);
    // Room for two ellipses, whether both are needed or not.
    let shown = longest.saturating_sub(2);
    let start = place.saturating_sub(shown / 4).min(total - shown);
    let mut quoted = String::new();
    if start > 0 {
        quoted.push(ELLIPSIS);
    }
    quoted.extend(line.chars().skip(start).take(shown));
    if start + shown < total {
        quoted.push(ELLIPSIS);
    }
    quoted
}

/// At most `longest` characters from the beginning of a text, on one line.
pub(super) fn preview(text: &str, longest: usize) -> String {
    excerpt(text, &[], longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needle(text: &str) -> Needle {
        Needle::new(text).unwrap()
    }

    #[test]
    fn case_does_not_count_and_blanks_are_no_needle() {
        assert_eq!(occurrences(&folded("Ab aB ÄB"), &needle(" ab ")), 2);
        assert_eq!(occurrences(&folded("Straße ÄB"), &needle("äb")), 1);
        assert!(Needle::new(" \n").is_none());
    }

    #[test]
    fn letters_of_several_small_or_large_forms_are_one() {
        for (text, wanted) in [
            ("ΣΑΣ", "σας"),
            ("σας", "ΣΑΣ"),
            ("οδός", "ΟΔΌΣ"),
            ("Straße", "STRASSE"),
            ("STRASSE", "straße"),
            ("ﬁle", "FILE"),
            ("10 µm", "10 μM"),
        ] {
            assert_eq!(
                occurrences(&folded(text), &needle(wanted)),
                1,
                "{text} {wanted}"
            );
        }
        let text = format!("{} NEEDLE {}", "ß ".repeat(300), "x ".repeat(300));
        assert!(excerpt(&text, &[needle("needle")], 40).contains("NEEDLE"));
    }

    #[test]
    fn an_excerpt_shows_the_place_where_the_needle_stands() {
        let text = format!("{} NEEDLE {}", "İ ".repeat(300), "x ".repeat(300));
        let shown = excerpt(&text, &[needle("needle")], 160);
        assert!(shown.contains("NEEDLE"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'));
        assert_eq!(excerpt("a\n  b", &[], 160), "a b");
    }

    proptest::proptest! {
        #[test]
        fn an_excerpt_is_one_line_within_its_bound(
            text in "[aAİ漢\u{1f600} \n]{0,60}", wanted in "[aAİ漢]{1,3}", longest in 4_usize..20
        ) {
            let shown = excerpt(&text, &[needle(&wanted)], longest);
            proptest::prop_assert!(shown.chars().count() <= longest);
            proptest::prop_assert!(!shown.contains('\n'));
        }
    }
}
