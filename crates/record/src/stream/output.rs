//! Where lines go: a writer that fails once and for all.
//!
//! Always true: after a failure nothing more is written, so what was taken is a prefix.

use std::io::{ErrorKind, Write};
use std::time::Duration;

/// How long to wait for a pipe that is non-blocking and full.
const FULL_PIPE: Duration = Duration::from_millis(2);

pub(super) struct Output {
    to: Box<dyn Write + Send>,
    bytes: u64,
    error: Option<String>,
}

impl Output {
    pub(super) fn new(to: Box<dyn Write + Send>) -> Self {
        Self {
            to,
            bytes: 0,
            error: None,
        }
    }

    /// Bytes taken.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Why it failed.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Writes and flushes, whatever it takes; after a failure does nothing.
    pub(super) fn write(&mut self, mut bytes: &[u8]) {
        if self.error.is_some() {
            return;
        }
        while !bytes.is_empty() {
            match self.to.write(bytes) {
                Ok(0) => {
                    self.error = Some("it takes no more bytes".to_owned());
                    return;
                }
                Ok(taken) => {
                    self.bytes += taken as u64;
                    bytes = &bytes[taken..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A parent may share its non-blocking pipe with us; full is not failed.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::park_timeout(FULL_PIPE);
                }
                Err(error) => {
                    self.error = Some(error.to_string());
                    return;
                }
            }
        }
        if let Err(error) = self.to.flush()
            && error.kind() != ErrorKind::WouldBlock
        {
            self.error = Some(error.to_string());
        }
    }
}
