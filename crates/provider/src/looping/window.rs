//! The last words of a reply, and how many of them are offenders.
//!
//! A table counts hashes, and the ring holds the place of each word's count, so that letting the
//! oldest word go is no look-up. Counts that have sunk to nothing keep their place until half of
//! the table is taken; then it is made anew from what the ring still holds. That happens at most
//! once in as many words as the ring holds, and so costs each of them the same.
//!
//! Always true: a hash is counted as often as it stands in the ring, and the tally of offenders
//! is the number of hashes that are counted more than `threshold` times.

/// Words for which room is made at the start. Larger windows grow into theirs: a figure of a
/// launch document is no reason to take memory that no reply will fill.
const FIRST_ROOM: usize = 2048;

/// Places of the table for each word of the ring: few enough to stay in the nearest cache, many
/// enough that a word seldom meets another one on its place.
const PLACES_A_WORD: usize = 4;

/// The rolling window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: usize,
    threshold: u64,
    /// Places in `counts`; once it is full, `oldest` is where the next one goes.
    ring: Vec<usize>,
    oldest: usize,
    /// An open-addressed table of a power of two of places, at most half of them taken.
    counts: Vec<Count>,
    taken: usize,
    offenders: u64,
}

/// How often a hash stands in the ring; the hash 0 is a place that is free.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    hash: u64,
    times: u64,
}

impl Window {
    /// An empty window for `size` words, of which one is an offender past `threshold` occurrences.
    pub(super) fn new(size: u64, threshold: u64) -> Self {
        let size = usize::try_from(size).unwrap_or(usize::MAX).max(1);
        let room = size.min(FIRST_ROOM);
        Self {
            size,
            threshold,
            ring: Vec::with_capacity(room),
            oldest: 0,
            counts: places(room),
            taken: 0,
            offenders: 0,
        }
    }

    /// Adds a word, and lets the oldest go where there is no room.
    ///
    /// Sums of conditions instead of branches: whether a word is new or leaves for good is a coin
    /// toss in most texts, and a wrong guess costs more than all the rest.
    pub(super) fn push(&mut self, hash: u64) {
        let hash = hash.max(1);
        if self.is_full() {
            let count = &mut self.counts[self.ring[self.oldest]];
            count.times -= 1;
            self.offenders -= u64::from(count.times == self.threshold);
        }
        let place = find(&self.counts, hash);
        let count = &mut self.counts[place];
        self.taken += usize::from(count.hash == 0);
        count.hash = hash;
        self.offenders += u64::from(count.times == self.threshold);
        count.times += 1;
        if self.is_full() {
            self.ring[self.oldest] = place;
            self.oldest += 1;
            if self.oldest == self.size {
                self.oldest = 0;
            }
        } else {
            self.ring.push(place);
        }
        if self.taken * 2 > self.counts.len() {
            self.renew();
        }
    }

    /// Distinct words that stand in the window more often than the threshold.
    pub(super) const fn offenders(&self) -> u64 {
        self.offenders
    }

    /// Whether as many words as it has room for were added.
    pub(super) const fn is_full(&self) -> bool {
        self.ring.len() == self.size
    }

    /// Makes the table anew from the ring, larger where the ring has grown.
    fn renew(&mut self) {
        let room = self.ring.len().max(self.counts.len() / PLACES_A_WORD);
        let room = if self.is_full() { self.size } else { room * 2 };
        let old = std::mem::replace(&mut self.counts, places(room));
        self.taken = 0;
        for word in &mut self.ring {
            let hash = old[*word].hash;
            *word = find(&self.counts, hash);
            let count = &mut self.counts[*word];
            self.taken += usize::from(count.hash == 0);
            count.hash = hash;
            count.times += 1;
        }
    }
}

/// A table for the words of a ring of this size.
fn places(room: usize) -> Vec<Count> {
    vec![Count::default(); (room * PLACES_A_WORD).next_power_of_two()]
}

/// The place of a hash, or the free one where it belongs.
fn find(counts: &[Count], hash: u64) -> usize {
    let mask = counts.len() - 1;
    let mut place = hash as usize & mask;
    while counts[place].hash != hash && counts[place].hash != 0 {
        place = (place + 1) & mask;
    }
    place
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn offenders(last: &[u64], threshold: u64) -> u64 {
        let mut counts: HashMap<u64, u64> = HashMap::new();
        for hash in last {
            *counts.entry(*hash).or_default() += 1;
        }
        counts.values().filter(|count| **count > threshold).count() as u64
    }

    proptest! {
        #[test]
        fn the_tally_is_that_of_a_recount(
            // Few homes for many hashes, so that they meet on their places and run past the end.
            hashes in proptest::collection::vec(
                (1..7_u64, proptest::sample::select(vec![0_u64, 1, 0xFFFE, 0xFFFF])),
                0..200,
            ),
            size in 1..40_usize,
            threshold in 0..5_u64,
        ) {
            let hashes: Vec<u64> = hashes.iter().map(|(high, low)| high << 40 | low).collect();
            let mut window = Window::new(size as u64, threshold);
            for at in 0..hashes.len() {
                window.push(hashes[at]);
                let last = &hashes[(at + 1).saturating_sub(size)..=at];
                prop_assert_eq!(window.offenders(), offenders(last, threshold));
                prop_assert_eq!(window.is_full(), at + 1 >= size);
            }
        }
    }

    #[test]
    fn a_window_of_any_size_takes_memory_as_it_fills() {
        let mut window = Window::new(u64::MAX, 1);
        let words = FIRST_ROOM as u64 * 12;
        for _ in 0..2 {
            for word in 1..=words {
                window.push(word);
            }
        }
        assert_eq!(window.offenders(), words);
        assert!(!window.is_full());
        assert!(window.counts.len() < 1 << 20, "{}", window.counts.len());
    }

    #[test]
    fn a_full_window_that_meets_ever_new_words_keeps_its_size() {
        let mut window = Window::new(100, 1);
        let places = window.counts.len();
        for word in 1..=100_000_u64 {
            window.push(word.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        assert_eq!((window.offenders(), window.counts.len()), (0, places));
    }
}
