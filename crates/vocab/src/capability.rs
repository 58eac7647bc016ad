//! Capability ids: the closed list a profile's `capabilities` draws from (01 §3.1).

use crate::words::words;

words! {
    /// One capability of a profile.
    CapabilityId ("capability") {
        /// Run commands.
        Shell = "shell",
        /// Read files.
        ReadFile = "read-file",
        /// Write files.
        WriteFile = "write-file",
        /// Edit files.
        EditFile = "edit-file",
        /// List directories.
        ListDir = "list-dir",
        /// Search the workspace.
        Search = "search",
        /// A list of to-dos with edges.
        Tasks = "tasks",
        /// Pre-authored knowledge.
        Skills = "skills",
        /// Knowledge the model curates.
        Memories = "memories",
        /// Continue past the window.
        Compaction = "compaction",
        /// Measure fullness against a narrower window.
        ContextWindowOverride = "context-window-override",
        /// Evict and archive.
        AgentManagedContext = "agent-managed-context",
        /// Open on the brief's files.
        AutoloadSpecifications = "autoload-specifications",
        /// The board.
        ProjectManagement = "project-management",
        /// Spawn, wait, message.
        Subagents = "subagents",
        /// One long-lived worker per profile.
        AgentPersistence = "agent-persistence",
        /// Become another agent.
        Exec = "exec",
        /// Run a copy of oneself.
        Fork = "fork",
        /// Be driven through a state table.
        Fsm = "fsm",
        /// Keep programs.
        ProgramLibrary = "program-library",
        /// Answer with programs.
        ResponsesAsCode = "responses-as-code",
        /// Close documentation views.
        DocviewClose = "docview-close",
    }
}
