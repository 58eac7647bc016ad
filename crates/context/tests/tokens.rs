//! The counts are those of the published tokenizer, whatever the text.

use context::tokens::count;
use proptest::prelude::*;

fn check(text: &str) {
    let expected = tiktoken_rs::o200k_base_singleton().count_ordinary(text);
    let shown: String = text.chars().take(200).collect();
    assert_eq!(count(text), expected as u64, "{shown:?}");
}

#[test]
fn the_empty_text_has_no_token() {
    assert_eq!(count(""), 0);
}

#[test]
fn every_kind_of_piece() {
    for text in [
        "Hello, world!",
        "I'm you're HE'LL we'Ve it'S 'd '",
        "it'ſ it'ſt",
        "camelCaseHTTPServerXMLÄÖü ǅabc ʰAʰA AʰA",
        "1234567 ٣٤٥٦ Ⅻ½",
        " !!\n\n// x/\r\n/",
        "a  b   c\t\td \u{a0}\u{a0}e",
        "  \n \n   x",
        "trailing   ",
        "\n",
        "\r\n\r\n  ",
        "e\u{301}\u{301} \u{301}\u{301}A \u{301}AA \u{301} !!\u{301}",
        "日本語のテキスト、中文文本。한국어 텍스트",
        "👩‍👩‍👧‍👦 🇩🇪 \u{fe0f}\u{200d}",
        "<|endoftext|> <|endofprompt|>",
        "\0\u{1}\u{7f}\u{85}\u{2028}x",
    ] {
        check(text);
    }
}

#[test]
fn every_character_alone_and_between_letters() {
    let mut text = String::new();
    for character in '\0'..=char::MAX {
        text.push(character);
        text.push(if u32::from(character).is_multiple_of(3) {
            'a'
        } else {
            'B'
        });
        if text.len() > 60_000 {
            check(&text);
            text.clear();
        }
    }
    check(&text);
}

#[test]
fn this_crates_own_sources() {
    for source in [
        "src/tokens/split.rs",
        "src/tokens/merge.rs",
        "build.rs",
        "Cargo.toml",
    ] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        check(&std::fs::read_to_string(path).unwrap());
    }
}

#[test]
fn long_runs_of_one_text() {
    for (unit, times) in [
        ("a", 200_000),
        ("A", 70_000),
        (" ", 100_000),
        ("\n", 100_000),
        ("=", 100_000),
        ("0", 10_000),
        ("あ", 50_000),
        ("ab", 50_000),
        ("é", 50_000),
        ("{}", 50_000),
        ("xyzzy", 20_000),
    ] {
        check(&unit.repeat(times));
    }
}

#[test]
fn a_piece_of_a_megabyte_is_merged_in_reasonable_time() {
    assert!(count(&"a".repeat(1 << 20)) > 0);
    assert!(count(&" ".repeat(1 << 20)) > 0);
}

/// Characters that meet the pattern's edges more often than chance would.
fn edges() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            Just("'"),
            Just("s"),
            Just("S"),
            Just("ſ"),
            Just("re"),
            Just("LL"),
            Just(" "),
            Just("  "),
            Just("\n"),
            Just("\r\n"),
            Just("\t"),
            Just("\u{a0}"),
            Just("/"),
            Just("!"),
            Just("_"),
            Just("A"),
            Just("b"),
            Just("ʰ"),
            Just("ǅ"),
            Just("語"),
            Just("\u{301}"),
            Just("7"),
            Just("½"),
            Just("é"),
            Just("👩"),
            Just("\u{200d}"),
        ],
        0..60,
    )
    .prop_map(|parts| parts.concat())
}

fn code() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            "[a-zA-Z_][a-zA-Z0-9_]{0,12}",
            "[0-9]{1,9}",
            "[ ]{1,12}",
            "\n[ \t]{0,8}",
            "[-+*/=<>!&|^%(){}\\[\\];:,.'\"#@~`\\\\]{1,4}",
        ],
        0..80,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_unicode(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn random_characters(characters in proptest::collection::vec(any::<char>(), 0..200)) {
        check(&characters.into_iter().collect::<String>());
    }

    #[test]
    fn edges_of_the_pattern(text in edges()) {
        check(&text);
    }

    #[test]
    fn code_like_text(text in code()) {
        check(&text);
    }

    #[test]
    fn long_words(unit in "[a-zA-Z]{1,5}", times in 1_usize..200, tail in "[a-z]{0,80}") {
        check(&(unit.repeat(times) + &tail));
    }
}
