//! Views: the only way from a program to the model (04 §7).

use sandbox::contract as wit;
use sandbox::services::{Call, Views};
use vocab::failure::Failure;

use super::{Serving, unfilled};

/// What an agent's programs showed in the turn.
#[derive(Debug, Default)]
pub(in crate::agent) struct Shown {}

impl Views for Serving {
    fn open_file(
        &mut self,
        _: &Call,
        _: String,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
    ) -> Result<wit::FileRead, Failure> {
        Err(unfilled())
    }

    fn open_text(&mut self, _: &Call, _: String, _: String) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn open_docs_view(&mut self, call: &Call, target: String) -> Result<(), Failure> {
        self.open_page(call, &target)
    }

    fn close(&mut self, _: &Call, _: String) -> Result<u32, Failure> {
        Err(unfilled())
    }

    fn current(&mut self, _: &Call) -> Result<Vec<wit::OpenView>, Failure> {
        Err(unfilled())
    }
}
