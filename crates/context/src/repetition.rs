//! The same call with the same result, over and over: first a notice, then an error (R39).
//!
//! Calls are compared byte by byte, by a 128-bit hash of tool, arguments and result, in the order
//! they were carried out and across turns.
//!
//! Always true: another call, or another result, starts the count anew, and no error comes without
//! a notice before it.

use xxhash_rust::xxh3::Xxh3;

/// What a repeated call earns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It was the configured number in a row: the model is told.
    Notice,
    /// It went on as long again, and each time it does: the error turn `repeated_call`.
    Error,
}

/// Counts equal calls in a row.
#[derive(Clone, Debug)]
pub struct Repetition {
    calls: u64,
    last: Option<u128>,
    count: u64,
}

impl Repetition {
    /// `calls` in a row earn a notice; 0 is taken as 1.
    pub const fn new(calls: u64) -> Self {
        Self {
            calls: if calls == 0 { 1 } else { calls },
            last: None,
            count: 0,
        }
    }

    /// Takes one carried-out call in, with its result as it was before any turn header, which
    /// differs from turn to turn.
    pub fn observe(&mut self, tool: &str, arguments: &str, result: &str) -> Option<Repeat> {
        let hash = hash(&[tool, arguments, result]);
        if self.last != Some(hash) {
            self.last = Some(hash);
            self.count = 0;
        }
        self.count += 1;
        if !self.count.is_multiple_of(self.calls) {
            return None;
        }
        Some(if self.count == self.calls {
            Repeat::Notice
        } else {
            Repeat::Error
        })
    }

    /// How often the last call was made in a row.
    pub const fn count(&self) -> u64 {
        self.count
    }
}

fn hash(fields: &[&str]) -> u128 {
    let mut hash = Xxh3::new();
    for field in fields {
        // Lengths keep `a`, `bc` apart from `ab`, `c`.
        hash.update(&(field.len() as u64).to_le_bytes());
        hash.update(field.as_bytes());
    }
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(calls: u64, seen: &[(&str, &str, &str)]) -> Vec<Option<Repeat>> {
        let mut repetition = Repetition::new(calls);
        let seen = seen.iter();
        seen.map(|(tool, arguments, result)| repetition.observe(tool, arguments, result))
            .collect()
    }

    #[test]
    fn a_notice_at_the_number_and_an_error_each_time_it_goes_on_as_long_again() {
        let (notice, error) = (Some(Repeat::Notice), Some(Repeat::Error));
        assert_eq!(
            run(3, &[("shell", "{}", "x"); 10]),
            [
                None, None, notice, None, None, error, None, None, error, None
            ]
        );
        assert_eq!(run(1, &[("a", "", ""); 3]), [notice, error, error]);
    }

    #[test]
    fn anything_else_in_between_starts_anew() {
        let same = ("shell", "{}", "x");
        for other in [
            ("search", "{}", "x"),
            ("shell", "{ }", "x"),
            ("shell", "{}", "y"),
        ] {
            assert_eq!(run(3, &[same, same, other, same, same]), [None; 5]);
        }
        let seen = [same, same, ("shell", "{}", "y"), same, same, same];
        assert_eq!(run(3, &seen)[5], Some(Repeat::Notice));
    }

    #[test]
    fn where_one_field_ends_and_the_next_begins_tells_calls_apart() {
        assert_eq!(run(2, &[("a", "bc", ""), ("ab", "c", "")]), [None; 2]);
    }
}
