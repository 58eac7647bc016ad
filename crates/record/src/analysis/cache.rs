//! Cache truth: per agent and provider, what should have been read from the cache, what was, and
//! what the difference cost.
//!
//! What is expected of a call is said by gg in its `usage` line: the tokens of the prefix that
//! the agent's previous request had left at the same provider. A reply that does not report its
//! cached tokens says nothing either way, and is counted apart.

use std::collections::BTreeMap;

use serde::Deserialize;
use vocab::ids::{AgentId, ModelId, ProviderName};
use vocab::usage::ListPrices;

use super::UsageLine;
use crate::lines::Line;

/// All rows and breaks of a stream.
#[derive(Debug, Default)]
pub struct CacheTruth {
    prices: BTreeMap<ModelId, ListPrices>,
    rows: Vec<CacheRow>,
    breaks: Vec<PrefixBreak>,
}

/// One agent's calls of one model at one provider.
#[derive(Clone, Debug)]
pub struct CacheRow {
    /// The agent.
    pub agent: AgentId,
    /// Who served; `None` where the replies name nobody.
    pub provider: Option<ProviderName>,
    /// The model.
    pub model: Option<ModelId>,
    /// Calls that brought a reply.
    pub calls: u64,
    /// Those whose reply did not report cached tokens.
    pub unreported: u64,
    /// Tokens that the cache should have held, over the calls that report.
    pub expected: u64,
    /// Of those, tokens that were read from it; a call that read more than was expected of it
    /// counts as expected.
    pub got: u64,
    /// Tokens read from the cache in all: also prefixes that others had left there.
    pub cached: u64,
    /// Unexpected misses, as gg counts them against the provider.
    pub misses: u64,
}

/// What a shortfall cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lost {
    /// USD at list prices.
    Usd(f64),
    /// Tokens were lost, and the launch gave no list price of the model.
    Unpriced,
}

/// A request that did not extend the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixBreak {
    /// Whose request.
    pub agent: AgentId,
    /// In which turn.
    pub turn: Option<u32>,
    /// The model asked.
    pub model: Option<ModelId>,
    /// The first message that differs, from 0.
    pub message: u64,
    /// The first byte of it that differs.
    pub byte: u64,
    /// What broke it; `unknown` where gg knew of nothing that did.
    pub act: String,
    /// Tokens that have to be paid for again, as estimated.
    pub lost_tokens: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fault {
    #[serde(default)]
    provider: Option<ProviderName>,
    #[serde(default)]
    model_id: Option<ModelId>,
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Broken {
    #[serde(default)]
    model_id: Option<ModelId>,
    message: u64,
    byte: u64,
    #[serde(default)]
    act: Option<String>,
    #[serde(default)]
    lost_tokens: u64,
}

impl CacheTruth {
    /// One row for each agent, provider and model, in order of the first call.
    pub fn rows(&self) -> &[CacheRow] {
        &self.rows
    }

    /// Every prefix break, in order.
    pub fn breaks(&self) -> &[PrefixBreak] {
        &self.breaks
    }

    /// What a row's shortfall cost: the difference between a full and a cached read, at list
    /// prices.
    pub fn lost(&self, row: &CacheRow) -> Lost {
        let tokens = row.expected.saturating_sub(row.got);
        let prices = row.model.as_ref().and_then(|model| self.prices.get(model));
        match prices {
            _ if tokens == 0 => Lost::Usd(0.0),
            None => Lost::Unpriced,
            Some(prices) => {
                let premium = (prices.uncached_input - prices.cached_input).max(0.0);
                Lost::Usd(tokens as f64 * premium / 1e6)
            }
        }
    }

    pub(super) fn priced(&mut self, prices: BTreeMap<ModelId, ListPrices>) {
        self.prices = prices;
    }

    pub(super) fn used(&mut self, line: &Line, usage: &UsageLine) {
        let Some(row) = self.row(line, usage.provider.as_ref(), usage.model_id.as_ref()) else {
            return;
        };
        row.calls += 1;
        let Some(cached) = usage.tokens.cached_input else {
            row.unreported += 1;
            return;
        };
        let expected = usage.expected_cached_tokens.unwrap_or(0);
        row.expected = row.expected.saturating_add(expected);
        row.got = row.got.saturating_add(cached.min(expected));
        row.cached = row.cached.saturating_add(cached);
    }

    pub(super) fn faulted(&mut self, line: &Line, fault: Fault) {
        if fault.kind == "cache_miss"
            && let Some(row) = self.row(line, fault.provider.as_ref(), fault.model_id.as_ref())
        {
            row.misses += 1;
        }
    }

    pub(super) fn broke(&mut self, line: &Line, broken: Broken) {
        let Some(agent) = line.agent.clone() else {
            return;
        };
        self.breaks.push(PrefixBreak {
            agent,
            turn: line.turn,
            model: broken.model_id,
            message: broken.message,
            byte: broken.byte,
            act: broken.act.unwrap_or_else(|| "unknown".to_owned()),
            lost_tokens: broken.lost_tokens,
        });
    }

    fn row(
        &mut self,
        line: &Line,
        provider: Option<&ProviderName>,
        model: Option<&ModelId>,
    ) -> Option<&mut CacheRow> {
        let agent = line.agent.as_ref()?;
        let known = self.rows.iter().position(|row| {
            row.agent == *agent
                && row.model.as_ref() == model
                && match (&row.provider, provider) {
                    (Some(one), Some(other)) => one.same_as(other),
                    (one, other) => one.is_none() && other.is_none(),
                }
        });
        let place = known.unwrap_or_else(|| {
            self.rows.push(CacheRow {
                agent: agent.clone(),
                provider: provider.cloned(),
                model: model.cloned(),
                calls: 0,
                unreported: 0,
                expected: 0,
                got: 0,
                cached: 0,
                misses: 0,
            });
            self.rows.len() - 1
        });
        self.rows.get_mut(place)
    }
}
