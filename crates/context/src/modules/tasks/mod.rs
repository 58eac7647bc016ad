//! Tasks: one agent's to-dos and what blocks what (02 §8).
//!
//! Always true:
//! - The edges close no circle, name only tasks of the list, and name none twice.
//! - The list holds at most its `maxTasks`, unless a transfer tightened them; then nothing is
//!   added until it does.
//! - A refused call changes nothing.
//!
//! Whether a task is ready or blocked is derived, never stored. `call` reads a model's arguments,
//! `given` judges those of a program, `answers` words what became of a call, `block` is what the window shows.

mod answers;
mod block;
mod call;
mod error;
mod given;

use std::collections::HashSet;

pub use block::TaskRow;
pub use call::{NewTask, TaskCall, TaskChanges, TextChange, parse};
pub use config::policies::TaskPolicy;
pub use error::TaskError;

use super::{Module, ModuleKind};

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Chosen by the model, unique in the list.
    pub id: String,
    /// One line.
    pub title: String,
    /// What a title does not say.
    pub description: Option<String>,
    /// The texts that the mode `issues` asks for.
    pub sections: Sections,
    /// Whether it is done; else it is pending.
    pub done: bool,
    /// The tasks that have to be done before, in the order they were given.
    pub blocked_by: Vec<String>,
}

/// What delimits a task; all three are there where it was added under `issues`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// What belongs to it.
    pub in_scope: Option<String>,
    /// What does not.
    pub out_of_scope: Option<String>,
    /// How to see that it is done.
    pub completion_criteria: Option<String>,
}

/// How full a list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskUsage {
    /// Tasks in it, done ones included.
    pub tasks: u64,
    /// Tasks it may hold; 0 is no limit.
    pub max_tasks: u64,
}

/// What a call changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskChange {
    /// A task came.
    Added {
        /// Its id.
        id: String,
        /// How full the list is now.
        usage: TaskUsage,
    },
    /// Texts of a task were replaced.
    Updated {
        /// Its id.
        id: String,
    },
    /// A task's edges were replaced.
    Edges {
        /// Its id.
        id: String,
        /// Whether it is done.
        done: bool,
        /// The tasks that block it and are not done.
        blockers: Vec<String>,
    },
    /// A task is done, and may have been before.
    Completed {
        /// Its id.
        id: String,
        /// What nothing blocks any more.
        newly_ready: Vec<String>,
    },
    /// A task went.
    Removed {
        /// Its id.
        id: String,
        /// How full the list is now.
        usage: TaskUsage,
    },
}

/// A list of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskList {
    policy: TaskPolicy,
    tasks: Vec<Task>,
}

impl TaskList {
    /// An empty list.
    pub const fn new(policy: TaskPolicy) -> Self {
        Self {
            policy,
            tasks: Vec::new(),
        }
    }

    /// What the agent's profile says of it.
    pub const fn policy(&self) -> TaskPolicy {
        self.policy
    }

    /// The tasks, in the order they were added.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// How full it is.
    pub const fn usage(&self) -> TaskUsage {
        TaskUsage {
            tasks: self.tasks.len() as u64,
            max_tasks: self.policy.max_tasks,
        }
    }

    /// Carries out a call. Whatever succeeds is followed by one `tasks_state`.
    pub fn apply(&mut self, call: TaskCall) -> Result<TaskChange, TaskError> {
        match call {
            TaskCall::Add(new) => self.add(new),
            TaskCall::Update { id, changes } => self.update(id, changes),
            TaskCall::SetBlockedBy { id, blocked_by } => self.set_blocked_by(id, blocked_by),
            TaskCall::Complete { id } => self.complete(id),
            TaskCall::Remove { id } => self.remove(id),
        }
    }

    fn add(&mut self, new: NewTask) -> Result<TaskChange, TaskError> {
        if self.find(&new.id).is_some() {
            return Err(TaskError::Taken(new.id));
        }
        let max = self.policy.max_tasks;
        if max > 0 && self.tasks.len() as u64 >= max {
            return Err(TaskError::Full(self.usage()));
        }
        let id = new.id.clone();
        self.tasks.push(Task {
            id: new.id,
            title: new.title,
            description: new.description,
            sections: new.sections,
            done: false,
            blocked_by: Vec::new(),
        });
        Ok(TaskChange::Added {
            id,
            usage: self.usage(),
        })
    }

