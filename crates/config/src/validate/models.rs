//! The tables by model (01 §2), and whether every bound model is in them.

use std::collections::BTreeMap;

use vocab::candidate::Candidate;
use vocab::capability::CapabilityId;
use vocab::ids::{ModelId, ProviderName};
use vocab::usage::ListPrices;

use super::fields::{whole, word_text};
use super::profile::Draft;
use super::{Count, Fields, Kind, Span};
use crate::capability::Capability;
use crate::document::{Node, quoted};
use crate::launch::{CANDIDATE, PRICES};
use crate::refusal::{Report, Spot, nearest, shortened};

/// What the document says of models. A table that could not be read at all is `None`.
pub(super) struct Models {
    pub(super) windows: Option<BTreeMap<ModelId, u64>>,
    pub(super) modalities: BTreeMap<ModelId, Vec<String>>,
    pub(super) providers: Option<BTreeMap<ModelId, Vec<Candidate>>>,
    pub(super) prices: BTreeMap<ModelId, ListPrices>,
    /// Every model each table names, also those whose entry was refused.
    windows_named: Vec<String>,
    providers_named: Vec<String>,
    providers_written: bool,
}

/// A model that something is bound to, and by what first.
pub(super) struct Bound {
    pub(super) model: ModelId,
    by: String,
}

impl Models {
    pub(super) fn read(fields: &Fields<'_>) -> Self {
        let windows = table(
            fields,
            "modelWindows",
            "model ids, each with its window in tokens",
            |spot, node| whole(fields.report, spot, node, Count::from(1)),
        );
        let modalities = table(
            fields,
            "modelModalities",
            "model ids, each with a list of input modalities",
            |spot, node| modalities(fields, spot, node),
        );
        let providers = table(
            fields,
            "modelProviders",
            "model ids, each with its candidates",
            |spot, node| candidates(fields, spot, node),
        );
        let prices = table(
            fields,
            "modelPrices",
            "model ids, each with its list prices",
            |spot, node| prices(fields, spot, node),
        );
        let names = |key: &str| match fields.peek(key) {
            Some(Kind::Object(table)) => table.iter().map(|(id, _)| id.to_owned()).collect(),
            _ => Vec::new(),
        };
        Self {
            windows,
            modalities: modalities.unwrap_or_default(),
            providers,
            prices: prices.unwrap_or_default(),
            windows_named: names("modelWindows"),
            providers_named: names("modelProviders"),
            providers_written: fields.has("modelProviders"),
        }
    }

    /// Refuses bound models without a window, and live ones without candidates.
    pub(super) fn check_bound(&self, report: &Report, bound: &[Bound]) {
        for bound in bound {
            let id = bound.model.as_str();
            // A table that is missing or no table is one bad value already.
            if self.windows.is_some() && !self.windows_named.iter().any(|name| name == id) {
                missing(
                    report,
                    "modelWindows",
                    bound,
                    "its window in tokens",
                    &self.windows_named,
                );
            }
            let readable = self.providers.is_some() || !self.providers_written;
            if readable
                && !bound.model.is_mock()
                && !self.providers_named.iter().any(|name| name == id)
            {
                missing(
                    report,
                    "modelProviders",
                    bound,
                    "its candidates",
                    &self.providers_named,
                );
            }
        }
    }

    /// Refuses a narrowed window that is wider than the model's.
    pub(super) fn check_window_limits(&self, report: &Report, agents: &[Draft]) {
        for agent in agents {
            let Some(Capability::ContextWindowOverride(narrowed)) =
                agent.capability(CapabilityId::ContextWindowOverride)
            else {
                continue;
            };
            let window = agent
                .model_id
                .as_ref()
                .and_then(|model| self.windows.as_ref()?.get(model));
            if let (Some(limit), Some(window)) = (narrowed.params.window_limit, window)
                && limit > *window
            {
                report.refuse(
                    &agent
                        .capability_spot(CapabilityId::ContextWindowOverride)
                        .key("params")
                        .key("windowLimit"),
                    format!("is {limit}; expected at most the model's window, {window}"),
                );
            }
        }
    }
}

/// Every model that is bound, once each, in the order of the document.
pub(super) fn bound(agents: &[Draft]) -> Vec<Bound> {
    let mut bound: Vec<Bound> = Vec::new();
    let mut bind = |model: &ModelId, by: String| {
        if !bound.iter().any(|bound| bound.model == *model) {
            bound.push(Bound {
                model: model.clone(),
                by,
            });
        }
    };
    for agent in agents {
        if let Some(model) = &agent.model_id {
            bind(model, agent.spot.to_string());
        }
        if let Some(Capability::Compaction(compaction)) = agent.capability(CapabilityId::Compaction)
            && compaction.enabled
            && compaction
                .implementation
                .is_some_and(crate::capability::window::CompactionStrategy::is_handoff)
            && let Some(model) = &compaction.params.model
        {
            bind(
                model,
                agent.capability_spot(CapabilityId::Compaction).to_string(),
            );
        }
    }
    bound
}

