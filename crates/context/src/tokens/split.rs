//! The pre-tokenizer: cuts a text into the pieces within which bytes merge.
//!
//! The published pattern of `o200k_base`, walked by hand; alternatives in this order, the first
//! that matches wins:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! Always true: pieces are not empty, end on character boundaries, and together are the text. The
//! work is linear in the text.

use super::classes::{CASELESS, LINE_END, LOWER, MARK, NUMBER, OTHER, PAGE, PAGES, SPACE, UPPER};

static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.bin"));

/// What a word's first half is made of.
const HEAD: u8 = UPPER | CASELESS | MARK;
/// What a word's second half is made of.
const TAIL: u8 = LOWER | CASELESS | MARK;
const SYMBOL: u8 = MARK | OTHER;
const WHITE: u8 = SPACE | LINE_END;

/// The pieces of a text, in order.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(end_of_first(rest));
        rest = after;
        Some(piece)
    })
}

fn end_of_first(text: &str) -> usize {
    let Some((class, first)) = class_at(text, 0) else {
        return 0;
    };
    let word = match class {
        UPPER | LOWER | CASELESS => lowered(text, 0).or_else(|| run(text, 0, HEAD)),
        // A mark is both: the prefix of a word, and part of one.
        MARK => lowered(text, first).or_else(|| lowered(text, 0)),
        SPACE | OTHER => lowered(text, first).or_else(|| run(text, first, HEAD)),
        _ => None,
    };
    if let Some(end) = word {
        return end + contraction(&text.as_bytes()[end..]);
    }
    if class == NUMBER {
        let mut end = first;
        for _ in 0..2 {
            match class_at(text, end) {
                Some((NUMBER, size)) => end += size,
                _ => break,
            }
        }
        return end;
    }
    let start = usize::from(text.starts_with(' '));
    if let Some(end) = run(text, start, SYMBOL) {
        let more = text.as_bytes()[end..]
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/'));
        return end + more.count();
    }
    blanks(text)
}

/// The end of `HEAD* TAIL+` from `from`, by the backtracking a regular expression would do: with
/// no lowercase letter after the first half, the second half is that half's last caseless letter
/// or mark.
fn lowered(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    let mut last = None;
    loop {
        match class_at(text, at) {
            Some((class, size)) if class & HEAD != 0 => {
                at += size;
                if class & TAIL != 0 {
                    last = Some(at);
                }
            }
            Some((LOWER, _)) => return run(text, at, TAIL),
            _ => return last,
        }
    }
}

/// The end of the characters of `set` from `from`; `None` where there is none.
fn run(text: &str, from: usize, set: u8) -> Option<usize> {
    let mut at = from;
    while let Some((class, size)) = class_at(text, at) {
        if class & set == 0 {
            break;
        }
        at += size;
    }
    (at > from).then_some(at)
}

/// A run of white space: up to its last line end; else all of it at the text's end; else all but
/// the character before what follows.
fn blanks(text: &str) -> usize {
    let mut end = 0;
    let mut last = 0;
    let mut line_end = None;
    while let Some((class, size)) = class_at(text, end) {
        if class & WHITE == 0 {
            break;
        }
        last = end;
        end += size;
        if class == LINE_END {
            line_end = Some(end);
        }
    }
    match line_end {
        Some(end) => end,
        None if end < text.len() && last > 0 => last,
        None => end,
    }
}

/// Bytes of an English contraction's ending, in any case; `ſ` is a lowercase of `S`.
fn contraction(bytes: &[u8]) -> usize {
    let [b'\'', rest @ ..] = bytes else {
        return 0;
    };
    match rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..]
        | [b'l' | b'L', b'l' | b'L', ..]
        | [0xc5, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// The class and size in bytes of the character at a boundary.
#[inline]
fn class_at(text: &str, at: usize) -> Option<(u8, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte < 0x80 {
        return Some((class(u32::from(byte)), 1));
    }
    let character = text[at..].chars().next()?;
    Some((class(u32::from(character)), character.len_utf8()))
}

#[inline]
fn class(code: u32) -> u8 {
    let page = usize::from(CLASSES[code as usize / PAGE]);
    CLASSES[PAGES + page * PAGE + code as usize % PAGE]
}
