//! Byte pair merging within one piece: of all neighbours that together are a token, the pair with
//! the lowest rank merges, the leftmost on a tie, until none is left.
//!
//! Always true: the work is linear in the text. A piece past [`WHOLE`] is merged in parts of that
//! size, which may count a token or two more at each seam.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::rank;

/// Up to this size scanning for the lowest pair beats a heap.
const SHORT: usize = 64;
/// Up to this size a piece is merged whole, and so counted exactly. No word, path or line of marks
/// that anybody wrote is near it; and the heap of one part stays small, so that a part costs the
/// same wherever it stands.
const WHOLE: usize = 256 * 1024;
/// No pair here is a token.
const NONE: u32 = u32::MAX;

/// Tokens of a piece that is not itself a token.
pub(super) fn count(piece: &[u8]) -> usize {
    if piece.len() <= SHORT {
        short(piece)
    } else {
        piece.chunks(WHOLE).map(long).sum()
    }
}

fn pair(piece: &[u8], start: usize, end: usize) -> u32 {
    piece.get(start..end).and_then(rank).unwrap_or(NONE)
}

fn short(piece: &[u8]) -> usize {
    // Parts start at `starts[..parts]`, and `starts[parts]` is the end; `ranks[i]` is what part
    // `i` and the next would merge to.
    let mut starts = [0; SHORT + 1];
    let mut ranks = [NONE; SHORT + 1];
    let mut parts = piece.len();
    for at in 0..parts {
        starts[at + 1] = at + 1;
        ranks[at] = pair(piece, at, at + 2);
    }
    loop {
        let Some((at, &lowest)) = ranks[..parts]
            .iter()
            .enumerate()
            .min_by_key(|(_, rank)| **rank)
        else {
            return 0;
        };
        if lowest == NONE {
            return parts;
        }
        starts.copy_within(at + 2..=parts, at + 1);
        ranks.copy_within(at + 2..=parts, at + 1);
        parts -= 1;
        let end = |part: usize| {
            if part <= parts {
                starts[part]
            } else {
                usize::MAX
            }
        };
        ranks[at] = pair(piece, starts[at], end(at + 2));
        if at > 0 {
            ranks[at - 1] = pair(piece, starts[at - 1], end(at + 1));
        }
    }
}

/// The same over a linked list with a heap: n log n, where scanning would be quadratic. The piece
/// is no longer than [`WHOLE`].
fn long(piece: &[u8]) -> usize {
    let size = piece.len();
    let after = |next: &[u32], at: usize| next.get(at).map_or(usize::MAX, |&next| next as usize);
    // By a part's first byte: where the next part starts, where the one before starts, and what
    // it and the next would merge to. A merge's right half keeps `NONE`.
    let mut next: Vec<u32> = (1..=size as u32).collect();
    let mut before: Vec<u32> = (0..size as u32).map(|at| at.saturating_sub(1)).collect();
    let mut ranks: Vec<u32> = (0..size).map(|at| pair(piece, at, at + 2)).collect();
    // Rank above place in one word: the smallest is the next merge.
    let key = |rank: u32, at: usize| Reverse(u64::from(rank) << 32 | at as u64);
    let candidates = ranks.iter().enumerate().filter(|(_, rank)| **rank != NONE);
    let mut heap: BinaryHeap<_> = candidates.map(|(at, &rank)| key(rank, at)).collect();
    let mut parts = size;
    while let Some(Reverse(word)) = heap.pop() {
        let (rank, at) = ((word >> 32) as u32, (word & 0xffff_ffff) as usize);
        if ranks[at] != rank {
            continue;
        }
        let right = next[at] as usize;
        let end = next[right];
        next[at] = end;
        ranks[right] = NONE;
        if let Some(link) = before.get_mut(end as usize) {
            *link = at as u32;
        }
        parts -= 1;
        let left = before[at] as usize;
        let changed = [(at, after(&next, end as usize)), (left, end as usize)];
        for (start, end) in &changed[..if at == 0 { 1 } else { 2 }] {
            ranks[*start] = pair(piece, *start, *end);
            if ranks[*start] != NONE {
                heap.push(key(ranks[*start], *start));
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_merging_agree() {
        for piece in [
            "zzzzzzzzzzzzzzz",
            "antidisestablishmentarianismus",
            "q",
            "qx",
            "ÄÖÜßäöü",
        ] {
            assert_eq!(short(piece.as_bytes()), long(piece.as_bytes()), "{piece}");
        }
    }

    #[test]
    fn a_piece_of_many_parts_is_counted_within_a_token_or_two_a_seam() {
        let word = "antidisestablishmentarianism".repeat(2 * WHOLE / 28);
        let (exact, counted) = (long(word.as_bytes()), count(word.as_bytes()));
        assert!(
            counted.abs_diff(exact) <= 2 * (word.len() / WHOLE),
            "{exact} {counted}"
        );
        let within = &word.as_bytes()[..WHOLE];
        assert_eq!(count(within), long(within));
    }

    #[test]
    fn a_piece_of_many_millions_of_bytes_costs_no_more_a_byte_than_a_part() {
        // Merged whole this took minutes, and nothing could stop it.
        let part = vec![b'x'; WHOLE];
        assert_eq!(count(&part.repeat(4)), 4 * count(&part));
    }
}
