//! The library of programs, as a program reaches it (04 §6.6).

use sandbox::contract as wit;
use sandbox::services::{Call, Programs};
use vocab::failure::Failure;

use super::{Serving, unfilled};

/// The programs an agent keeps.
#[derive(Debug, Default)]
pub(in crate::agent) struct Library {}

impl Programs for Serving {
    fn history(&mut self, _: &Call) -> Result<Vec<wit::ProgramEntry>, Failure> {
        Err(unfilled())
    }

    fn get(&mut self, _: &Call, _: Option<String>) -> Result<String, Failure> {
        Err(unfilled())
    }

    fn rerun(&mut self, _: &Call, _: String) -> Result<(), Failure> {
        Err(unfilled())
    }
}
