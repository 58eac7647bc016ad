//! The `o200k_base` vocabulary: which byte strings are tokens, and in which order they merge.
//!
//! The data is read-only and part of the binary; nothing is loaded, a look-up touches the pages
//! it reads.

use super::hash::{KEY_SHIFT, LONGEST, SLOTS, place, unpack};

static TABLE: &[u8; SLOTS * 8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots.bin"));
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes.bin"));

/// The rank of a byte string, where it is a token; the lower rank merges first.
pub(super) fn rank(bytes: &[u8]) -> Option<u32> {
    if bytes.len() > LONGEST {
        return None;
    }
    let (mut at, key) = place(bytes);
    loop {
        let slot = slot(at);
        if slot == 0 {
            return None;
        }
        if slot >> KEY_SHIFT == key {
            let (offset, length, rank) = unpack(slot);
            if &BYTES[offset..offset + length] == bytes {
                return Some(rank);
            }
        }
        at = (at + 1) % SLOTS;
    }
}

fn slot(at: usize) -> u64 {
    let bytes = TABLE[at * 8..]
        .first_chunk()
        .expect("a slot is eight bytes");
    u64::from_le_bytes(*bytes)
}
