//! The agent's own window, as a program reaches it (02 §7).

use sandbox::contract as wit;
use sandbox::services::{Call, Context};
use vocab::failure::Failure;

use super::{Serving, unfilled};

impl Context for Serving {
    fn evict_file_view(&mut self, _: &Call, _: Option<String>) -> Result<wit::Reclaimed, Failure> {
        Err(unfilled())
    }

    fn archive_thread(
        &mut self,
        _: &Call,
        _: Vec<wit::TurnRange>,
    ) -> Result<wit::Archived, Failure> {
        Err(unfilled())
    }

    fn search_archive(&mut self, _: &Call, _: String) -> Result<Vec<wit::ArchiveMatch>, Failure> {
        Err(unfilled())
    }

    fn compact(&mut self, _: &Call, _: String, _: Vec<String>) -> Result<(), Failure> {
        Err(unfilled())
    }
}
