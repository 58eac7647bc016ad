//! How one agent comes of another: succeeded or copied, module by module (06 §2.2).

use serde::{Deserialize, Serialize};
use vocab::ids::AgentId;

/// See [`Event::AgentTransition`](super::Event::AgentTransition). It stands on the stream of the
/// agent that was there, directly before the newcomer's `agent_spawned`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentTransition {
    /// How.
    pub kind: TransitionKind,
    /// Who comes.
    pub to_agent_id: AgentId,
    /// A row for every kind of module.
    pub modules: Vec<TransitionRow>,
}

/// How one agent comes of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransitionKind {
    /// It took the other's place, by a call of its own.
    Exec,
    /// It is a copy; the other goes on.
    Fork,
    /// It took the other's place, in the next state of a machine.
    Fsm,
}

/// What became of one module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransitionRow {
    /// `history`, `memories`, `tasks`, `board`, `skills`, `archive`.
    pub kind: &'static str,
    /// `carried`, `copied`, `linked`, `dropped`, `initialized`, `absent`.
    pub disposition: &'static str,
    /// The store of the agent that was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The store of whoever comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}
