//! The lines of a stream as figures: how many, how long, where the longest stand.
//!
//! Figures are kept as the stream goes by, in memory that does not grow with it: lengths go into
//! a histogram, exact up to [`EXACT`] characters and within a 64th beyond. The five longest lines
//! are exact at any length.

use std::collections::BTreeMap;

/// Lengths counted one by one.
const EXACT: u64 = 4096;

/// Steps a doubling of the length is counted in, past [`EXACT`].
const STEPS: u64 = 64;

/// Longest lines kept.
const LONGEST: usize = 5;

/// A line by its length in characters and its number, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Long {
    pub(crate) chars: u64,
    pub(crate) line: u64,
}

/// The figures of one stream.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    /// Characters so far, line ends included.
    chars: u64,
    /// Lines that ended.
    ended: u64,
    /// Characters of the line that has not ended, where it has begun.
    open: Option<u64>,
    /// How many lines have each length up to the exact bound.
    short: Vec<u64>,
    /// How many lines are in each step beyond, by the step's least length.
    long: BTreeMap<u64, u64>,
    /// Longest first, the earlier first among equals.
    longest: Vec<Long>,
}

impl Lines {
    /// Takes the next piece of the stream.
    pub(crate) fn take(&mut self, piece: &str) {
        let ascii = piece.is_ascii();
        let count = |part: &str| if ascii { part.len() } else { part.chars().count() } as u64;
        let mut from = 0;
        for at in memchr::memchr_iter(b'\n', piece.as_bytes()) {
            let chars = count(&piece[from..at]);
            self.end_line(self.open.unwrap_or(0) + chars);
            self.chars += chars + 1;
            self.open = None;
            from = at + 1;
        }
        if from < piece.len() {
            let chars = count(&piece[from..]);
            self.open = Some(self.open.unwrap_or(0) + chars);
            self.chars += chars;
        }
    }

    /// Ends a last line that has no line end.
    pub(crate) fn finish(&mut self) {
        if let Some(chars) = self.open.take() {
            self.end_line(chars);
        }
    }

    /// Characters of the stream, line ends included.
    pub(crate) fn chars(&self) -> u64 {
        self.chars
    }

    /// Lines of the stream; whole after [`Lines::finish`].
    pub(crate) fn count(&self) -> u64 {
        self.ended
    }

    /// The five longest lines, longest first.
    pub(crate) fn longest(&self) -> &[Long] {
        &self.longest
    }

    /// The length that `percent` of the lines do not exceed, by nearest rank.
    pub(crate) fn percentile(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.ended) * u128::from(percent))
            .div_ceil(100)
            .max(1);
        let exact = self
            .short
            .iter()
            .enumerate()
            .map(|(chars, lines)| (chars as u64, *lines));
        let steps = self.long.iter().map(|(chars, lines)| (*chars, *lines));
        let mut seen = 0;
        for (chars, lines) in exact.chain(steps) {
            seen += u128::from(lines);
            if seen >= rank {
                return chars;
            }
        }
        0
    }

    fn end_line(&mut self, chars: u64) {
        self.ended += 1;
        if chars < EXACT {
            let at = chars as usize;
            if self.short.len() <= at {
                self.short.resize(at + 1, 0);
            }
            self.short[at] += 1;
        } else {
            *self.long.entry(step(chars)).or_default() += 1;
        }
        let full = self.longest.len() == LONGEST;
        if full && self.longest[LONGEST - 1].chars >= chars {
            return;
        }
        let at = self.longest.partition_point(|long| long.chars >= chars);
        self.longest.insert(
            at,
            Long {
                chars,
                line: self.ended,
            },
        );
        self.longest.truncate(LONGEST);
    }
}

/// The least length of the step a length falls in.
fn step(chars: u64) -> u64 {
    let width = (1_u64 << chars.ilog2()) / STEPS;
    chars - chars % width
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Lines {
        let mut lines = Lines::default();
        lines.take(text);
        lines.finish();
        lines
    }

    #[test]
    fn an_empty_stream_has_no_lines() {
        assert_eq!((of("").count(), of("").chars()), (0, 0));
        assert_eq!((of("\n").count(), of("\n").chars()), (1, 1));
        assert_eq!((of("a\nb").count(), of("a\nb").chars()), (2, 3));
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let text: String = (1..=100).map(|chars| "x".repeat(chars) + "\n").collect();
        let lines = of(&text);
        assert_eq!(
            [50, 95, 99, 100].map(|percent| lines.percentile(percent)),
            [50, 95, 99, 100]
        );
        assert_eq!(of("abc").percentile(50), 3);
    }

    #[test]
    fn the_longest_stand_by_length_then_place() {
        let lines = of("aa\nbbb\nc\ndd\neee\nff\ngg\n");
        let found: Vec<_> = lines
            .longest()
            .iter()
            .map(|long| (long.chars, long.line))
            .collect();
        assert_eq!(found, [(3, 2), (3, 5), (2, 1), (2, 4), (2, 6)]);
    }

    #[test]
    fn very_long_lines_are_near_in_percentiles_and_exact_among_the_longest() {
        let mut lines = Lines::default();
        for _ in 0..1_000 {
            lines.take(&"漢".repeat(1_000));
        }
        lines.finish();
        assert_eq!(
            lines.longest(),
            [Long {
                chars: 1_000_000,
                line: 1
            }]
        );
        let near = lines.percentile(50);
        assert!((984_000..=1_000_000).contains(&near), "{near}");
    }

    proptest::proptest! {
        #[test]
        fn pieces_and_the_whole_give_the_same(text in "[a漢\n]{0,60}", cut in 0_usize..60) {
            let cut = crate::text::floor(&text, cut);
            let mut pieces = Lines::default();
            pieces.take(&text[..cut]);
            pieces.take(&text[cut..]);
            pieces.finish();
            let whole = of(&text);
            proptest::prop_assert_eq!(pieces.chars(), text.chars().count() as u64);
            proptest::prop_assert_eq!(pieces.count(), text.lines().count() as u64);
            proptest::prop_assert_eq!(pieces.longest(), whole.longest());
            let mut lengths: Vec<_> = text.lines().map(|line| line.chars().count() as u64).collect();
            lengths.sort_unstable();
            if let Some(at) = (lengths.len() * 95).div_ceil(100).checked_sub(1) {
                proptest::prop_assert_eq!(pieces.percentile(95), lengths[at]);
            }
        }
    }
}
