//! Bounds on what a compiler says (05 §8).
//!
//! Always true: a bound deletes and never rewords; whatever it deletes is counted in a closing line.

use std::collections::BTreeSet;

/// How many diagnostics a model is shown.
pub const SHOWN: usize = 8;

/// The first `shown` of a list of diagnostics, each text once.
pub fn capped(diagnostics: &[String], shown: usize) -> String {
    let mut seen = BTreeSet::new();
    let distinct: Vec<&str> = diagnostics
        .iter()
        .map(String::as_str)
        .filter(|text| seen.insert(*text))
        .collect();
    let kept = distinct.len().min(shown);
    closed(distinct[..kept].join("\n"), distinct.len() - kept)
}

/// The first `shown` groups of a text: `opens` tells the line that begins one. What stands before the
/// first is kept, and a text without any stays as it is.
pub fn capped_lines(text: &str, opens: impl Fn(&str) -> bool, shown: usize) -> String {
    let mut groups = 0;
    let mut kept = Vec::new();
    for line in text.lines() {
        groups += usize::from(opens(line));
        if groups <= shown {
            kept.push(line);
        }
    }
    closed(kept.join("\n"), groups.saturating_sub(shown))
}

fn closed(mut text: String, dropped: usize) -> String {
    if dropped > 0 {
        if !text.is_empty() {
            text.push('\n');
        }
        let plural = if dropped == 1 { "" } else { "s" };
        text.push_str(&format!("… {dropped} more diagnostic{plural}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_keeps_its_first_and_counts_the_rest() {
        let list = ["a", "b", "a", "c", "d"].map(str::to_owned);
        assert_eq!(capped(&list, 2), "a\nb\n… 2 more diagnostics");
        assert_eq!(capped(&list, 3), "a\nb\nc\n… 1 more diagnostic");
        assert_eq!(capped(&list, 4), "a\nb\nc\nd");
        assert_eq!(capped(&[], 4), "");
    }

    #[test]
    fn a_text_keeps_what_stands_before_its_first_group() {
        let text = "pre\nE1\n  more\nE2\nE3\n  more";
        let opens = |line: &str| line.starts_with('E');
        assert_eq!(
            capped_lines(text, opens, 1),
            "pre\nE1\n  more\n… 2 more diagnostics"
        );
        assert_eq!(capped_lines(text, opens, 3), text);
        assert_eq!(capped_lines("no\ngroup", opens, 1), "no\ngroup");
    }

    proptest! {
        #[test]
        fn a_bound_only_deletes_and_says_so(
            lines in prop::collection::vec("[E ][a-c]{0,3}", 0..20),
            shown in 1_usize..6,
        ) {
            let text = lines.join("\n");
            let opens = |line: &str| line.starts_with('E');
            let groups = lines.iter().filter(|line| opens(line)).count();
            let bounded = capped_lines(&text, opens, shown);
            let closing = bounded.lines().last().filter(|line| line.starts_with('…'));
            prop_assert_eq!(closing.is_some(), groups > shown);
            let kept: Vec<_> = bounded.lines().filter(|line| !line.starts_with('…')).collect();
            prop_assert_eq!(&kept[..], &text.lines().collect::<Vec<_>>()[..kept.len()]);
            prop_assert_eq!(kept.iter().filter(|line| opens(line)).count(), groups.min(shown));
        }

        #[test]
        fn of_a_list_every_text_is_shown_or_counted(
            list in prop::collection::vec("[a-d]{1,2}", 0..20),
            shown in 1_usize..6,
        ) {
            let distinct: BTreeSet<_> = list.iter().collect();
            let bounded = capped(&list, shown);
            let kept = bounded.lines().filter(|line| !line.starts_with('…')).count();
            prop_assert_eq!(kept, distinct.len().min(shown));
            let counted = bounded.lines().last().and_then(|line| {
                line.strip_prefix("… ")?.split(' ').next()?.parse::<usize>().ok()
            });
            prop_assert_eq!(kept + counted.unwrap_or(0), distinct.len());
        }
    }
}
