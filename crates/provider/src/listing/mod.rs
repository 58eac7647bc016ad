//! The candidate list that a model's endpoints listing yields, or why there is none.
//!
//! [`Listing`] is what the gateway says of a model, [`CatalogEntry`] what its operator says of it,
//! [`FaultRates`] what recorded runs say of its providers. [`build`] puts every endpoint through
//! every filter and orders those that pass: the developer's own first, then by fault rate and
//! price. Pure: fetching a listing is [`crate::openrouter::endpoints`]'s, reading runs is
//! somebody else's.
//!
//! Always true: an endpoint is out for at least one named reason or its provider is a candidate,
//! no provider is a candidate twice, and one input gives one list.

mod catalog;
mod endpoint;
mod order;
mod verdict;

use vocab::candidate::Candidate;
use vocab::ids::ProviderName;

pub use catalog::{Catalog, CatalogEntry, Ceiling};
pub use endpoint::{Endpoint, Listing, Quantization, Unreadable};
pub use order::{FaultRate, FaultRates};
pub use verdict::{Out, Verdict};

/// What the runs the list is for send beside the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether an agent bound to the model sets a reasoning setting.
    pub reasoning: bool,
}

impl Needs {
    /// Request parameters an endpoint has to support. `tools` and `tool_choice` are part of every
    /// request.
    fn parameters(self) -> impl Iterator<Item = &'static str> {
        ["tools", "tool_choice"]
            .into_iter()
            .chain(self.reasoning.then_some("reasoning"))
    }
}

/// A list, and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// In the order a run tries them; empty where no endpoint passed.
    pub candidates: Vec<Candidate>,
    /// The level an endpoint has to serve; `None` where no endpoint declares one.
    pub native: Option<Quantization>,
    /// The prices an endpoint may not exceed, and where they come from; `None` where nobody sets
    /// any, which leaves no candidate.
    pub ceiling: Option<(Ceiling, CeilingFrom)>,
    /// One for each endpoint of the listing, in its order.
    pub verdicts: Vec<Verdict>,
}

/// Who set the price ceiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CeilingFrom {
    /// The developer's own endpoint.
    Developer(ProviderName),
    /// The catalog entry, in a listing without the developer.
    Catalog,
}

/// Puts a listing's endpoints through the filters, and in order.
pub fn build(listing: &Listing, entry: &CatalogEntry, needs: Needs, rates: &FaultRates) -> Built {
    let developer = |endpoint: &Endpoint| entry.is_developer(&listing.model, &endpoint.provider);
    let native = entry.quantization.clone().or_else(|| {
        let declared = listing.endpoints.iter().map(|it| &it.quantization);
        declared
            .filter(|level| level.is_declared())
            .max_by_key(|level| level.rank())
            .cloned()
    });
    // Of a developer with several endpoints, what it asks for the model as it is run: a price of a
    // smaller level is no measure of the native one.
    let own = || listing.endpoints.iter().filter(|it| developer(it));
    let at_native = |it: &&Endpoint| {
        let native = native.as_ref();
        native.is_none_or(|native| it.quantization.is_level_of(native))
    };
    let priced = |it: &&Endpoint| it.ceiling().is_some();
    let ceiling = order::cheapest(own().filter(priced).filter(at_native))
        .or_else(|| order::cheapest(own().filter(priced)))
        .and_then(|own| {
            let from = CeilingFrom::Developer(own.provider.clone());
            Some((own.ceiling()?, from))
        })
        .or_else(|| {
            // A developer that publishes no price sets no ceiling: the catalog's stands in.
            entry.max_price.map(|price| (price, CeilingFrom::Catalog))
        });
    let rules = verdict::Rules {
        entry,
        needs,
        native: native.as_ref(),
        ceiling: ceiling.as_ref().map(|(ceiling, _)| *ceiling),
    };
    let mut verdicts: Vec<_> = listing
        .endpoints
        .iter()
        .map(|endpoint| Verdict {
            out: rules.judge(endpoint),
            place: None,
            endpoint: endpoint.clone(),
        })
        .collect();
    let passed = verdicts.iter().filter(|it| it.out.is_empty());
    let chosen = order::ordered(passed.map(|it| &it.endpoint), developer, rates);
    let candidates = chosen.iter().map(|it| it.candidate()).collect();
    let names: Vec<_> = chosen.iter().map(|it| it.identity()).collect();
    for verdict in verdicts.iter_mut().filter(|it| it.out.is_empty()) {
        match names
            .iter()
            .position(|it| *it == verdict.endpoint.identity())
        {
            Some(place) => verdict.place = Some(place + 1),
            None => verdict.out.push(Out::Dearer),
        }
    }
    Built {
        candidates,
        native,
        ceiling,
        verdicts,
    }
}

#[cfg(test)]
mod tests;
