//! Knowledge: tasks, memories, skills (02 §8–10).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use vocab::knowledge::{BuiltInSkill, MemoryScope, MemoryStrategy, TaskMode};

use super::Params;
use crate::number;
use crate::validate::{Count, Fields, Kind, Shape};

/// An agent's list of to-dos.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TasksParams {
    /// Tasks the list may hold; 0 is no limit.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_tasks: Option<u64>,
    /// What a task consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TaskMode")]
    pub mode: Option<TaskMode>,
}

impl Params for TasksParams {
    const SHAPE: Shape = Shape {
        name: "TasksParams",
        keys: &["maxTasks", "mode"],
        required: &["maxTasks", "mode"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            max_tasks: fields.whole("maxTasks", Count::from(0)),
            mode: fields.word("mode", TaskMode::ALL, TaskMode::as_str),
        }
    }
}

/// What memories may hold, and whose they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemoriesParams {
    /// Whose memories they are. Absent: `isolated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "MemoryScope")]
    pub scope: Option<MemoryScope>,
    /// Memories kept; 0 is no limit.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_count: Option<u64>,
    /// Characters of one body; 0 is no limit.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_len_per_memory: Option<u64>,
    /// Characters of all bodies; 0 is no limit.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_total_len: Option<u64>,
    /// Characters of the rendered index; 0 is no limit.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_len_index: Option<u64>,
    /// Characters of one description; 0 is no limit.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_len_description: Option<u64>,
    /// Hits of one search; 0 is no limit.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_results: Option<u64>,
}

impl Params for MemoriesParams {
    const SHAPE: Shape = Shape {
        name: "MemoriesParams",
        keys: &[
            "scope",
            "maxCount",
            "maxLenPerMemory",
            "maxTotalLen",
            "maxLenIndex",
            "maxLenDescription",
            "maxResults",
        ],
        required: &[
            "maxCount",
            "maxLenPerMemory",
            "maxTotalLen",
            "maxLenIndex",
            "maxLenDescription",
            "maxResults",
        ],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            scope: fields.word("scope", MemoryScope::ALL, MemoryScope::as_str),
            max_count: fields.whole("maxCount", Count::from(0)),
            max_len_per_memory: fields.whole("maxLenPerMemory", Count::from(0)),
            max_total_len: fields.whole("maxTotalLen", Count::from(0)),
            max_len_index: fields.whole("maxLenIndex", Count::from(0)),
            max_len_description: fields.whole("maxLenDescription", Count::from(0)),
            max_results: fields.whole("maxResults", Count::from(0)),
        }
    }
}

/// Where skills are read from, and which built-in ones are withheld.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SkillsParams {
    /// Directory of the skills: absolute, or relative to the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1))]
    pub dir: Option<String>,
    /// Built-in manuals to withhold (`false`) or offer (`true`); unnamed ones are offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<BuiltInSkill, bool>")]
    pub built_ins: Option<BTreeMap<BuiltInSkill, bool>>,
}

impl Params for SkillsParams {
    const SHAPE: Shape = Shape {
        name: "SkillsParams",
        keys: &["dir", "builtIns"],
        required: &["dir", "builtIns"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            dir: fields.word_text("dir").map(str::to_owned),
            built_ins: built_ins(fields),
        }
    }
}

fn built_ins(fields: &Fields<'_>) -> Option<BTreeMap<BuiltInSkill, bool>> {
    let entries = fields.entries("builtIns", "built-in skill ids, each true or false")?;
    let spot = fields.at("builtIns");
    let mut chosen = BTreeMap::new();
    for (id, node) in entries {
        let id = fields.known(&spot, id, BuiltInSkill::ALL, BuiltInSkill::as_str);
        match node.kind {
            Kind::Flag(offered) => {
                if let Some(id) = id {
                    chosen.insert(id, offered);
                }
            }
            // An unknown id is one bad value, whatever stands under it.
            ref other => {
                if let Some(id) = id {
                    fields.report.refuse(
                        &spot.key(id.as_str()),
                        format!("is {other}; expected true or false"),
                    );
                }
            }
        }
    }
    Some(chosen)
}
