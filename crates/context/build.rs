//! Writes the tokenizer's read-only data: the `o200k_base` vocabulary as a hash table that needs
//! no loading, and a table of character classes.

use std::path::Path;

use regex_syntax::hir::{Class, HirKind};

#[path = "src/tokens/classes.rs"]
mod classes;
#[path = "src/tokens/hash.rs"]
mod hash;

/// Ordinary tokens of `o200k_base`; ranks run from 0 without a gap.
const TOKENS: u32 = 199_998;

fn main() {
    for source in ["build.rs", "src/tokens/classes.rs", "src/tokens/hash.rs"] {
        println!("cargo::rerun-if-changed={source}");
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let out = Path::new(&out);
    let Vocabulary {
        slots,
        places,
        bytes,
    } = vocabulary();
    let write = |name: &str, data: &[u8]| {
        std::fs::write(out.join(name), data).expect("OUT_DIR can be written");
    };
    write("slots.bin", &little_endian(&slots));
    write("places.bin", &little_endian(&places));
    write("bytes.bin", &bytes);
    write("classes.bin", &character_classes());
}

struct Vocabulary {
    slots: Vec<u32>,
    /// Where the bytes of each rank begin, and behind the last where they end.
    places: Vec<u32>,
    /// The tokens' bytes one after another by rank.
    bytes: Vec<u8>,
}

fn vocabulary() -> Vocabulary {
    let source = tiktoken_rs::o200k_base().expect("the vocabulary is part of the crate");
    let mut slots = vec![0; hash::SLOTS];
    let mut places = vec![0];
    let mut bytes = Vec::new();
    for rank in 0..TOKENS {
        let token = source.decode_bytes(&[rank]).expect("ranks have no gap");
        assert!(!token.is_empty() && token.len() <= hash::LONGEST);
        let (mut at, tag) = hash::place(&token);
        while slots[at] != 0 {
            at = (at + 1) % hash::SLOTS;
        }
        slots[at] = hash::pack(tag, rank);
        assert_eq!(hash::unpack(slots[at]), Some((tag, rank)));
        bytes.extend_from_slice(&token);
        places.push(u32::try_from(bytes.len()).expect("a few megabytes"));
    }
    Vocabulary {
        slots,
        places,
        bytes,
    }
}

fn little_endian(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A page number per 256 code points, then the distinct pages.
fn character_classes() -> Vec<u8> {
    let mut table = vec![classes::OTHER; 0x11_0000];
    for (pattern, class) in [
        (r"[\p{Lu}\p{Lt}]", classes::UPPER),
        (r"\p{Ll}", classes::LOWER),
        (r"[\p{Lm}\p{Lo}]", classes::CASELESS),
        (r"\p{M}", classes::MARK),
        (r"\p{N}", classes::NUMBER),
        (r"[\s--[\r\n]]", classes::SPACE),
        (r"[\r\n]", classes::LINE_END),
    ] {
        let hir = regex_syntax::parse(pattern).expect("a valid class");
        let HirKind::Class(Class::Unicode(ranges)) = hir.kind() else {
            panic!("{pattern} is a class of characters");
        };
        for range in ranges.iter() {
            for code in range.start()..=range.end() {
                let place = &mut table[code as usize];
                assert_eq!(*place, classes::OTHER, "classes are disjoint");
                *place = class;
            }
        }
    }
    let mut numbers = Vec::with_capacity(classes::PAGES);
    let mut pages: Vec<&[u8]> = Vec::new();
    for page in table.chunks_exact(classes::PAGE) {
        let number = pages
            .iter()
            .position(|known| *known == page)
            .unwrap_or_else(|| {
                pages.push(page);
                pages.len() - 1
            });
        numbers.push(u8::try_from(number).expect("fewer than 256 distinct pages"));
    }
    numbers.extend(pages.concat());
    numbers
}
