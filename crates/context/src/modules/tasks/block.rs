//! The task list as the window shows it: every task with what follows from its edges.

use std::collections::HashSet;

use serde::Serialize;

use super::{Task, TaskList, blockers};
use crate::prompts::{self, PromptError};

/// A task of the block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskRow<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Whether it is done.
    pub done: bool,
    /// Whether it is pending and nothing blocks it.
    pub ready: bool,
    /// The tasks that block it and are not done; none of a task that is done.
    pub blockers: Vec<&'a str>,
    /// The lines of its description.
    pub description: Vec<&'a str>,
    /// The lines of what belongs to it.
    pub in_scope: Vec<&'a str>,
    /// The lines of what does not.
    pub out_of_scope: Vec<&'a str>,
    /// The lines of how to see that it is done.
    pub completion_criteria: Vec<&'a str>,
}

impl TaskList {
    /// The rows of the block, in the order the tasks were added.
    pub fn rows(&self) -> Vec<TaskRow<'_>> {
        let done = self.done();
        self.tasks.iter().map(|task| row(task, &done)).collect()
    }

    /// The block; `None` while the list is empty.
    pub fn block(&self) -> Result<Option<String>, PromptError> {
        if self.tasks.is_empty() {
            return Ok(None);
        }
        prompts::task_list(&self.rows()).map(Some)
    }
}

fn row<'a>(task: &'a Task, done: &HashSet<&str>) -> TaskRow<'a> {
    fn lines(text: Option<&String>) -> Vec<&str> {
        text.map(|text| text.lines().collect()).unwrap_or_default()
    }
    let open = blockers(task, done).map(String::as_str);
    let blockers: Vec<_> = open.filter(|_| !task.done).collect();
    TaskRow {
        id: &task.id,
        title: &task.title,
        done: task.done,
        ready: !task.done && blockers.is_empty(),
        blockers,
        description: lines(task.description.as_ref()),
        in_scope: lines(task.sections.in_scope.as_ref()),
        out_of_scope: lines(task.sections.out_of_scope.as_ref()),
        completion_criteria: lines(task.sections.completion_criteria.as_ref()),
    }
}
