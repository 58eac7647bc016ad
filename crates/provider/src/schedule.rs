//! The retry schedule: whether another attempt follows a failed one, and after which wait.
//!
//! A pure machine, one a model call. It knows no clock: the caller says how much time is left,
//! carries out the wait, and drops it where the run stops (R27).
//!
//! Always true: at most `1 + max_retries` attempts are made, and no wait is begun that is longer
//! than ten minutes or than the time left.

use std::fmt;
use std::time::{Duration, SystemTime};

use vocab::outcome::ErrorType;

pub use crate::fault::Fault;

/// The longest wait that is ever begun.
pub const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The attempts of one model call (01 §6.3).
#[derive(Clone, Debug)]
pub struct RetrySchedule {
    max_retries: u32,
    max_delay: Duration,
    failed: u32,
}

/// What follows a failed attempt.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Another attempt, after a wait.
    Retry {
        /// The wait.
        delay: Duration,
        /// Which retry it is, from 1.
        attempt: u32,
        /// How many retries there are in all.
        of: u32,
    },
    /// No other attempt with this provider: the schedule is spent.
    Spent(CallError),
    /// No other attempt at all.
    Fatal(CallError),
}

/// A model call that failed for good.
#[derive(Clone, Debug)]
pub struct CallError {
    /// The fault of the last attempt.
    pub fault: Fault,
    /// Attempts made.
    pub attempts: u32,
    /// Of a spent schedule: why no other attempt was made.
    pub spent: Option<String>,
}

impl RetrySchedule {
    /// A fresh schedule: `max_retries` attempts after the first, no backoff above `max_delay`.
    pub const fn new(max_retries: u32, max_delay: Duration) -> Self {
        Self {
            max_retries,
            max_delay,
            failed: 0,
        }
    }

    /// Takes the fault of an attempt; `time_left` is what the run's clock still allows.
    ///
    /// Retry *n* waits `min(2^(n-1) s, max_delay)`, or what the server asked for if that is
    /// longer. A wait above [`LONGEST_WAIT`] or `time_left` spends the schedule at once.
    pub fn failed(&mut self, fault: &Fault, time_left: Option<Duration>) -> Decision {
        self.failed = self.failed.saturating_add(1);
        match fault {
            Fault::RateLimited { .. }
            | Fault::Server { .. }
            | Fault::Transport { .. }
            | Fault::Stall { .. }
            | Fault::Looped { .. } => {}
            Fault::Timeout { .. }
            | Fault::NotFound { .. }
            | Fault::Auth { .. }
            | Fault::Rejected { .. }
            | Fault::Parse { .. }
            | Fault::LengthCapped(_)
            | Fault::ProviderMismatch { .. }
            | Fault::MissingCredential
            | Fault::Unusable { .. } => return Decision::Fatal(self.error(fault, None)),
        }
        if self.failed > self.max_retries {
            let why = match self.max_retries {
                0 => "no retries are configured".to_owned(),
                1 => "the one retry is used up".to_owned(),
                many => format!("all {many} retries are used up"),
            };
            return Decision::Spent(self.error(fault, Some(why)));
        }
        let backoff = backoff(self.failed).min(self.max_delay);
        let delay = backoff.max(fault.retry_after().unwrap_or_default());
        let bound = match time_left {
            Some(left) if delay > left => Some(format!("the {} the run has left", seconds(left))),
            _ if delay > LONGEST_WAIT => Some(format!(
                "the {} that are waited at most",
                seconds(LONGEST_WAIT)
            )),
            _ => None,
        };
        if let Some(bound) = bound {
            let whose = if delay > backoff { "asked for" } else { "due" };
            let why = format!(
                "the wait of {} {whose} is longer than {bound}",
                seconds(delay)
            );
            return Decision::Spent(self.error(fault, Some(why)));
        }
        Decision::Retry {
            delay,
            attempt: self.failed,
            of: self.max_retries,
        }
    }

    fn error(&self, fault: &Fault, spent: Option<String>) -> CallError {
        CallError {
            fault: fault.clone(),
            attempts: self.failed,
            spent,
        }
    }
}

/// The wait before retry `n` (from 1) before any cap: 2^(n-1) seconds.
fn backoff(n: u32) -> Duration {
    Duration::from_secs(1_u64.checked_shl(n - 1).unwrap_or(u64::MAX))
}

