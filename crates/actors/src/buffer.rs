//! A stream's output in memory, for tests that play a session in the process and read it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Shared: one clone is written to, another is read.
#[derive(Clone, Default)]
pub(crate) struct Buffer(pub(crate) Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
