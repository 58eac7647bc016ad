//! The documentation, as a program reaches it (04 §8).

use sandbox::contract as wit;
use sandbox::services::{self, Call};
use vocab::failure::Failure;
use vocab::operations::Operation;

use super::{Serving, unfilled};

/// What an agent's documentation views came to.
#[derive(Debug, Default)]
pub(in crate::agent) struct Docs {}

impl Docs {
    /// Whether a page of an operation stood in the window before the turn began, or none is needed.
    pub(super) fn documented(&self, _: &'static Operation) -> bool {
        false
    }
}

impl services::Docs for Serving {
    fn search(
        &mut self,
        _: &Call,
        _: Option<String>,
        _: Option<Vec<String>>,
        _: Option<String>,
        _: Option<wit::DocKind>,
        _: Option<u32>,
        _: Option<u32>,
    ) -> Result<wit::DocSearch, Failure> {
        Err(unfilled())
    }

    fn close(&mut self, _: &Call, _: String) -> Result<u32, Failure> {
        Err(unfilled())
    }

    fn close_all(&mut self, _: &Call) -> Result<u32, Failure> {
        Err(unfilled())
    }
}

impl Serving {
    /// Shows a page of the documentation: what `views.open_docs_view` does.
    pub(super) fn open_page(&mut self, _: &Call, _: &str) -> Result<(), Failure> {
        Err(unfilled())
    }
}
