//! The operations table: every model-facing call of a program, and what buys it (04 §9, R3).

use crate::capability::CapabilityId;
use crate::failure::FailureClass;
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
    /// How a call fails beyond [`FailureClass::InvalidArgument`]; see [`Operation::failures`].
    pub fails: &'static [FailureClass],
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

    /// How a call can fail by what it asks for: what its documentation names, and no more. Whatever
    /// takes anything can be passed what is none.
    pub fn failures(&self) -> impl Iterator<Item = FailureClass> {
        let misused = self.input.then_some(FailureClass::InvalidArgument);
        misused.into_iter().chain(self.fails.iter().copied())
    }

    /// Whether a call can fail so, by what it asks for or as any call may: it is not offered, the run
    /// stops, gg is at fault; and where it dispatches something, the run's time is spent.
    pub fn can_fail(&self, class: FailureClass) -> bool {
        let as_any = match class {
            FailureClass::Unavailable | FailureClass::Refused | FailureClass::Other => true,
            FailureClass::LimitExceeded => !self.outlives_clock(),
            _ => false,
        };
        as_any || self.failures().any(|own| own == class)
    }

    /// Whether a profile's `operations` may name it: endings and the machine's exit are conferred,
    /// never granted.
    pub const fn grantable(&self) -> bool {
        matches!(self.binding, Binding::Capability(_) | Binding::Always)
    }
}

const fn row(
    id: &'static str,
    capability: CapabilityId,
    tool: ToolName,
    fails: &'static [FailureClass],
) -> Operation {
    Operation {
        id,
        binding: Binding::Capability(capability),
        tool: Some(tool),
        input: true,
        fails,
        excused: &[],
    }
}

const fn host(id: &'static str, binding: Binding, fails: &'static [FailureClass]) -> Operation {
    Operation {
        id,
        binding,
        tool: None,
        input: true,
        fails,
        excused: &[],
    }
}

/// The same of a call that is passed nothing, and cannot fail.
const fn bare(id: &'static str, binding: Binding) -> Operation {
    Operation {
        input: false,
        ..host(id, binding, &[])
    }
}

use CapabilityId as C;
use FailureClass as F;
use ToolName as T;

