//! From the JSON a model wrote to a call on its task list.

use tools::{Arguments, Faults};
use vocab::failure::{Failure, FailureClass};
use vocab::knowledge::TaskMode;
use vocab::tools::ToolName;

use super::Sections;
use crate::modules::name;

/// A call on the task list, checked as far as that goes without the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskCall {
    /// `add_task`
    Add(NewTask),
    /// `update_task`
    Update {
        /// The task.
        id: String,
        /// What is replaced; the rest stays.
        changes: TaskChanges,
    },
    /// `set_blocked_by`
    SetBlockedBy {
        /// The task.
        id: String,
        /// All its blockers from now on.
        blocked_by: Vec<String>,
    },
    /// `complete_task`
    Complete {
        /// The task.
        id: String,
    },
    /// `remove_task`
    Remove {
        /// The task.
        id: String,
    },
}

/// A task to add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTask {
    /// Its id, a legal one.
    pub id: String,
    /// Its title, one line.
    pub title: String,
    /// Its description, not blank.
    pub description: Option<String>,
    /// Its sections: all three under `issues`, none under `simple`.
    pub sections: Sections,
}

/// Texts of a task to replace; `None` keeps what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskChanges {
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub description: TextChange,
    /// The sections.
    pub sections: Sections,
    /// Whether it is done. The tools have a call of its own for that; programs have both.
    pub done: Option<bool>,
}

/// What becomes of a text that need not be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TextChange {
    /// It stays.
    #[default]
    Keep,
    /// It is taken away.
    Clear,
    /// It is replaced.
    Set(String),
}

const SIMPLE: &[&str] = &["id", "title", "description"];

const ISSUES: &[&str] = &[
    "id",
    "title",
    "description",
    "inScope",
    "outOfScope",
    "completionCriteria",
];

/// Reads the arguments of a call.
///
/// # Errors
///
/// `invalid-argument`, every fault named at once; `unavailable` for a tool of another family.
pub fn parse(tool: ToolName, arguments: &str, mode: TaskMode) -> Result<TaskCall, Failure> {
    let of_mode = match mode {
        TaskMode::Simple => SIMPLE,
        TaskMode::Issues => ISSUES,
    };
    let known: &'static [&'static str] = match tool {
        ToolName::AddTask | ToolName::UpdateTask => of_mode,
        ToolName::SetBlockedBy => &["id", "blockedBy"],
        ToolName::CompleteTask | ToolName::RemoveTask => &["id"],
        _ => {
            return Err(Failure::new(
                FailureClass::Unavailable,
                Stray(tool).to_string(),
            ));
        }
    };
    let mut given = Arguments::read(arguments, known)?;
    let id = given.filled("id");
    let call = match tool {
        ToolName::AddTask => TaskCall::Add(add(&mut given, id, mode)),
        ToolName::UpdateTask => TaskCall::Update {
            id,
            changes: update(&mut given, mode),
        },
        ToolName::SetBlockedBy => TaskCall::SetBlockedBy {
            id,
            blocked_by: given.list("blockedBy"),
        },
        ToolName::CompleteTask => TaskCall::Complete { id },
        _ => TaskCall::Remove { id },
    };
    given.finish(tool)?;
    Ok(call)
}

/// A tool of another family.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` does not act on a task list")]
struct Stray(ToolName);

fn add(given: &mut Arguments, id: String, mode: TaskMode) -> NewTask {
    new_id(&id, given.faults());
    let title = given.filled("title");
    let title = title_of(&title, given.faults());
    NewTask {
        id,
        title,
        description: match description(given) {
            TextChange::Set(text) => Some(text),
            TextChange::Keep | TextChange::Clear => None,
        },
        sections: match mode {
            TaskMode::Simple => Sections::default(),
            TaskMode::Issues => Sections {
                in_scope: Some(given.filled("inScope")),
                out_of_scope: Some(given.filled("outOfScope")),
                completion_criteria: Some(given.filled("completionCriteria")),
            },
        },
    }
}

fn update(given: &mut Arguments, mode: TaskMode) -> TaskChanges {
    let title = given.optional_filled("title");
    TaskChanges {
        title: title.map(|text| title_of(&text, given.faults())),
        description: description(given),
        done: None,
        sections: match mode {
            TaskMode::Simple => Sections::default(),
            TaskMode::Issues => Sections {
                in_scope: given.optional_filled("inScope"),
                out_of_scope: given.optional_filled("outOfScope"),
                completion_criteria: given.optional_filled("completionCriteria"),
            },
        },
    }
}

/// An id that a call gives to something new. That it is blank has been told.
pub(super) fn new_id(id: &str, faults: &mut Faults) {
    if !id.trim().is_empty()
        && let Err(fault) = name::check("id", id)
    {
        faults.push(fault.to_string());
    }
}

/// A title as the list keeps it.
pub(super) fn title_of(text: &str, faults: &mut Faults) -> String {
    let title = text.trim();
    if let Err(fault) = name::one_line("title", title) {
        faults.push(fault.to_string());
    }
    title.to_owned()
}

/// The description as given; `null` and blank take it away.
fn description(given: &mut Arguments) -> TextChange {
    if given.is_null("description") {
        return TextChange::Clear;
    }
    match given.optional_text("description") {
        None => TextChange::Keep,
        Some(text) => {
            given.faults().bounded("description", &text);
            described(text)
        }
    }
}

/// A description as given; one that is blank says nothing.
pub(super) fn described(text: String) -> TextChange {
    if text.trim().is_empty() {
        TextChange::Clear
    } else {
        TextChange::Set(text)
    }
}
