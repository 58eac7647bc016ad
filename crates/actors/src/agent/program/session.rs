//! Endings, as a program declares them (04 §6.7): a flag, set and read at the turn's close.

use sandbox::services::{Call, Session};
use vocab::failure::Failure;

use super::Serving;
use crate::agent::Ending;
use crate::agent::ending;

/// The ending that stands, and how many it replaced.
#[derive(Debug, Default)]
pub(in crate::agent) struct Declaration {
    /// The last that was declared.
    pub(in crate::agent) ending: Option<Ending>,
    /// Endings that a later one replaced.
    pub(in crate::agent) replaced: u64,
    /// Whether the run's clock ended a program.
    pub(in crate::agent) cut_short: bool,
}

impl Declaration {
    /// The ending that stands, as a text.
    pub(in crate::agent) fn told(&self) -> Option<String> {
        self.ending.as_ref().map(Ending::text)
    }

    fn declare(&mut self, ending: Ending) {
        if self.ending.replace(ending).is_some() {
            self.replaced += 1;
        }
    }
}

impl Serving {
    fn declare(&mut self, ending: Result<Ending, Failure>) -> Result<(), Failure> {
        let ending = ending?;
        self.held()?.0.code.session.declare(ending);
        Ok(())
    }
}

impl Session for Serving {
    fn finish(&mut self, _: &Call, summary: String) -> Result<(), Failure> {
        self.declare(ending::finish(summary))
    }

    fn approve(&mut self, _: &Call) -> Result<(), Failure> {
        self.declare(Ok(Ending::Approve))
    }

    fn request_changes(&mut self, _: &Call, items: Vec<String>) -> Result<(), Failure> {
        self.declare(ending::request_changes(items.iter().map(String::as_str)))
    }
}
