//! What an incarnation holds to live within its window (02 §6, §7; R39).

use std::sync::Arc;

use config::profile::Profile;
use context::compaction::{Compaction, Policy};
use context::modules::archive::Archive;
use context::repetition::{Repeat, Repetition};
use context::signal::SignalPolicy;
use vocab::capability::CapabilityId;
use vocab::failure::Failure;
use vocab::tools::ToolName;

use super::api::Programs;
use crate::hooks::Told;

/// The call that closes views, which only programs have.
const CLOSE: &str = "views.close";

/// See the module. Each part is `None` where its capability is off.
#[derive(Debug, Default)]
pub(super) struct Upkeep {
    /// When its window is compacted, and where that stands.
    pub(super) compaction: Option<Compaction>,
    /// When it is told how full its window is.
    pub(super) signal: Option<SignalPolicy>,
    /// Whether results are headed by their turn, for an agent that may archive turns.
    pub(super) headers: bool,
    /// The results of archived turns, of an agent that manages its window.
    pub(super) archive: Option<Archive>,
    /// Equal calls in a row.
    pub(super) repetition: Option<Repetition>,
    /// Repetitions of this turn that the model is to be told of.
    pub(super) repeated: Vec<Repeated>,
    /// What hooks said beside this turn's calls, for when all of those are answered.
    pub(super) told: Vec<Told>,
    /// Whether the operator was told that what is pinned fills the window.
    pub(super) warned_pinned: bool,
}

/// A call that was made once too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repeated {
    /// The tool, as it was called.
    pub(super) tool: String,
    /// Times in a row.
    pub(super) count: u64,
    /// Whether it went on after a notice, which makes the turn an error.
    pub(super) again: bool,
}

impl Upkeep {
    /// Of an agent with these tools, or with programs that do what these tools do, in a working
    /// window of `limit` tokens.
    pub(super) fn resolve(
        profile: &Profile,
        tools: &[ToolName],
        programs: Option<&Programs>,
        limit: u64,
    ) -> Self {
        let held = |tool| tools.contains(&tool);
        let names = programs.map(Programs::names).unwrap_or_default();
        let named = |tool| held(tool).then(|| Arc::from(names.of(tool)));
        let compaction = profile.compaction().map(|policy| {
            let policy = Policy {
                strategy: policy.strategy,
                headroom: policy.headroom,
                max_retries: policy.max_retries,
                memory_calls: memory_calls(tools),
                names: names.clone(),
            };
            Compaction::new(policy, limit)
        });
        let signal = profile.managed().map(|policy| SignalPolicy {
            threshold_percent: policy.threshold_percent,
            top_file_views: usize::try_from(policy.top_file_views).unwrap_or(usize::MAX),
            evict: named(ToolName::EvictFileView),
            close: programs
                .and_then(|programs| programs.named(CLOSE))
                .map(Arc::from),
            archive: named(ToolName::ArchiveThread),
            search: named(ToolName::SearchArchive),
        });
        Self {
            compaction,
            archive: profile.managed().map(|_| Archive::default()),
            signal,
            headers: held(ToolName::ArchiveThread),
            repetition: profile.repeat_calls().map(Repetition::new),
            ..Self::default()
        }
    }

    /// Why a call is not carried out now; `None` where it is.
    pub(super) fn refusal(&self, tool: ToolName) -> Option<Failure> {
        self.compaction.as_ref()?.refusal(tool)
    }

    /// Takes in a call that was carried out and succeeded.
    pub(super) const fn succeeded(&mut self, tool: ToolName) {
        if let Some(compaction) = &mut self.compaction {
            compaction.succeeded(tool);
        }
    }

    /// Takes a carried-out call in, with its result before any header.
    pub(super) fn observe(&mut self, tool: &str, arguments: &str, result: &str) {
        let Some(repetition) = &mut self.repetition else {
            return;
        };
        if let Some(repeat) = repetition.observe(tool, arguments, result) {
            self.repeated.push(Repeated {
                tool: tool.to_owned(),
                count: repetition.count(),
                again: repeat == Repeat::Error,
            });
        }
    }
}

/// The memory calls an agent holds: what a compaction into memories is answered with.
fn memory_calls(tools: &[ToolName]) -> Vec<ToolName> {
    let tools = tools.iter().copied();
    tools
        .filter(|tool| tool.capability() == Some(CapabilityId::Memories))
        .collect()
}
