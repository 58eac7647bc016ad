//! The vectors of 01 §7 and R60, and a reader of a whole text to be held against.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const SEED: Knobs = Knobs {
    window_words: 256,
    repeat_threshold: 32,
    min_offenders: 2,
    min_saturated_run: 3000,
    max_response_chars: 250_000,
};

const SHORT_RUN: Knobs = Knobs {
    min_saturated_run: 300,
    ..SEED
};

#[expect(clippy::unnecessary_wraps, reason = "it is what a reader gives")]
fn trip(words: u64, chars: u64, why: Why) -> Option<Trip> {
    Some(Trip { words, chars, why })
}

fn read(knobs: Knobs, text: &str) -> Option<Trip> {
    Detector::new(knobs).feed(Stream::Content, text.as_bytes())
}

#[test]
fn a_repeated_statement_trips_at_word_3065_and_character_12261() {
    let text = "void 0;\n".repeat(30_000);
    let at = trip(3065, 12_261, Why::Repetition);
    assert_eq!(read(SEED, &text), at);
    assert_eq!(read(SEED, &text[..12_261]), at);
    assert_eq!(read(SEED, &text[..12_260]), None, "the blank decides");
}

#[test]
fn a_tile_map_of_1504_entries_passes_with_a_run_of_1409() {
    // 47 rows of 32 tiles, a third of them water. The 33rd water tile is the 96th entry.
    let rows = "0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2, 0, \
                0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 2, 0, 2,\n";
    let map = rows.repeat(47);
    assert_eq!(map.split_whitespace().count(), 1504);
    let (mut detector, mut peak) = (Detector::new(SEED), 0);
    for byte in map.as_bytes().chunks(1) {
        assert_eq!(detector.feed(Stream::Content, byte), None);
        peak = peak.max(detector.run);
    }
    assert_eq!((detector.words, peak), (1504, 1409));
    let program = json!({ "program": format!("const TILES = [\n{map}];\n") }).to_string();
    let mut detector = Detector::new(SEED);
    assert_eq!(
        detector.feed(Stream::Arguments(0), program.as_bytes()),
        None
    );
    assert!(detector.words > 1504);
    assert!(
        read(SHORT_RUN, &map).is_some(),
        "a shorter run would not do"
    );
}

#[test]
fn different_numbers_are_no_repetition() {
    let mut numbers = String::new();
    for n in 0..1504 {
        writeln!(numbers, "{},", n * 7919 % 10_007).unwrap();
    }
    assert_eq!(read(SHORT_RUN, &numbers), None);
    let plain_rule = Knobs {
        min_saturated_run: 0,
        ..SEED
    };
    assert_eq!(read(plain_rule, &numbers), None);
}

#[test]
fn without_blanks_the_slices_of_128_characters_are_the_words() {
    let text = "void0;".repeat(30_000);
    // Three slices in turn; the second of them is an offender at word 98, and stays one.
    assert_eq!(
        read(SHORT_RUN, &text),
        trip(397, 397 * 128, Why::Repetition)
    );
    assert_eq!(
        read(SEED, &text),
        None,
        "1406 words are too few for the seed"
    );
    let longer = "void0;".repeat(60_000);
    assert_eq!(
        read(SEED, &longer),
        trip(1953, 250_001, Why::Length),
        "and the backstop comes first"
    );
    let dividing = "voidone;".repeat(30_000);
    assert_eq!(
        read(SHORT_RUN, &dividing),
        None,
        "one slice, one offender, and short of the backstop"
    );
}

#[test]
fn one_repeated_word_is_one_offender_and_meets_the_backstop() {
    assert_eq!(read(SEED, &"again ".repeat(40_000)), None);
    let longer = "again ".repeat(50_000);
    assert_eq!(read(SEED, &longer), trip(41_666, 250_001, Why::Length));
    let off = Knobs {
        max_response_chars: 0,
        ..SEED
    };
    assert_eq!(read(off, &longer), None);
    let one = Knobs {
        min_offenders: 1,
        ..SEED
    };
    assert_eq!(read(one, &longer).unwrap().words, 3032);
}

