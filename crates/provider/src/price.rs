//! What a call used and what it cost (06 §5).
//!
//! [`UsageReport`] reads the provider's usage object, leniently and without losing it;
//! [`account`] turns it into token classes and both cost figures.
//!
//! Always true: output and reasoning sum to the reported completion, cached and uncached input to
//! the reported prompt, and a figure that cannot be is clamped and marked, never passed on.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use vocab::usage::{Cost, ListPrices, Tokens};

/// A provider's account of one exchange.
#[derive(Clone, Debug)]
pub struct UsageReport {
    /// The usage object, verbatim.
    pub wire: Arc<RawValue>,
    /// Input tokens, cached ones included.
    pub prompt: Option<u64>,
    /// Input tokens read from the cache; `None` where not reported (F31).
    pub cached: Option<u64>,
    /// Input tokens written to the cache.
    pub cache_write: Option<u64>,
    /// Output tokens, reasoning included.
    pub completion: Option<u64>,
    /// Reasoning tokens.
    pub reasoning: Option<u64>,
    /// USD, as the gateway reported it.
    pub cost: Option<f64>,
    /// Whether a figure was negative or larger than any can be, and was dropped.
    pub absurd: bool,
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow, default)]
    prompt_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    completion_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    prompt_tokens_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    completion_tokens_details: Option<&'a RawValue>,
    // What servers without the nested object call the same thing.
    #[serde(borrow, default)]
    prompt_cache_hit_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cost: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names of the wire")]
struct Details<'a> {
    #[serde(borrow, default)]
    cached_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cache_write_tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reasoning_tokens: Option<&'a RawValue>,
}

impl UsageReport {
    /// Reads a usage object; `None` where it is none.
    pub fn read(wire: &RawValue) -> Option<Self> {
        if !wire.get().starts_with('{') {
            return None;
        }
        let fields: Wire<'_> = serde_json::from_str(wire.get()).ok()?;
        let details = |raw: Option<&RawValue>| -> Option<(Option<f64>, Option<f64>, Option<f64>)> {
            let details: Details<'_> = serde_json::from_str(raw?.get()).ok()?;
            Some((
                details.cached_tokens.and_then(number),
                details.cache_write_tokens.and_then(number),
                details.reasoning_tokens.and_then(number),
            ))
        };
        let (cached, cache_write, _) = details(fields.prompt_tokens_details).unwrap_or_default();
        let (_, _, reasoning) = details(fields.completion_tokens_details).unwrap_or_default();
        let cached = cached.or_else(|| fields.prompt_cache_hit_tokens.and_then(number));
        let mut absurd = false;
        let mut count = |figure: Option<f64>| figure.and_then(|figure| tokens(figure, &mut absurd));
        let mut report = Self {
            wire: Arc::from(wire.to_owned()),
            prompt: count(fields.prompt_tokens.and_then(number)),
            cached: count(cached),
            cache_write: count(cache_write),
            completion: count(fields.completion_tokens.and_then(number)),
            reasoning: count(reasoning),
            cost: None,
            absurd: false,
        };
        report.cost = fields.cost.and_then(number).filter(|cost| {
            let possible = is_price(*cost);
            absurd |= !possible;
            possible
        });
        report.absurd = absurd;
        Some(report)
    }
}

/// A JSON number, or a string that holds one; never infinite.
pub(crate) fn number(raw: &RawValue) -> Option<f64> {
    let text = raw.get().trim_matches('"').trim();
    text.parse().ok().filter(|figure: &f64| figure.is_finite())
}

/// Whether a figure can be the price of one exchange, in USD: the sum of a run's must stay a number.
pub(crate) fn is_price(usd: f64) -> bool {
    (0.0..=1e9).contains(&usd)
}

#[expect(
    clippy::cast_sign_loss,
    reason = "negative figures were sorted out before"
)]
fn tokens(figure: f64, absurd: &mut bool) -> Option<u64> {
    // Above 2^53 a count is not exact any more, and no exchange is that large.
    if !(0.0..=9_007_199_254_740_992.0).contains(&figure) {
        *absurd = true;
        return None;
    }
    Some(figure as u64)
}

