//! What an incarnation holds to live within its window (02 §6, §7; R39).

use context::compaction::Compaction;
use context::modules::archive::Archive;
use context::repetition::Repetition;
use context::signal::SignalPolicy;

/// See the module. Each part is `None` where its capability is off.
#[derive(Debug, Default)]
pub(super) struct Upkeep {
    /// When its window is compacted, and where that stands.
    pub(super) compaction: Option<Compaction>,
    /// When it is told how full its window is.
    pub(super) signal: Option<SignalPolicy>,
    /// Whether results are headed by their turn, for an agent that may archive turns.
    pub(super) headers: bool,
    /// The results of archived turns.
    pub(super) archive: Archive,
    /// Equal calls in a row.
    pub(super) repetition: Option<Repetition>,
    /// Whether the operator was told that what is pinned fills the window.
    pub(super) warned_pinned: bool,
}
