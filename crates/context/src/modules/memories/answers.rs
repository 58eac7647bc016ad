//! What a call on memories answers a model.

use vocab::knowledge::MemoryStrategy;

use super::{Hit, MemoryAnswer, MemoryUsage, WriteKind, Written};

impl MemoryAnswer {
    /// The text of the result.
    pub fn as_text(&self) -> String {
        match self {
            Self::Written(written) => written.as_text(),
            Self::Body { body, .. } => body.to_string(),
            Self::Hits(hits) => found(hits),
        }
    }
}

impl Written {
    fn as_text(&self) -> String {
        let name = &self.revision.name;
        let done = match self.kind {
            WriteKind::Created => "created",
            WriteKind::Replaced => "replaced",
            WriteKind::Edited => "edited",
            WriteKind::Deleted => "deleted",
        };
        format!("`{name}` {done}; {}", self.usage.as_text())
    }
}

impl MemoryUsage {
    /// What is kept, and of what that is limited.
    fn as_text(&self) -> String {
        let of = |held: u64, limit: u64| match limit {
            0 => held.to_string(),
            limit => format!("{held} of {limit}"),
        };
        let count = of(self.totals.count, self.limits.max_count);
        let noun = match (self.totals.count, self.limits.max_count) {
            (1, 0) => "memory",
            _ => "memories",
        };
        match (self.strategy, self.index_chars) {
            (MemoryStrategy::Scratchpad, _) => {
                let chars = of(self.totals.chars, self.limits.max_total_len);
                format!("{count} {noun} kept, {chars} characters in all")
            }
            (_, Some(chars)) => {
                let chars = of(chars, self.limits.max_len_index);
                format!("{count} {noun} kept, {chars} characters of index")
            }
            (_, None) => format!("{count} {noun} kept"),
        }
    }
}

/// One hit a line, its excerpt under it.
fn found(hits: &[Hit]) -> String {
    if hits.is_empty() {
        return "no memory holds any of the keywords".to_owned();
    }
    let line = |hit: &Hit| {
        let name = &hit.name;
        let excerpt = &hit.excerpt;
        match &hit.description {
            Some(description) => format!("- `{name}` — {description}\n  {excerpt}"),
            None => format!("- `{name}`\n  {excerpt}"),
        }
    };
    hits.iter().map(line).collect::<Vec<_>>().join("\n")
}