fn seconds(duration: Duration) -> String {
    if duration.subsec_nanos() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

impl CallError {
    /// How the turn that met it is recorded.
    pub const fn error_type(&self) -> ErrorType {
        self.fault.error_type()
    }

    /// Whether the loop asks again, byte for byte, on the same turn instead of ending (01 §6.4).
    pub const fn is_reasked(&self) -> bool {
        matches!(
            self.error_type(),
            ErrorType::ModelTimeout
                | ErrorType::ModelLengthCapped
                | ErrorType::ModelParse
                | ErrorType::ModelResponseLoop
        )
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(why) = &self.spent else {
            return self.fault.fmt(f);
        };
        let attempts = match self.attempts {
            1 => "1 attempt".to_owned(),
            many => format!("{many} attempts"),
        };
        write!(
            f,
            "gave up after {attempts}, {why}; the last: {}",
            self.fault
        )
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}

/// Reads a `Retry-After` value: seconds, whole or with a fraction, or an HTTP date (RFC 9110
/// §10.2.3). A date in the past asks for no wait; anything else, a negative figure among it, is
/// `None`.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        let secs: f64 = value.parse().ok()?;
        return Some(Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn server(retry_after: Option<u64>) -> Fault {
        Fault::of_status(503, retry_after.map(Duration::from_secs), b"busy", None)
    }

    fn delays(schedule: &mut RetrySchedule) -> Vec<u64> {
        let mut delays = Vec::new();
        while let Decision::Retry { delay, .. } = schedule.failed(&server(None), None) {
            delays.push(delay.as_secs());
        }
        delays
    }

    #[test]
    fn the_default_schedule_doubles_to_a_minute_and_sums_to_303_seconds() {
        let delays = delays(&mut RetrySchedule::new(10, MINUTE));
        assert_eq!(delays, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
        assert_eq!(delays.iter().sum::<u64>(), 303);
    }

    #[test]
    fn zero_retries_give_up_on_the_first_failure() {
        let mut schedule = RetrySchedule::new(0, MINUTE);
        let Decision::Spent(error) = schedule.failed(&server(None), None) else {
            panic!("spent");
        };
        assert_eq!(
            error.to_string(),
            "gave up after 1 attempt, no retries are configured; the last: server failure (503): \
             busy"
        );
        assert_eq!(error.error_type(), ErrorType::ModelRetryExhausted);
        assert_eq!(
            (error.fault.status(), error.fault.body()),
            (Some(503), Some("busy"))
        );
    }

    #[test]
    fn a_longer_retry_after_wins_and_a_shorter_one_does_not() {
        let mut schedule = RetrySchedule::new(10, MINUTE);
        let mut wait = |fault| match schedule.failed(&fault, None) {
            Decision::Retry { delay, attempt, of } => (delay.as_secs(), attempt, of),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            wait(server(Some(90))),
            (90, 1, 10),
            "not capped by the backoff's cap"
        );
        assert_eq!(wait(server(Some(1))), (2, 2, 10));
        assert_eq!(wait(server(Some(600))), (600, 3, 10));
    }

    #[test]
    fn a_wait_beyond_the_time_left_or_ten_minutes_is_not_begun() {
        let spent = |retry_after, left: Option<u64>| {
            let mut schedule = RetrySchedule::new(10, MINUTE);
            match schedule.failed(&server(Some(retry_after)), left.map(Duration::from_secs)) {
                Decision::Spent(error) => error.spent.unwrap(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            spent(86_400, Some(20)),
            "the wait of 86400 s asked for is longer than the 20 s the run has left"
        );
        assert_eq!(
            spent(601, None),
            "the wait of 601 s asked for is longer than the 600 s that are waited at most"
        );
        assert_eq!(
            spent(0, Some(0)),
            "the wait of 1 s due is longer than the 0 s the run has left"
        );
    }

    #[test]
    fn what_no_second_attempt_can_mend_is_fatal_at_once() {
        let fatal = |fault: Fault| match RetrySchedule::new(10, MINUTE).failed(&fault, None) {
            Decision::Fatal(error) => error,
            other => panic!("{other:?}"),
        };
        let timeout = fatal(Fault::Timeout {
            secs: 900,
            provider: None,
        });
        assert!(timeout.is_reasked());
        for status in [400, 401, 402, 404] {
            let error = fatal(Fault::of_status(status, None, b"no", None));
            assert!(!error.is_reasked());
        }
        let missing = fatal(Fault::MissingCredential);
        assert_eq!(missing.error_type(), ErrorType::ModelAuth);
    }

    #[test]
    fn retry_after_reads_seconds_fractions_and_dates_and_ignores_junk() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let read = |value| retry_after(value, now);
        assert_eq!(read("120"), Some(Duration::from_secs(120)));
        assert_eq!(read(" 1.5 "), Some(Duration::from_millis(1500)));
        assert_eq!(
            read("Sun, 06 Nov 1994 08:49:39 GMT"),
            Some(Duration::from_secs(2))
        );
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("99999999999999999999999999"), Some(Duration::MAX));
        for junk in ["", "soon", "-3", "1e9", "inf", "nan", ".", "1.2.3", "+4"] {
            assert_eq!(read(junk), None, "{junk}");
        }
    }

    proptest! {
        #[test]
        fn no_schedule_waits_too_long_or_tries_too_often(
            retries in 0_u32..100, max in 1_u64..10_000, left in proptest::option::of(0_u64..2_000),
            asked in proptest::collection::vec(proptest::option::of(0_u64..2_000), 0..120),
        ) {
            let mut schedule = RetrySchedule::new(retries, Duration::from_secs(max));
            let left = left.map(Duration::from_secs);
            for (made, asked) in (1_u32..).zip(asked) {
                match schedule.failed(&server(asked), left) {
                    Decision::Retry { delay, attempt, of } => {
                        prop_assert!(delay <= LONGEST_WAIT && left.is_none_or(|left| delay <= left));
                        prop_assert!(attempt == made && attempt <= of && of == retries);
                    }
                    Decision::Spent(error) => {
                        prop_assert_eq!(error.attempts, made);
                        break;
                    }
                    Decision::Fatal(error) => prop_assert!(false, "{error}"),
                }
            }
        }
    }
}
