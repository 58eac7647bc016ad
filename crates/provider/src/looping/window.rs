//! The last words of a reply, and how many of them are offenders.
//!
//! Always true: a hash is counted as often as it stands in the ring, and the tally of offenders
//! is the number of hashes that are counted more than `threshold` times.

/// Words for which room is made at the start. Larger windows grow into theirs: a figure of a
/// launch document is no reason to take memory that no reply will fill.
const FIRST_ROOM: usize = 2048;

/// The rolling window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    size: usize,
    threshold: u64,
    /// Hashes of words; once it is full, `oldest` is the place of the next one.
    ring: Vec<u64>,
    oldest: usize,
    counts: Counts,
    offenders: u64,
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
            counts: Counts::new(room),
            offenders: 0,
        }
    }

    /// Adds a word, and lets the oldest go where there is no room.
    pub(super) fn push(&mut self, hash: u64) {
        if self.ring.len() < self.size {
            self.ring.push(hash);
        } else {
            let old = std::mem::replace(&mut self.ring[self.oldest], hash);
            self.oldest += 1;
            if self.oldest == self.size {
                self.oldest = 0;
            }
            if old == hash {
                return;
            }
            if self.counts.remove(old) == self.threshold {
                self.offenders -= 1;
            }
        }
        if self.counts.add(hash) == self.threshold {
            self.offenders += 1;
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
}

/// How often each hash stands in the ring: an open-addressed table that is at most half full.
#[derive(Clone, Debug)]
struct Counts {
    /// A power of two of them.
    slots: Vec<Slot>,
    used: usize,
}

/// Free where it counts nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u64,
    count: u64,
}

impl Counts {
    fn new(room: usize) -> Self {
        Self {
            slots: vec![Slot::default(); (room * 2).next_power_of_two()],
            used: 0,
        }
    }

    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.slots.len() - 1)
    }

    /// The slot of a hash, or the free one where it belongs.
    fn find(&self, hash: u64) -> usize {
        let mut place = self.home(hash);
        while self.slots[place].count > 0 && self.slots[place].hash != hash {
            place = self.after(place);
        }
        place
    }

    /// Counts a hash once more, and gives how often it was counted before.
    fn add(&mut self, hash: u64) -> u64 {
        let mut place = self.find(hash);
        if self.slots[place].count == 0 {
            if (self.used + 1) * 2 > self.slots.len() {
                self.grow();
                place = self.find(hash);
            }
            self.used += 1;
            self.slots[place].hash = hash;
        }
        let before = self.slots[place].count;
        self.slots[place].count = before + 1;
        before
    }

    /// Counts a hash that is there once less, and gives how often it is counted now.
    fn remove(&mut self, hash: u64) -> u64 {
        let place = self.find(hash);
        let now = self.slots[place].count.saturating_sub(1);
        self.slots[place].count = now;
        if now == 0 {
            self.used -= 1;
            self.close(place);
        }
        now
    }

    /// Moves up what a look-up would no longer reach past a slot that was freed.
    fn close(&mut self, mut free: usize) {
        let mut place = self.after(free);
        while self.slots[place].count > 0 {
            let mask = self.slots.len() - 1;
            let from_home = place.wrapping_sub(self.home(self.slots[place].hash)) & mask;
            if from_home >= (place.wrapping_sub(free) & mask) {
                self.slots.swap(free, place);
                free = place;
            }
            place = self.after(place);
        }
    }

    fn grow(&mut self) {
        let slots = vec![Slot::default(); self.slots.len() * 2];
        for slot in std::mem::replace(&mut self.slots, slots) {
            if slot.count > 0 {
                let place = self.find(slot.hash);
                self.slots[place] = slot;
            }
        }
    }
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
            // Few homes for many hashes, so that slots collide, wrap around and close up.
            hashes in proptest::collection::vec((0..6_u64, 0..4_u64), 0..200),
            size in 1..40_usize,
            threshold in 0..5_u64,
        ) {
            let hashes: Vec<u64> =
                hashes.iter().map(|(high, low)| high << 40 | low.wrapping_sub(2)).collect();
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
        let words = FIRST_ROOM as u64 * 3;
        for _ in 0..2 {
            for hash in 0..words {
                window.push(hash << 20);
            }
        }
        assert_eq!(window.offenders(), words);
        assert!(!window.is_full());
    }
}
