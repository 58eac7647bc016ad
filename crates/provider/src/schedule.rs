//! The retry schedule: whether another attempt follows a failed one, and after which wait.
//!
//! A pure machine, one a model call. It knows no clock: the caller says how much time is left,
//! carries out the wait, and drops it where the run stops (R27).
//!
//! Always true: at most `1 + max_retries` attempts are made, and no wait is begun that is longer
//! than ten minutes or than the time left.

use std::time::{Duration, SystemTime};

use crate::fault::Fault;

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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// No other attempt with this provider: the schedule is spent, and why.
    Spent(String),
    /// No other attempt at all.
    Fatal,
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
            | Fault::Unusable { .. } => return Decision::Fatal,
        }
        if self.failed > self.max_retries {
            let why = match self.max_retries {
                0 => "no retries are configured".to_owned(),
                1 => "the one retry is used up".to_owned(),
                many => format!("all {many} retries are used up"),
            };
            return Decision::Spent(why);
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
            return Decision::Spent(why);
        }
        Decision::Retry {
            delay,
            attempt: self.failed,
            of: self.max_retries,
        }
    }
}

/// The wait before retry `n` (from 1) before any cap: 2^(n-1) seconds.
fn backoff(n: u32) -> Duration {
    Duration::from_secs(1_u64.checked_shl(n - 1).unwrap_or(u64::MAX))
}

pub(crate) fn seconds(duration: Duration) -> String {
    if duration.subsec_nanos() == 0 {
        format!("{} s", duration.as_secs())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

/// Reads a `Retry-After` value: seconds, whole or with a fraction, or an HTTP date (RFC 9110
/// §10.2.3). A date in the past asks for no wait; anything else, a negative figure among it, is
/// `None`.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        let secs: f64 = value.parse().ok()?;
        return Some(Duration::try_from_secs_f64(secs).unwrap_or(Duration::from_secs(u64::MAX)));
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
        assert_eq!(
            schedule.failed(&server(None), None),
            Decision::Spent("no retries are configured".to_owned())
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
                Decision::Spent(why) => why,
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
        let decide = |fault: Fault| RetrySchedule::new(10, MINUTE).failed(&fault, None);
        let timeout = Fault::Timeout {
            secs: 900,
            provider: None,
        };
        assert_eq!(decide(timeout), Decision::Fatal);
        for status in [400, 401, 402, 404] {
            let fault = Fault::of_status(status, None, b"no", None);
            assert_eq!(decide(fault), Decision::Fatal);
        }
        assert_eq!(decide(Fault::MissingCredential), Decision::Fatal);
    }

    #[test]
    fn a_reply_that_looped_is_tried_again_like_a_server_failure() {
        let looped = Fault::Looped {
            words: 3065,
            chars: 12_261,
            generation: None,
            provider: None,
        };
        let mut schedule = RetrySchedule::new(1, MINUTE);
        let delay = Duration::from_secs(1);
        assert_eq!(
            schedule.failed(&looped, None),
            Decision::Retry {
                delay,
                attempt: 1,
                of: 1
            }
        );
        assert!(matches!(schedule.failed(&looped, None), Decision::Spent(_)));
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
        assert_eq!(
            read("99999999999999999999999999"),
            Some(Duration::from_secs(u64::MAX))
        );
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
                    Decision::Spent(_) => break,
                    Decision::Fatal => prop_assert!(false, "fatal"),
                }
            }
        }
    }
}
