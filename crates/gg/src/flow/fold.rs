//! Folding repetition: a list in which a block stands several times in a row becomes that block
//! once, with its count.
//!
//! A run repeats itself turn by turn, and a turn repeats itself inside (three events in a row), so
//! folds nest. Always true: unfolding gives the list back.

/// One step of a folded list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<T> {
    /// One item.
    One(T),
    /// A block that stands `times` in a row, 2 or more.
    Loop {
        /// How often.
        times: usize,
        /// The block, itself folded.
        body: Vec<Step<T>>,
    },
}

/// The longest block looked for. A turn with some calls has a few dozen messages.
const LONGEST_BLOCK: usize = 64;

/// Folds a list. Where several folds are possible at a place, the one that covers most of the list
/// wins, then the one with the shortest block.
pub(crate) fn fold<T: Clone + PartialEq>(items: &[T]) -> Vec<Step<T>> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < items.len() {
        let rest = &items[at..];
        let (length, times) = best_block(rest);
        if times > 1 {
            let body = fold(&rest[..length]);
            steps.push(Step::Loop { times, body });
        } else {
            steps.push(Step::One(rest[0].clone()));
        }
        at += length * times;
    }
    steps
}

/// The block at the start of a non-empty list: its length and how often it stands in a row.
fn best_block<T: PartialEq>(items: &[T]) -> (usize, usize) {
    let mut best = (1, 1);
    for length in 1..=LONGEST_BLOCK.min(items.len() / 2) {
        let block = &items[..length];
        let times = items
            .chunks_exact(length)
            .take_while(|chunk| *chunk == block)
            .count();
        if times > 1 && length * times > best.0 * best.1 {
            best = (length, times);
        }
    }
    best
}

/// Items a folded list stands for.
#[cfg(test)]
pub(crate) fn unfold<T: Copy>(steps: &[Step<T>]) -> Vec<T> {
    steps
        .iter()
        .flat_map(|step| match step {
            Step::One(item) => vec![*item],
            Step::Loop { times, body } => unfold(body).repeat(*times),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn show(steps: &[Step<char>]) -> String {
        steps
            .iter()
            .map(|step| match step {
                Step::One(item) => item.to_string(),
                Step::Loop { times, body } => format!("{times}({})", show(body)),
            })
            .collect()
    }

    fn check(list: &str, folded: &str) {
        let items: Vec<char> = list.chars().collect();
        assert_eq!(show(&fold(&items)), folded);
    }

    #[test]
    fn repeated_blocks_fold_and_nest() {
        check("", "");
        check("abc", "abc");
        check("aaaa", "4(a)");
        check("sabbabbabbe", "s3(a2(b))e");
        check("ababa", "2(ab)a");
    }

    proptest! {
        #[test]
        fn unfolding_gives_the_list_back(list in "[ab]{0,40}|[abc]{0,60}") {
            let items: Vec<char> = list.chars().collect();
            prop_assert_eq!(unfold(&fold(&items)), items);
        }
    }
}
