//! Tools as a run would define them, with the other shapes a configuration gives them.

use serde::Serialize;
use serde_json::Value;
use vocab::capability::CapabilityId;
use vocab::knowledge::{MemoryStrategy, TaskMode};
use vocab::operations::{OPERATIONS, Operation};
use vocab::tools::{
    BoardRoster, Exit, ReadMode, ReadPolicy, ShellMode, ShellPolicy, Target, ToolName, Variants,
    definition,
};

use super::notes::note;

/// A tool, and what else it may look like.
#[derive(Debug, Serialize)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    description: String,
    parameters: Value,
    /// What offers it; `None` where no configuration grants it.
    #[serde(skip_serializing_if = "Option::is_none")]
    capability: Option<&'static str>,
    /// What else has to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<Variant>,
}

/// Another shape of a tool. A changed figure makes none.
#[derive(Debug, Serialize)]
struct Variant {
    label: &'static str,
    description: String,
    parameters: Value,
}

/// Whoever a run would name.
const AGENT: Target<'static> = Target {
    slug: "<agent>",
    name: "<agent>",
    description: "",
};

/// A run in which every tool has a definition.
pub(super) const ANY: Variants<'static> = Variants {
    read: Some(ReadPolicy {
        mode: ReadMode::Unlimited,
        line_cap: 250,
    }),
    shell: Some(ShellPolicy {
        mode: ShellMode::Offload,
        max_lines: 250,
        max_chars: 4096,
    }),
    tasks: Some(TaskMode::Simple),
    memories: Some(MemoryStrategy::Markdown),
    skills: true,
    targets: &[AGENT],
    exits: &[Exit {
        state: "<state>",
        description: "",
        history: false,
    }],
    forks: true,
    successors: &[AGENT],
    board: Some(BoardRoster {
        implementers: &[AGENT],
        reviewers: &[AGENT],
        reviewers_required: false,
    }),
};

/// The tools behind the operations of a module, in their own order.
pub(super) fn of(module: &str) -> Vec<Tool> {
    let behind = |tool: ToolName| {
        OPERATIONS
            .iter()
            .find(|row| row.tool == Some(tool))
            .map(Operation::module)
            == Some(module)
    };
    ToolName::ALL
        .iter()
        .copied()
        .filter(|tool| behind(*tool))
        .filter_map(tool)
        .collect()
}

fn tool(tool: ToolName) -> Option<Tool> {
    let base = definition(tool, plain(tool))?;
    let variants = shapes(tool).into_iter().filter_map(|(label, variants)| {
        let shape = definition(tool, variants)?;
        Some(Variant {
            label,
            description: shape.description,
            parameters: shape.parameters,
        })
    });
    Some(Tool {
        name: tool.as_str(),
        capability: tool.capability().map(CapabilityId::as_str),
        note: note(tool),
        variants: variants.collect(),
        description: base.description,
        parameters: base.parameters,
    })
}

/// The configuration a tool is shown under first: some are of one strategy alone.
fn plain(tool: ToolName) -> Variants<'static> {
    let strategy = match tool {
        ToolName::WriteMemory | ToolName::UpdateMemory => MemoryStrategy::Scratchpad,
        ToolName::SearchMemories => MemoryStrategy::KeywordSearch,
        _ => MemoryStrategy::Markdown,
    };
    Variants {
        memories: Some(strategy),
        ..ANY
    }
}

/// The configurations that give a tool another shape.
fn shapes(tool: ToolName) -> Vec<(&'static str, Variants<'static>)> {
    match tool {
        ToolName::ReadFile => vec![(
            ReadMode::DefaultCap.as_str(),
            Variants {
                read: Some(ReadPolicy {
                    mode: ReadMode::DefaultCap,
                    line_cap: 250,
                }),
                ..ANY
            },
        )],
        ToolName::Shell => vec![(
            ShellMode::Inline.as_str(),
            Variants {
                shell: Some(ShellPolicy {
                    mode: ShellMode::Inline,
                    max_lines: 250,
                    max_chars: 4096,
                }),
                ..ANY
            },
        )],
        ToolName::AddTask | ToolName::UpdateTask => vec![(
            TaskMode::Issues.as_str(),
            Variants {
                tasks: Some(TaskMode::Issues),
                ..ANY
            },
        )],
        ToolName::CreateMemory | ToolName::ReadMemory => vec![(
            MemoryStrategy::KeywordSearch.as_str(),
            Variants {
                memories: Some(MemoryStrategy::KeywordSearch),
                ..ANY
            },
        )],
        ToolName::CreateIssue | ToolName::UpdateIssue => vec![(
            "reviewers",
            Variants {
                board: Some(BoardRoster {
                    implementers: &[AGENT],
                    reviewers: &[AGENT],
                    reviewers_required: true,
                }),
                ..ANY
            },
        )],
        _ => Vec::new(),
    }
}
