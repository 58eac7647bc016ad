//! The `o200k_base` vocabulary: which byte strings are tokens, and in which order they merge.
//!
//! The data is read-only and part of the binary; nothing is loaded, a look-up touches the pages
//! it reads.

use super::hash::{LONGEST, SLOTS, WORD, place, unpack};

static TABLE: &[u8; SLOTS * WORD] = include_bytes!(concat!(env!("OUT_DIR"), "/slots.bin"));
/// Where the bytes of each rank begin, and behind the last where they end.
static PLACES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/places.bin"));
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes.bin"));

/// The rank of a byte string, where it is a token; the lower rank merges first.
pub(super) fn rank(bytes: &[u8]) -> Option<u32> {
    if bytes.len() > LONGEST {
        return None;
    }
    let (mut at, tag) = place(bytes);
    loop {
        let (found, rank) = unpack(word(TABLE, at))?;
        if found == tag && token(rank as usize) == bytes {
            return Some(rank);
        }
        at = (at + 1) % SLOTS;
    }
}

fn token(rank: usize) -> &'static [u8] {
    &BYTES[word(PLACES, rank) as usize..word(PLACES, rank + 1) as usize]
}

fn word(words: &[u8], at: usize) -> u32 {
    let bytes = words[at * WORD..]
        .first_chunk()
        .expect("a word is four bytes");
    u32::from_le_bytes(*bytes)
}
