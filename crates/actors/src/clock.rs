//! Time as a run knows it: the wall clock of events, and the run clock of `maxRuntimeSecs`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Milliseconds since the Unix epoch.
pub fn now_ms() -> i64 {
    // Before 1970 the figure is not worth a failure.
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}

/// Microseconds since the Unix epoch.
pub fn now_us() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_micros() as i64)
}

/// A moment as RFC 3339 in UTC, microseconds where there are any.
pub fn timestamp(at_us: i64) -> String {
    jiff::Timestamp::from_microsecond(at_us).map_or_else(|_| at_us.to_string(), |at| at.to_string())
}

/// The run clock: when the session started and when it must end.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    started: Instant,
    deadline: Option<Instant>,
}

impl RunClock {
    /// Starts now; ends `max_runtime` later, if the ceiling is armed.
    pub fn start(max_runtime: Option<Duration>) -> Self {
        let started = Instant::now();
        // A ceiling past the end of the clock's range can never be met.
        let deadline = max_runtime.and_then(|allowed| started.checked_add(allowed));
        Self { started, deadline }
    }

    /// Time since the session started.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time left; `None` where the ceiling is not armed.
    pub fn left(&self) -> Option<Duration> {
        self.deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether the ceiling has been met.
    pub fn spent(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// When the run must end.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

/// Whole milliseconds of a duration.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
