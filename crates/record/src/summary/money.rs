//! Sums of money that do not hide what they lack (R35, F86, F87).

use vocab::usage::{Cost, Tokens};

/// A sum of costs on both bases.
///
/// `actual` adds what was reported and counts what was not; `comparable` is `None` as soon as one
/// part has no price, because a partial sum compares with nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Money {
    parts: u64,
    comparable: f64,
    incomparable: u64,
    actual: f64,
    unpriced: u64,
    unpriced_tokens: u64,
}

impl Money {
    /// Adds one call's cost; `tokens` are its tokens, counted where no price was reported.
    pub fn add(&mut self, cost: Option<&Cost>, tokens: &Tokens) {
        let cost = cost.copied().unwrap_or_default();
        self.parts += 1;
        match cost.comparable {
            Some(usd) => self.comparable += usd,
            None => self.incomparable += 1,
        }
        if let Some(usd) = cost.actual {
            self.actual += usd;
        } else {
            self.unpriced += 1;
            self.unpriced_tokens += tokens.input().unwrap_or(0) + tokens.completion().unwrap_or(0);
        }
    }

    /// The sum on both bases. Nothing spent is zero; only unpriced parts are `None`.
    pub const fn cost(&self) -> Cost {
        Cost {
            comparable: if self.incomparable == 0 {
                Some(self.comparable)
            } else {
                None
            },
            actual: if self.parts > 0 && self.parts == self.unpriced {
                None
            } else {
                Some(self.actual)
            },
        }
    }

    /// Calls without a reported price.
    pub const fn unpriced_calls(&self) -> u64 {
        self.unpriced
    }

    /// Their tokens.
    pub const fn unpriced_tokens(&self) -> u64 {
        self.unpriced_tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn priced(comparable: Option<f64>, actual: Option<f64>) -> Cost {
        Cost { comparable, actual }
    }

    #[test]
    fn a_missing_part_empties_the_comparable_sum_and_is_counted_beside_the_actual_one() {
        let tokens = Tokens {
            uncached_input: Some(7),
            output: Some(3),
            ..Tokens::default()
        };
        let mut money = Money::default();
        assert_eq!(
            money.cost(),
            Cost {
                comparable: Some(0.0),
                actual: Some(0.0)
            }
        );
        money.add(Some(&priced(Some(0.5), Some(0.25))), &tokens);
        money.add(Some(&priced(None, None)), &tokens);
        money.add(None, &Tokens::default());
        assert_eq!(
            money.cost(),
            Cost {
                comparable: None,
                actual: Some(0.25)
            }
        );
        assert_eq!((money.unpriced_calls(), money.unpriced_tokens()), (2, 10));
    }

    #[test]
    fn calls_without_any_price_have_no_sum_rather_than_zero() {
        let mut money = Money::default();
        money.add(None, &Tokens::default());
        assert_eq!(money.cost(), Cost::default());
    }

    #[test]
    fn a_free_call_is_a_price() {
        let mut money = Money::default();
        money.add(Some(&priced(Some(0.0), Some(0.0))), &Tokens::default());
        assert_eq!(money.cost().actual, Some(0.0));
        assert_eq!(money.unpriced_calls(), 0);
    }
}
