//! What the gateway wrote down of each call it served, computed from the request's own bytes.
//!
//! A test holds gg's record against it: neither side has seen the other's arithmetic.

use super::prices::Charged;

/// One call that a provider served, whole or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Its place among all requests of the gateway, from 0.
    pub request: usize,
    /// Its generation's id.
    pub generation: String,
    /// The model asked.
    pub model: String,
    /// The provider that served it, by the name it has in the listing.
    pub provider: String,
    /// Who the reply said served it.
    pub served_by: String,
    /// The routing key it came with.
    pub key: String,
    /// Whether an earlier request of the same conversation was served by this provider.
    pub follows: bool,
    /// The most that caching could read, in tokens: the whole blocks of the request before of this
    /// conversation at this provider, without its signal; for the first, of what it shares with any
    /// earlier request there.
    pub expected: u64,
    /// Tokens in whole blocks that it does share with an earlier request at this provider.
    pub common: u64,
    /// What was charged.
    pub tokens: Charged,
    /// The price, in USD, reported or not.
    pub cost: f64,
    /// What the reply reports.
    pub reported: Reported,
}

/// What a reply says of its own spending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Whether it has a usage object that arrives.
    pub usage: bool,
    /// Whether that tells the cached tokens.
    pub cached: bool,
    /// Whether that tells the price.
    pub price: bool,
}

/// Sums over accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Calls.
    pub calls: u64,
    /// Tokens.
    pub tokens: Charged,
    /// What caching could have read.
    pub expected: u64,
    /// USD.
    pub cost: f64,
}

impl Account {
    /// Whether it read at least this share of what caching could read.
    pub fn reads_at_least(&self, percent: u64) -> bool {
        self.tokens.read * 100 >= self.expected * percent
    }
}

/// Adds accounts up.
pub fn sums<'a>(accounts: impl IntoIterator<Item = &'a Account>) -> Sums {
    accounts.into_iter().fold(Sums::default(), |sums, account| {
        let (all, one) = (sums.tokens, account.tokens);
        Sums {
            calls: sums.calls + 1,
            tokens: Charged {
                prompt: all.prompt + one.prompt,
                read: all.read + one.read,
                written: all.written + one.written,
                written_long: all.written_long + one.written_long,
                completion: all.completion + one.completion,
                reasoning: all.reasoning + one.reasoning,
            },
            expected: sums.expected + account.expected,
            cost: sums.cost + account.cost,
        }
    })
}
