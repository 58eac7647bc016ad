//! The hash of the vocabulary table, and the layout of one of its slots.
//!
//! `build.rs` includes this file to write the table that [`super::vocabulary`] reads, so the two
//! cannot drift apart.
//!
//! A slot is one little-endian `u32`: 14 bits of hash, then 18 that hold the rank and one, so that
//! zero is an empty slot. Where a token's bytes stand is found by its rank, since they stand in that
//! order: the few hundred tokens that most texts are made of share a few pages.

/// Slots of the table, a power of two.
pub(crate) const SLOTS: usize = 1 << 18;
/// Bytes of a slot, and of a token's place among the bytes.
#[allow(dead_code, reason = "the build script writes words as they are")]
pub(crate) const WORD: usize = size_of::<u32>();
/// Bytes of the longest token.
pub(crate) const LONGEST: usize = 128;

const RANK_BITS: u32 = 18;
const TAG_BITS: u32 = u32::BITS - RANK_BITS;

/// Where a text's search starts, and the bits of its hash that its slot must hold.
pub(crate) fn place(bytes: &[u8]) -> (usize, u32) {
    let hash = hash(bytes);
    let tag = hash as u32 & ((1 << TAG_BITS) - 1);
    let start = (hash >> (u64::BITS - SLOTS.trailing_zeros())) as usize;
    (start, tag)
}

/// The bits of hash and the rank of a slot that is not empty.
pub(crate) const fn unpack(slot: u32) -> Option<(u32, u32)> {
    match slot & ((1 << RANK_BITS) - 1) {
        0 => None,
        above => Some((slot >> RANK_BITS, above - 1)),
    }
}

/// A filled slot; the figures must fit their fields.
#[allow(dead_code, reason = "only the build script writes slots")]
pub(crate) const fn pack(tag: u32, rank: u32) -> u32 {
    assert!(tag < 1 << TAG_BITS && rank + 1 < 1 << RANK_BITS);
    tag << RANK_BITS | (rank + 1)
}

/// Folds eight bytes at a time by a wide multiplication; the constants are the fraction of pi.
fn hash(bytes: &[u8]) -> u64 {
    let mut state = 0x243f_6a88_85a3_08d3 ^ bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word: [u8; 8] = word.try_into().expect("chunks of eight");
        state = fold(state ^ u64::from_le_bytes(word));
    }
    let mut last = 0;
    for &byte in words.remainder() {
        last = last << 8 | u64::from(byte);
    }
    fold(state ^ last)
}

fn fold(word: u64) -> u64 {
    let wide = u128::from(word ^ 0x1319_8a2e_0370_7344) * 0xa409_3822_299f_31d1;
    wide as u64 ^ (wide >> 64) as u64
}
