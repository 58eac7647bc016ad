//! RFC 3339 timestamps in UTC with milliseconds, fast: a calendar is asked once a second.
//!
//! Always true: the text has 24 characters, years 1970 to 9999; times outside are clamped.

/// The last second a calendar in every time zone still has: the day before the last of 9999.
const LAST_SECOND: i64 = 253_402_207_200;

/// Formats times, remembering the last second asked for.
pub(super) struct Clock {
    second: i64,
    text: [u8; 24],
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            second: 0,
            text: *b"1970-01-01T00:00:00.000Z",
        }
    }

    /// The time `at_ms` milliseconds after the Unix epoch.
    pub(super) fn format(&mut self, at_ms: i64) -> &[u8; 24] {
        let at_ms = at_ms.clamp(0, LAST_SECOND * 1000 + 999);
        let second = at_ms / 1000;
        if second != self.second {
            let civil = jiff::Timestamp::from_second(second).map(|time| time.to_string());
            if let Ok(civil) = civil
                && let Some(head) = civil.as_bytes().get(..19)
            {
                self.text[..19].copy_from_slice(head);
                self.second = second;
            }
        }
        let millis = at_ms.unsigned_abs() % 1000;
        for (place, unit) in [(20, 100), (21, 10), (22, 1)] {
            self.text[place] = b'0' + (millis / unit % 10) as u8;
        }
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_with_milliseconds() {
        let mut clock = Clock::new();
        for (at_ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_709_210_096_007, "2024-02-29T12:34:56.007Z"),
            (1_709_210_096_999, "2024-02-29T12:34:56.999Z"),
            (-5, "1970-01-01T00:00:00.000Z"),
            (i64::MAX, "9999-12-30T22:00:00.999Z"),
        ] {
            assert_eq!(std::str::from_utf8(clock.format(at_ms)).unwrap(), text);
        }
    }
}
