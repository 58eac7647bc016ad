//! The words of what an agent knows and plans: tasks, memories, skills (02 §8–10).

use serde::{Deserialize, Serialize};

use crate::tools::ToolName;
use crate::words::words;

words! {
    /// What a task consists of.
    TaskMode ("task mode") {
        /// A title and, if wanted, a description.
        Simple = "simple",
        /// A title, what is in scope and what is not, and completion criteria.
        Issues = "issues",
    }
}

words! {
    /// How memories are kept and found.
    MemoryStrategy ("memory strategy") {
        /// All of them in the window.
        Scratchpad = "scratchpad",
        /// An index in the window, bodies on request.
        Markdown = "markdown",
        /// Nothing in the window; found by search.
        KeywordSearch = "keyword-search",
    }
}

impl MemoryStrategy {
    /// The calls an agent can make on memories kept this way, in offered order. A holder that may
    /// not write has those that [only read](reads).
    pub const fn calls(self) -> &'static [ToolName] {
        use ToolName as T;
        match self {
            Self::Scratchpad => &[T::WriteMemory, T::UpdateMemory, T::DeleteMemory],
            Self::Markdown => &[
                T::CreateMemory,
                T::ReadMemory,
                T::EditMemory,
                T::DeleteMemory,
            ],
            Self::KeywordSearch => &[
                T::CreateMemory,
                T::ReadMemory,
                T::EditMemory,
                T::SearchMemories,
                T::DeleteMemory,
            ],
        }
    }

    /// Whether a holder that may write, or may not, can make a call.
    pub fn serves(self, tool: ToolName, writable: bool) -> bool {
        self.calls().contains(&tool) && (writable || reads(tool))
    }

    /// Whether a memory needs a description: wherever one is shown.
    pub const fn describes(self) -> bool {
        !matches!(self, Self::KeywordSearch)
    }

    /// Whether the window holds something of every memory.
    pub const fn in_window(self) -> bool {
        !matches!(self, Self::KeywordSearch)
    }
}

/// How much of memories may be kept, in characters but for the counts, under the names a launch
/// gives the figures; 0 is no limit (02 §9.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryLimits {
    /// Memories, under `scratchpad` and `keyword-search`.
    pub max_count: u64,
    /// Characters of one body.
    pub max_len_per_memory: u64,
    /// Characters of all bodies, under `scratchpad`.
    pub max_total_len: u64,
    /// Characters of the rendered index, under `markdown`.
    pub max_len_index: u64,
    /// Characters of one description.
    pub max_len_description: u64,
    /// Hits of a search, under `keyword-search`.
    pub max_results: u64,
}

impl MemoryLimits {
    /// The limits that apply to memories kept in a way; the others are 0, no limit.
    pub const fn of(self, strategy: MemoryStrategy) -> Self {
        let Self {
            max_count,
            max_total_len,
            max_len_index,
            max_results,
            ..
        } = self;
        let none = Self {
            max_count: 0,
            max_total_len: 0,
            max_len_index: 0,
            max_results: 0,
            ..self
        };
        match strategy {
            MemoryStrategy::Scratchpad => Self {
                max_count,
                max_total_len,
                ..none
            },
            MemoryStrategy::Markdown => Self {
                max_len_index,
                ..none
            },
            MemoryStrategy::KeywordSearch => Self {
                max_count,
                max_results,
                ..none
            },
        }
    }
}

/// Whether a call puts something down in memories, so that it can be read again.
pub const fn saves(tool: ToolName) -> bool {
    matches!(
        tool,
        ToolName::WriteMemory
            | ToolName::UpdateMemory
            | ToolName::CreateMemory
            | ToolName::EditMemory
    )
}

/// Whether a call on memories changes none.
pub const fn reads(tool: ToolName) -> bool {
    matches!(tool, ToolName::ReadMemory | ToolName::SearchMemories)
}

words! {
    /// Whose memories an instance holds.
    MemoryScope ("memory scope") {
        /// Its own.
        Isolated = "isolated",
        /// The profile's, shared by its instances.
        Shared = "shared",
        /// Its spawner's.
        Inherited = "inherited",
        /// Its spawner's, without writing.
        ReadOnly = "read-only",
    }
}

impl MemoryScope {
    /// Whether it links an instance to its spawner's store.
    pub const fn inherits(self) -> bool {
        matches!(self, Self::Inherited | Self::ReadOnly)
    }
}

words! {
    /// A family of calls that has a built-in manual.
    BuiltInSkill ("built-in skill") {
        /// Reading, writing, editing files.
        Filesystem = "gg-filesystem",
        /// Commands.
        Shell = "gg-shell",
        /// The board.
        Project = "gg-project",
        /// The task list.
        Tasks = "gg-tasks",
        /// Memories.
        Memory = "gg-memory",
        /// Using skills.
        Skills = "gg-skills",
        /// Evicting, archiving, compacting.
        Context = "gg-context",
        /// Subagents, succession, forks.
        Delegation = "gg-delegation",
        /// Documentation.
        Docs = "gg-docs",
        /// Views.
        Views = "gg-views",
        /// The program library.
        Programs = "gg-programs",
        /// Ending calls.
        Session = "gg-session",
    }
}

