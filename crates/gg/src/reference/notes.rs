//! What has to hold for a tool to be offered, beside its capability and the profile's list.

use vocab::tools::ToolName;

/// The note of a tool; `None` where its capability and the list are all.
pub(super) const fn note(tool: ToolName) -> Option<&'static str> {
    use ToolName as T;
    match tool {
        T::ReadFile
        | T::WriteFile
        | T::EditFile
        | T::ListDir
        | T::Search
        | T::Shell
        | T::AddTask
        | T::UpdateTask
        | T::SetBlockedBy
        | T::CompleteTask
        | T::RemoveTask
        | T::CreateEpic
        | T::UpdateIssue
        | T::SetIssueBlockedBy
        | T::RemoveEpic
        | T::RemoveIssue
        | T::WaitForIssue
        | T::ListIssues
        | T::ReadIssue
        | T::EvictFileView
        | T::ArchiveThread
        | T::SearchArchive => None,
        T::ReadSkill => Some("Offered where there is a skill to read."),
        T::WriteMemory | T::UpdateMemory => {
            Some("Offered where memories are kept as a scratchpad that the agent may write to.")
        }
        T::CreateMemory | T::EditMemory => Some(
            "Offered where memories are kept as `markdown` or for `keyword-search`, and the agent \
             may write to them.",
        ),
        T::ReadMemory => {
            Some("Offered where memories are kept as `markdown` or for `keyword-search`.")
        }
        T::SearchMemories => Some("Offered where memories are kept for `keyword-search`."),
        T::DeleteMemory => Some("Offered where the agent may write to its memories."),
        T::CreateIssue => Some("Offered where the roster names an implementer."),
        T::Compact => Some("Offered where compaction takes a summary of the agent's own making."),
        T::SpawnSubagent => Some("Offered where the roster names a subagent."),
        T::WaitForSubagents | T::SendMessage => {
            Some("Offered where the agent can have children, by spawning or by forking.")
        }
        T::Exec => {
            Some("Offered where the roster names a subagent, and never to an agent of a machine.")
        }
        T::Fork => Some("Offered together with `subagents`."),
        T::TransitionState => {
            Some("Offered in a machine's state with a way out; no configuration grants it.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_a_sentence() {
        for tool in ToolName::ALL {
            if let Some(note) = note(*tool) {
                assert!(
                    note.starts_with("Offered ") && note.ends_with('.'),
                    "{tool}: {note}"
                );
            }
        }
    }
}