/// A report in gg's own classes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accounted {
    /// By class.
    pub tokens: Tokens,
    /// Both bases; `None` where neither is known.
    pub cost: Option<Cost>,
    /// Whether gg's estimate moved the split of output and reasoning.
    pub reconciled: bool,
    /// Whether a reported figure was impossible.
    pub clamped: bool,
}

/// Splits a report into classes and prices it. `estimate` is gg's own count of the reply's text
/// and calls, in tokens; 0 for an empty reply.
pub fn account(report: &UsageReport, estimate: u64, prices: Option<&ListPrices>) -> Accounted {
    let mut clamped = report.absurd;
    let mut at_most = |figure: Option<u64>, bound: Option<u64>| match (figure, bound) {
        (Some(figure), Some(bound)) if figure > bound => {
            clamped = true;
            Some(bound)
        }
        _ => figure,
    };
    let cached_input = at_most(report.cached, report.prompt);
    let uncached_input = report.prompt.map(|p| p - cached_input.unwrap_or(0));
    let cache_write = at_most(report.cache_write, uncached_input);
    let reported = at_most(report.reasoning, report.completion);

    let mut reconciled = false;
    let (output, reasoning) = match (report.completion, reported) {
        (None, reasoning) => (None, reasoning),
        (Some(completion), None) => (Some(completion), None),
        (Some(completion), Some(reasoning)) => {
            let output = completion - reasoning;
            let settled = output.max(estimate.min(completion));
            reconciled = settled != output;
            (Some(settled), Some(completion - settled))
        }
    };
    let tokens = Tokens {
        uncached_input,
        cached_input,
        output,
        reasoning,
        cache_write,
    };
    let cost = Cost {
        comparable: prices.and_then(|prices| comparable(&tokens, prices)),
        actual: report.cost,
    };
    Accounted {
        tokens,
        cost: (cost.comparable.is_some() || cost.actual.is_some()).then_some(cost),
        reconciled,
        clamped,
    }
}

