//! What is kept of a program's calls, within bounds that count what they drop (04 §14).

use std::collections::BTreeMap;

use vocab::failure::{Failure, FailureClass};
use vocab::operations::Operation;

use crate::services::Call;

/// Calls kept in order.
const MAX_CALLS: usize = 500;

/// Refused calls kept in order.
const MAX_REFUSALS: usize = 100;

/// Bytes kept of the text of one failed call.
const MAX_FAILURE_BYTES: usize = 512;

/// The first items of a list, and how many came after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capped<T> {
    /// What is kept.
    pub items: Vec<T>,
    /// What is not.
    pub dropped: u64,
    cap: usize,
}

impl<T> Capped<T> {
    /// An empty list that keeps `cap` items.
    pub const fn new(cap: usize) -> Self {
        Self {
            items: Vec::new(),
            dropped: 0,
            cap,
        }
    }

    /// Adds an item, or counts it.
    pub fn push(&mut self, item: T) {
        if self.items.len() < self.cap {
            self.items.push(item);
        } else {
            self.dropped += 1;
        }
    }
}

/// One call as it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// What was called.
    pub operation: &'static str,
    /// Its place among the program's calls, from 0.
    pub ordinal: u32,
    /// How it failed, and the sentence's first bytes.
    pub failure: Option<(FailureClass, String)>,
}

/// One call that was not available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was called.
    pub operation: &'static str,
    /// What the program was told.
    pub message: String,
}

/// The calls of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calls {
    /// In the order they ended.
    pub ended: Capped<RecordedCall>,
    /// Those that were not available, whether the program caught that or not.
    pub refused: Capped<Refusal>,
    /// All calls.
    pub made: u32,
    /// Those that dispatched a tool.
    pub dispatched: u32,
    /// Serviced calls whose documentation was not in view, by operation.
    pub undocumented: BTreeMap<&'static str, u32>,
}

impl Default for Calls {
    fn default() -> Self {
        Self {
            ended: Capped::new(MAX_CALLS),
            refused: Capped::new(MAX_REFUSALS),
            made: 0,
            dispatched: 0,
            undocumented: BTreeMap::new(),
        }
    }
}

impl Calls {
    /// A call begins; its ordinal.
    pub(super) fn open(&mut self) -> u32 {
        let ordinal = self.made;
        self.made = self.made.saturating_add(1);
        ordinal
    }

    pub(super) fn dispatch(&mut self, operation: &Operation) {
        if operation.tool.is_some() {
            self.dispatched = self.dispatched.saturating_add(1);
        }
    }

    pub(super) fn undocumented(&mut self, operation: &'static Operation) {
        *self.undocumented.entry(operation.id).or_default() += 1;
    }

    pub(super) fn refuse(&mut self, operation: &'static Operation, message: &str) {
        self.refused.push(Refusal {
            operation: operation.id,
            message: cut(message),
        });
    }

    pub(super) fn close(&mut self, call: &Call, failure: Option<&Failure>) {
        self.ended.push(RecordedCall {
            operation: call.operation.id,
            ordinal: call.ordinal,
            failure: failure.map(|failure| (failure.class, cut(&failure.message))),
        });
    }
}

/// The first bytes of a text, cut between characters.
fn cut(text: &str) -> String {
    text[..text.floor_char_boundary(MAX_FAILURE_BYTES)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let mut calls = Calls::default();
        let operation = Operation::find("files.read_file").unwrap();
        for _ in 0..MAX_CALLS + 3 {
            let call = Call {
                operation,
                ordinal: calls.open(),
            };
            calls.refuse(operation, "no");
            calls.close(&call, Some(&Failure::not_found("ü".repeat(400))));
        }
        assert_eq!(calls.made, 503);
        assert_eq!((calls.ended.items.len(), calls.ended.dropped), (500, 3));
        assert_eq!(
            (calls.refused.items.len(), calls.refused.dropped),
            (100, 403)
        );
        let (_, text) = calls.ended.items[499].failure.clone().unwrap();
        assert_eq!(text.len(), 512);
    }
}
