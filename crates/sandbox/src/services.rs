//! What a program's calls end in: one trait, implemented by whoever runs agents.
//!
//! A method stands here for every operation; it is reached with a [`Call`], which only the membrane
//! makes, after it opened the bracket and asked whether the agent may. A method may block: it runs
//! on the program's own thread, and what it takes is not charged to the program.

use vocab::failure::{Failure, FailureClass};
use vocab::operations::Operation;

use crate::contract as wit;

/// Proof that a call was recorded and permitted.
#[derive(Debug)]
pub struct Call {
    pub(crate) operation: &'static Operation,
    pub(crate) ordinal: u32,
}

impl Call {
    /// The operation that is called.
    pub const fn operation(&self) -> &'static Operation {
        self.operation
    }

    /// Its place among the program's calls, refused ones included, from 0.
    pub const fn ordinal(&self) -> u32 {
        self.ordinal
    }
}

/// How much an operator cares for a line a program printed.
pub use wit::feedback::LogLevel;

/// What the membrane asks and tells of the agent a program runs for.
pub trait Frame: Send + std::any::Any {
    /// A call was made; nothing is known of it but its operation.
    fn opened(&mut self, operation: &'static Operation);

    /// The call opened last has ended.
    fn closed(&mut self, operation: &'static Operation, failure: Option<FailureClass>);

    /// Whether the run's clock is spent, so that nothing is dispatched any more.
    fn clock_spent(&self) -> bool;

    /// Why a call is refused for now (a compaction that the agent has to do first), as a sentence.
    fn pending(&self, operation: &'static Operation) -> Option<String>;

    /// Whether a page of the operation stood in the window before the turn began, or none is
    /// needed.
    fn documented(&self, operation: &'static Operation) -> bool;

    /// How the program's language spells an operation.
    fn spelling(&self, operation: &'static Operation) -> String;
}

/// Behind a guest that has no program yet: it serves nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nobody;

impl Frame for Nobody {
    fn opened(&mut self, _: &'static Operation) {}

    fn closed(&mut self, _: &'static Operation, _: Option<FailureClass>) {}

    fn clock_spent(&self) -> bool {
        true
    }

    fn pending(&self, _: &'static Operation) -> Option<String> {
        None
    }

    fn documented(&self, _: &'static Operation) -> bool {
        true
    }

    fn spelling(&self, operation: &'static Operation) -> String {
        operation.id.to_owned()
    }
}

fn nobody() -> Failure {
    Failure::new(FailureClass::Unavailable, "no program runs")
}

/// Declares the traits, and carries every function of the contract through the membrane.
macro_rules! services {
    ($(
        $(#[$trait_meta:meta])*
        $module:ident $name:ident {
            $(
                $(#[$meta:meta])*
                $key:ident ( $($argument:ident : $type:ty),* ) -> $result:ty;
            )+
        }
    )+) => {
        $(
            $(#[$trait_meta])*
            pub trait $name: Send {
                $(
                    $(#[$meta])*
                    fn $key(&mut self, call: &Call, $($argument: $type),*)
                        -> Result<$result, Failure>;
                )+
            }
        )+

        /// Everything a program can call, and the frame of its calls.
        pub trait Services: Frame $(+ $name)+ {}

        impl<T: Frame $(+ $name)+ + ?Sized> Services for T {}

        $(
            impl $name for Nobody {
                $(
                    fn $key(&mut self, _: &Call, $(_: $type),*) -> Result<$result, Failure> {
                        Err(nobody())
                    }
                )+
            }
        )+

        $(
            impl wit::$module::Host for crate::host::Membrane {
                $(
                    fn $key(&mut self, $($argument: $type),*) -> Result<$result, wit::ApiError> {
                        self.call(
                            concat!(stringify!($module), ".", stringify!($key)),
                            |services, call| $name::$key(services, call, $($argument),*),
                        )
                    }
                )+
            }
        )+

        /// The id of every function declared here, for the test that holds contract and table in
        /// step.
        #[cfg(test)]
        pub(crate) const DECLARED: &[&str] = &[
            $($(concat!(stringify!($module), ".", stringify!($key)),)+)+
        ];
    };
}

/// Every function of the contract, handed to another macro; the one list of them.
macro_rules! functions {
    ($then:ident) => {
        $then! {
            /// The workspace's files.
            files Files {
                /// Reads a file.
                read_file(path: String, offset: Option<u32>, limit: Option<u32>) -> wit::FileRead;
                /// Reads a file that holds text.
                read_text_file(path: String, offset: Option<u32>, limit: Option<u32>) -> String;
                /// Replaces a file; the bytes written.
                write_file(path: String, contents: String) -> u64;
                /// Replaces one exact occurrence.
                edit_file(path: String, old_string: String, new_string: String) -> ();
                /// Lists a directory.
                list_dir(path: Option<String>) -> Vec<wit::DirEntry>;
                /// Searches files by a regular expression.
                search(query: String, path: Option<String>, limit: Option<u32>) -> Vec<wit::SearchMatch>;
            }
            /// Commands.
            shell Shell {
                /// Runs a command.
                shell(command: String, timeout_secs: Option<f64>) -> wit::ShellOutput;
            }
            /// The board.
            board Board {
                /// Creates an epic.
                create_epic(prefix: String, title: String, description: Option<String>) -> wit::EpicCreated;
                /// Creates an issue.
                create_issue(issue: wit::IssueDraft) -> wit::IssueCreated;
                /// Changes an issue.
                update_issue(id: String, changes: wit::IssueChanges) -> ();
                /// Sets what blocks an issue.
                set_issue_blocked_by(id: String, blocked_by: Vec<String>) -> ();
                /// Removes an epic.
                remove_epic(id: String) -> wit::BoardUsage;
                /// Removes an issue.
                remove_issue(id: String) -> wit::BoardUsage;
                /// Asks to be told how an issue ended.
                wait_for_issue(id: String) -> String;
                /// Lists issues.
                list_issues(status: Option<wit::IssueStatus>, epic: Option<String>) -> Vec<wit::IssueRow>;
                /// Reads an issue whole.
                read_issue(id: String) -> wit::Issue;
            }
            /// The agent's task list.
            tasks Tasks {
                /// Adds a task.
                add_task(task: wit::TaskDraft) -> wit::TaskUsage;
                /// Changes a task.
                update_task(id: String, changes: wit::TaskChanges) -> ();
                /// Sets what blocks a task.
                set_blocked_by(id: String, blocked_by: Vec<String>) -> ();
                /// Completes a task.
                complete_task(id: String) -> ();
                /// Removes a task.
                remove_task(id: String) -> wit::TaskUsage;
            }
            /// The agent's notebook.
            memories Memories {
                /// Writes a memory (scratchpad).
                write_memory(
                    name: String, description: String, body: String, code: Option<String>,
                    on_use: Option<String>
                ) -> wit::MemoryUsage;
                /// Replaces a memory (scratchpad).
                update_memory(
                    name: String, description: String, body: String, code: Option<String>,
                    on_use: Option<String>
                ) -> wit::MemoryUsage;
                /// Creates a memory.
                create_memory(
                    name: String, description: Option<String>, body: String, code: Option<String>,
                    on_use: Option<String>
                ) -> wit::MemoryUsage;
                /// Edits a memory.
                edit_memory(name: String, old_string: String, new_string: String) -> wit::MemoryUsage;
                /// Deletes a memory.
                delete_memory(name: String) -> wit::MemoryUsage;
                /// Reads a memory.
                read_memory(name: String) -> String;
                /// Searches memories.
                search_memories(keywords: Vec<String>) -> Vec<wit::MemoryHit>;
            }
            /// Documentation of what can be called.
            docs Docs {
                /// Searches the documentation, and opens a view of what it finds.
                search(
                    query: Option<String>, modules: Option<Vec<String>>, type_: Option<String>,
                    kind: Option<wit::DocKind>, offset: Option<u32>, limit: Option<u32>
                ) -> wit::DocSearch;
                /// Closes a documentation view; how many were closed.
                close(key: String) -> u32;
                /// Closes every documentation view; how many were closed.
                close_all() -> u32;
            }
            /// What the model is shown.
            views Views {
                /// Reads a file and shows it.
                open_file(
                    path: String, offset: Option<u32>, limit: Option<u32>, max_line_chars: Option<u32>
                ) -> wit::FileRead;
                /// Shows a text.
                open_text(label: String, body: String) -> ();
                /// Shows a page of the documentation.
                open_docs_view(target: String) -> ();
                /// Closes the views of a selector; how many were closed.
                close(selector: String) -> u32;
                /// What is shown.
                current() -> Vec<wit::OpenView>;
            }
            /// The agent's own window.
            context Context {
                /// Takes file views out.
                evict_file_view(path: Option<String>) -> wit::Reclaimed;
                /// Takes turns out.
                archive_thread(ranges: Vec<wit::TurnRange>) -> wit::Archived;
                /// Searches what was taken out.
                search_archive(query: String) -> Vec<wit::ArchiveMatch>;
                /// Replaces the conversation by a summary, at the turn's end.
                compact(summary: String, files: Vec<String>) -> ();
            }
            /// Other agents.
            delegation Delegation {
                /// Starts an agent.
                spawn_subagent(agent: String, prompt: String) -> wit::SubagentHandle;
                /// Waits for agents.
                wait_for_subagents(ids: Option<Vec<String>>) -> Vec<wit::SubagentOutcome>;
                /// Writes to an agent.
                send_message(id: String, message: String) -> ();
                /// Becomes another agent, at the turn's end.
                exec(agent: String, prompt: Option<String>) -> ();
                /// Runs a copy, at the turn's end.
                fork(prompt: String) -> wit::SubagentHandle;
                /// Leaves the machine's state, at the turn's end.
                transition_state(state: String, note: Option<String>) -> ();
            }
            /// Skills.
            skills Skills {
                /// Uses a skill.
                read_skill(name: String) -> String;
            }
            /// Programs that ran.
            programs Programs {
                /// Which there are.
                history() -> Vec<wit::ProgramEntry>;
                /// The source of one.
                get(id: Option<String>) -> String;
                /// Runs another program after this one.
                rerun(source: String) -> ();
            }
            /// Endings.
            session Session {
                /// Declares the work done.
                finish(summary: String) -> ();
                /// Approves.
                approve() -> ();
                /// Asks for changes.
                request_changes(items: Vec<String>) -> ();
            }
        }
    };
}

functions!(services);

#[cfg(test)]
pub(crate) use functions;

#[cfg(test)]
mod tests {
    use vocab::operations::OPERATIONS;

    use super::*;

    #[test]
    fn every_row_of_the_table_has_a_method_and_every_method_a_row() {
        let mut declared = DECLARED.to_vec();
        let mut rows: Vec<_> = OPERATIONS.iter().map(|row| row.id).collect();
        declared.sort_unstable();
        rows.sort_unstable();
        assert_eq!(declared, rows);
    }
}
