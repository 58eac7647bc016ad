//! Tools by name, and what a tool-calling model is told of each.

mod board;
mod context;
mod definitions;
mod delegation;
mod endings;
mod machine;
mod memories;
mod skills;
mod submission;
mod tasks;

use crate::capability::CapabilityId;
use crate::words::words;

pub use board::BoardRoster;
pub use context::{MAX_ARCHIVE_MATCHES, MAX_ARCHIVE_RANGES, MAX_COMPACT_FILES};
pub use definitions::{
    Definition, ReadMode, ReadPolicy, ShellMode, ShellPolicy, Variants, definition,
};
pub use delegation::Target;
pub use endings::{EndingCall, ending_definition};
pub use machine::Exit;
pub use submission::{SUBMIT_PROGRAM, submission_definition};

words! {
    /// A tool of the registry, by the name a model calls it.
    ToolName ("tool") {
        /// Read a file.
        ReadFile = "read_file",
        /// Replace a file.
        WriteFile = "write_file",
        /// Replace one exact occurrence in a file.
        EditFile = "edit_file",
        /// List a directory.
        ListDir = "list_dir",
        /// Search files by regular expression.
        Search = "search",
        /// Run a command.
        Shell = "shell",
        /// Read a skill's body.
        ReadSkill = "read_skill",
        /// Write a memory (scratchpad).
        WriteMemory = "write_memory",
        /// Replace a memory (scratchpad).
        UpdateMemory = "update_memory",
        /// Create a memory.
        CreateMemory = "create_memory",
        /// Read a memory.
        ReadMemory = "read_memory",
        /// Edit a memory.
        EditMemory = "edit_memory",
        /// Search memories.
        SearchMemories = "search_memories",
        /// Delete a memory.
        DeleteMemory = "delete_memory",
        /// Add a task.
        AddTask = "add_task",
        /// Change a task.
        UpdateTask = "update_task",
        /// Set a task's edges.
        SetBlockedBy = "set_blocked_by",
        /// Complete a task.
        CompleteTask = "complete_task",
        /// Remove a task.
        RemoveTask = "remove_task",
        /// Create an epic.
        CreateEpic = "create_epic",
        /// Create an issue.
        CreateIssue = "create_issue",
        /// Change an issue.
        UpdateIssue = "update_issue",
        /// Set an issue's edges.
        SetIssueBlockedBy = "set_issue_blocked_by",
        /// Remove an epic.
        RemoveEpic = "remove_epic",
        /// Remove an issue.
        RemoveIssue = "remove_issue",
        /// Wait for an issue.
        WaitForIssue = "wait_for_issue",
        /// List issues.
        ListIssues = "list_issues",
        /// Read an issue whole.
        ReadIssue = "read_issue",
        /// Evict file views.
        EvictFileView = "evict_file_view",
        /// Archive turns.
        ArchiveThread = "archive_thread",
        /// Search the archive.
        SearchArchive = "search_archive",
        /// Compact the window.
        Compact = "compact",
        /// Spawn a subagent.
        SpawnSubagent = "spawn_subagent",
        /// Wait for subagents.
        WaitForSubagents = "wait_for_subagents",
        /// Message a subagent.
        SendMessage = "send_message",
        /// Become another agent.
        Exec = "exec",
        /// Run a copy of oneself.
        Fork = "fork",
        /// Leave a machine state.
        TransitionState = "transition_state",
    }
}

impl ToolName {
    /// The capability that offers it; `None` for the machine's exit, which no configuration grants.
    pub const fn capability(self) -> Option<CapabilityId> {
        use CapabilityId as C;
        Some(match self {
            Self::ReadFile => C::ReadFile,
            Self::WriteFile => C::WriteFile,
            Self::EditFile => C::EditFile,
            Self::ListDir => C::ListDir,
            Self::Search => C::Search,
            Self::Shell => C::Shell,
            Self::ReadSkill => C::Skills,
            Self::WriteMemory
            | Self::UpdateMemory
            | Self::CreateMemory
            | Self::ReadMemory
            | Self::EditMemory
            | Self::SearchMemories
            | Self::DeleteMemory => C::Memories,
            Self::AddTask
            | Self::UpdateTask
            | Self::SetBlockedBy
            | Self::CompleteTask
            | Self::RemoveTask => C::Tasks,
            Self::CreateEpic
            | Self::CreateIssue
            | Self::UpdateIssue
            | Self::SetIssueBlockedBy
            | Self::RemoveEpic
            | Self::RemoveIssue
            | Self::WaitForIssue
            | Self::ListIssues
            | Self::ReadIssue => C::ProjectManagement,
            Self::EvictFileView | Self::ArchiveThread | Self::SearchArchive => {
                C::AgentManagedContext
            }
            Self::Compact => C::Compaction,
            Self::SpawnSubagent | Self::WaitForSubagents | Self::SendMessage => C::Subagents,
            Self::Exec => C::Exec,
            Self::Fork => C::Fork,
            Self::TransitionState => return None,
        })
    }
}
