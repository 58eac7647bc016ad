//! What a call threw away of replies that repeated themselves (01 §7).

use std::fmt;

use vocab::ids::{GenerationId, ProviderName};

/// Replies that were abandoned because they looped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopAborts {
    /// How many.
    pub replies: u64,
    /// Words read of them.
    pub words: u64,
    /// Characters read of them.
    pub chars: u64,
    /// Each of them, to be priced when the session ends.
    pub generations: Vec<Aborted>,
}

/// One abandoned reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aborted {
    /// The gateway's id of it; without one its price cannot be learned.
    pub generation: Option<GenerationId>,
    /// Who served it, where named.
    pub provider: Option<ProviderName>,
}

impl LoopAborts {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            replies: 0,
            words: 0,
            chars: 0,
            generations: Vec::new(),
        }
    }

    /// Whether no reply was abandoned.
    pub const fn is_empty(&self) -> bool {
        self.replies == 0
    }

    pub(super) fn add(
        &mut self,
        words: u64,
        chars: u64,
        generation: Option<GenerationId>,
        provider: Option<ProviderName>,
    ) {
        self.replies += 1;
        self.words = self.words.saturating_add(words);
        self.chars = self.chars.saturating_add(chars);
        self.generations.push(Aborted {
            generation,
            provider,
        });
    }
}

impl fmt::Display for LoopAborts {
    /// `2 looping replies of 6130 words and 24522 characters in all`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (replies, in_all) = match self.replies {
            1 => ("reply", ""),
            _ => ("replies", " in all"),
        };
        write!(
            f,
            "{} looping {replies} of {} words and {} characters{in_all}",
            self.replies, self.words, self.chars
        )
    }
}
