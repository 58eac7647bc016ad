//! The one tool of an agent that answers with programs (04 §6.2).

use serde_json::json;

use super::Definition;

/// Its name, which every request of such an agent is pinned to.
pub const SUBMIT_PROGRAM: &str = "submit_program";

/// What a model is told of it; `language` is the name of the one its programs are written in.
pub fn submission_definition(language: &str) -> Definition {
    Definition {
        name: SUBMIT_PROGRAM,
        description: format!(
            "Run a {language} program. It is run as it stands, whole, with its imports; what it \
             opened a view of is shown to you with your next turn."
        ),
        parameters: json!({
            "type": "object",
            "properties": {
                "program": {
                    "type": "string",
                    "description": format!(
                        "The source of the whole program, and nothing around it: {language}, no \
                         Markdown."
                    ),
                },
            },
            "required": ["program"],
            "additionalProperties": false,
        }),
    }
}
