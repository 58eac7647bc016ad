//! The cache of `OpenAI`: automatic, blocks of 128 tokens, nothing below 1,024.

use super::Automatic;

/// Tokens of a block.
pub const BLOCK: u64 = 128;
/// The least that is cached, in tokens.
pub const MINIMUM: u64 = 1_024;

/// An empty one.
pub fn cache() -> Automatic {
    Automatic::new(BLOCK, MINIMUM)
}

#[cfg(test)]
mod tests;
