//! What is said of tasks, memories and skills: their blocks, the notice to a holder of linked
//! memories, the built-in manuals.
//!
//! A block holds state only; how its calls work is said once, in the system prompt.

use serde::Serialize;
use vocab::knowledge::MemoryStrategy;

use super::PromptError;
use super::template::templates;
use crate::modules::memories::{MemoryBlock, MemoryNotice, MemoryPolicy};
use crate::modules::skills::{Catalogue, CodeHalf, Manual};
use crate::modules::tasks::{TaskPolicy, TaskRow};

templates! {
    TASK_LIST = "task_list",
    MEMORIES = "memories",
    MEMORY_NOTICE = "memory_notice",
    SKILL_MANUAL = "skill_manual",
}

/// What the block of tasks may reference.
#[derive(Serialize)]
struct Tasks<'a> {
    tasks: &'a [TaskRow<'a>],
}

/// The pinned block of tasks.
pub fn task_list(tasks: &[TaskRow<'_>]) -> Result<String, PromptError> {
    TASK_LIST.render(&Tasks { tasks })
}

/// The pinned block of memories.
pub fn memories(block: &MemoryBlock<'_>) -> Result<String, PromptError> {
    MEMORIES.render(block)
}

/// What a holder of linked memories is told of the others' writes.
pub fn memory_notice(notice: &MemoryNotice<'_>) -> Result<String, PromptError> {
    MEMORY_NOTICE.render(notice)
}

/// A built-in manual.
pub fn manual(manual: &Manual<'_>) -> Result<String, PromptError> {
    SKILL_MANUAL.render(manual)
}

/// What the system prompt says of tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TasksSection {
    /// Tasks the list may hold; `null` for no limit.
    pub max_tasks: Option<u64>,
}

impl TasksSection {
    /// What a profile says of its lists.
    pub const fn of(policy: TaskPolicy) -> Self {
        Self {
            max_tasks: limit(policy.max_tasks),
        }
    }
}

/// A figure that is no limit where it is 0.
const fn limit(figure: u64) -> Option<u64> {
    if figure == 0 { None } else { Some(figure) }
}

/// What the system prompt says of memories. Exactly one of `scratchpad`, `index` and `search` is
/// true; a limit is `null` where there is none or it does not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoriesSection {
    /// Whether all of them stand in the window.
    pub scratchpad: bool,
    /// Whether their index stands in the window.
    pub index: bool,
    /// Whether nothing of them stands in the window.
    pub search: bool,
    /// Whether other agents may hold them too.
    pub linked: bool,
    /// Whether the agent may not write.
    pub read_only: bool,
    /// Memories that may be kept.
    pub max_count: Option<u64>,
    /// Characters of one body.
    pub max_len_per_memory: Option<u64>,
    /// Characters of all bodies.
    pub max_total_len: Option<u64>,
    /// Characters of the index.
    pub max_len_index: Option<u64>,
    /// Characters of one description.
    pub max_len_description: Option<u64>,
    /// Hits of a search.
    pub max_results: Option<u64>,
}

impl MemoriesSection {
    /// What holds of a store, and of the agent as its holder. `linked` is whether other agents may
    /// come to hold it too, which the configuration says.
    pub const fn of(policy: MemoryPolicy, writable: bool, linked: bool) -> Self {
        let limits = policy.limits.of(policy.strategy);
        Self {
            scratchpad: matches!(policy.strategy, MemoryStrategy::Scratchpad),
            index: matches!(policy.strategy, MemoryStrategy::Markdown),
            search: matches!(policy.strategy, MemoryStrategy::KeywordSearch),
            linked,
            read_only: !writable,
            max_count: limit(limits.max_count),
            max_len_per_memory: limit(limits.max_len_per_memory),
            max_total_len: limit(limits.max_total_len),
            max_len_index: limit(limits.max_len_index),
            max_len_description: limit(limits.max_len_description),
            max_results: limit(limits.max_results),
        }
    }
}

/// What the system prompt says of skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillsSection {
    /// The catalogue, by name.
    pub catalogue: Vec<SkillLine>,
    /// Whether any of them carries code.
    pub any_code: bool,
}

impl SkillsSection {
    /// What a catalogue lists; `None` where it is empty.
    pub fn of(catalogue: &Catalogue) -> Option<Self> {
        let line = |skill: &std::sync::Arc<crate::modules::skills::Skill>| SkillLine {
            name: skill.name.to_string(),
            description: skill.description.to_string(),
            module: skill.carries(CodeHalf::Module),
            script: skill.carries(CodeHalf::Script),
        };
        let catalogue: Vec<_> = catalogue.skills().map(line).collect();
        (!catalogue.is_empty()).then(|| Self {
            any_code: catalogue.iter().any(|line| line.module || line.script),
            catalogue,
        })
    }
}

/// One skill of the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillLine {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Whether it carries a module.
    pub module: bool,
    /// Whether it carries a script.
    pub script: bool,
}
