//! Conflict markers: those a merge wrote, told from those a document shows on purpose (R34).
//!
//! Git writes a run of one character, as long as the path's attribute says, then a label. The
//! merge's own label ends the closing marker, so that line is a leftover wherever it stands; any
//! other line that looks like a marker is one only where neither side's own file accounts for it.

use std::collections::HashMap;

/// How long markers are, where no attribute says otherwise.
const USUAL: usize = 7;

/// How long the markers of a merge are in a file it left in conflict.
pub(super) fn size(conflicted: &[u8], label: &str) -> usize {
    let closing = |line: &[u8]| {
        let run = line.iter().take_while(|byte| **byte == b'>').count();
        let rest = line.get(run..)?.strip_prefix(b" ")?;
        (run > 0 && rest == label.as_bytes()).then_some(run)
    };
    lines(conflicted).find_map(closing).unwrap_or(USUAL)
}

/// The first marker that is left in a file, where one is.
pub(super) fn left(
    resolved: &[u8],
    ours: &[u8],
    theirs: &[u8],
    size: usize,
    label: &str,
) -> Option<String> {
    let own = [b">".repeat(size), b" ".to_vec(), label.as_bytes().to_vec()].concat();
    let mut accounted: HashMap<&[u8], usize> = HashMap::new();
    for line in markers(ours, size).chain(markers(theirs, size)) {
        *accounted.entry(line).or_default() += 1;
    }
    for line in markers(resolved, size) {
        if let Some(count) = accounted.get_mut(line)
            && *count > 0
            && line != own
        {
            *count -= 1;
            continue;
        }
        return Some(String::from_utf8_lossy(line).into_owned());
    }
    None
}

/// Lines that are a run of one of git's four characters, alone or before a blank.
fn markers(text: &[u8], size: usize) -> impl Iterator<Item = &[u8]> {
    lines(text).filter(move |line| {
        let Some(first) = line.first().filter(|byte| b"<=>|".contains(byte)) else {
            return false;
        };
        let run = line.iter().take_while(|byte| *byte == first).count();
        run == size && line.get(run).is_none_or(|byte| *byte == b' ')
    })
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABEL: &str = "gg/ui-1";
    const CONFLICT: &str = "a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> gg/ui-1\nb\n";

    fn found(resolved: &str, ours: &str, theirs: &str) -> Option<String> {
        left(
            resolved.as_bytes(),
            ours.as_bytes(),
            theirs.as_bytes(),
            USUAL,
            LABEL,
        )
    }

    #[test]
    fn a_resolved_file_has_none_and_any_part_of_a_conflict_is_one() {
        assert_eq!(found("a\nboth\nb\n", "a\nours\n", "a\ntheirs\n"), None);
        assert_eq!(found(CONFLICT, "", "").as_deref(), Some("<<<<<<< HEAD"));
        for part in ["=======\n", ">>>>>>> gg/ui-1\r\n", "||||||| 123\n"] {
            assert!(found(part, "", "").is_some(), "{part}");
        }
    }

    #[test]
    fn a_document_that_shows_markers_on_purpose_passes() {
        assert_eq!(
            found(CONFLICT.replace("gg/ui-1", "x").as_str(), "", CONFLICT),
            Some(">>>>>>> x".to_owned())
        );
        let shown = "<<<<<<< HEAD\n=======\n>>>>>>> feature\nTitle\n=======\n";
        assert_eq!(found(shown, "", shown), None);
        assert_eq!(found(shown, shown, ""), None);
        // Two of what only one side had is one too many.
        let twice = format!("{shown}<<<<<<< HEAD\n");
        assert_eq!(found(&twice, "", shown).as_deref(), Some("<<<<<<< HEAD"));
    }

    #[test]
    fn the_merges_own_closing_marker_never_passes() {
        let quoted = ">>>>>>> gg/ui-1\n";
        assert_eq!(
            found(quoted, quoted, quoted).as_deref(),
            Some(">>>>>>> gg/ui-1")
        );
    }

    #[test]
    fn longer_markers_are_known_by_the_label() {
        let conflict = CONFLICT
            .replace("<<<<<<<", "<<<<<<<<<<")
            .replace(">>>>>>>", ">>>>>>>>>>");
        assert_eq!(size(conflict.as_bytes(), LABEL), 10);
        assert_eq!(size(b"plain", LABEL), USUAL);
        let resolved = b"==========\n";
        assert!(left(resolved, b"", b"", 10, LABEL).is_some());
        assert!(left(resolved, b"", b"", USUAL, LABEL).is_none());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_judged_without_a_panic(one: Vec<u8>, two: Vec<u8>, size in 1..40_usize) {
            left(&one, &two, &two, size, LABEL);
            super::size(&one, LABEL);
        }
    }
}