fn missing(report: &Report, table: &str, bound: &Bound, what: &str, named: &[String]) {
    let spot = Spot::root().key(table).named("model", bound.model.as_str());
    let message = format!("is missing; expected {what}: it is bound by {}", bound.by);
    match nearest(bound.model.as_str(), named.iter().map(String::as_str)) {
        Some(near) => report.refuse_with_hint(
            &spot,
            message,
            format!("the nearest entry is `{}`", shortened(near)),
        ),
        None => report.refuse(&spot, message),
    }
}

/// Reads a table by model id: sound entries are kept, the others refused.
fn table<T>(
    fields: &Fields<'_>,
    key: &str,
    expected: &str,
    mut read: impl FnMut(&Spot, &Node) -> Option<T>,
) -> Option<BTreeMap<ModelId, T>> {
    let entries = fields.entries(key, expected)?;
    let table = fields.at(key);
    let mut kept = BTreeMap::new();
    for (id, node) in entries {
        if id.trim().is_empty() {
            fields
                .report
                .refuse(&table.key(id), "is no model id; expected text, not blank");
            continue;
        }
        if let Some(value) = read(&table.named("model", id), node) {
            kept.insert(ModelId::from(id), value);
        }
    }
    Some(kept)
}

fn items<'a>(
    fields: &Fields<'_>,
    spot: &Spot,
    node: &'a Node,
    expected: &str,
) -> Option<&'a [Node]> {
    match &node.kind {
        Kind::List(items) => Some(items),
        other => {
            fields
                .report
                .refuse(spot, format!("is {other}; expected a list of {expected}"));
            None
        }
    }
}

fn modalities(fields: &Fields<'_>, spot: &Spot, node: &Node) -> Option<Vec<String>> {
    let items = items(
        fields,
        spot,
        node,
        "input modalities, such as `text`, `image`",
    )?;
    Some(
        items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| word_text(fields.report, &spot.index(index), item))
            .map(str::to_owned)
            .collect(),
    )
}

fn candidates(fields: &Fields<'_>, spot: &Spot, node: &Node) -> Option<Vec<Candidate>> {
    if let Kind::Text(provider) = &node.kind {
        fields.report.refuse_with_hint(
            spot,
            format!(
                "is {}; expected a list of candidates",
                quoted(provider)
            ),
            format!(
                "write [{{ \"provider\": {}, \"quantization\": … }}], at the level its endpoint serves",
                quoted(provider)
            ),
        );
        return None;
    }
    let items = items(fields, spot, node, "candidates")?;
    if items.is_empty() {
        fields
            .report
            .refuse(spot, "is empty; expected at least one candidate");
        return None;
    }
    let mut read = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(candidate) = candidate(fields, spot.index(index), item) else {
            continue;
        };
        // A move to the candidate that was just left is none.
        let same = |one: &Candidate| {
            one.provider.same_as(&candidate.provider)
                && one
                    .quantization
                    .eq_ignore_ascii_case(&candidate.quantization)
        };
        if let Some(first) = read.iter().position(same) {
            fields.report.refuse_with_hint(
                &spot.index(index),
                format!(
                    "is {} at {} once more; expected each candidate once",
                    quoted(candidate.provider.as_str()),
                    quoted(&candidate.quantization)
                ),
                format!("remove it: it stands at {} already", spot.index(first)),
            );
        }
        read.push(candidate);
    }
    Some(read)
}

fn candidate(fields: &Fields<'_>, spot: Spot, node: &Node) -> Option<Candidate> {
    let candidate = Fields::open(fields.report, spot, node, CANDIDATE)?;
    let provider = candidate.word_text("provider");
    let quantization = candidate.word_text("quantization");
    Some(Candidate {
        provider: ProviderName::from(provider?),
        quantization: quantization?.to_owned(),
    })
}

fn prices(fields: &Fields<'_>, spot: &Spot, node: &Node) -> Option<ListPrices> {
    let prices = Fields::open(fields.report, spot.clone(), node, PRICES)?;
    let uncached_input = prices.number("uncachedInput", Span::NotNegative);
    let cached_input = prices.number("cachedInput", Span::NotNegative);
    let output = prices.number("output", Span::NotNegative);
    Some(ListPrices {
        uncached_input: uncached_input?,
        cached_input: cached_input?,
        output: output?,
    })
}
