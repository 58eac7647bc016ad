//! The file views of a window by what they cost, kept up as views come and go.
//!
//! A signal lists the largest at every turn once it is due: sorting them then would cost every
//! turn the whole window.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::path::plain;

/// Paths with the tokens of their views. One that is spelled in several ways stands there once, as
/// evicting it takes all its views.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranking {
    by_path: HashMap<Arc<str>, Sum>,
    ranked: BTreeSet<(Reverse<u64>, Arc<str>)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    tokens: u64,
    views: usize,
}

impl Ranking {
    /// Counts a view of a path in.
    pub(super) fn add(&mut self, path: &Arc<str>, tokens: u64) {
        let path = plain(path);
        let sum = self.by_path.entry(Arc::clone(&path)).or_default();
        if sum.views > 0 {
            self.ranked
                .remove(&(Reverse(sum.tokens), Arc::clone(&path)));
        }
        sum.tokens += tokens;
        sum.views += 1;
        self.ranked.insert((Reverse(sum.tokens), path));
    }

    /// Takes a view out that was counted in.
    pub(super) fn remove(&mut self, path: &Arc<str>, tokens: u64) {
        let path = plain(path);
        let Some(sum) = self.by_path.get_mut(&path) else {
            return;
        };
        self.ranked
            .remove(&(Reverse(sum.tokens), Arc::clone(&path)));
        sum.tokens -= tokens;
        sum.views -= 1;
        if sum.views == 0 {
            self.by_path.remove(&path);
        } else {
            self.ranked.insert((Reverse(sum.tokens), path));
        }
    }

    /// The first paths by tokens, then by name.
    pub(super) fn top(&self, count: usize) -> Vec<(Arc<str>, u64)> {
        let ranked = self.ranked.iter().take(count);
        ranked
            .map(|(Reverse(tokens), path)| (Arc::clone(path), *tokens))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_of_a_path_are_summed_and_the_largest_stand_first() {
        let [a, b, c]: [Arc<str>; 3] = ["a", "b", "c"].map(Into::into);
        let mut ranking = Ranking::default();
        for (path, tokens) in [(&b, 5), (&a, 3), (&c, 7), (&a, 4)] {
            ranking.add(path, tokens);
        }
        assert_eq!(ranking.top(2), [(a.clone(), 7), (c.clone(), 7)]);
        ranking.remove(&a, 4);
        assert_eq!(ranking.top(9), [(c, 7), (b, 5), (a.clone(), 3)]);
        ranking.remove(&a, 3);
        assert_eq!(ranking.top(9).len(), 2);
    }

    #[test]
    fn a_path_spelled_in_two_ways_is_one_path() {
        let [plain, dotted]: [Arc<str>; 2] = ["src/a", "./src//a"].map(Into::into);
        let mut ranking = Ranking::default();
        ranking.add(&dotted, 3);
        ranking.add(&plain, 4);
        assert_eq!(ranking.top(9), [(plain.clone(), 7)]);
        ranking.remove(&dotted, 3);
        assert_eq!(ranking.top(9), [(plain, 4)]);
    }

    #[test]
    fn an_empty_view_is_a_view() {
        let path: Arc<str> = "empty".into();
        let mut ranking = Ranking::default();
        ranking.add(&path, 0);
        ranking.add(&path, 0);
        ranking.remove(&path, 0);
        assert_eq!(ranking.top(1).len(), 1);
        ranking.remove(&path, 0);
        assert_eq!(ranking.top(1).len(), 0);
    }
}
