//! One submission's programs: the model's, then each that the one before handed over to (04 §6.6).
//!
//! Always true: at most [`MAX_PROGRAMS`] run; what was handed over is run or declined, once.

use std::sync::Arc;

use tools::Faults;
use vocab::failure::{Failure, FailureClass};

/// Programs of one submission: the model's own, and those handed over to.
pub const MAX_PROGRAMS: u32 = 4;

/// What comes behind a program that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it handed over to none.
    Over,
    /// Another program runs.
    Run(Arc<str>),
    /// It handed over, and what it handed over to does not run.
    Declined(Declined),
}

/// Why a program that was handed over to does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// Whoever handed over failed afterwards.
    Failed,
    /// Whoever handed over also ended the session.
    Ended,
    /// As many programs ran as may.
    TooMany,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    ran: u32,
    successor: Option<Arc<str>>,
}

impl Chain {
    /// How many programs have ended.
    pub const fn ran(&self) -> u32 {
        self.ran
    }

    /// The running program hands over to another; the first stands.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a blank source, `refused` for a second one.
    pub fn hand_over(&mut self, source: String) -> Result<(), Failure> {
        let mut faults = Faults::default();
        // A program may be of any length, whoever hands it over.
        if source.trim().is_empty() {
            faults.push("`source` is blank");
        }
        faults.judge()?;
        if self.successor.is_some() {
            return Err(Failure::new(
                FailureClass::Refused,
                "this program already hands over to another; the first stands",
            ));
        }
        self.successor = Some(source.into());
        Ok(())
    }

    /// The running program has ended: whether it failed, and whether an ending of the session stands
    /// behind it.
    pub fn ended(&mut self, failed: bool, ends: bool) -> Next {
        self.ran += 1;
        let Some(source) = self.successor.take() else {
            return Next::Over;
        };
        if failed {
            Next::Declined(Declined::Failed)
        } else if ends {
            Next::Declined(Declined::Ended)
        } else if self.ran >= MAX_PROGRAMS {
            Next::Declined(Declined::TooMany)
        } else {
            Next::Run(source)
        }
    }
}
