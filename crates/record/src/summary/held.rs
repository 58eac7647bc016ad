//! How often something in a module came to be: a skill read, a task done. Read off its snapshots,
//! since a call that says so again changes nothing.

use std::collections::{BTreeMap, BTreeSet};

/// Counts what newly stands in the snapshots of modules.
#[derive(Debug, Default)]
pub(crate) struct Reached {
    /// What stood in each module's last snapshot.
    standing: BTreeMap<String, BTreeSet<String>>,
    count: u64,
}

impl Reached {
    /// A snapshot of a module. What stands in its first one was brought along, as by a copy, and
    /// counts where it came to be.
    pub(crate) fn stands<'a>(&mut self, module: &str, names: impl Iterator<Item = &'a str>) {
        let now: BTreeSet<String> = names.map(str::to_owned).collect();
        if let Some(before) = self.standing.get(module) {
            self.count += now.difference(before).count() as u64;
        }
        self.standing.insert(module.to_owned(), now);
    }

    /// How often, in all modules.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_brought_along_or_said_again_does_not_count() {
        let mut reached = Reached::default();
        for (module, names) in [
            ("tasks-0", &[][..]),
            ("tasks-0", &["a"]),
            ("tasks-0", &["a"]),
            ("tasks-0", &["a", "b"]),
            // A copy.
            ("tasks-1", &["a", "b"]),
            ("tasks-1", &["a", "b", "c"]),
            // Removed, added anew, done anew.
            ("tasks-0", &["b"]),
            ("tasks-0", &["a", "b"]),
        ] {
            reached.stands(module, names.iter().copied());
        }
        assert_eq!(reached.count(), 4);
    }
}
