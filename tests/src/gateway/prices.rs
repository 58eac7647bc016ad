//! What a provider charges, in USD per million tokens.

/// The rates of one endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Input that was neither read from a cache nor written to one.
    pub input: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to the cache for five minutes; the input rate where caching is automatic.
    pub cache_write: f64,
    /// Input written to the cache for an hour.
    pub cache_write_long: f64,
    /// Output, reasoning included.
    pub output: f64,
}

/// The tokens of one call as they are charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charged {
    /// All input.
    pub prompt: u64,
    /// The part of it that was read from the cache.
    pub read: u64,
    /// The part of it that was written for five minutes.
    pub written: u64,
    /// The part of it that was written for an hour.
    pub written_long: u64,
    /// All output, reasoning included.
    pub completion: u64,
    /// The part of the output that is reasoning.
    pub reasoning: u64,
}

impl Prices {
    /// Rates of an automatic cache: reads at a tenth, writes for nothing beside the input.
    pub const fn automatic(input: f64, output: f64) -> Self {
        Self {
            input,
            cache_read: input / 10.0,
            cache_write: input,
            cache_write_long: input,
            output,
        }
    }

    /// Rates of a marked cache: reads at a tenth, writes at 1.25 and 2 times the input.
    pub const fn marked(input: f64, output: f64) -> Self {
        Self {
            input,
            cache_read: input / 10.0,
            cache_write: input * 1.25,
            cache_write_long: input * 2.0,
            output,
        }
    }

    /// What one call costs, in USD.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a call's tokens are far below 2^52"
    )]
    pub fn cost(&self, tokens: Charged) -> f64 {
        let kept = tokens.read + tokens.written + tokens.written_long;
        let parts = [
            (tokens.prompt.saturating_sub(kept), self.input),
            (tokens.read, self.cache_read),
            (tokens.written, self.cache_write),
            (tokens.written_long, self.cache_write_long),
            (tokens.completion, self.output),
        ];
        parts.iter().map(|(n, rate)| *n as f64 * rate).sum::<f64>() / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_rate() {
        let tokens = Charged {
            prompt: 10_000,
            read: 4_000,
            written: 3_000,
            written_long: 2_000,
            completion: 100,
            reasoning: 40,
        };
        let cost = Prices::marked(1.0, 10.0).cost(tokens);
        // 1,000 plain, 4,000 at a tenth, 3,000 at 1.25, 2,000 at 2, 100 at ten.
        let expected = (1_000.0 + 400.0 + 3_750.0 + 4_000.0 + 1_000.0) / 1e6;
        assert!((cost - expected).abs() < 1e-12, "{cost}");
        let cost = Prices::automatic(1.0, 10.0).cost(tokens);
        let expected = (1_000.0 + 400.0 + 3_000.0 + 2_000.0 + 1_000.0) / 1e6;
        assert!((cost - expected).abs() < 1e-12, "{cost}");
    }
}
