//! The results of the calls on the window, as a model reads them (R61 leaves results to code).

#![expect(
    clippy::format_push_string,
    reason = "results are short, and `write!` into a String fails in no way worth a branch"
)]

use vocab::tools::MAX_COMPACT_FILES;

use crate::compaction::CompactCall;
use crate::modules::archive::ArchiveHits;
use crate::window::{Archived, Evicted, TurnRange};

/// The result of an eviction.
pub fn evicted_text(evicted: &Evicted) -> String {
    if evicted.items == 0 {
        return "no file view was evicted: none that may be is in your window".to_owned();
    }
    let mut text = format!(
        "evicted {}, {} tokens reclaimed",
        counted(evicted.items as u64, "file view"),
        grouped(evicted.tokens)
    );
    for path in &evicted.paths {
        text.push('\n');
        text.push_str(path);
    }
    text
}

/// The result of an archival; `stored` is what the archive holds now, all in all.
pub fn archived_text(archived: &Archived, stored: usize) -> String {
    let mut text = if archived.turns.is_empty() {
        "nothing was archived".to_owned()
    } else {
        format!(
            "archived {} {}, {} tokens reclaimed",
            if archived.turns.len() == 1 {
                "turn"
            } else {
                "turns"
            },
            listed(&runs(&archived.turns)),
            grouped(archived.tokens)
        )
    };
    text.push_str(&format!(
        "; {} stored, {} in the archive",
        counted(archived.entries.len() as u64, "result"),
        grouped(stored as u64)
    ));
    if !archived.missing.is_empty() {
        text.push_str(&format!(
            "\nnot in your window: {}",
            listed(&archived.missing)
        ));
    }
    text
}

/// The turns an archival emptied, `1-3, 7`.
pub fn turns_text(archived: &Archived) -> String {
    listed(&runs(&archived.turns))
}

/// The result of a search of the archive: each match whole, under what tells where it was.
pub fn found_text(found: &ArchiveHits<'_>) -> String {
    if found.hits.is_empty() {
        return "nothing in the archive holds that".to_owned();
    }
    let mut text = counted(found.total, "match");
    let shown = found.hits.len() as u64;
    if shown < found.total {
        text.push_str(&format!(
            "; the first {shown} follow, a longer query finds fewer"
        ));
    }
    for entry in &found.hits {
        text.push_str(&format!(
            "\n\n#{} of turn {}, {}",
            entry.ordinal, entry.turn, entry.band
        ));
        if let Some(call) = &entry.call {
            text.push_str(&format!(", {} {}", call.name, call.arguments));
        }
        text.push_str("\n----\n");
        text.push_str(&entry.text);
    }
    text
}

/// The result of `compact`: it is applied once the turn closes.
pub fn compacting_text(call: &CompactCall) -> String {
    let mut text = "your window is compacted after this reply".to_owned();
    if !call.files.is_empty() {
        let files = counted(call.files.len() as u64, "file");
        text.push_str(&format!("; {files} will be read again"));
    }
    if !call.past.is_empty() {
        text.push_str(&format!(
            "\nat most {MAX_COMPACT_FILES} are read again; not these: {}",
            call.past.join(", ")
        ));
    }
    text
}

/// Numbers in a row as one range each.
fn runs(turns: &[u32]) -> Vec<TurnRange> {
    let mut runs: Vec<TurnRange> = Vec::new();
    for &turn in turns {
        match runs.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(turn) => *last = *last.start()..=turn,
            _ => runs.push(turn..=turn),
        }
    }
    runs
}

fn listed(ranges: &[TurnRange]) -> String {
    let shown: Vec<_> = ranges
        .iter()
        .map(|range| match (range.start(), range.end()) {
            (from, to) if from == to => from.to_string(),
            (from, &u32::MAX) => format!("{from} and later"),
            (from, to) => format!("{from}-{to}"),
        })
        .collect();
    shown.join(", ")
}

fn counted(number: u64, noun: &str) -> String {
    let plural = match (number, noun) {
        (1, _) => "",
        (_, noun) if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {noun}{plural}", grouped(number))
}

/// A whole number with its thousands set apart by commas.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eviction_tells_how_much_and_of_what() {
        let evicted = Evicted {
            items: 3,
            tokens: 12_345,
            paths: vec!["a.rs".into(), "b.rs".into()],
            first_index: Some(4),
        };
        assert_eq!(
            evicted_text(&evicted),
            "evicted 3 file views, 12,345 tokens reclaimed\na.rs\nb.rs"
        );
        assert!(evicted_text(&Evicted::default()).starts_with("no file view was evicted"));
    }

    #[test]
    fn an_archival_tells_turns_entries_and_what_was_not_there() {
        let archived = Archived {
            turns: vec![1, 2, 3, 7],
            missing: vec![4..=6, 9..=u32::MAX],
            tokens: 1_000,
            ..Archived::default()
        };
        assert_eq!(
            archived_text(&archived, 1_001),
            "archived turns 1-3, 7, 1,000 tokens reclaimed; 0 results stored, 1,001 in the \
             archive\nnot in your window: 4-6, 9 and later"
        );
        let nothing = Archived {
            missing: vec![4..=4],
            ..Archived::default()
        };
        assert_eq!(
            archived_text(&nothing, 0),
            "nothing was archived; 0 results stored, 0 in the archive\nnot in your window: 4"
        );
    }

    #[test]
    fn a_search_shows_each_match_whole_and_says_how_many_there_are() {
        use crate::modules::archive::{Archive, ArchivedCall};
        use vocab::band::Band;
        use vocab::message::Role;

        let mut archive = Archive::default();
        for turn in 1..=9 {
            let call = ArchivedCall {
                name: "shell".to_owned(),
                arguments: format!("{{\"command\":\"echo {turn}\"}}").into(),
            };
            let text = format!("line {turn}\n\nsecond").into();
            archive.store(turn, Band::ToolOutput, Role::Tool, text, Some(call));
        }
        assert_eq!(
            found_text(&archive.search("LINE 7")),
            "1 match\n\n#7 of turn 7, tool_output, shell {\"command\":\"echo 7\"}\n----\nline \
             7\n\nsecond"
        );
        let many = found_text(&archive.search("line"));
        assert!(many.starts_with("9 matches; the first 8 follow"), "{many}");
        assert!(!many.contains("line 9"), "{many}");
        assert_eq!(
            found_text(&archive.search("absent")),
            "nothing in the archive holds that"
        );
    }

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (123_456, "123,456"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
