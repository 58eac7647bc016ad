//! What a call on the task list answers a model.

use vocab::listed::Listed;

use super::{TaskChange, TaskUsage};

/// A section where tasks have none.
pub(super) fn no_section(key: &str) -> String {
    format!("`{key}` is no argument: tasks have a title and a description here")
}

impl TaskChange {
    /// The text of the result.
    pub fn as_text(&self) -> String {
        match self {
            Self::Added { id, usage } => format!("`{id}` added; {}", usage.as_text()),
            Self::Updated { id } => format!("`{id}` updated"),
            Self::Edges { id, done: true, .. } => format!("`{id}` is done"),
            Self::Edges { id, blockers, .. } if blockers.is_empty() => {
                format!("`{id}` is ready")
            }
            Self::Edges { id, blockers, .. } => {
                format!("`{id}` is blocked by {}", Listed(blockers))
            }
            Self::Completed { id, newly_ready } if newly_ready.is_empty() => {
                format!("`{id}` is done")
            }
            Self::Completed { id, newly_ready } => {
                format!("`{id}` is done; now ready: {}", Listed(newly_ready))
            }
            Self::Removed { id, usage } => format!("`{id}` removed; {}", usage.as_text()),
        }
    }
}

impl TaskUsage {
    fn as_text(self) -> String {
        let tasks = self.tasks;
        match self.max_tasks {
            0 if tasks == 1 => "the list holds 1 task".to_owned(),
            0 => format!("the list holds {tasks} tasks"),
            max => format!("the list holds {tasks} of {max} tasks"),
        }
    }
}
