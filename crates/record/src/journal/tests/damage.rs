//! F99 and F101: whatever was done to the file, what was whole before it is read.

use proptest::prelude::*;

use super::*;

/// Where the lines of a journal start, and its end.
fn starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

/// Entries whose lines are whole within the first `length` bytes.
fn whole_entries(bytes: &[u8], length: usize) -> usize {
    bytes[..length]
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n") && line.starts_with(b"{\"t\":\"entry\""))
        .count()
}

fn check_cut(bytes: &[u8], length: usize) {
    let replay = read(&bytes[..length]).unwrap();
    assert_eq!(replay.entries.len(), whole_entries(bytes, length));
    let stopped = replay.stopped.expect("something is missing");
    let at_a_line_end = starts(bytes).contains(&length);
    let expected = if at_a_line_end {
        StopReason::SessionKilled
    } else {
        StopReason::CorruptJournal
    };
    assert_eq!(stopped.reason, expected, "cut at {length}");
    let last = replay.entries.last().map(|entry| entry.seq);
    assert_eq!(stopped.last_seq, last);
    assert!(stopped.offset <= length);
}

#[test]
fn a_journal_cut_anywhere_in_its_last_two_lines_reads_up_to_its_last_whole_line() {
    let bytes = good(3);
    let starts = starts(&bytes);
    for length in starts[starts.len() - 3]..bytes.len() {
        check_cut(&bytes, length);
    }
    assert_eq!(read(&bytes).unwrap().stopped, None);
}

#[test]
fn the_place_where_it_stops_is_told() {
    let bytes = good(1);
    let starts = starts(&bytes);
    let place = starts[starts.len() - 2] + 5;
    let stopped = read(&bytes[..place]).unwrap().stopped.unwrap();
    insta::assert_snapshot!(
        stopped.to_string().replace(&(place - 5).to_string(), "N"),
        @"corrupt_journal: partial, up to entry 5; line 15 at byte N: its end is missing"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_journal_cut_anywhere_reads_up_to_its_last_whole_line(place in any::<prop::sample::Index>()) {
        let bytes = good(4);
        check_cut(&bytes, place.index(bytes.len()));
    }

    #[test]
    fn what_is_put_into_the_middle_ends_the_reading_there(
        place in any::<prop::sample::Index>(),
        kind in 0usize..4,
    ) {
        let bytes = good(4);
        let starts = starts(&bytes);
        // Behind the header, which names the run, and before the end.
        let at = starts[1 + place.index(starts.len() - 2)];
        let foreign = {
            let other = good(2);
            let text = String::from_utf8(other).unwrap();
            text.replace("\"run\":\"abcdefgh\"", "\"run\":\"zyxwvuts\"")
        };
        let next = whole_entries(&bytes, at);
        let put: Vec<u8> = match kind {
            0 => vec![0; 512],
            1 => bytes[at..at + (bytes.len() - at) / 2].iter().copied().take_while(|b| *b != b'\n').collect::<Vec<u8>>()[..10].to_vec(),
            2 => foreign.lines().find(|line| line.contains("\"t\":\"message\"")).unwrap().as_bytes().iter().copied().chain(*b"\n").collect(),
            _ => format!("{{\"t\":\"entry\",\"run\":\"zyxwvuts\",\"seq\":{next},\"kind\":\"cancel_probe\",\"found\":true}}\n").into_bytes(),
        };
        let damaged = [&bytes[..at], &put, &bytes[at..]].concat();
        let replay = read(&damaged).unwrap();
        prop_assert_eq!(replay.entries.len(), next);
        let stopped = replay.stopped.unwrap();
        prop_assert_eq!(stopped.reason, StopReason::CorruptJournal);
        prop_assert_eq!(stopped.offset, at);
    }

    #[test]
    fn overwritten_bytes_never_panic(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = good(2);
        for (place, byte) in places {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = read(&bytes);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
    }

    #[test]
    fn a_line_taken_out_never_passes_unseen(place in any::<prop::sample::Index>()) {
        let bytes = good(2);
        let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let place = place.index(lines.len());
        // A seed and an agent row stand for themselves.
        prop_assume!(![1, 2].contains(&place));
        lines.remove(place);
        match read(&lines.concat()) {
            Ok(replay) => prop_assert!(replay.stopped.is_some()),
            Err(refused) => prop_assert!(!refused.to_string().is_empty()),
        }
    }
}

#[test]
fn an_empty_journal_is_a_killed_one() {
    let replay = read(b"").unwrap();
    assert!(replay.header.is_none());
    assert_eq!(replay.stopped.unwrap().reason, StopReason::SessionKilled);
}

#[test]
fn what_no_record_can_be_made_of_is_refused() {
    let text = String::from_utf8(good(2)).unwrap();
    let refused = |text: String| read(text.as_bytes()).unwrap_err();
    let version = "\"formatVersion\":2";
    assert_eq!(
        refused(text.replace(version, "\"formatVersion\":3")),
        Refused::Format { found: 3 }
    );
    assert_eq!(
        refused(text.replace(&format!(",{version}"), "")),
        Refused::Format { found: 1 }
    );
    let headless = text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(
        refused(headless),
        Refused::NoHeader {
            found: "seed".to_owned()
        }
    );
    let gap = refused(text.replacen(
        "\"t\":\"message\",\"run\":\"abcdefgh\",\"index\":1",
        "\"t\":\"message\",\"run\":\"abcdefgh\",\"index\":7",
        1,
    ));
    assert!(
        matches!(
            gap,
            Refused::PoolGap {
                pool: "message",
                found: 7,
                expected: 1,
                ..
            }
        ),
        "{gap}"
    );
    let dangling = refused(text.replacen("\"push\":[0,1]", "\"push\":[0,99]", 1));
    assert!(
        matches!(
            dangling,
            Refused::Dangling {
                what: "message",
                index: 99,
                ..
            }
        ),
        "{dangling}"
    );
    let kept = refused(text.replacen("\"keep\":2", "\"keep\":5", 1));
    assert!(
        matches!(
            kept,
            Refused::Dangling {
                what: "kept row",
                index: 5,
                known: 2,
                ..
            }
        ),
        "{kept}"
    );
}

#[test]
fn an_end_that_counts_wrong_is_corrupt() {
    let text = String::from_utf8(good(2)).unwrap();
    let wrong = text.replace("\"entries\":12", "\"entries\":13");
    let stopped = read(wrong.as_bytes()).unwrap().stopped.unwrap();
    assert_eq!(stopped.reason, StopReason::CorruptJournal);
    assert_eq!(stopped.last_seq, Some(11));
    let more = format!("{text}{}", text.lines().nth(1).unwrap()) + "\n";
    let stopped = read(more.as_bytes()).unwrap().stopped.unwrap();
    assert_eq!(stopped.reason, StopReason::CorruptJournal);
}
