//! What a tool-calling model is told of the calls on its task list (02 §8).

use serde_json::{Value, json};

use super::ToolName;
use crate::knowledge::TaskMode;

/// The texts of a task that `issues` asks for, as arguments are named.
const SECTIONS: [(&str, &str); 3] = [
    ("inScope", "What belongs to it."),
    ("outOfScope", "What does not."),
    ("completionCriteria", "How to see that it is done."),
];

/// Description, properties and required members of a call; `None` for a tool of another family.
pub(super) fn parts(
    tool: ToolName,
    mode: TaskMode,
) -> Option<(String, Value, &'static [&'static str])> {
    let id = json!({ "type": "string" });
    let (description, mut properties, required): (&str, Value, &[&str]) = match tool {
        ToolName::AddTask => (
            "Add a task to your list.",
            json!({
                "id": {
                    "type": "string",
                    "description": "Yours to choose: 1 to 64 of letters, digits, `-`, `_`, `.`.",
                },
                "title": { "type": "string", "description": "One line." },
                "description": { "type": "string" },
            }),
            match mode {
                TaskMode::Simple => &["id", "title"],
                TaskMode::Issues => &["id", "title", "inScope", "outOfScope", "completionCriteria"],
            },
        ),
        ToolName::UpdateTask => (
            "Replace parts of a task. What you leave out stays.",
            json!({
                "id": id,
                "title": { "type": "string" },
                "description": {
                    "type": ["string", "null"],
                    "description": "null takes it away.",
                },
            }),
            &["id"],
        ),
        ToolName::SetBlockedBy => (
            "Set which tasks have to be done before a task, in place of those set before.",
            json!({
                "id": id,
                "blockedBy": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Task ids; an empty list for none.",
                },
            }),
            &["id", "blockedBy"],
        ),
        ToolName::CompleteTask => ("Mark a task as done.", json!({ "id": id }), &["id"]),
        ToolName::RemoveTask => (
            "Remove a task. No task is blocked by it any more.",
            json!({ "id": id }),
            &["id"],
        ),
        _ => return None,
    };
    if mode == TaskMode::Issues && matches!(tool, ToolName::AddTask | ToolName::UpdateTask) {
        for (name, meaning) in SECTIONS {
            properties[name] = json!({ "type": "string", "description": meaning });
        }
    }
    Some((description.to_owned(), properties, required))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Variants, definition};

    #[test]
    fn the_mode_decides_what_a_task_consists_of() {
        let add = |tasks| {
            let variants = Variants {
                tasks,
                ..Variants::default()
            };
            definition(ToolName::AddTask, variants)
        };
        let required = |mode| {
            let required = &add(Some(mode)).unwrap().parameters["required"];
            required.as_array().unwrap().len()
        };
        assert_eq!(add(None), None);
        assert_eq!(required(TaskMode::Simple), 2);
        assert_eq!(required(TaskMode::Issues), 5);
    }
}
