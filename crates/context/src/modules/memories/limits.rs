//! The limit that a write would breach, where it would breach one (02 §9.2).
//!
//! Characters are Unicode scalars. The description is measured first, and by itself.

use vocab::knowledge::{MemoryLimits, MemoryStrategy};

use super::MemoryError;

/// How memories are kept, and how many of what size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPolicy {
    /// How they are kept.
    pub strategy: MemoryStrategy,
    /// How much of them.
    pub limits: MemoryLimits,
}

/// Sums over the memories of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryTotals {
    /// Memories.
    pub count: u64,
    /// Characters of their bodies.
    pub chars: u64,
    /// Lines of their bodies.
    pub lines: u64,
}

/// What a write would leave. A part is `None` where the write does not touch it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proposed {
    /// Characters of the description.
    pub(super) description: Option<u64>,
    /// Characters of the body.
    pub(super) body: Option<u64>,
    /// Memories in all.
    pub(super) count: Option<u64>,
    /// Characters of all bodies.
    pub(super) total: Option<u64>,
    /// Characters of the index.
    pub(super) index: Option<u64>,
}

impl MemoryPolicy {
    /// Refuses a write that would breach a limit, by the first one it would.
    pub(super) fn admit(&self, proposed: Proposed) -> Result<(), MemoryError> {
        let limits = self.limits.of(self.strategy);
        let over =
            |would: Option<u64>, limit: u64| would.filter(|would| limit > 0 && *would > limit);
        if let Some(would) = over(proposed.description, limits.max_len_description) {
            return Err(MemoryError::DescriptionTooLong {
                would,
                limit: limits.max_len_description,
            });
        }
        if let Some(would) = over(proposed.body, limits.max_len_per_memory) {
            return Err(MemoryError::BodyTooLong {
                would,
                limit: limits.max_len_per_memory,
            });
        }
        if let Some(would) = over(proposed.count, limits.max_count) {
            return Err(MemoryError::TooMany {
                held: would - 1,
                limit: limits.max_count,
            });
        }
        if let Some(would) = over(proposed.total, limits.max_total_len) {
            return Err(MemoryError::TotalTooLong {
                would,
                limit: limits.max_total_len,
            });
        }
        if let Some(would) = over(proposed.index, limits.max_len_index) {
            return Err(MemoryError::IndexTooLong {
                would,
                limit: limits.max_len_index,
            });
        }
        Ok(())
    }
}
