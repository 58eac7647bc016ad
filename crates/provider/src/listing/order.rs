//! Which of the endpoints that pass comes first.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use vocab::ids::ProviderName;

use super::endpoint::Endpoint;

/// How often a provider failed, over recorded runs of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultRate {
    /// Replies it gave, and calls it failed.
    pub attempts: u64,
    /// Stalls, unexpected cache misses, and failures a run left it for.
    pub faults: u64,
}

impl FaultRate {
    /// Faults an attempt; 0 where nothing is recorded, so that the unknown get their chance.
    pub fn rate(self) -> f64 {
        if self.attempts == 0 {
            return 0.0;
        }
        self.faults as f64 / self.attempts as f64
    }
}

/// Fault rates by provider, whatever its spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultRates(BTreeMap<String, FaultRate>);

impl FaultRates {
    /// What a provider has on record.
    pub fn of(&self, provider: &ProviderName) -> FaultRate {
        self.0.get(&provider.folded()).copied().unwrap_or_default()
    }

    /// Adds to a provider's record.
    pub fn add(&mut self, provider: &ProviderName, attempts: u64, faults: u64) {
        let rate = self.0.entry(provider.folded()).or_default();
        rate.attempts += attempts;
        rate.faults += faults;
    }
}

/// The cheapest, by input price, then output price; the first listed of equals.
pub(super) fn cheapest<'a>(endpoints: impl Iterator<Item = &'a Endpoint>) -> Option<&'a Endpoint> {
    endpoints.min_by(|a, b| by_price(a, b))
}

/// One endpoint a provider, its cheapest; the developer's first, the others by fault rate, by
/// price and, so that one input gives one list, by name.
pub(super) fn ordered<'a>(
    passed: impl Iterator<Item = &'a Endpoint>,
    developer: impl Fn(&Endpoint) -> bool,
    rates: &FaultRates,
) -> Vec<&'a Endpoint> {
    let mut by_provider: BTreeMap<String, Vec<&Endpoint>> = BTreeMap::new();
    for endpoint in passed {
        let name = endpoint.provider.folded();
        by_provider.entry(name).or_default().push(endpoint);
    }
    let mut chosen: Vec<_> = by_provider
        .into_values()
        .filter_map(|endpoints| cheapest(endpoints.into_iter()))
        .collect();
    let rate = |endpoint: &Endpoint| rates.of(&endpoint.provider).rate();
    // The map gave them by name, and the sort is stable.
    chosen.sort_by(|a, b| {
        let developer_first = developer(b).cmp(&developer(a));
        developer_first
            .then(rate(a).total_cmp(&rate(b)))
            .then(by_price(a, b))
    });
    chosen
}

fn by_price(a: &Endpoint, b: &Endpoint) -> Ordering {
    let dear = |price: Option<f64>| price.unwrap_or(f64::INFINITY);
    dear(a.input)
        .total_cmp(&dear(b.input))
        .then(dear(a.output).total_cmp(&dear(b.output)))
}
