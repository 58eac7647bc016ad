//! Other agents, as a program reaches them (03 §3, §5).

use sandbox::contract as wit;
use sandbox::services::{Call, Delegation};
use vocab::failure::Failure;

use super::{Serving, unfilled};

impl Delegation for Serving {
    fn spawn_subagent(
        &mut self,
        _: &Call,
        _: String,
        _: String,
    ) -> Result<wit::SubagentHandle, Failure> {
        Err(unfilled())
    }

    fn wait_for_subagents(
        &mut self,
        _: &Call,
        _: Option<Vec<String>>,
    ) -> Result<Vec<wit::SubagentOutcome>, Failure> {
        Err(unfilled())
    }

    fn send_message(&mut self, _: &Call, _: String, _: String) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn exec(&mut self, _: &Call, _: String, _: Option<String>) -> Result<(), Failure> {
        Err(unfilled())
    }

    fn fork(&mut self, _: &Call, _: String) -> Result<wit::SubagentHandle, Failure> {
        Err(unfilled())
    }

    fn transition_state(&mut self, _: &Call, _: String, _: Option<String>) -> Result<(), Failure> {
        Err(unfilled())
    }
}
