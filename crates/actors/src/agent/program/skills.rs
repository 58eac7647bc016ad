//! Skills, as a program uses them (02 §10).

use sandbox::services::{Call, Skills};
use vocab::failure::Failure;

use super::{Serving, unfilled};

impl Skills for Serving {
    fn read_skill(&mut self, _: &Call, _: String) -> Result<String, Failure> {
        Err(unfilled())
    }
}
