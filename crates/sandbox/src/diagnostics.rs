//! Bounds on what a compiler says (05 §8).
//!
//! Always true: a bound deletes and never rewords; whatever it deletes is counted in a closing line.

/// How many diagnostics a model is shown.
pub const SHOWN: usize = 8;

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
    }
}
