//! A cache that needs no marks: whole blocks of the longest prefix that was sent before.
//!
//! The text is the tools as written and then the messages as written; the first byte that differs
//! ends the prefix, whatever it means. A block is known by the hash of everything up to its end.
//! The routing key is a hint where to look and no part of what is looked for, so another run of the
//! same account reads what this one left; a request that names no session lands on any endpoint
//! and reads nothing.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use serde_json::Value;

use super::{Prompt, Served, TOKEN};

/// How long a block lives that nobody reads.
pub const LIFETIME: Duration = Duration::from_secs(5 * 60);

/// The cache of one provider.
#[derive(Debug)]
pub struct Automatic {
    block: u64,
    minimum: u64,
    live: HashMap<u64, Duration>,
    seen: HashSet<u64>,
}

impl Automatic {
    /// One of blocks of `block` tokens that serves no prefix below `minimum` tokens.
    pub fn new(block: u64, minimum: u64) -> Self {
        Self {
            block,
            minimum,
            live: HashMap::new(),
            seen: HashSet::new(),
        }
    }

    /// Serves a request and keeps its blocks.
    pub fn serve(
        &mut self,
        now: Duration,
        prompt: &Prompt<'_>,
        is_signal: fn(&Value) -> bool,
    ) -> Served {
        let kept = prompt.kept(is_signal);
        let mut text = format!("{}\0", prompt.tools).into_bytes();
        let mut repeated = text.len();
        for (place, message) in prompt.messages.iter().enumerate() {
            if place > 0 {
                text.push(b',');
            }
            text.extend_from_slice(message.as_bytes());
            if place < kept {
                repeated = text.len();
            }
        }
        let blocks = self.blocks(&prompt.model, &text);
        let alive = |block: &&u64| {
            self.live
                .get(*block)
                .is_some_and(|used| now.saturating_sub(*used) < LIFETIME)
        };
        let read = if prompt.sticky {
            blocks.iter().take_while(alive).count()
        } else {
            0
        };
        let common = blocks
            .iter()
            .take_while(|block| self.seen.contains(block))
            .count();
        self.seen.extend(&blocks);
        if prompt.sticky {
            self.live.extend(blocks.iter().map(|block| (*block, now)));
        }
        Served {
            prompt: text.len() as u64 / TOKEN,
            read: self.tokens(read),
            common: self.tokens(common),
            repeatable: self.tokens(repeated / self.block_bytes()),
            ..Served::default()
        }
    }

    fn block_bytes(&self) -> usize {
        usize::try_from(self.block * TOKEN).unwrap_or(usize::MAX)
    }

    /// What so many whole blocks hold; nothing where that is too little to cache.
    fn tokens(&self, blocks: usize) -> u64 {
        let tokens = blocks as u64 * self.block;
        if tokens < self.minimum { 0 } else { tokens }
    }

    /// The hash of everything up to the end of each whole block.
    fn blocks(&self, model: &str, text: &[u8]) -> Vec<u64> {
        let mut hasher = DefaultHasher::new();
        model.hash(&mut hasher);
        text.chunks_exact(self.block_bytes())
            .map(|block| {
                hasher.write(block);
                hasher.finish()
            })
            .collect()
    }
}
