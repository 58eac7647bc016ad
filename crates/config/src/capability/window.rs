//! The window: compaction, its narrowing, what an agent manages itself, what it opens on
//! (02 §2, §4, §6, §7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocab::ids::ModelId;

use super::Params;
use crate::number;
use crate::validate::{Count, Fields, Shape, Span};
use crate::words::words;

words! {
    /// Who summarizes a full window, and how.
    CompactionStrategy {
        /// The agent, in prose.
        SelfSummarization = "self-summarization",
        /// The agent, by `compact`.
        SelfCompaction = "self-compaction",
        /// The agent, into its memories.
        MemoryCompaction = "memory-compaction",
        /// Another model, in prose.
        HandoffSummarization = "handoff-summarization",
        /// Another model, by `compact`.
        HandoffCompaction = "handoff-compaction",
    }
}

impl CompactionStrategy {
    /// Whether another request than the agent's own turn does it.
    pub const fn is_handoff(self) -> bool {
        matches!(self, Self::HandoffSummarization | Self::HandoffCompaction)
    }
}

/// When a window is compacted, and by whom.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompactionParams {
    /// Share of the window kept free for the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0.0, max = 0.9))]
    pub summary_headroom: Option<f64>,
    /// Boundaries in a row that may leave the window full. Absent: 0.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_retries: Option<u64>,
    /// The model a handoff asks. Absent: the agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ModelId")]
    pub model: Option<ModelId>,
}

impl Params for CompactionParams {
    const SHAPE: Shape = Shape {
        name: "CompactionParams",
        keys: &["summaryHeadroom", "maxRetries", "model"],
        required: &["summaryHeadroom"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            summary_headroom: fields.number("summaryHeadroom", Span::Between(0.0, 0.9)),
            max_retries: fields.whole("maxRetries", Count::from(0)),
            model: fields.word_text("model").map(ModelId::from),
        }
    }
}

/// A narrower window than the model's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WindowOverrideParams {
    /// Tokens, at most the model's window.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64", range(min = 1))]
    pub window_limit: Option<u64>,
}

impl Params for WindowOverrideParams {
    const SHAPE: Shape = Shape {
        name: "WindowOverrideParams",
        keys: &["windowLimit"],
        required: &["windowLimit"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            window_limit: fields.whole("windowLimit", Count::from(1)),
        }
    }
}

/// What an agent is told of its window's fullness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManagedContextParams {
    /// File views the signal lists, largest first; 0 is none.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub top_file_views: Option<u64>,
    /// Fullness from which the signal is shown. Absent: 75; 0 is every turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0.0, max = 100.0))]
    pub signal_threshold_percent: Option<f64>,
}

impl Params for ManagedContextParams {
    const SHAPE: Shape = Shape {
        name: "ManagedContextParams",
        keys: &["topFileViews", "signalThresholdPercent"],
        required: &["topFileViews"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            top_file_views: fields.whole("topFileViews", Count::from(0)),
            signal_threshold_percent: fields
                .number("signalThresholdPercent", Span::Between(0.0, 100.0)),
        }
    }
}

words! {
    /// How the autoloaded files stand in the window; absent, they are ordinary views.
    AutoloadMode {
        /// Pinned: verbatim across every compaction.
        Locked = "locked",
    }
}

/// What of the brief an agent opens on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AutoloadParams {
    /// Whether pictures are attached where the model sees them. Absent: off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub images: Option<bool>,
}

impl Params for AutoloadParams {
    const SHAPE: Shape = Shape {
        name: "AutoloadParams",
        keys: &["images"],
        required: &[],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            images: fields.flag("images"),
        }
    }
}
