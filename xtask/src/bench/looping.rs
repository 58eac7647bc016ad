//! The loop detector, beside the least that cuts a text into words: a `split_whitespace` count.

use std::time::Instant;

use provider::looping::{Detector, Stream};
use vocab::looping::Knobs;

use super::median;
use super::table::Row;

/// Bytes of text that are read.
const SIZE: usize = 16 * 1024 * 1024;

/// Bytes of a piece where pieces are large, and where they are as a model streams them.
const PIECES: [usize; 2] = [4096, 4];

/// The seed's knobs, without the backstop: a text of this size has to be read to its end.
const KNOBS: Knobs = Knobs {
    window_words: 256,
    repeat_threshold: 32,
    min_offenders: 2,
    min_saturated_run: 3000,
    max_response_chars: 0,
};

/// Reads the same text as content in large pieces, as escaped arguments, and token by token.
pub(super) fn measure(repeats: usize) -> Vec<Row> {
    let text = text();
    let escaped = serde_json::Value::from(text.as_str()).to_string();
    let rate = |size: usize, once: &dyn Fn() -> usize| {
        median(
            (0..repeats)
                .map(|_| {
                    let start = Instant::now();
                    assert!(once() > 0, "the text holds words");
                    size as f64 / start.elapsed().as_secs_f64() / 1e6
                })
                .collect(),
        )
    };
    let floor = |text: &str| rate(text.len(), &|| text.split_whitespace().count());
    let read = |stream: Stream, text: &str, piece: usize| {
        rate(text.len(), &|| {
            let mut detector = Detector::new(KNOBS);
            for piece in text.as_bytes().chunks(piece) {
                assert!(
                    detector.feed(stream, piece).is_none(),
                    "the text is no loop"
                );
            }
            text.len()
        })
    };
    let [large, token] = PIECES;
    let plain = read(Stream::Content, &text, large);
    let arguments = read(Stream::Arguments(0), &escaped, large);
    let (floor, escaped_floor) = (floor(&text), floor(&escaped));
    let row = |what: &str, rate: f64, floor: f64, goal: Option<f64>| Row {
        figure: format!("loop detector, {what}"),
        unit: "MB/s",
        gg: rate,
        floor: Some(floor),
        goal: goal.map_or_else(String::new, |goal| format!("≥ {goal:.0} MB/s")),
        met: goal.map(|goal| rate >= goal),
    };
    vec![
        row("text", plain, floor, Some(200.0)),
        row("escaped arguments", arguments, escaped_floor, Some(200.0)),
        row(
            "text token by token",
            read(Stream::Content, &text, token),
            floor,
            None,
        ),
    ]
}

/// A text as models write them: words of one to twelve letters, few of them often, most of them
/// seldom, in indented lines. The same in every run.
fn text() -> String {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) % below
    };
    let vocabulary: Vec<String> = (0..4096)
        .map(|_| {
            let length = 1 + random(6) + random(7);
            (0..length)
                .map(|_| char::from(b'a' + random(26) as u8))
                .collect()
        })
        .collect();
    let mut text = String::with_capacity(SIZE + 256);
    while text.len() < SIZE {
        text.push_str(&" ".repeat(random(4) as usize * 2));
        for _ in 0..3 + random(12) {
            // The smallest of three throws is small most of the time.
            let place = random(4096).min(random(4096)).min(random(4096));
            text.push_str(&vocabulary[place as usize]);
            text.push_str(match random(12) {
                0 => ", ",
                1 => "; ",
                2 => "() ",
                _ => " ",
            });
        }
        text.push('\n');
    }
    text
}
