//! Commands, as a program runs them: on the agent's loop, between the hooks (04 §4).

use sandbox::contract as wit;
use sandbox::services::{Call, Shell};
use vocab::failure::Failure;

use super::{Serving, unfilled};

impl Shell for Serving {
    fn shell(&mut self, _: &Call, _: String, _: Option<f64>) -> Result<wit::ShellOutput, Failure> {
        Err(unfilled())
    }
}
