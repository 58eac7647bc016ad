//! What is told of providers: faults, moves, and prefixes that a cache can serve no more (06 §6).

use serde::Serialize;
use vocab::candidate::CandidateFault;
use vocab::ids::{ModelId, ProviderName};
use vocab::rewrite::Rewrite;

/// See [`Event::ProviderFault`](super::Event::ProviderFault).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderFault {
    /// The provider, where known.
    pub provider: Option<ProviderName>,
    /// The model asked.
    pub model_id: ModelId,
    /// `stall` or `cache_miss`.
    pub kind: &'static str,
    /// Of a miss: tokens the request repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_prefix_tokens: Option<u64>,
    /// Of a miss: tokens read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
}

/// See [`Event::ProviderSwitch`](super::Event::ProviderSwitch). It stands on the stream of the
/// agent whose call decided it, and counts for every agent of the run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderSwitch {
    /// The model.
    pub model_id: ModelId,
    /// The provider left.
    pub from: ProviderName,
    /// The provider taken.
    pub to: ProviderName,
    /// What decided it.
    pub fault: CandidateFault,
}

/// See [`Event::PrefixBroken`](super::Event::PrefixBroken). It stands before the prompt of its
/// request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrefixBroken {
    /// The model asked.
    pub model_id: ModelId,
    /// Who was to have the prefix, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderName>,
    /// The first message that is another than before, from 0, among the request's.
    pub message: u64,
    /// Bytes of that message's text on the wire that still stand.
    pub byte: u64,
    /// What changed it; `null` where gg knows of nothing that did, which is a defect of its own.
    pub act: Option<Rewrite>,
    /// Estimated tokens before that place: what a cache can still serve.
    pub shared_tokens: u64,
    /// Estimated tokens of the last request behind it: what is paid for again.
    pub lost_tokens: u64,
}
