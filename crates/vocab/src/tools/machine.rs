//! What a tool-calling model is told of the call that leaves a machine's state (03 §6.2).

use serde_json::{Value, json};

use super::ToolName;

/// A way out of the state an agent stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit<'a> {
    /// The state it leads to.
    pub state: &'a str,
    /// When to take it, as the machine's configuration says.
    pub description: &'a str,
    /// Whether the conversation goes along.
    pub history: bool,
}

/// Description, properties and required members of the call; `None` for a tool of another family,
/// and where there is no way out.
pub(super) fn parts(
    tool: ToolName,
    exits: &[Exit<'_>],
) -> Option<(String, Value, &'static [&'static str])> {
    if tool != ToolName::TransitionState || exits.is_empty() {
        return None;
    }
    let states: Vec<_> = exits.iter().map(|exit| exit.state).collect();
    Some((
        "Hand the work on to another state of the process you are part of: as this turn ends, its \
         agent takes your place, and you take no further turn."
            .to_owned(),
        json!({
            "state": { "type": "string", "enum": states, "description": choices(exits) },
            "note": {
                "type": "string",
                "description": "What whoever takes your place has to know and to do.",
            },
        }),
        &["state"],
    ))
}

/// Each state in a line: its name, when to go there, what its agent knows.
fn choices(exits: &[Exit<'_>]) -> String {
    let line = |exit: &Exit<'_>| {
        let knows = if exit.history {
            "It sees your conversation."
        } else {
            "It sees nothing of your conversation."
        };
        match exit.description.trim() {
            "" => format!("`{}`: {knows}", exit.state),
            when => format!("`{}`: {when} {knows}", exit.state),
        }
    };
    let lines: Vec<_> = exits.iter().map(line).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Variants, definition};

    #[test]
    fn the_call_lists_the_ways_out_and_says_what_each_leads_to() {
        let exits = [
            Exit {
                state: "build",
                description: "When the plan stands.",
                history: false,
            },
            Exit {
                state: "plan",
                description: " ",
                history: true,
            },
        ];
        let variants = Variants {
            exits: &exits,
            ..Variants::default()
        };
        let call = definition(ToolName::TransitionState, variants).unwrap();
        let state = &call.parameters["properties"]["state"];
        assert_eq!(state["enum"], json!(["build", "plan"]));
        assert_eq!(
            state["description"],
            "`build`: When the plan stands. It sees nothing of your conversation.\n\
             `plan`: It sees your conversation."
        );
        assert_eq!(call.parameters["required"], json!(["state"]));
    }

    #[test]
    fn a_state_without_a_way_out_has_no_such_call() {
        let call = definition(ToolName::TransitionState, Variants::default());
        assert_eq!(call, None);
    }
}
