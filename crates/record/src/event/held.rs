//! What an agent holds: snapshots of its modules, and what it wrote into its memories (06 §2.4).
//!
//! A snapshot stands directly behind the agent's surface, and again behind each turn's work for
//! every change the turn made. It shows the module as the agent holds it; a store that several
//! agents hold is shown by each of them, while a revision stands on its writer's stream alone.
//!
//! `module_id` is the one field on the wire that is not in camelCase.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use vocab::band::Band;
use vocab::knowledge::{MemoryLimits, MemoryScope, MemoryStrategy};
use vocab::message::Role;

/// See [`Event::MemoryState`](super::Event::MemoryState).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryState {
    /// The store.
    #[serde(rename = "module_id")]
    pub module_id: String,
    /// How memories are kept.
    pub strategy: MemoryStrategy,
    /// The memories, by slug.
    pub memories: Vec<MemoryRow>,
    /// What they come to.
    pub totals: MemoryTotals,
    /// What they may come to, as configured; 0 is no limit.
    pub limits: MemoryLimits,
    /// The most there ever was of each.
    pub peaks: MemoryTotals,
    /// Whose they are, as declared.
    pub scope: MemoryScope,
    /// Whether this holder may write.
    pub writable: bool,
}

/// A memory without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRow {
    /// Its name.
    pub slug: Arc<str>,
    /// Its description, where it has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<Arc<str>>,
    /// Characters of its body.
    pub chars: u64,
    /// Lines of its body.
    pub lines: u64,
}

/// Sums over memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryTotals {
    /// Memories.
    pub count: u64,
    /// Characters of their bodies.
    pub chars: u64,
    /// Lines of their bodies.
    pub lines: u64,
}

/// See [`Event::MemoryRevision`](super::Event::MemoryRevision).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRevision {
    /// The store.
    #[serde(rename = "module_id")]
    pub module_id: String,
    /// The memory.
    pub slug: Arc<str>,
    /// From 1 for each slug; goes on after a deletion.
    pub revision: u64,
    /// The description it has now, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// The whole text it has now; `null` where it was deleted.
    pub text: Option<Arc<str>>,
    /// The module it carries now, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Arc<str>>,
    /// The script that runs on its use now, where it carries one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_use: Option<Arc<str>>,
}

/// See [`Event::TasksState`](super::Event::TasksState).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TasksState {
    /// The store.
    #[serde(rename = "module_id")]
    pub module_id: String,
    /// The tasks, in the order of the list.
    pub tasks: Vec<TaskRow>,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow {
    /// Chosen by the model.
    pub id: String,
    /// One line.
    pub title: String,
    /// What a title does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// What belongs to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub in_scope: Option<String>,
    /// What does not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub out_of_scope: Option<String>,
    /// How to see that it is done.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completion_criteria: Option<String>,
    /// Where it stands; whether it is ready follows from its blockers.
    pub status: TaskStatus,
    /// The tasks that have to be done before.
    pub blocked_by: Vec<String>,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// To do.
    Pending,
    /// Done.
    Done,
}

/// See [`Event::SkillsState`](super::Event::SkillsState).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillsState {
    /// The store.
    #[serde(rename = "module_id")]
    pub module_id: String,
    /// The catalogue, by name.
    pub skills: Vec<SkillRow>,
}

/// One skill of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillRow {
    /// What it is read by.
    pub name: Arc<str>,
    /// When to use it.
    pub description: Arc<str>,
    /// Whether the agent has read it.
    pub read: bool,
}

/// See [`Event::ArchiveState`](super::Event::ArchiveState).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveState {
    /// The store.
    #[serde(rename = "module_id")]
    pub module_id: String,
    /// The entries, by ordinal.
    pub entries: Vec<ArchiveRow>,
}

/// One archived message, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveRow {
    /// From 1; goes on in a copy.
    pub ordinal: u64,
    /// The band it stood in.
    pub band: Band,
    /// Who it was from.
    pub role: Role,
    /// Characters of its text.
    pub chars: u64,
    /// At most 160 characters of it, from the start.
    pub preview: String,
}
