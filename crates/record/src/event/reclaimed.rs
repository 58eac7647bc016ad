//! What left a window, other than by its agent's end: what the agent took out itself, and what a
//! compaction replaced (06 §2.5).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vocab::band::BandTokens;
use vocab::ids::ModelId;
use vocab::usage::{Cost, Tokens};

/// See [`Event::ContextManaged`](super::Event::ContextManaged). It stands between the two events of
/// the call that did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextManaged {
    /// What was done.
    pub action: ManagedAction,
    /// Tokens by which the window is smaller.
    pub reclaimed_tokens: u64,
    /// Messages that left or were replaced by less.
    pub items: u64,
    /// Which, in words: paths, selectors, turns.
    pub detail: String,
    /// The place of the earliest of them among a request's messages, from 0: what a cache keeps.
    /// Absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_index: Option<u64>,
}

/// How an agent frees its own window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagedAction {
    /// File views were evicted.
    EvictFileViews,
    /// Texts shown to itself were closed.
    CloseTextViews,
    /// The last search was closed.
    CloseSearchViews,
    /// Documentation was closed.
    CloseDocsViews,
    /// Turns were archived.
    ArchiveThread,
}

impl ManagedAction {
    /// Whether it took views out, rather than turns.
    pub const fn evicts(self) -> bool {
        !matches!(self, Self::ArchiveThread)
    }
}

/// See [`Event::Compaction`](super::Event::Compaction). One a boundary, whoever summarized: behind
/// the work of the turn whose calls answered it, or before the turn that another model answered
/// for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The strategy's name.
    pub strategy: &'static str,
    /// How full the working window was, 1 for full.
    pub trigger: f64,
    /// Tokens by which the window is smaller; below zero where it grew.
    pub reclaimed_tokens: i64,
    /// The window before.
    pub before: WindowTokens,
    /// The window after.
    pub after: WindowTokens,
    /// What stands in it still.
    pub retained: Retained,
    /// What stands for the conversation: the summary, or gg's note.
    pub summary: Arc<str>,
    /// Whether the note stands where a summary was asked for.
    pub fallback: bool,
    /// Who summarized.
    pub model_id: ModelId,
    /// Usage of a request of the compaction's own, which no run total holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// What that request cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// A window's tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowTokens {
    /// Sum of the bands.
    pub tokens: u64,
    /// Tokens per band.
    pub bands: BandTokens,
}

impl From<BandTokens> for WindowTokens {
    fn from(bands: BandTokens) -> Self {
        Self {
            tokens: bands.total(),
            bands,
        }
    }
}

/// Counts of what a compaction left standing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retained {
    /// Bodies of used skills.
    pub skills: u64,
    /// Tasks of the list.
    pub tasks: u64,
    /// Memories of the block or the index.
    pub memories: u64,
    /// Locked specifications.
    pub specs: u64,
    /// Files read again.
    pub files: u64,
    /// Documentation views.
    pub docs_views: u64,
}
