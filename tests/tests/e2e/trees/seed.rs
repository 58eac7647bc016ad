//! Numbers from a seed: the same seed gives the same tree on every machine.

/// `SplitMix64`, which needs no state but a counter.
pub(super) struct Seed(u64);

impl Seed {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Whether something happens that does so `times` of `of`.
    pub(super) fn happens(&mut self, times: usize, of: usize) -> bool {
        self.below(of) < times
    }

    /// Some of these, in any order.
    pub(super) fn some<T: Copy>(&mut self, all: &[T]) -> Vec<T> {
        let mut left = all.to_vec();
        let count = self.below(left.len() + 1);
        (0..count)
            .map(|_| left.swap_remove(self.below(left.len())))
            .collect()
    }
}
