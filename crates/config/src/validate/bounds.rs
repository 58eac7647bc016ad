//! What an object may hold, and what its figures may be, with the words for both.

use crate::number;
use crate::refusal::listed;

/// What an object may hold. The JSON Schema of the type of the same name says the same; a test
/// compares them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The type's name, as in the schema.
    pub(crate) name: &'static str,
    /// Every key, in the order of the documentation.
    pub(crate) keys: &'static [&'static str],
    /// Those that must be written.
    pub(crate) required: &'static [&'static str],
}

impl Shape {
    pub(super) fn expected(&self) -> String {
        if self.keys.is_empty() {
            "an object".to_owned()
        } else {
            format!("an object of {}", listed(self.keys.iter().copied()))
        }
    }
}

/// Bounds of a whole number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    min: u64,
    max: u64,
}

impl Count {
    /// From a figure up.
    pub(crate) const fn from(min: u64) -> Self {
        Self {
            min,
            max: number::MAX_WHOLE,
        }
    }

    /// Between two figures, both legal.
    pub(crate) const fn between(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    pub(super) fn admits(self, number: u64) -> bool {
        (self.min..=self.max).contains(&number)
    }

    /// Whether only what gg can count at all bounds it above.
    pub(super) fn is_open(self) -> bool {
        self.max == number::MAX_WHOLE
    }

    pub(super) fn expected(self) -> String {
        if self.is_open() {
            format!("a whole number, {} or more", self.min)
        } else {
            format!("a whole number from {} to {}", self.min, self.max)
        }
    }
}

/// Bounds of a number that may have a fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Span {
    /// Above zero.
    Positive,
    /// Zero or more.
    NotNegative,
    /// Between two figures, both legal.
    Between(f64, f64),
}

impl Span {
    pub(super) fn admits(self, number: f64) -> bool {
        match self {
            Self::Positive => number > 0.0,
            Self::NotNegative => number >= 0.0,
            Self::Between(min, max) => (min..=max).contains(&number),
        }
    }

    pub(super) fn expected(self) -> String {
        match self {
            Self::Positive => "a finite number above 0".to_owned(),
            Self::NotNegative => "a finite number, 0 or more".to_owned(),
            Self::Between(min, max) => format!("a number from {min:?} to {max:?}"),
        }
    }
}