/// What tokens cost at list prices, in USD; `None` where a side was not reported, since a sum with
/// a part missing is no sum (R35).
pub fn comparable(tokens: &Tokens, prices: &ListPrices) -> Option<f64> {
    tokens.input()?;
    let completion = tokens.completion()?;
    let uncached = tokens.uncached_input? as f64 * prices.uncached_input;
    let cached = tokens.cached_input.unwrap_or(0) as f64 * prices.cached_input;
    let output = completion as f64 * prices.output;
    Some((uncached + cached + output) / 1e6)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::to_raw_value;

    use super::*;

    fn report(json: &str) -> UsageReport {
        UsageReport::read(serde_json::from_str(json).unwrap()).unwrap()
    }

    const PRICES: ListPrices = ListPrices {
        uncached_input: 2.0,
        cached_input: 0.5,
        output: 10.0,
    };

    #[test]
    fn a_report_is_read_with_its_details_and_kept_verbatim() {
        let json = r#"{"prompt_tokens": 1000, "completion_tokens": 10.0,
            "prompt_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 50},
            "completion_tokens_details": {"reasoning_tokens": "4"}, "cost": 0.25, "odd": [1]}"#;
        let report = report(json);
        assert_eq!(report.wire.get(), json);
        assert_eq!(
            (report.prompt, report.cached, report.cache_write),
            (Some(1000), Some(900), Some(50))
        );
        assert_eq!((report.completion, report.reasoning), (Some(10), Some(4)));
        assert_eq!(report.cost, Some(0.25));
        let accounted = account(&report, 0, None);
        assert_eq!(accounted.tokens.uncached_input, Some(100));
        assert!(!accounted.clamped);
    }

    #[test]
    fn what_is_absent_null_or_of_another_shape_is_not_reported() {
        for json in [
            "{}",
            r#"{"prompt_tokens": null, "prompt_tokens_details": null, "cost": null}"#,
            r#"{"prompt_tokens": {}, "prompt_tokens_details": 3, "cost": "free"}"#,
        ] {
            let report = report(json);
            assert_eq!(
                (report.prompt, report.cached, report.cost),
                (None, None, None)
            );
            let accounted = account(&report, 5, Some(&PRICES));
            assert_eq!(accounted, Accounted::default(), "{json}");
        }
        assert!(UsageReport::read(&to_raw_value(&[1]).unwrap()).is_none());
        let hit = report(r#"{"prompt_tokens": 8, "prompt_cache_hit_tokens": 3}"#);
        assert_eq!(hit.cached, Some(3));
    }

    #[test]
    fn absurd_figures_are_clamped_and_marked() {
        let more_cached = report(
            r#"{"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 7}}"#,
        );
        let accounted = account(&more_cached, 0, None);
        assert_eq!(accounted.tokens.cached_input, Some(10));
        assert_eq!(accounted.tokens.uncached_input, Some(0));
        assert_eq!(accounted.tokens.cache_write, Some(0));
        assert!(accounted.clamped);
        let negative = report(r#"{"prompt_tokens": -5, "cost": -1}"#);
        assert_eq!((negative.prompt, negative.cost), (None, None));
        assert!(account(&negative, 0, None).clamped);
        let endless = report(r#"{"prompt_tokens": 1e300, "cost": 1e308}"#);
        assert_eq!((endless.prompt, endless.cost), (None, None));
        assert!(account(&endless, 0, None).clamped);
        let reasoning = report(
            r#"{"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 9}}"#,
        );
        let accounted = account(&reasoning, 2, None);
        assert_eq!(
            (accounted.tokens.output, accounted.tokens.reasoning),
            (Some(2), Some(3))
        );
        assert!(accounted.clamped && accounted.reconciled);
    }

    #[test]
    fn the_output_split_follows_the_estimate() {
        let split = |completion: u64, reasoning: u64, estimate| {
            let report = report(&format!(
                r#"{{"completion_tokens": {completion}, "completion_tokens_details": {{"reasoning_tokens": {reasoning}}}}}"#
            ));
            let accounted = account(&report, estimate, None);
            let tokens = accounted.tokens;
            (
                tokens.output.unwrap(),
                tokens.reasoning.unwrap(),
                accounted.reconciled,
            )
        };
        assert_eq!(split(100, 40, 60), (60, 40, false));
        assert_eq!(split(100, 40, 10), (60, 40, false));
        assert_eq!(split(100, 90, 30), (30, 70, true));
        assert_eq!(split(100, 40, 300), (100, 0, true));
        assert_eq!(split(100, 0, 300), (100, 0, false));
        assert_eq!(split(100, 90, 0), (10, 90, false));
    }

    #[test]
    fn unreported_reasoning_folds_into_output() {
        let accounted = account(&report(r#"{"completion_tokens": 7}"#), 100, None);
        assert_eq!(
            (accounted.tokens.output, accounted.tokens.reasoning),
            (Some(7), None)
        );
        assert!(!accounted.reconciled);
    }

    #[test]
    fn list_prices_give_the_comparable_cost_and_the_gateway_the_actual() {
        let report = report(
            r#"{"prompt_tokens": 1000000, "completion_tokens": 100000, "cost": 0.0001,
                "prompt_tokens_details": {"cached_tokens": 500000},
                "completion_tokens_details": {"reasoning_tokens": 50000}}"#,
        );
        let cost = account(&report, 0, Some(&PRICES)).cost.unwrap();
        assert_eq!(cost.comparable, Some(1.0 + 0.25 + 1.0));
        assert_eq!(cost.actual, Some(0.0001));
        let only = account(&super::tests::report(r#"{"cost": 0}"#), 0, None).cost;
        assert_eq!(only.unwrap().actual, Some(0.0));
    }

    proptest! {
        #[test]
        fn sides_always_sum_to_what_was_reported(
            prompt in 0_u64..5000, cached in 0_u64..9000, completion in 0_u64..5000,
            reasoning in 0_u64..9000, estimate in 0_u64..9000,
        ) {
            let report = report(&format!(
                r#"{{"prompt_tokens": {prompt}, "completion_tokens": {completion},
                    "prompt_tokens_details": {{"cached_tokens": {cached}}},
                    "completion_tokens_details": {{"reasoning_tokens": {reasoning}}}}}"#
            ));
            let accounted = account(&report, estimate, Some(&PRICES));
            prop_assert_eq!(accounted.tokens.input(), Some(prompt));
            prop_assert_eq!(accounted.tokens.completion(), Some(completion));
            prop_assert_eq!(accounted.clamped, cached > prompt || reasoning > completion);
        }
    }
}