    fn update(&mut self, id: String, changes: TaskChanges) -> Result<TaskChange, TaskError> {
        let place = self.place(&id)?;
        let task = &mut self.tasks[place];
        if let Some(title) = changes.title {
            task.title = title;
        }
        match changes.description {
            TextChange::Keep => {}
            TextChange::Clear => task.description = None,
            TextChange::Set(text) => task.description = Some(text),
        }
        task.done = changes.done.unwrap_or(task.done);
        let given = changes.sections;
        let sections = &mut task.sections;
        for (held, given) in [
            (&mut sections.in_scope, given.in_scope),
            (&mut sections.out_of_scope, given.out_of_scope),
            (&mut sections.completion_criteria, given.completion_criteria),
        ] {
            if given.is_some() {
                *held = given;
            }
        }
        Ok(TaskChange::Updated { id })
    }

    fn set_blocked_by(
        &mut self,
        id: String,
        mut blocked_by: Vec<String>,
    ) -> Result<TaskChange, TaskError> {
        let mut seen = HashSet::new();
        blocked_by.retain(|blocker| seen.insert(blocker.clone()));
        let unknown: Vec<_> = std::iter::once(&id)
            .chain(&blocked_by)
            .filter(|id| self.find(id).is_none())
            .cloned()
            .collect();
        if !unknown.is_empty() {
            return Err(self.unknown(unknown));
        }
        if blocked_by.contains(&id) {
            return Err(TaskError::SelfEdge(id));
        }
        if let Some(circle) = self.circle(&id, &blocked_by) {
            return Err(TaskError::Circle(circle));
        }
        let place = self.place(&id)?;
        self.tasks[place].blocked_by = blocked_by;
        let done = self.done();
        let task = &self.tasks[place];
        Ok(TaskChange::Edges {
            done: task.done,
            blockers: blockers(task, &done).cloned().collect(),
            id,
        })
    }

    fn complete(&mut self, id: String) -> Result<TaskChange, TaskError> {
        let place = self.place(&id)?;
        let task = &mut self.tasks[place];
        if std::mem::replace(&mut task.done, true) {
            return Ok(TaskChange::Completed {
                id,
                newly_ready: Vec::new(),
            });
        }
        let done = self.done();
        let newly_ready = self
            .tasks
            .iter()
            .filter(|task| !task.done && task.blocked_by.contains(&id))
            .filter(|task| blockers(task, &done).next().is_none())
            .map(|task| task.id.clone())
            .collect();
        Ok(TaskChange::Completed { id, newly_ready })
    }

    fn remove(&mut self, id: String) -> Result<TaskChange, TaskError> {
        let place = self.place(&id)?;
        self.tasks.remove(place);
        for task in &mut self.tasks {
            task.blocked_by.retain(|blocker| *blocker != id);
        }
        Ok(TaskChange::Removed {
            id,
            usage: self.usage(),
        })
    }

    fn find(&self, id: &str) -> Option<usize> {
        self.tasks.iter().position(|task| task.id == id)
    }

    fn place(&self, id: &str) -> Result<usize, TaskError> {
        self.find(id)
            .ok_or_else(|| self.unknown(vec![id.to_owned()]))
    }

    fn unknown(&self, ids: Vec<String>) -> TaskError {
        let held = self.tasks.iter().map(|task| task.id.clone()).collect();
        TaskError::Unknown { ids, held }
    }

    /// The ids of what is done.
    fn done(&self) -> HashSet<&str> {
        let done = self.tasks.iter().filter(|task| task.done);
        done.map(|task| task.id.as_str()).collect()
    }

    /// The circle that new edges of a task would close: the task, what blocks it, and so on back
    /// to the task.
    fn circle(&self, id: &str, blocked_by: &[String]) -> Option<Vec<String>> {
        // Depth first from the blockers along their own; `open` holds the way to where we are.
        let mut visited = HashSet::new();
        let mut open: Vec<(&str, std::slice::Iter<'_, String>)> = vec![(id, blocked_by.iter())];
        while let Some((_, rest)) = open.last_mut() {
            let Some(next) = rest.next() else {
                open.pop();
                continue;
            };
            if next == id {
                let way = open.iter().map(|(id, _)| *id).chain([id]);
                return Some(way.map(str::to_owned).collect());
            }
            if visited.insert(next.as_str())
                && let Some(place) = self.find(next)
            {
                open.push((next, self.tasks[place].blocked_by.iter()));
            }
        }
        None
    }
}

/// The blockers of a task that are not done.
fn blockers<'a>(task: &'a Task, done: &HashSet<&str>) -> impl Iterator<Item = &'a String> {
    task.blocked_by
        .iter()
        .filter(|blocker| !done.contains(blocker.as_str()))
}

impl Module for TaskList {
    const KIND: ModuleKind = ModuleKind::Tasks;
    type Shape = TaskPolicy;

    fn copy(&self) -> Self {
        self.clone()
    }

    /// Caps bind forward, the mode binds new tasks; nothing of a list is unreadable.
    fn rebind(&mut self, shape: &TaskPolicy) -> bool {
        self.policy = *shape;
        true
    }
}

#[cfg(test)]
mod tests;
