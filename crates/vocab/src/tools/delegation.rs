//! What a tool-calling model is told of the calls that concern other agents (03 §3.2, §5.3, §5.4).

use serde_json::{Value, json};

use super::{ToolName, Variants};

/// A profile an agent may put to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// What it is called by.
    pub slug: &'a str,
    /// Its display name.
    pub name: &'a str,
    /// When to use it, as its caller's configuration says.
    pub description: &'a str,
}

/// Description, properties and required members.
pub(super) type Parts = (String, Value, &'static [&'static str]);

/// Description, properties and required members of a call; `None` for a tool of another family,
/// and where there is nobody it could concern.
pub(super) fn parts(tool: ToolName, variants: Variants<'_>) -> Option<Parts> {
    let Variants {
        targets,
        forks,
        successors,
        ..
    } = variants;
    let has_children = forks || !targets.is_empty();
    match tool {
        ToolName::SpawnSubagent if !targets.is_empty() => Some(spawn(targets)),
        ToolName::WaitForSubagents if has_children => Some((
            "Wait until agents you started have ended, and get what each returns.".to_owned(),
            json!({
                "ids": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Omitted: all that no wait has brought you yet.",
                },
            }),
            &[],
        )),
        ToolName::SendMessage if has_children => Some((
            "Write to an agent you started that has not ended. It reads the message before its \
             next turn, and cannot answer."
                .to_owned(),
            json!({
                "id": { "type": "string" },
                "message": { "type": "string", "description": "Not blank." },
            }),
            &["id", "message"],
        )),
        ToolName::Exec if !successors.is_empty() => Some(exec(successors)),
        ToolName::Fork if forks => Some((
            "Start a copy of yourself at the end of this turn: it has seen all that you have, and \
             works by itself, in your working directory. Its id comes back at once; you can wait \
             for it from your next turn on."
                .to_owned(),
            json!({
                "prompt": {
                    "type": "string",
                    "description": "What the copy is to do, and you are not. Not blank.",
                },
            }),
            &["prompt"],
        )),
        _ => None,
    }
}

fn spawn(targets: &[Target<'_>]) -> Parts {
    (
        "Start another agent on a task of its own. Its id comes back at once; it works by itself, \
         in your working directory."
            .to_owned(),
        json!({
            "agent": profile(targets),
            "prompt": {
                "type": "string",
                "description": "Its whole task: it sees nothing of your conversation. Not blank.",
            },
        }),
        &["agent", "prompt"],
    )
}

fn exec(successors: &[Target<'_>]) -> Parts {
    (
        "Become another agent at the end of this turn, for good: it goes on in your place with \
         this conversation and what you hold, under its own instructions and with its own calls."
            .to_owned(),
        json!({
            "agent": profile(successors),
            "prompt": {
                "type": "string",
                "description": "What it is to do. Omitted: it goes on with your task.",
            },
        }),
        &["agent"],
    )
}

/// One of the targets, by what it is called by.
pub(super) fn profile(targets: &[Target<'_>]) -> Value {
    let slugs: Vec<_> = targets.iter().map(|target| target.slug).collect();
    json!({ "type": "string", "enum": slugs, "description": choices(targets) })
}

/// Each target in a line: what it is called by, its name, when to use it.
fn choices(targets: &[Target<'_>]) -> String {
    let line = |target: &Target<'_>| {
        let Target {
            slug,
            name,
            description,
        } = target;
        match description.trim() {
            "" => format!("`{slug}` ({name})"),
            when => format!("`{slug}` ({name}): {when}"),
        }
    };
    let lines: Vec<_> = targets.iter().map(line).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Definition, definition};

    fn told(tool: ToolName, targets: &[Target<'_>]) -> Option<Definition> {
        let variants = Variants {
            targets,
            ..Variants::default()
        };
        definition(tool, variants)
    }

    const TARGETS: [Target<'static>; 2] = [
        Target {
            slug: "scout",
            name: "Scout",
            description: "Looks things up.",
        },
        Target {
            slug: "mason",
            name: "Mason",
            description: " ",
        },
    ];

    #[test]
    fn a_spawn_offers_the_roster_and_says_when_to_use_whom() {
        let spawn = told(ToolName::SpawnSubagent, &TARGETS).unwrap();
        let agent = &spawn.parameters["properties"]["agent"];
        assert_eq!(agent["enum"], json!(["scout", "mason"]));
        assert_eq!(
            agent["description"],
            "`scout` (Scout): Looks things up.\n`mason` (Mason)"
        );
    }

    #[test]
    fn without_anybody_to_put_to_work_there_is_no_call() {
        for tool in [
            ToolName::SpawnSubagent,
            ToolName::WaitForSubagents,
            ToolName::SendMessage,
        ] {
            assert_eq!(told(tool, &[]), None, "{tool}");
            assert!(told(tool, &TARGETS).is_some(), "{tool}");
        }
    }

    #[test]
    fn who_may_copy_itself_has_somebody_to_wait_for_and_to_write_to() {
        let forks = Variants {
            forks: true,
            ..Variants::default()
        };
        let offered: Vec<_> = ToolName::ALL
            .iter()
            .copied()
            .filter(|tool| parts(*tool, forks).is_some())
            .collect();
        assert_eq!(
            offered,
            [
                ToolName::WaitForSubagents,
                ToolName::SendMessage,
                ToolName::Fork
            ]
        );
    }

    #[test]
    fn who_may_become_another_is_told_whom() {
        let successors = Variants {
            successors: &TARGETS,
            ..Variants::default()
        };
        let exec = definition(ToolName::Exec, successors).unwrap();
        assert_eq!(
            exec.parameters["properties"]["agent"]["enum"],
            json!(["scout", "mason"])
        );
        assert_eq!(exec.parameters["required"], json!(["agent"]));
        assert_eq!(definition(ToolName::SpawnSubagent, successors), None);
        assert_eq!(told(ToolName::Exec, &TARGETS), None);
    }
}
