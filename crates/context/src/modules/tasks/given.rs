//! A call on a task list as a program makes it: its values, judged as a model's JSON is.

use tools::Faults;
use vocab::failure::Failure;
use vocab::knowledge::TaskMode;

use super::answers;
use super::call::{described, new_id, title_of};
use super::{NewTask, Sections, TaskCall, TaskChanges, TextChange};

impl TaskCall {
    /// `add_task`, of a task as it was given.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn add(given: NewTask, mode: TaskMode) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("id", &given.id);
        new_id(&given.id, &mut faults);
        faults.filled("title", &given.title);
        let title = title_of(&given.title, &mut faults);
        faults.optional_bounded("description", given.description.as_deref());
        sections(&given.sections, mode, true, &mut faults);
        faults.judge()?;
        Ok(Self::Add(NewTask {
            title,
            description: match given.description.map(described) {
                Some(TextChange::Set(text)) => Some(text),
                Some(TextChange::Keep | TextChange::Clear) | None => None,
            },
            ..given
        }))
    }

    /// `update_task`, of changes as they were given.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn update(id: String, given: TaskChanges, mode: TaskMode) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("id", &id);
        faults.optional_filled("title", given.title.as_deref());
        let title = given.title.map(|title| title_of(&title, &mut faults));
        if let TextChange::Set(text) = &given.description {
            faults.bounded("description", text);
        }
        sections(&given.sections, mode, false, &mut faults);
        faults.judge()?;
        let changes = TaskChanges {
            title,
            description: match given.description {
                TextChange::Set(text) => described(text),
                kept @ (TextChange::Keep | TextChange::Clear) => kept,
            },
            ..given
        };
        Ok(Self::Update { id, changes })
    }

    /// `set_blocked_by`.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn set_blocked_by(id: String, blocked_by: Vec<String>) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("id", &id);
        faults.list("blockedBy", &blocked_by);
        faults.judge()?;
        Ok(Self::SetBlockedBy { id, blocked_by })
    }

    /// `complete_task`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a blank id.
    pub fn complete(id: String) -> Result<Self, Failure> {
        named(id).map(|id| Self::Complete { id })
    }

    /// `remove_task`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a blank id.
    pub fn remove(id: String) -> Result<Self, Failure> {
        named(id).map(|id| Self::Remove { id })
    }
}

fn named(id: String) -> Result<String, Failure> {
    let mut faults = Faults::default();
    faults.filled("id", &id);
    faults.judge().map(|()| id)
}

/// Sections are all there in a new task under `issues`, and none is anywhere under `simple`.
fn sections(given: &Sections, mode: TaskMode, new: bool, faults: &mut Faults) {
    for (key, text) in [
        ("inScope", &given.in_scope),
        ("outOfScope", &given.out_of_scope),
        ("completionCriteria", &given.completion_criteria),
    ] {
        match (mode, text) {
            (TaskMode::Simple, Some(_)) => faults.push(answers::no_section(key)),
            (TaskMode::Issues, None) if new => faults.push(format!("`{key}` is missing")),
            (TaskMode::Issues, Some(text)) => faults.filled(key, text),
            (TaskMode::Simple | TaskMode::Issues, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use vocab::failure::FailureClass;
    use vocab::tools::ToolName;

    use super::super::{TaskList, TaskPolicy, parse};
    use super::*;

    fn whole() -> Sections {
        Sections {
            in_scope: Some("in".to_owned()),
            out_of_scope: Some("out".to_owned()),
            completion_criteria: Some("done".to_owned()),
        }
    }

    #[test]
    fn values_and_json_come_to_the_same_call() {
        let given = NewTask {
            id: "a".to_owned(),
            title: " A ".to_owned(),
            description: Some(" \n".to_owned()),
            sections: whole(),
        };
        let json = r#"{"id":"a","title":" A ","description":" \n","inScope":"in",
            "outOfScope":"out","completionCriteria":"done"}"#;
        let mode = TaskMode::Issues;
        assert_eq!(
            TaskCall::add(given, mode),
            parse(ToolName::AddTask, json, mode)
        );
        let changes = TaskChanges {
            title: Some(" B".to_owned()),
            description: TextChange::Set(" ".to_owned()),
            sections: Sections {
                in_scope: Some("x".to_owned()),
                ..Sections::default()
            },
            done: None,
        };
        let json = r#"{"id":"a","title":" B","description":null,"inScope":"x"}"#;
        assert_eq!(
            TaskCall::update("a".to_owned(), changes, mode),
            parse(ToolName::UpdateTask, json, mode)
        );
        assert_eq!(
            TaskCall::set_blocked_by("a".to_owned(), Vec::new()),
            parse(ToolName::SetBlockedBy, r#"{"id":"a","blockedBy":[]}"#, mode)
        );
    }

    #[test]
    fn a_status_is_set_and_taken_back_with_the_rest() {
        let mut list = TaskList::new(TaskPolicy {
            mode: TaskMode::Simple,
            max_tasks: 0,
        });
        let new = NewTask {
            id: "a".to_owned(),
            title: "A".to_owned(),
            ..NewTask::default()
        };
        list.apply(TaskCall::Add(new)).unwrap();
        for done in [Some(true), None, Some(false)] {
            let before = list.tasks()[0].done;
            let changes = TaskChanges {
                done,
                ..TaskChanges::default()
            };
            let call = TaskCall::update("a".to_owned(), changes, TaskMode::Simple);
            list.apply(call.unwrap()).unwrap();
            assert_eq!(list.tasks()[0].done, done.unwrap_or(before));
        }
    }

    #[test]
    fn every_fault_is_named_as_it_is_to_a_model_that_writes_json() {
        let blank = NewTask {
            id: " ".to_owned(),
            title: String::new(),
            ..NewTask::default()
        };
        let failure = TaskCall::add(blank, TaskMode::Issues).unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument);
        assert_eq!(
            failure.message,
            "`id` is blank; `title` is blank; `inScope` is missing; `outOfScope` is missing; \
             `completionCriteria` is missing"
        );
        let given = NewTask {
            id: "a b".to_owned(),
            title: "two\nlines".to_owned(),
            sections: whole(),
            ..NewTask::default()
        };
        let told = TaskCall::add(given, TaskMode::Simple).unwrap_err().message;
        for part in [
            "`id` is \"a b\"",
            "`title` has a line break",
            "`inScope` is no argument",
        ] {
            assert!(told.contains(part), "{told}");
        }
        let blanked = TaskChanges {
            sections: Sections {
                in_scope: Some(" ".to_owned()),
                ..Sections::default()
            },
            ..TaskChanges::default()
        };
        let told = TaskCall::update("a".to_owned(), blanked, TaskMode::Issues);
        assert!(told.unwrap_err().message.contains("`inScope` is blank"));
        assert!(TaskCall::complete(" ".to_owned()).is_err());
        assert!(TaskCall::remove(String::new()).is_err());
        let blockers = vec!["a".to_owned(), " ".to_owned()];
        assert!(TaskCall::set_blocked_by("b".to_owned(), blockers).is_err());
    }
}
