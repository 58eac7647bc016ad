//! The operations table: every model-facing call of a program, and what buys it (04 §9, R3).

use crate::capability::CapabilityId;
use crate::tools::ToolName;

/// The role an agent was dispatched in; it decides which ending calls it has (01 §9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndingRole {
    /// Ends with `finish`.
    Standard,
    /// Ends with `approve` or `request_changes`.
    Review,
}

/// What buys an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// The capability, and the profile's allowlist.
    Capability(CapabilityId),
    /// The dispatched role.
    Ending(EndingRole),
    /// Standing in a machine state with an outgoing edge.
    Machine,
    /// Every program.
    Always,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// `module.key`.
    pub id: &'static str,
    /// What buys it.
    pub binding: Binding,
    /// The tool a call dispatches; `None` for calls of the host API alone.
    pub tool: Option<ToolName>,
    /// Whether a program passes it anything, be it optional; every arm's spelling of it agrees.
    pub input: bool,
    /// Arms that do not bind it, each with a reason. Every other arm does.
    pub excused: &'static [Excuse],
}

/// Why one arm does not bind an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// The arm's id.
    pub arm: &'static str,
    /// The reason, as a sentence.
    pub reason: &'static str,
}

impl Operation {
    /// The row of an id.
    pub fn find(id: &str) -> Option<&'static Self> {
        OPERATIONS.iter().find(|row| row.id == id)
    }

    /// The module part of the id.
    pub fn module(&self) -> &'static str {
        self.id
            .split_once('.')
            .map_or(self.id, |(module, _)| module)
    }

    /// The key part of the id, by which a failed call names it.
    pub fn key(&self) -> &'static str {
        self.id.split_once('.').map_or(self.id, |(_, key)| key)
    }

    /// Whether a call acts on what a program holds or declares and dispatches nothing (04 §11.4):
    /// these stay serviced when the run's clock is spent.
    pub fn outlives_clock(&self) -> bool {
        self.tool.is_none()
    }

    /// Whether a profile's `operations` may name it: endings and the machine's exit are conferred,
    /// never granted.
    pub const fn grantable(&self) -> bool {
        matches!(self.binding, Binding::Capability(_) | Binding::Always)
    }
}

const fn row(id: &'static str, capability: CapabilityId, tool: ToolName) -> Operation {
    Operation {
        id,
        binding: Binding::Capability(capability),
        tool: Some(tool),
        input: true,
        excused: &[],
    }
}

const fn host(id: &'static str, binding: Binding) -> Operation {
    Operation {
        id,
        binding,
        tool: None,
        input: true,
        excused: &[],
    }
}

/// The same of a call that is passed nothing.
const fn bare(id: &'static str, binding: Binding) -> Operation {
    Operation {
        input: false,
        ..host(id, binding)
    }
}

use CapabilityId as C;
use ToolName as T;

/// Every operation, by module in the order a model meets them.
pub const OPERATIONS: &[Operation] = &[
    row("files.read_file", C::ReadFile, T::ReadFile),
    row("files.read_text_file", C::ReadFile, T::ReadFile),
    row("files.write_file", C::WriteFile, T::WriteFile),
    row("files.edit_file", C::EditFile, T::EditFile),
    row("files.list_dir", C::ListDir, T::ListDir),
    row("files.search", C::Search, T::Search),
    row("shell.shell", C::Shell, T::Shell),
    row("board.create_epic", C::ProjectManagement, T::CreateEpic),
    row("board.create_issue", C::ProjectManagement, T::CreateIssue),
    row("board.update_issue", C::ProjectManagement, T::UpdateIssue),
    row(
        "board.set_issue_blocked_by",
        C::ProjectManagement,
        T::SetIssueBlockedBy,
    ),
    row("board.remove_epic", C::ProjectManagement, T::RemoveEpic),
    row("board.remove_issue", C::ProjectManagement, T::RemoveIssue),
    row(
        "board.wait_for_issue",
        C::ProjectManagement,
        T::WaitForIssue,
    ),
    row("board.list_issues", C::ProjectManagement, T::ListIssues),
    row("board.read_issue", C::ProjectManagement, T::ReadIssue),
    row("tasks.add_task", C::Tasks, T::AddTask),
    row("tasks.update_task", C::Tasks, T::UpdateTask),
    row("tasks.set_blocked_by", C::Tasks, T::SetBlockedBy),
    row("tasks.complete_task", C::Tasks, T::CompleteTask),
    row("tasks.remove_task", C::Tasks, T::RemoveTask),
    row("memories.write_memory", C::Memories, T::WriteMemory),
    row("memories.update_memory", C::Memories, T::UpdateMemory),
    row("memories.create_memory", C::Memories, T::CreateMemory),
    row("memories.edit_memory", C::Memories, T::EditMemory),
    row("memories.delete_memory", C::Memories, T::DeleteMemory),
    row("memories.read_memory", C::Memories, T::ReadMemory),
    row("memories.search_memories", C::Memories, T::SearchMemories),
    host("docs.search", Binding::Always),
    host("docs.close", Binding::Capability(C::DocviewClose)),
    bare("docs.close_all", Binding::Capability(C::DocviewClose)),
    row("views.open_file", C::ReadFile, T::ReadFile),
    host("views.open_text", Binding::Always),
    host("views.open_docs_view", Binding::Always),
    host("views.close", Binding::Capability(C::AgentManagedContext)),
    bare("views.current", Binding::Capability(C::AgentManagedContext)),
    row(
        "context.evict_file_view",
        C::AgentManagedContext,
        T::EvictFileView,
    ),
    row(
        "context.archive_thread",
        C::AgentManagedContext,
        T::ArchiveThread,
    ),
    row(
        "context.search_archive",
        C::AgentManagedContext,
        T::SearchArchive,
    ),
    row("context.compact", C::Compaction, T::Compact),
    row("delegation.spawn_subagent", C::Subagents, T::SpawnSubagent),
    row(
        "delegation.wait_for_subagents",
        C::Subagents,
        T::WaitForSubagents,
    ),
    row("delegation.send_message", C::Subagents, T::SendMessage),
    row("delegation.exec", C::Exec, T::Exec),
    row("delegation.fork", C::Fork, T::Fork),
    Operation {
        id: "delegation.transition_state",
        binding: Binding::Machine,
        tool: Some(T::TransitionState),
        input: true,
        excused: &[],
    },
    row("skills.read_skill", C::Skills, T::ReadSkill),
    bare("programs.history", Binding::Capability(C::ProgramLibrary)),
    host("programs.get", Binding::Capability(C::ProgramLibrary)),
    host("programs.rerun", Binding::Capability(C::ProgramLibrary)),
    host("session.finish", Binding::Ending(EndingRole::Standard)),
    bare("session.approve", Binding::Ending(EndingRole::Review)),
    host(
        "session.request_changes",
        Binding::Ending(EndingRole::Review),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_three_rows_forty_six_of_them_bought_by_a_capability() {
        assert_eq!(OPERATIONS.len(), 53);
        let bought = OPERATIONS
            .iter()
            .filter(|row| matches!(row.binding, Binding::Capability(_)))
            .count();
        assert_eq!(bought, 46);
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = OPERATIONS.iter().map(|row| row.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), OPERATIONS.len());
    }

    #[test]
    fn a_row_and_its_tool_are_bought_by_the_same_capability() {
        for row in OPERATIONS {
            if let (Binding::Capability(capability), Some(tool)) = (row.binding, row.tool) {
                assert_eq!(tool.capability(), Some(capability), "{}", row.id);
            }
        }
    }
}
