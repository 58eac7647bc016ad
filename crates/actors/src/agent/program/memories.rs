//! The agent's notebook, as a program reaches it (02 §9).

use sandbox::contract as wit;
use sandbox::services::{Call, Memories};
use vocab::failure::Failure;

use super::{Serving, unfilled};

impl Memories for Serving {
    fn write_memory(
        &mut self,
        _: &Call,
        _: String,
        _: String,
        _: String,
        _: Option<String>,
        _: Option<String>,
    ) -> Result<wit::MemoryUsage, Failure> {
        Err(unfilled())
    }

    fn update_memory(
        &mut self,
        _: &Call,
        _: String,
        _: String,
        _: String,
        _: Option<String>,
        _: Option<String>,
    ) -> Result<wit::MemoryUsage, Failure> {
        Err(unfilled())
    }

    fn create_memory(
        &mut self,
        _: &Call,
        _: String,
        _: Option<String>,
        _: String,
        _: Option<String>,
        _: Option<String>,
    ) -> Result<wit::MemoryUsage, Failure> {
        Err(unfilled())
    }

    fn edit_memory(
        &mut self,
        _: &Call,
        _: String,
        _: String,
        _: String,
    ) -> Result<wit::MemoryUsage, Failure> {
        Err(unfilled())
    }

    fn delete_memory(&mut self, _: &Call, _: String) -> Result<wit::MemoryUsage, Failure> {
        Err(unfilled())
    }

    fn read_memory(&mut self, _: &Call, _: String) -> Result<String, Failure> {
        Err(unfilled())
    }

    fn search_memories(
        &mut self,
        _: &Call,
        _: Vec<String>,
    ) -> Result<Vec<wit::MemoryHit>, Failure> {
        Err(unfilled())
    }
}
