//! Searching memories by keywords (02 §9.3).

use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use super::store::Memory;
use crate::modules::find::{Needle, excerpt, folded, occurrences};

/// Characters of a body that a hit quotes at most.
pub const EXCERPT_CHARS: usize = 160;

/// A memory that holds a keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its name.
    pub name: Arc<str>,
    /// Its description, where it has one.
    pub description: Option<Arc<str>>,
    /// Distinct keywords it holds.
    pub matched: u64,
    /// How often it holds any.
    pub occurrences: u64,
    /// Its body around the first keyword, in one line.
    pub excerpt: String,
}

/// The memories that hold any keyword in name, description or body, in any case: by distinct
/// keywords, then by occurrences, then by name. At most `max`, where that is not 0.
pub(super) fn search<'a>(
    memories: impl Iterator<Item = (&'a Arc<str>, &'a Memory)>,
    keywords: &[String],
    max: u64,
) -> Vec<Hit> {
    let mut seen = HashSet::new();
    let needles: Vec<_> = keywords
        .iter()
        .filter_map(|keyword| Needle::new(keyword))
        .filter(|needle| seen.insert(needle.folded().to_owned()))
        .collect();
    let mut found: Vec<_> = memories
        .filter_map(|(name, memory)| {
            let description = memory.description.as_deref().unwrap_or_default();
            let texts = [name, description, &memory.body].map(folded);
            let counts = needles.iter().map(|needle| {
                texts
                    .iter()
                    .map(|text| occurrences(text, needle))
                    .sum::<u64>()
            });
            let (mut matched, mut total) = (0, 0);
            for count in counts {
                matched += u64::from(count > 0);
                total += count;
            }
            (matched > 0).then_some((matched, total, name, memory))
        })
        .collect();
    found.sort_by_key(|(matched, total, name, _)| (Reverse((*matched, *total)), *name));
    let max = match max {
        0 => usize::MAX,
        max => usize::try_from(max).unwrap_or(usize::MAX),
    };
    let hits = found.into_iter().take(max);
    hits.map(|(matched, occurrences, name, memory)| Hit {
        name: Arc::clone(name),
        description: memory.description.clone(),
        matched,
        occurrences,
        excerpt: excerpt(&memory.body, &needles, EXCERPT_CHARS),
    })
    .collect()
}
