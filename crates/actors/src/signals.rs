//! The signals a run answers (R36).
//!
//! SIGINT, SIGTERM, SIGHUP (the terminal is gone) and SIGQUIT all ask it to end in an orderly way:
//! any of them left to its default would leave a stream without an end and commands without anyone
//! who ends them. A SIGHUP that was ignored at the start stays ignored, as `nohup` has it.
//!
//! SIGXFSZ is caught and dropped, so that a file that may not grow is an error of the write like a
//! full disk. Caught and not ignored: commands start with it as it was.

use std::io;
use std::time::Duration;

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Those that stop a run.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    quit: Signal,
    hangup: Option<Signal>,
    seen: u32,
}

/// From the second signal to leaving without what stdout has not taken.
const INSISTED: Duration = Duration::from_secs(3);

impl Signals {
    /// Starts to listen. Needs a runtime with signals.
    pub fn listen() -> io::Result<Self> {
        // The handler stays when this is dropped.
        drop(signal(SignalKind::from_raw(Number::XFSZ.as_raw()))?);
        let hangup = if ignored(Number::HUP) {
            None
        } else {
            Some(signal(SignalKind::hangup())?)
        };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            quit: signal(SignalKind::quit())?,
            hangup,
            seen: 0,
        })
    }

    /// The next one, by name.
    pub async fn next(&mut self) -> &'static str {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        let name = tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.quit.recv() => "SIGQUIT",
            _ = hangup => "SIGHUP",
        };
        self.seen += 1;
        name
    }

    /// Signals so far.
    pub(crate) const fn seen(&self) -> u32 {
        self.seen
    }

    /// Resolves some time after the second signal: whoever sent it waits no longer.
    pub(crate) async fn insisted(&mut self) {
        while self.seen < 2 {
            self.next().await;
        }
        tokio::time::sleep(INSISTED).await;
    }
}

/// Whether the process was started with a signal ignored. Unknown is no.
fn ignored(number: Number) -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| in_mask(&status, number.as_raw()))
}

/// Reads the mask of ignored signals: bit 0 is signal 1.
fn in_mask(status: &str, number: i32) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "Name:\tgg\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n";
        assert!(in_mask(status, 1));
        assert!(in_mask(status, 13));
        assert!(!in_mask(status, 2));
        assert!(!in_mask("", 1));
        assert!(!in_mask("SigIgn:\tjunk\n", 1));
    }
}
