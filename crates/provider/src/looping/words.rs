//! Bytes as characters, characters as words, words as hashes.
//!
//! Most of what a model says is ASCII and arrives as whole words, so those are found and hashed
//! where they stand, eight bytes at a time. Every other word is put together in a [`Word`].
//!
//! Always true: the hash of a word is a function of its characters alone, not of the way here.

/// Characters at which a run without blanks is a word all the same.
pub(super) const WORD_CHARS: usize = 128;

/// What stands for bytes that are no character.
pub(super) const REPLACEMENT: u32 = 0xFFFD;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x80 * ONES;

// Any odd numbers without a pattern would do.
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;
const FIRST_FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;
const LAST_FACTOR: u64 = 0xA076_1D64_78BD_642F;

/// Whether a byte is a character that is a blank (`char::is_whitespace` below U+0080).
pub(super) const fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether a byte is an ASCII character that no word ends at, at a glance: control characters
/// are none, though words may hold them.
const fn is_plain(byte: u8) -> bool {
    byte > b' ' && byte < 0x80
}

/// The word at the start of `bytes` as far as it is plain: its hash and its length, at most
/// [`WORD_CHARS`].
pub(super) fn scan(bytes: &[u8]) -> (u64, usize) {
    let mut hash = SEED;
    let mut length = 0;
    while length < WORD_CHARS {
        let block = block(&bytes[length..]);
        // A byte below 0x21 borrows into its highest bit, one above 0x7F has it set. A borrow
        // may pass on to the byte above, so only the lowest mark is to be trusted.
        let marks = (block.wrapping_sub(0x21 * ONES) | block) & HIGHS;
        if marks != 0 {
            let plain = marks.trailing_zeros() as usize / 8;
            let kept = block & ((1 << (8 * plain)) - 1);
            length += plain;
            return (finish(hash, kept, length), length);
        }
        hash = fold(hash ^ block, FIRST_FACTOR);
        length += 8;
    }
    (finish(hash, 0, length), length)
}

/// The hash of a whole word: the one that [`scan`] gives where the word stands in a text.
pub(super) fn hash_of(word: &[u8]) -> u64 {
    let mut hash = SEED;
    let mut rest = word;
    while let Some((eight, others)) = rest.split_first_chunk::<8>() {
        hash = fold(hash ^ u64::from_le_bytes(*eight), FIRST_FACTOR);
        rest = others;
    }
    finish(hash, block(rest), word.len())
}

/// How many of the first `most` bytes are plain, from the start.
pub(super) fn plain_run(bytes: &[u8], most: usize) -> usize {
    let bytes = &bytes[..bytes.len().min(most)];
    let end = bytes.iter().position(|byte| !is_plain(*byte));
    end.unwrap_or(bytes.len())
}

/// The next eight bytes; behind the end there are zeros, at which a word ends.
fn block(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => bytes
            .iter()
            .rev()
            .fold(0, |block, byte| block << 8 | u64::from(*byte)),
    }
}

/// Mixes by a product of twice the width, its halves folded into each other.
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

const fn finish(hash: u64, last: u64, length: usize) -> u64 {
    // The length tells a word from itself with zeros behind it.
    fold(hash ^ last, LAST_FACTOR ^ (length as u64) << 32)
}

/// The character at the start: its code and its bytes. A half of a surrogate pair whose other
/// half does not follow, and a byte that begins no character, stand for themselves. `None` where
/// what follows decides and is yet to come.
pub(super) fn decode(bytes: &[u8]) -> Option<(u32, usize)> {
    let first = *bytes.first()?;
    let (length, bits) = match first {
        0..0x80 => return Some((u32::from(first), 1)),
        0xC2..=0xDF => (2, first & 0x1F),
        0xE0..=0xEF => (3, first & 0x0F),
        0xF0..=0xF4 => (4, first & 0x07),
        _ => return Some((REPLACEMENT, 1)),
    };
    let mut code = u32::from(bits);
    for at in 1..length {
        match bytes.get(at) {
            None => return None,
            Some(byte) if byte & 0xC0 == 0x80 => code = code << 6 | u32::from(byte & 0x3F),
            Some(_) => return Some((REPLACEMENT, 1)),
        }
    }
    if !(0xD800..0xDC00).contains(&code) {
        return Some((code, length));
    }
    // The half of a pair; the other one is ED B0..BF xx.
    match &bytes[3..] {
        [] | [0xED] | [0xED, 0xB0..=0xBF] => None,
        [0xED, second @ 0xB0..=0xBF, third, ..] if third & 0xC0 == 0x80 => {
            let low = u32::from(second & 0x0F) << 6 | u32::from(third & 0x3F);
            Some((0x1_0000 + ((code - 0xD800) << 10) + low, 6))
        }
        _ => Some((code, 3)),
    }
}

