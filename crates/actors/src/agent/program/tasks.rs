//! The agent's task list, as a program reaches it (02 §8).

use sandbox::contract as wit;
use sandbox::services::{Call, Tasks};
use vocab::failure::Failure;

use super::{Serving, unfilled};

impl Tasks for Serving {
    fn add_task(&mut self, _: &Call, _: wit::TaskDraft) -> Result<wit::TaskUsage, Failure> {
        Err(unfilled())
    }

    fn update_task(&mut self, _: &Call, _: String, _: wit::TaskChanges) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn set_blocked_by(&mut self, _: &Call, _: String, _: Vec<String>) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn complete_task(&mut self, _: &Call, _: String) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn remove_task(&mut self, _: &Call, _: String) -> Result<wit::TaskUsage, Failure> {
        Err(unfilled())
    }
}