/// Every operation, by module in the order a model meets them.
pub const OPERATIONS: &[Operation] = &[
    row(
        "files.read_file",
        C::ReadFile,
        T::ReadFile,
        &[F::NotFound, F::IoError],
    ),
    row(
        "files.read_text_file",
        C::ReadFile,
        T::ReadFile,
        &[F::NotFound, F::IoError],
    ),
    row(
        "files.write_file",
        C::WriteFile,
        T::WriteFile,
        &[F::IoError, F::Refused],
    ),
    row(
        "files.edit_file",
        C::EditFile,
        T::EditFile,
        &[F::NotFound, F::Conflict, F::IoError, F::Refused],
    ),
    row(
        "files.list_dir",
        C::ListDir,
        T::ListDir,
        &[F::NotFound, F::IoError],
    ),
    row(
        "files.search",
        C::Search,
        T::Search,
        &[F::NotFound, F::IoError],
    ),
    row(
        "shell.shell",
        C::Shell,
        T::Shell,
        &[F::LimitExceeded, F::IoError, F::Refused],
    ),
    row(
        "board.create_epic",
        C::ProjectManagement,
        T::CreateEpic,
        &[F::Conflict, F::LimitExceeded],
    ),
    row(
        "board.create_issue",
        C::ProjectManagement,
        T::CreateIssue,
        &[F::NotFound, F::LimitExceeded],
    ),
    row(
        "board.update_issue",
        C::ProjectManagement,
        T::UpdateIssue,
        &[F::NotFound, F::Refused],
    ),
    row(
        "board.set_issue_blocked_by",
        C::ProjectManagement,
        T::SetIssueBlockedBy,
        &[F::NotFound, F::Conflict, F::Refused],
    ),
    row(
        "board.remove_epic",
        C::ProjectManagement,
        T::RemoveEpic,
        &[F::NotFound, F::Refused],
    ),
    row(
        "board.remove_issue",
        C::ProjectManagement,
        T::RemoveIssue,
        &[F::NotFound, F::Refused],
    ),
    row(
        "board.wait_for_issue",
        C::ProjectManagement,
        T::WaitForIssue,
        &[F::NotFound, F::Refused],
    ),
    row(
        "board.list_issues",
        C::ProjectManagement,
        T::ListIssues,
        &[F::NotFound],
    ),
    row(
        "board.read_issue",
        C::ProjectManagement,
        T::ReadIssue,
        &[F::NotFound],
    ),
    row(
        "tasks.add_task",
        C::Tasks,
        T::AddTask,
        &[F::Conflict, F::LimitExceeded],
    ),
    row("tasks.update_task", C::Tasks, T::UpdateTask, &[F::NotFound]),
    row(
        "tasks.set_blocked_by",
        C::Tasks,
        T::SetBlockedBy,
        &[F::NotFound, F::Conflict],
    ),
    row(
        "tasks.complete_task",
        C::Tasks,
        T::CompleteTask,
        &[F::NotFound],
    ),
    row("tasks.remove_task", C::Tasks, T::RemoveTask, &[F::NotFound]),
    row(
        "memories.write_memory",
        C::Memories,
        T::WriteMemory,
        &[F::Conflict, F::LimitExceeded],
    ),
    row(
        "memories.update_memory",
        C::Memories,
        T::UpdateMemory,
        &[F::NotFound, F::LimitExceeded],
    ),
    row(
        "memories.create_memory",
        C::Memories,
        T::CreateMemory,
        &[F::Conflict, F::LimitExceeded],
    ),
    row(
        "memories.edit_memory",
        C::Memories,
        T::EditMemory,
        &[F::NotFound, F::Conflict, F::LimitExceeded],
    ),
    row(
        "memories.delete_memory",
        C::Memories,
        T::DeleteMemory,
        &[F::NotFound],
    ),
    row(
        "memories.read_memory",
        C::Memories,
        T::ReadMemory,
        &[F::NotFound],
    ),
    row(
        "memories.search_memories",
        C::Memories,
        T::SearchMemories,
        &[],
    ),
    host("docs.search", Binding::Always, &[]),
    host("docs.close", Binding::Capability(C::DocviewClose), &[]),
    bare("docs.close_all", Binding::Capability(C::DocviewClose)),
    row(
        "views.open_file",
        C::ReadFile,
        T::ReadFile,
        &[F::NotFound, F::IoError, F::LimitExceeded],
    ),
    host("views.open_text", Binding::Always, &[F::LimitExceeded]),
    host(
        "views.open_docs_view",
        Binding::Always,
        &[F::NotFound, F::Conflict],
    ),
    host(
        "views.close",
        Binding::Capability(C::AgentManagedContext),
        &[],
    ),
    bare("views.current", Binding::Capability(C::AgentManagedContext)),
    row(
        "context.evict_file_view",
        C::AgentManagedContext,
        T::EvictFileView,
        &[],
    ),
    row(
        "context.archive_thread",
        C::AgentManagedContext,
        T::ArchiveThread,
        &[F::LimitExceeded],
    ),
    row(
        "context.search_archive",
        C::AgentManagedContext,
        T::SearchArchive,
        &[],
    ),
    row("context.compact", C::Compaction, T::Compact, &[]),
    row(
        "delegation.spawn_subagent",
        C::Subagents,
        T::SpawnSubagent,
        &[F::LimitExceeded],
    ),
    row(
        "delegation.wait_for_subagents",
        C::Subagents,
        T::WaitForSubagents,
        &[F::NotFound, F::Refused],
    ),
    row(
        "delegation.send_message",
        C::Subagents,
        T::SendMessage,
        &[F::NotFound, F::Refused],
    ),
    row("delegation.exec", C::Exec, T::Exec, &[F::Refused]),
    row("delegation.fork", C::Fork, T::Fork, &[F::LimitExceeded]),
    Operation {
        id: "delegation.transition_state",
        binding: Binding::Machine,
        tool: Some(T::TransitionState),
        input: true,
        fails: &[F::Refused],
        excused: &[],
    },
    row("skills.read_skill", C::Skills, T::ReadSkill, &[F::NotFound]),
    bare("programs.history", Binding::Capability(C::ProgramLibrary)),
    host(
        "programs.get",
        Binding::Capability(C::ProgramLibrary),
        &[F::NotFound],
    ),
    host(
        "programs.rerun",
        Binding::Capability(C::ProgramLibrary),
        &[F::Refused],
    ),
    host("session.finish", Binding::Ending(EndingRole::Standard), &[]),
    bare("session.approve", Binding::Ending(EndingRole::Review)),
    host(
        "session.request_changes",
        Binding::Ending(EndingRole::Review),
        &[],
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
    fn a_row_names_each_of_its_failures_once_and_none_that_is_any_call_s() {
        for row in OPERATIONS {
            let mut own: Vec<_> = row.failures().collect();
            own.sort_unstable_by_key(|class| class.as_str());
            own.dedup();
            assert_eq!(own.len(), row.failures().count(), "{}", row.id);
            assert!(!own.contains(&F::Unavailable) && !own.contains(&F::Other));
            assert!(own.iter().all(|class| row.can_fail(*class)));
            let shape = own.contains(&F::InvalidArgument);
            assert_eq!(shape, row.input, "{}", row.id);
        }
        let read = Operation::find("files.read_file").unwrap();
        assert!(read.can_fail(F::LimitExceeded) && !read.can_fail(F::Conflict));
        let close = Operation::find("views.close").unwrap();
        assert!(close.can_fail(F::Refused) && !close.can_fail(F::LimitExceeded));
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
