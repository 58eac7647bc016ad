//! Why a call on the task list is refused.

use vocab::failure::{Failure, FailureClass};
use vocab::listed::Listed;

use super::TaskUsage;

/// A refused call; the list is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// A new task's id is in use.
    #[error("there is a task `{0}` already; choose another id, or update it")]
    Taken(String),
    /// Ids no task has.
    #[error("there is no task {}; {}", Listed(.ids), there_are(.held))]
    Unknown {
        /// All of them that the call named.
        ids: Vec<String>,
        /// The tasks there are.
        held: Vec<String>,
    },
    /// The list can take no more.
    #[error(
        "the list holds {} of {} tasks, done ones included; remove one first",
        .0.tasks,
        .0.max_tasks
    )]
    Full(TaskUsage),
    /// A task named as its own blocker.
    #[error("`{0}` cannot be blocked by itself")]
    SelfEdge(String),
    /// Edges that would close a circle: each task blocked by the next.
    #[error("that closes a circle, in which each task is blocked by the next: {}", way(.0))]
    Circle(Vec<String>),
}

fn there_are(ids: &[String]) -> String {
    #[derive(thiserror::Error, Debug)]
    enum Held<'a> {
        #[error("the list is empty")]
        Nothing,
        #[error("the list holds {}", Listed(.0))]
        Tasks(&'a [String]),
    }
    match ids {
        [] => Held::Nothing.to_string(),
        ids => Held::Tasks(ids).to_string(),
    }
}

fn way(ids: &[String]) -> String {
    let quoted: Vec<_> = ids.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(" → ")
}

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        let class = match &error {
            TaskError::Taken(_) | TaskError::SelfEdge(_) | TaskError::Circle(_) => {
                FailureClass::Conflict
            }
            TaskError::Unknown { .. } => FailureClass::NotFound,
            TaskError::Full(_) => FailureClass::LimitExceeded,
        };
        Self::new(class, error.to_string())
    }
}