#[test]
fn a_loop_in_reasoning_or_behind_escapes_trips() {
    let text = "void 0;\n".repeat(30_000);
    let mut detector = Detector::new(SEED);
    assert_eq!(detector.feed(Stream::Content, b"Let me see.\n"), None);
    assert_eq!(
        detector.feed(Stream::Reasoning, text.as_bytes()),
        trip(3068, 12_273, Why::Repetition)
    );
    let program = json!({ "program": text }).to_string();
    assert!(program.contains(r"void 0;\nvoid"));
    let mut detector = Detector::new(SEED);
    // The first `void` is glued to what stands before the program.
    assert_eq!(
        detector.feed(Stream::Arguments(0), program.as_bytes()),
        trip(3066, 12 + 1533 * 8, Why::Repetition)
    );
    let mut detector = Detector::new(SEED);
    assert_eq!(
        detector.feed(Stream::Content, program.as_bytes()),
        trip(27_777, 250_001, Why::Length)
    );
}

#[test]
fn another_stream_ends_a_word_and_an_empty_piece_is_none() {
    let mut detector = Detector::new(SEED);
    let mut words = |stream, piece: &[u8]| {
        detector.feed(stream, piece);
        detector.words
    };
    assert_eq!(words(Stream::Reasoning, b"one tw"), 1);
    assert_eq!(words(Stream::Content, b""), 1);
    assert_eq!(words(Stream::Reasoning, b"o"), 1);
    assert_eq!(words(Stream::Content, b"three"), 2);
    assert_eq!(words(Stream::Arguments(0), br"{\"), 3);
    assert_eq!(words(Stream::Arguments(1), br"n\n"), 5, "the `n` is a word");
    assert_eq!(detector.chars, 16);
}

#[test]
fn the_least_sample_is_a_full_window() {
    let knobs = Knobs {
        window_words: 8,
        repeat_threshold: 1,
        min_offenders: 1,
        min_saturated_run: 0,
        max_response_chars: 0,
    };
    assert_eq!(read(knobs, "a a a a a a a "), None);
    assert_eq!(
        read(knobs, "a a a a a a a a "),
        trip(8, 16, Why::Repetition)
    );
    let run = Knobs {
        min_saturated_run: 7,
        ..knobs
    };
    assert_eq!(
        read(run, "a a a a a a a a "),
        trip(8, 16, Why::Repetition),
        "the run counted while the window filled"
    );
}

#[test]
fn blanks_are_those_of_unicode() {
    let mut detector = Detector::new(SEED);
    let text = "a\u{a0}b\u{3000}c\u{2028}d\u{85}e\u{200b}f\u{1c}g\u{b}h";
    detector.feed(Stream::Content, text.as_bytes());
    assert_eq!(detector.words, 5, "neither U+200B nor U+001C is a blank");
    assert_eq!(detector.chars, text.chars().count() as u64);
}

#[test]
fn a_character_sent_in_halves_is_the_character() {
    let knobs = Knobs {
        window_words: 4,
        repeat_threshold: 3,
        min_offenders: 1,
        min_saturated_run: 0,
        max_response_chars: 0,
    };
    let mut detector = Detector::new(knobs);
    let whole = "\u{1F642} ".as_bytes();
    for piece in [whole, &[0xED, 0xA0, 0xBD], &[0xED, 0xB9, 0x82], b" ", whole] {
        assert_eq!(detector.feed(Stream::Content, piece), None);
    }
    assert_eq!(
        detector.feed(Stream::Arguments(0), br"\ud83d\ude42 "),
        trip(4, 8, Why::Repetition)
    );
}

/// The rules of 01 §7 word for word, over a text that is there whole.
fn by_the_book(knobs: Knobs, text: &str) -> Option<Trip> {
    let mut window: VecDeque<String> = VecDeque::new();
    let (mut words, mut chars, mut run) = (0, 0, 0);
    let mut word = String::new();
    for character in text.chars() {
        chars += 1;
        if !character.is_whitespace() {
            word.push(character);
        }
        let ended = character.is_whitespace() || word.chars().count() == 128;
        if ended && !word.is_empty() {
            words += 1;
            if window.len() as u64 == knobs.window_words {
                window.pop_front();
            }
            window.push_back(std::mem::take(&mut word));
            let mut counts: HashMap<&str, u64> = HashMap::new();
            for word in &window {
                *counts.entry(word).or_default() += 1;
            }
            let offenders = counts
                .values()
                .filter(|count| **count > knobs.repeat_threshold)
                .count() as u64;
            let saturated = offenders >= knobs.min_offenders;
            run = if saturated { run + 1 } else { 0 };
            if words >= knobs.window_words && saturated && run >= knobs.min_saturated_run {
                return trip(words, chars, Why::Repetition);
            }
        }
        if knobs.max_response_chars > 0 && chars > knobs.max_response_chars {
            return trip(words, chars, Why::Length);
        }
    }
    None
}

fn knobs() -> impl Strategy<Value = Knobs> {
    let backstop = prop_oneof![Just(0), 1..600_u64];
    (1..12_u64, 1..4_u64, 1..4_u64, 0..20_u64, backstop).prop_map(
        |(window_words, repeat_threshold, min_offenders, min_saturated_run, max_response_chars)| {
            Knobs {
                window_words,
                repeat_threshold,
                min_offenders,
                min_saturated_run,
                max_response_chars,
            }
        },
    )
}

/// Texts that repeat themselves more or less, of words of any length and alphabet.
fn texts() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[ab]{1,2}",
        2 => "[a-z;]{7,9}",
        1 => "[é日\u{1F642}x]{1,3}",
        1 => "(ab;){40,50}",
        1 => "日{126,130}",
    ];
    let blank = prop_oneof![6 => "[ \n]", 1 => "[\t \u{a0}\u{3000}\u{1}]{0,3}"];
    proptest::collection::vec((word, blank), 1..6).prop_flat_map(|words| {
        proptest::collection::vec(proptest::sample::select(words), 0..60).prop_map(|words| {
            words
                .into_iter()
                .fold(String::new(), |mut text, (word, blank)| {
                    text.push_str(&word);
                    text.push_str(&blank);
                    text
                })
        })
    })
}

