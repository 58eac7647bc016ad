//! Archiving turns: what leaves the window, and what of it is stored (02 §7.2).

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use vocab::band::Band;
use vocab::ids::CallId;
use vocab::message::{Message, Role, ToolCall};
use vocab::rewrite::Rewrite;

use super::{Item, Window};

/// Turns from the first to the last, both included; numbers from 1.
pub type TurnRange = RangeInclusive<u32>;

/// A message that left the window and is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The turn it was pushed in.
    pub turn: u32,
    /// Its band.
    pub band: Band,
    /// Who it was from.
    pub role: Role,
    /// Its text.
    pub text: Arc<str>,
    /// The call it answers, where it is a result.
    pub call: Option<ToolCall>,
}

/// What an archival took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archived {
    /// What is to be stored, in the order of the window.
    pub entries: Vec<Swept>,
    /// The turns something left, in order.
    pub turns: Vec<u32>,
    /// Asked for, and no longer in the window at all: in order, without overlaps.
    pub missing: Vec<TurnRange>,
    /// Messages that left.
    pub items: usize,
    /// Tokens by which the window is smaller.
    pub tokens: u64,
    /// The place of the first change among a request's messages.
    pub first_index: Option<usize>,
}

impl Window {
    /// Takes the turns of `ranges` out, but never the calling turn.
    ///
    /// The model's own messages leave and are not stored; everything else of those turns leaves
    /// and is, except what is pinned and documentation views. A result that stays although its
    /// call leaves becomes what `reframe` makes of it, a message that answers no call.
    ///
    /// # Errors
    ///
    /// What `reframe` fails with; then nothing has changed.
    pub fn archive<E>(
        &mut self,
        ranges: &[TurnRange],
        calling_turn: u32,
        reframe: impl Fn(&Item) -> Result<Message, E>,
    ) -> Result<Archived, E> {
        self.settle();
        let before = self.bands.total();
        let selected =
            |turn: u32| turn != calling_turn && ranges.iter().any(|range| range.contains(&turn));
        let mut leaving: HashMap<&CallId, &ToolCall> = HashMap::new();
        for item in &self.items {
            if selected(item.turn) {
                leaving.extend(item.message.calls().iter().map(|call| (&call.id, call)));
            }
        }
        let mut archived = Archived::default();
        let (mut turns, mut present) = (BTreeSet::new(), BTreeSet::new());
        let mut items = Vec::with_capacity(self.items.len());
        for item in &self.items {
            present.insert(item.turn);
            let movable = selected(item.turn) && item.is_ephemeral() && item.band != Band::DocsView;
            let call = item.message.answers();
            let orphaned = call.is_some_and(|call| leaving.contains_key(call));
            // A result cannot leave ahead of a call that stays.
            if !movable || (call.is_some() && !orphaned) {
                items.push(if orphaned {
                    item.with(reframe(item)?)
                } else {
                    item.clone()
                });
                continue;
            }
            turns.insert(item.turn);
            archived.items += 1;
            if item.message.role() != Role::Assistant {
                archived.entries.push(Swept {
                    turn: item.turn,
                    band: item.band,
                    role: item.message.role(),
                    text: item.message.text().into(),
                    call: call.and_then(|call| leaving.get(call).map(|call| (*call).clone())),
                });
            }
        }
        archived.turns = turns.into_iter().collect();
        archived.missing = missing(ranges, &present);
        archived.first_index = self.replace_items(items, Rewrite::ArchiveThread);
        self.settle();
        archived.tokens = before.saturating_sub(self.bands.total());
        Ok(archived)
    }
}

/// What of some ranges no item is of.
fn missing(ranges: &[TurnRange], present: &BTreeSet<u32>) -> Vec<TurnRange> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| *range.start());
    let mut gaps: Vec<TurnRange> = Vec::new();
    let mut gap = |from: u32, to: u32| {
        if from > to {
            return;
        }
        match gaps.last_mut() {
            Some(last) if from <= last.end().saturating_add(1) => {
                *last = *last.start()..=to.max(*last.end());
            }
            _ => gaps.push(from..=to),
        }
    };
    for range in sorted {
        let mut next = Some(*range.start());
        for &turn in present.range(range.clone()) {
            if let (Some(from), Some(before)) = (next, turn.checked_sub(1)) {
                gap(from, before);
            }
            next = turn.checked_add(1);
        }
        if let Some(from) = next {
            gap(from, *range.end());
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_named_once_and_in_order() {
        let present = BTreeSet::from([0, 3, 4, 9]);
        let cases: [(&[TurnRange], &[TurnRange]); 6] = [
            (&[3..=4], &[]),
            (&[1..=4], &[1..=2]),
            (&[5..=8, 1..=2], &[1..=2, 5..=8]),
            (&[1..=10, 2..=12], &[1..=2, 5..=8, 10..=12]),
            (&[9..=u32::MAX], &[10..=u32::MAX]),
            (&[5..=6, 7..=8], &[5..=8]),
        ];
        for (ranges, expected) in cases {
            assert_eq!(missing(ranges, &present), expected, "{ranges:?}");
        }
    }
}
