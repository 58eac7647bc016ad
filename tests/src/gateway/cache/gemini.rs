//! Gemini's implicit cache: automatic, finer blocks, nothing below 1,024 or 2,048 tokens.

use super::Automatic;

/// Tokens of a block.
pub const BLOCK: u64 = 32;
/// The least that is cached by the smaller models, in tokens.
pub const MINIMUM: u64 = 1_024;
/// The least that is cached by the larger models, in tokens.
pub const MINIMUM_LARGE: u64 = 2_048;

/// An empty one that caches from `minimum` tokens.
pub fn cache(minimum: u64) -> Automatic {
    Automatic::new(BLOCK, minimum)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::gateway::cache::Prompt;

    fn read(cache: &mut Automatic, text: &str) -> u64 {
        let body = serde_json::json!({
            "model": "m", "session_id": "k",
            "messages": [{ "role": "user", "content": text }],
        });
        let body = body.to_string();
        let prompt = Prompt::read(body.as_bytes()).unwrap();
        cache.serve(Duration::ZERO, &prompt, |_| false).read
    }

    #[test]
    fn a_larger_model_caches_later() {
        for (minimum, reads) in [(MINIMUM, true), (MINIMUM_LARGE, false)] {
            let mut cache = cache(minimum);
            // 6,000 bytes are 1,500 tokens: between the two.
            let text = "x".repeat(6_000);
            assert_eq!(read(&mut cache, &text), 0);
            assert_eq!(read(&mut cache, &text) > 0, reads, "{minimum}");
        }
    }

    #[test]
    fn its_blocks_are_fine() {
        let mut cache = cache(MINIMUM);
        read(&mut cache, &"x".repeat(6_000));
        // The shared bytes: NUL, `{"role":"user","content":"` and the letters.
        let shared = 1 + r#"{"role":"user","content":""#.len() as u64 + 6_000;
        let found = read(&mut cache, &format!("{}y", "x".repeat(6_000)));
        assert_eq!(found, shared / 128 * 32);
    }
}