impl BuiltInSkill {
    /// What the manual is about, as the catalogue says it.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Filesystem => "Reading, writing and searching files",
            Self::Shell => "Running commands",
            Self::Project => "The board of epics and issues",
            Self::Tasks => "The task list",
            Self::Memory => "Memories",
            Self::Skills => "Using skills",
            Self::Context => "Freeing and compacting the context window",
            Self::Delegation => "Subagents, becoming another agent, forks",
            Self::Docs => "Searching and closing documentation",
            Self::Views => "Showing yourself files and texts",
            Self::Programs => "The programs you have run",
            Self::Session => "The calls that end a session",
        }
    }

    /// The module of the operations table that is the family.
    pub const fn module(self) -> &'static str {
        match self {
            Self::Filesystem => "files",
            Self::Shell => "shell",
            Self::Project => "board",
            Self::Tasks => "tasks",
            Self::Memory => "memories",
            Self::Skills => "skills",
            Self::Context => "context",
            Self::Delegation => "delegation",
            Self::Docs => "docs",
            Self::Views => "views",
            Self::Programs => "programs",
            Self::Session => "session",
        }
    }

    /// The tools of the family. The families that have none exist for programs alone.
    pub const fn tools(self) -> &'static [ToolName] {
        use ToolName as T;
        match self {
            Self::Filesystem => &[
                T::ReadFile,
                T::WriteFile,
                T::EditFile,
                T::ListDir,
                T::Search,
            ],
            Self::Shell => &[T::Shell],
            Self::Project => &[
                T::CreateEpic,
                T::CreateIssue,
                T::UpdateIssue,
                T::SetIssueBlockedBy,
                T::RemoveEpic,
                T::RemoveIssue,
                T::WaitForIssue,
                T::ListIssues,
                T::ReadIssue,
            ],
            Self::Tasks => &[
                T::AddTask,
                T::UpdateTask,
                T::SetBlockedBy,
                T::CompleteTask,
                T::RemoveTask,
            ],
            Self::Memory => &[
                T::WriteMemory,
                T::UpdateMemory,
                T::CreateMemory,
                T::ReadMemory,
                T::EditMemory,
                T::SearchMemories,
                T::DeleteMemory,
            ],
            Self::Skills => &[T::ReadSkill],
            Self::Context => &[
                T::EvictFileView,
                T::ArchiveThread,
                T::SearchArchive,
                T::Compact,
            ],
            Self::Delegation => &[
                T::SpawnSubagent,
                T::WaitForSubagents,
                T::SendMessage,
                T::Exec,
                T::Fork,
                T::TransitionState,
            ],
            Self::Docs | Self::Views | Self::Programs | Self::Session => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::CapabilityId;
    use crate::operations::OPERATIONS;

    #[test]
    fn every_tool_belongs_to_exactly_one_family() {
        for tool in ToolName::ALL {
            let families = BuiltInSkill::ALL
                .iter()
                .filter(|family| family.tools().contains(tool));
            assert_eq!(families.count(), 1, "{tool}");
        }
    }

    #[test]
    fn every_operation_belongs_to_exactly_one_family_and_with_it_its_tool() {
        for row in OPERATIONS {
            let families: Vec<_> = BuiltInSkill::ALL
                .iter()
                .filter(|family| family.module() == row.module())
                .collect();
            assert_eq!(families.len(), 1, "{}", row.id);
            // A view of a file is shown by a read, and shown is what it is about.
            if let Some(tool) = row.tool
                && row.module() != "views"
            {
                assert!(families[0].tools().contains(&tool), "{}", row.id);
            }
        }
    }

    #[test]
    fn the_strategies_together_have_every_call_on_memories_and_no_other() {
        for tool in ToolName::ALL {
            let served = MemoryStrategy::ALL
                .iter()
                .any(|strategy| strategy.serves(*tool, true));
            let memories = tool.capability() == Some(CapabilityId::Memories);
            assert_eq!(served, memories, "{tool}");
        }
    }

    #[test]
    fn a_holder_that_may_not_write_has_the_calls_that_read() {
        let held = |strategy: MemoryStrategy| {
            let calls = strategy.calls().iter().copied();
            calls
                .filter(|tool| strategy.serves(*tool, false))
                .collect::<Vec<_>>()
        };
        assert_eq!(held(MemoryStrategy::Scratchpad), []);
        assert_eq!(held(MemoryStrategy::Markdown), [ToolName::ReadMemory]);
        assert_eq!(
            held(MemoryStrategy::KeywordSearch),
            [ToolName::ReadMemory, ToolName::SearchMemories]
        );
    }
}
