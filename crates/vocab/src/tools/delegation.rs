//! What a tool-calling model is told of the calls that concern other agents (03 §3.2).

use serde_json::{Value, json};

use super::ToolName;

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

/// Description, properties and required members of a call; `None` for a tool of another family,
/// and where there is nobody to put to work.
pub(super) fn parts(
    tool: ToolName,
    targets: &[Target<'_>],
) -> Option<(String, Value, &'static [&'static str])> {
    if targets.is_empty() {
        return None;
    }
    let (description, properties, required): (&str, Value, &[&str]) = match tool {
        ToolName::SpawnSubagent => {
            let slugs: Vec<_> = targets.iter().map(|target| target.slug).collect();
            (
                "Start another agent on a task of its own. Its id comes back at once; it works by \
                 itself, in your working directory.",
                json!({
                    "agent": {
                        "type": "string",
                        "enum": slugs,
                        "description": choices(targets),
                    },
                    "prompt": {
                        "type": "string",
                        "description": "Its whole task: it sees nothing of your conversation. Not \
                                        blank.",
                    },
                }),
                &["agent", "prompt"],
            )
        }
        ToolName::WaitForSubagents => (
            "Wait until agents you started have ended, and get what each returns.",
            json!({
                "ids": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "Omitted: all that no wait has brought you yet.",
                },
            }),
            &[],
        ),
        ToolName::SendMessage => (
            "Write to an agent you started that has not ended. It reads the message before its \
             next turn, and cannot answer.",
            json!({
                "id": { "type": "string" },
                "message": { "type": "string", "description": "Not blank." },
            }),
            &["id", "message"],
        ),
        _ => return None,
    };
    Some((description.to_owned(), properties, required))
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
    use crate::tools::{Definition, Variants, definition};

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
}
