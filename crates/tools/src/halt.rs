//! How a blocking call is told that its answer is no longer wanted.
//!
//! A flag that the call looks at wherever it might go on for long: between two reads of a file,
//! between two entries of a walk. Whoever awaits the call raises it on a stop or a spent clock.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use vocab::failure::{Failure, FailureClass};

/// A shared flag, lowered at first. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<AtomicBool>);

impl Halt {
    /// Asks every call that holds the flag to end at its next look.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is up.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error once the flag is up.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_raised() {
            Err(halted())
        } else {
            Ok(())
        }
    }
}

/// A reader that fails once the flag is up.
pub(crate) struct HaltingReader<'a, R> {
    pub(crate) inner: R,
    pub(crate) halt: &'a Halt,
}

impl<R: io::Read> io::Read for HaltingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.halt.is_raised() {
            return Err(io::Error::other("stopped"));
        }
        self.inner.read(buffer)
    }
}

/// What a call answers that was stopped before it was done.
pub fn halted() -> Failure {
    Failure::new(
        FailureClass::LimitExceeded,
        "stopped before it was done; the run is ending",
    )
}
