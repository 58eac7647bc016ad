//! Hooks of the operator's (06 §2.1).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// See [`Event::Hook`](super::Event::Hook). The agent it fired for stands in the envelope; of
/// `session-end` that is the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookRun {
    /// What it fired at: one of the ten.
    pub event: &'static str,
    /// What the operator calls it, else what gg does.
    pub name: Arc<str>,
    /// `command`, `built-in`, `custom`.
    pub kind: &'static str,
    /// What came of it.
    pub decision: HookDecision,
    /// Why it blocked, or what it failed of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it took.
    pub duration_ms: u64,
}

/// What came of a hook: what took effect, so that an answer its event cannot honour is `continue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HookDecision {
    /// Nothing stands in the way.
    Continue,
    /// What it fired at does not happen.
    Block,
    /// It has something to say to the model.
    Message,
    /// It judged nothing.
    Error,
    /// The run's stop ended it before it judged.
    Stopped,
}
