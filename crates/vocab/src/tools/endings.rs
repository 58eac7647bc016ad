//! The ending calls: synthetic, offered every turn by role, never configurable (01 §9.1).

use serde_json::json;

use super::Definition;
use crate::operations::EndingRole;
use crate::words::words;

words! {
    /// A call that ends an agent.
    EndingCall ("ending call") {
        /// The work is done.
        Finish = "finish",
        /// The reviewed work stands.
        Approve = "approve",
        /// The reviewed work needs changes.
        RequestChanges = "request_changes",
    }
}

impl EndingCall {
    /// The calls a role ends with, in offered order.
    pub const fn of_role(role: EndingRole) -> &'static [Self] {
        match role {
            EndingRole::Standard => &[Self::Finish],
            EndingRole::Review => &[Self::Approve, Self::RequestChanges],
        }
    }
}

/// What a model is told of an ending call.
pub fn ending_definition(call: EndingCall) -> Definition {
    let (description, parameters) = match call {
        EndingCall::Finish => (
            "End your session: the whole task is done and checked.",
            json!({
                "type": "object",
                "properties": {
                    "summary": {
                        "type": "string",
                        "description": "What you did and what whoever reads it must know. Not empty.",
                    },
                },
                "required": ["summary"],
                "additionalProperties": false,
            }),
        ),
        EndingCall::Approve => (
            "End your review: the work stands as it is.",
            json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        ),
        EndingCall::RequestChanges => (
            "End your review: the work needs the changes you list.",
            json!({
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "One change an item, each complete in itself.",
                    },
                },
                "required": ["items"],
                "additionalProperties": false,
            }),
        ),
    };
    Definition {
        name: call.as_str(),
        description: description.to_owned(),
        parameters,
    }
}