/// Appends a character, or the half of a surrogate pair.
pub(super) fn encode(code: u32, out: &mut Vec<u8>) {
    let (bytes, length) = encoded(code);
    out.extend_from_slice(&bytes[..length]);
}

fn encoded(code: u32) -> ([u8; 4], usize) {
    let mut bytes = [0; 4];
    let length = if let Some(character) = char::from_u32(code) {
        character.encode_utf8(&mut bytes).len()
    } else {
        let six = |shift: u32| 0x80 | (code >> shift & 0x3F) as u8;
        bytes = [0xE0 | (code >> 12 & 0x0F) as u8, six(6), six(0), 0];
        3
    };
    (bytes, length)
}

/// Whether a word has ended by what was added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It may go on.
    No,
    /// It has [`WORD_CHARS`] characters.
    Full,
}

/// A word in the making.
#[derive(Clone, Debug)]
pub(super) struct Word {
    bytes: [u8; WORD_CHARS * 4],
    length: usize,
    chars: usize,
}

impl Default for Word {
    fn default() -> Self {
        Self {
            bytes: [0; WORD_CHARS * 4],
            length: 0,
            chars: 0,
        }
    }
}

impl Word {
    pub(super) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Always below [`WORD_CHARS`] where the word was cleared once it was full.
    pub(super) const fn chars(&self) -> usize {
        self.chars
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub(super) const fn clear(&mut self) {
        self.length = 0;
        self.chars = 0;
    }

    /// Adds a character, or the half of one.
    pub(super) fn push(&mut self, code: u32) -> Ended {
        let (bytes, length) = encoded(code);
        self.add(&bytes[..length], 1)
    }

    /// Adds ASCII characters, as many as are left to [`WORD_CHARS`] at most.
    pub(super) fn extend_plain(&mut self, plain: &[u8]) -> Ended {
        self.add(plain, plain.len())
    }

    fn add(&mut self, bytes: &[u8], chars: usize) -> Ended {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
        self.chars += chars;
        if self.chars < WORD_CHARS {
            Ended::No
        } else {
            Ended::Full
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ascii_blanks_are_those_of_char() {
        for byte in 0..0x80_u8 {
            let blank = char::from(byte).is_whitespace();
            assert_eq!(is_ascii_space(byte), blank, "{byte:#x}");
            assert!(!(blank && is_plain(byte)), "{byte:#x}");
        }
    }

    #[test]
    fn a_word_that_differs_by_zeros_or_order_has_another_hash() {
        let words: [&[u8]; 7] = [b"", b"\0", b"a", b"a\0", b"abcdefgh", b"abcdefgh\0", b"ba"];
        let hashes: std::collections::HashSet<u64> =
            words.iter().map(|word| hash_of(word)).collect();
        assert_eq!(hashes.len(), words.len());
    }

    #[test]
    fn halves_that_meet_are_one_character_and_others_stand_alone() {
        let mut pair = Vec::new();
        encode(0xD83D, &mut pair);
        assert_eq!(decode(&pair), None);
        encode(0xDE42, &mut pair);
        assert_eq!(decode(&pair), Some((0x1F642, 6)));
        assert_eq!(decode(&pair[..5]), None);
        assert_eq!(decode(&pair[3..]), Some((0xDE42, 3)));
        assert_eq!(decode(&[0xED, 0xA0, 0xBD, b'a']), Some((0xD83D, 3)));
        assert_eq!(decode(&[0x80]), Some((REPLACEMENT, 1)));
        assert_eq!(decode(&[0xE6, b'a', b'b']), Some((REPLACEMENT, 1)));
    }

    proptest! {
        #[test]
        fn a_word_has_one_hash_wherever_it_stands(
            word in "[!-~]{0,127}",
            behind in "([ \n\u{1}é][ -~]{0,9})?",
        ) {
            let text = format!("{word}{behind}");
            prop_assert_eq!(scan(text.as_bytes()), (hash_of(word.as_bytes()), word.len()));
            prop_assert_eq!(plain_run(text.as_bytes(), 200), word.len());
        }

        #[test]
        fn characters_are_decoded_as_they_are_encoded(text in "\\PC{0,20}") {
            let (mut rest, mut codes) = (text.as_bytes(), Vec::new());
            while let Some((code, length)) = decode(rest) {
                codes.push(code);
                rest = &rest[length..];
            }
            prop_assert!(rest.is_empty());
            prop_assert_eq!(codes, text.chars().map(u32::from).collect::<Vec<_>>());
        }
    }
}
