//! The agent's task list, as a program reaches it (02 §8).

use ::context::modules::tasks::{self, NewTask, Sections, TaskCall, TaskList, TextChange};
use sandbox::contract as wit;
use sandbox::services::{Call, Tasks};
use serde_json::Value;
use vocab::failure::Failure;
use vocab::knowledge::TaskMode;

use super::given::{Given, count};
use super::{Carried, Serving};

impl Serving {
    /// Carries out a call on the list; how full that is then.
    fn task_call(
        &mut self,
        call: &Call,
        arguments: &Value,
        make: impl FnOnce(TaskMode) -> Result<TaskCall, Failure>,
    ) -> Result<wit::TaskUsage, Failure> {
        self.local(call, arguments, |held, _| {
            let call = make(held.modules.task_mode()?)?;
            let change = held.modules.change_tasks(call)?;
            let usage = usage(held.modules.task_list()?);
            Ok(Carried::new(usage, change.as_text()))
        })
    }
}

impl Tasks for Serving {
    fn add_task(&mut self, call: &Call, task: wit::TaskDraft) -> Result<wit::TaskUsage, Failure> {
        let arguments = Given::default()
            .with("id", task.id.as_str())
            .with("title", task.title.as_str())
            .maybe("description", task.description.as_deref())
            .maybe("inScope", task.in_scope.as_deref())
            .maybe("outOfScope", task.out_of_scope.as_deref())
            .maybe("completionCriteria", task.completion_criteria.as_deref());
        self.task_call(call, &arguments.json(), |mode| {
            let new = NewTask {
                id: task.id,
                title: task.title,
                description: task.description,
                sections: Sections {
                    in_scope: task.in_scope,
                    out_of_scope: task.out_of_scope,
                    completion_criteria: task.completion_criteria,
                },
            };
            TaskCall::add(new, mode)
        })
    }

    fn update_task(
        &mut self,
        call: &Call,
        id: String,
        changes: wit::TaskChanges,
    ) -> Result<(), Failure> {
        let mut arguments = Given::default()
            .with("id", id.as_str())
            .maybe("title", changes.title.as_deref())
            .maybe("inScope", changes.in_scope.as_deref())
            .maybe("outOfScope", changes.out_of_scope.as_deref())
            .maybe("completionCriteria", changes.completion_criteria.as_deref())
            .maybe("status", changes.status.map(status));
        let description = match changes.description {
            wit::TextEdit::Keep => TextChange::Keep,
            wit::TextEdit::Clear => {
                arguments = arguments.with("description", Value::Null);
                TextChange::Clear
            }
            wit::TextEdit::Set(text) => {
                arguments = arguments.with("description", text.as_str());
                TextChange::Set(text)
            }
        };
        let changes = tasks::TaskChanges {
            title: changes.title,
            description,
            sections: Sections {
                in_scope: changes.in_scope,
                out_of_scope: changes.out_of_scope,
                completion_criteria: changes.completion_criteria,
            },
            done: changes
                .status
                .map(|status| matches!(status, wit::TaskStatus::Done)),
        };
        self.task_call(call, &arguments.json(), |mode| {
            TaskCall::update(id, changes, mode)
        })
        .map(drop)
    }

    fn set_blocked_by(
        &mut self,
        call: &Call,
        id: String,
        blocked_by: Vec<String>,
    ) -> Result<(), Failure> {
        let arguments = Given::default()
            .with("id", id.as_str())
            .with("blockedBy", blocked_by.clone());
        self.task_call(call, &arguments.json(), |_| {
            TaskCall::set_blocked_by(id, blocked_by)
        })
        .map(drop)
    }

    fn complete_task(&mut self, call: &Call, id: String) -> Result<(), Failure> {
        let arguments = Given::default().with("id", id.as_str());
        self.task_call(call, &arguments.json(), |_| TaskCall::complete(id))
            .map(drop)
    }

    fn remove_task(&mut self, call: &Call, id: String) -> Result<wit::TaskUsage, Failure> {
        let arguments = Given::default().with("id", id.as_str());
        self.task_call(call, &arguments.json(), |_| TaskCall::remove(id))
    }
}

fn usage(list: &TaskList) -> wit::TaskUsage {
    let usage = list.usage();
    wit::TaskUsage {
        count: count(usage.tasks),
        max_tasks: count(usage.max_tasks),
    }
}

const fn status(status: wit::TaskStatus) -> &'static str {
    match status {
        wit::TaskStatus::Pending => "pending",
        wit::TaskStatus::Done => "done",
    }
}