/// The pieces of a text, their sizes taken in turn.
fn cut<'a>(mut text: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for size in sizes.iter().cycle() {
        if text.is_empty() {
            break;
        }
        let (piece, rest) = text.split_at((*size).min(text.len()));
        pieces.push(piece);
        text = rest;
    }
    pieces
}

fn feed_all(knobs: Knobs, stream: Stream, pieces: &[&[u8]]) -> Option<Trip> {
    let mut detector = Detector::new(knobs);
    let mut trips = pieces
        .iter()
        .map(|piece| detector.feed(stream, piece))
        .collect::<Vec<_>>();
    trips.dedup();
    trips.pop().flatten()
}

proptest! {
    #[test]
    fn a_trip_is_what_the_rules_say_wherever_the_stream_is_cut(
        knobs in knobs(),
        text in texts(),
        sizes in proptest::collection::vec(1..30_usize, 1..8),
    ) {
        let expected = by_the_book(knobs, &text);
        let content = |pieces: &[&[u8]]| feed_all(knobs, Stream::Content, pieces);
        prop_assert_eq!(content(&[text.as_bytes()]), expected);
        prop_assert_eq!(content(&cut(text.as_bytes(), &sizes)), expected);
        prop_assert_eq!(content(&cut(text.as_bytes(), &[1])), expected);
        let json = serde_json::to_string(&text).unwrap();
        let escaped = json[1..json.len() - 1].replace('\u{1F642}', r"\uD83D\uDE42");
        let pieces = cut(escaped.as_bytes(), &sizes);
        prop_assert_eq!(feed_all(knobs, Stream::Arguments(0), &pieces), expected);
    }

    #[test]
    fn any_bytes_are_read_and_give_one_answer(
        knobs in knobs(),
        bytes in proptest::collection::vec(
            prop_oneof![Just(0xED_u8), Just(0xA0), Just(0xB0), Just(b'\\'), Just(b'u'), any::<u8>()],
            0..200,
        ),
        sizes in proptest::collection::vec(1..9_usize, 1..8),
    ) {
        for stream in [Stream::Content, Stream::Arguments(3)] {
            let whole = feed_all(knobs, stream, &[&bytes]);
            prop_assert_eq!(feed_all(knobs, stream, &cut(&bytes, &sizes)), whole);
            prop_assert_eq!(feed_all(knobs, stream, &cut(&bytes, &[1])), whole);
        }
    }
}
