//! Names that may have been meant (04 §8.3).

use vocab::failure::Failure;
use vocab::line::quoted;
use vocab::operations::Operation;

use super::{Documentation, Entry, bare};

/// The most names that are suggested.
const MOST: usize = 3;

/// Bytes of a name that another may be near to.
const LONGEST: usize = 200;

/// Below this a common beginning tells nothing.
const STEM: usize = 3;

/// How far an entry is from what was asked for; `None` where it is not near.
type Near<'n> = &'n dyn Fn(&Entry<'_>) -> Option<usize>;

/// The edits two names may be apart.
const EDITS: usize = 2;

impl Documentation<'_> {
    /// At most three names near to one that is none: those of the operation of that key, else those
    /// with the same stem, else those a typo away. Only names that open.
    pub fn suggest(&self, asked: &str) -> Vec<&str> {
        let asked = plain(bare(asked.trim()));
        // Comparing costs the product of the lengths, and nothing is near to what is much longer.
        if asked.is_empty() || asked.len() > LONGEST {
            return Vec::new();
        }
        let entries: Vec<Entry<'_>> = self.openable().collect();
        let tier = |near: Near<'_>| {
            let mut names: Vec<(usize, &str)> = entries
                .iter()
                .filter_map(|entry| Some((near(entry)?, entry.key())))
                .collect();
            names.sort_unstable();
            names.dedup();
            names.truncate(MOST);
            names.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        let key = |entry: &Entry<'_>| match entry {
            Entry::Function(function) => {
                let row = Operation::find(&function.operation)?;
                (plain(row.key()) == asked).then_some(0)
            }
            _ => (plain(entry.name()) == asked).then_some(1),
        };
        let stem = |entry: &Entry<'_>| {
            let name = plain(entry.name());
            let (short, long) = if name.len() < asked.len() {
                (&name, &asked)
            } else {
                (&asked, &name)
            };
            let common = short.chars().count() >= STEM && long.starts_with(short.as_str());
            common.then(|| long.len() - short.len())
        };
        let typo = |entry: &Entry<'_>| {
            let name = plain(entry.name());
            let apart = strsim::osa_distance(&name, &asked);
            // Of a short name two edits leave nothing.
            (apart <= EDITS && apart * 3 <= asked.chars().count().max(STEM)).then_some(apart)
        };
        let tiers: [Near<'_>; 3] = [&key, &stem, &typo];
        tiers
            .into_iter()
            .map(|near| tier(near))
            .find(|names| !names.is_empty())
            .unwrap_or_default()
    }

    /// The failure of a name that is none.
    pub(super) fn unknown(&self, target: &str) -> Failure {
        let mut message = format!("there is no documentation of `{}`", quoted(target));
        let near = self.suggest(target);
        if !near.is_empty() {
            message.push_str(&format!("\n  near to it: {}", near.join(", ")));
        }
        Failure::not_found(message)
    }
}

/// A name without case and without what joins its words.
fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
