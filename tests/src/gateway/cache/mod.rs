//! What a provider's prompt cache serves of a request, from the request's bytes alone.
//!
//! One model a family, none of it shared with gg: a cache that agreed with gg's own idea of caching
//! would prove nothing. A token is four bytes, everywhere and always, so that figures compare.
//!
//! Always true: what is read is a prefix that an earlier request at the same provider sent, and
//! read and written together are no more than the prompt.

pub mod anthropic;
pub mod automatic;
pub mod gemini;
pub mod openai;
mod prompt;

use std::time::Duration;

use serde_json::Value;

pub use anthropic::Anthropic;
pub use automatic::Automatic;
pub use prompt::Prompt;

/// Bytes of a token.
pub const TOKEN: u64 = 4;

/// Whose caching a provider follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Automatic, in blocks of 128 tokens, from 1,024.
    OpenAi,
    /// Automatic, in finer blocks, from 1,024.
    Gemini,
    /// What `cache_control` marks, and nothing else.
    Anthropic,
}

/// What a cache made of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Tokens of the whole prompt.
    pub prompt: u64,
    /// Tokens read from the cache.
    pub read: u64,
    /// Tokens written for five minutes, where writes are charged.
    pub written: u64,
    /// Tokens written for an hour.
    pub written_long: u64,
    /// Tokens in whole blocks that this request shares with an earlier one at this provider,
    /// whether or not a cache still holds them.
    pub common: u64,
    /// Tokens in whole blocks that a request can read which repeats this one, without its signal,
    /// and goes on: the most that caching can give.
    pub repeatable: u64,
}

/// The cache of one provider.
#[derive(Debug)]
pub enum Cache {
    /// That of `OpenAI` or of Gemini.
    Automatic(Automatic),
    /// Anthropic's.
    Anthropic(Anthropic),
}

impl Cache {
    /// An empty one.
    pub fn new(family: Family) -> Self {
        match family {
            Family::OpenAi => Self::Automatic(openai::cache()),
            Family::Gemini => Self::Automatic(gemini::cache(gemini::MINIMUM)),
            Family::Anthropic => Self::Anthropic(Anthropic::default()),
        }
    }

    /// Serves a request at a time; an error is the sentence of a 400.
    ///
    /// `is_signal` tells a last message that the next request does not repeat.
    pub fn serve(
        &mut self,
        now: Duration,
        body: &[u8],
        is_signal: fn(&Value) -> bool,
    ) -> Result<Served, String> {
        let prompt = Prompt::read(body).ok_or("the body has no messages")?;
        match self {
            Self::Automatic(cache) => Ok(cache.serve(now, &prompt, is_signal)),
            Self::Anthropic(cache) => cache.serve(now, &prompt, is_signal),
        }
    }

    /// Whether writes to it are reported and charged.
    pub const fn charges_writes(&self) -> bool {
        matches!(self, Self::Anthropic(_))
    }
}
