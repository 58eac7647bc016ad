//! The hash of the vocabulary table, and the layout of one of its slots.
//!
//! `build.rs` includes this file to write the table that [`super::vocabulary`] reads, so the two
//! cannot drift apart.
//!
//! A slot is one little-endian `u64`: 17 bits of hash, 8 of length, 21 of offset into the token
//! bytes, 18 of rank, from the top. Zero is an empty slot: no token has length 0.

/// Slots of the table, a power of two.
pub(crate) const SLOTS: usize = 1 << 18;
/// Bytes of the longest token.
pub(crate) const LONGEST: usize = 128;

const LENGTH_BITS: u32 = 8;
const OFFSET_BITS: u32 = 21;
const RANK_BITS: u32 = 18;
/// Where hash and length start in a slot.
pub(crate) const KEY_SHIFT: u32 = OFFSET_BITS + RANK_BITS;
const TAG_BITS: u32 = 64 - KEY_SHIFT - LENGTH_BITS;

/// Where a text's search starts, and the hash and length its slot must hold.
pub(crate) fn place(bytes: &[u8]) -> (usize, u64) {
    let hash = hash(bytes);
    let tag = hash & ((1 << TAG_BITS) - 1);
    let start = (hash >> (64 - SLOTS.trailing_zeros())) as usize;
    (start, tag << LENGTH_BITS | bytes.len() as u64)
}

/// Offset, length and rank of a filled slot.
pub(crate) const fn unpack(slot: u64) -> (usize, usize, u32) {
    let rank = slot & ((1 << RANK_BITS) - 1);
    let offset = slot >> RANK_BITS & ((1 << OFFSET_BITS) - 1);
    let length = slot >> KEY_SHIFT & ((1 << LENGTH_BITS) - 1);
    (offset as usize, length as usize, rank as u32)
}

/// A filled slot; the figures must fit their fields.
#[allow(dead_code, reason = "only the build script writes slots")]
pub(crate) const fn pack(key: u64, offset: usize, rank: u32) -> u64 {
    assert!(offset < 1 << OFFSET_BITS && rank < 1 << RANK_BITS);
    key << KEY_SHIFT | (offset as u64) << RANK_BITS | rank as u64
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
