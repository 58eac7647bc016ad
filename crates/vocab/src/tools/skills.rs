//! What a tool-calling model is told of the call that reads a skill (02 §10.2).

use serde_json::{Value, json};

use super::ToolName;

/// Description, properties and required members of the call; `None` for a tool of another family.
pub(super) fn parts(tool: ToolName) -> Option<(String, Value, &'static [&'static str])> {
    (tool == ToolName::ReadSkill).then(|| {
        (
            "Read a skill. Its text stays in your window from then on.".to_owned(),
            json!({ "name": { "type": "string" } }),
            &["name"] as &[_],
        )
    })
}
