//! What a tool-calling model is told of each tool: a description and a JSON Schema (04 §2–4).
//!
//! A definition states what a call cannot show by itself, and the figures this run configured.
//! Nothing in it differs between two runs of one configuration.

use serde_json::{Value, json};

use super::{
    BoardRoster, Exit, Target, ToolName, board, context, delegation, machine, memories, skills,
    tasks,
};
use crate::knowledge::{MemoryStrategy, TaskMode};
use crate::words::words;

words! {
    /// How `read_file` answers a call without `limit`.
    ReadMode ("read mode") {
        /// From `offset` to the end.
        Unlimited = "unlimited",
        /// `lineCap` lines from `offset`.
        DefaultCap = "default-cap",
    }
}

words! {
    /// What becomes of a command's output.
    ShellMode ("shell mode") {
        /// The tail inline, both streams on disk.
        Offload = "offload",
        /// Everything inline, under the byte cap alone.
        Inline = "inline",
    }
}

/// The read policy of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPolicy {
    /// What omitting `limit` means.
    pub mode: ReadMode,
    /// Lines a capped read returns, 1 or more.
    pub line_cap: u64,
}

/// The shell output policy of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellPolicy {
    /// What becomes of the output.
    pub mode: ShellMode,
    /// Lines shown, as `tail -n` counts them.
    pub max_lines: u64,
    /// Characters shown.
    pub max_chars: u64,
}

/// One tool as offered to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name it is called by.
    pub name: &'static str,
    /// What it does, in a sentence or two.
    pub description: String,
    /// The JSON Schema of its arguments, an object without additional properties.
    pub parameters: Value,
}

/// The figures a definition interpolates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variants<'a> {
    /// Of `read_file`, where the profile has it.
    pub read: Option<ReadPolicy>,
    /// Of `shell`, where the profile has it.
    pub shell: Option<ShellPolicy>,
    /// What a task consists of, where the agent has a list of them.
    pub tasks: Option<TaskMode>,
    /// How memories are kept, where the agent holds some.
    pub memories: Option<MemoryStrategy>,
    /// Whether there is a skill to read.
    pub skills: bool,
    /// Whom the agent may put to work.
    pub targets: &'a [Target<'a>],
    /// The ways out of the machine's state the agent stands in.
    pub exits: &'a [Exit<'a>],
    /// Whether it may copy itself.
    pub forks: bool,
    /// Whom it may become.
    pub successors: &'a [Target<'a>],
    /// Whom its issues may name, where it has the board.
    pub board: Option<BoardRoster<'a>>,
}

/// What a model is told of a tool under a profile's figures; `None` for a tool this build does not
/// have, or one whose policy the profile lacks.
pub fn definition(tool: ToolName, variants: Variants<'_>) -> Option<Definition> {
    let (description, properties, required): (String, Value, &[&str]) = match tool {
        ToolName::ReadFile => {
            let policy = variants.read?;
            let limit = match policy.mode {
                ReadMode::Unlimited => "Lines to return. Omitted: to the end.".to_owned(),
                ReadMode::DefaultCap => {
                    format!("Lines to return. Omitted: {}.", policy.line_cap)
                }
            };
            (
                "Read a text file, or look at a PNG, JPEG, GIF or WebP picture.".to_owned(),
                json!({
                    "path": { "type": "string" },
                    "offset": {
                        "type": "integer", "minimum": 1,
                        "description": "First line, from 1.",
                    },
                    "limit": { "type": "integer", "minimum": 1, "description": limit },
                }),
                &["path"],
            )
        }
        ToolName::WriteFile => (
            "Write a whole file, creating its directories.".to_owned(),
            json!({
                "path": { "type": "string" },
                "contents": { "type": "string", "description": "Exactly what the file will hold." },
            }),
            &["path", "contents"],
        ),
        ToolName::EditFile => (
            "Replace the one exact occurrence of a text in a file; everything else is kept."
                .to_owned(),
            json!({
                "path": { "type": "string" },
                "oldString": {
                    "type": "string",
                    "description": "Must occur exactly once, whitespace included.",
                },
                "newString": { "type": "string" },
            }),
            &["path", "oldString", "newString"],
        ),
        ToolName::ListDir => (
            "List one directory, dotfiles included; directories end in `/`.".to_owned(),
            json!({
                "path": { "type": "string", "description": "Omitted: the working directory." },
            }),
            &[],
        ),
        ToolName::Search => (
            "Search files line by line with a Rust regular expression. Ignored, hidden-by-git and \
             binary files are skipped."
                .to_owned(),
            json!({
                "query": { "type": "string" },
                "path": {
                    "type": "string",
                    "description": "File or directory. Omitted: the working directory.",
                },
                "limit": {
                    "type": "integer", "minimum": 1,
                    "description": "Matches to return. Omitted: 50; at most 200.",
                },
            }),
            &["query"],
        ),
        ToolName::Shell => {
            let policy = variants.shell?;
            let output = match policy.mode {
                ShellMode::Offload => format!(
                    "The last {} lines or {} characters of output are shown, whichever is less; \
                     when more is cut, a note names the files that hold all of it.",
                    policy.max_lines, policy.max_chars
                ),
                ShellMode::Inline => "The last 16384 bytes of output are shown.".to_owned(),
            };
            (
                format!(
                    "Run a command with `sh -c` in the working directory, without input. {output}"
                ),
                json!({
                    "command": { "type": "string" },
                    "timeoutSecs": {
                        "type": "number", "exclusiveMinimum": 0,
                        "description": "Omitted: 120. Then the command is killed.",
                    },
                }),
                &["command"],
            )
        }
        tool => context::parts(tool)
            .or_else(|| delegation::parts(tool, variants))
            .or_else(|| machine::parts(tool, variants.exits))
            .or_else(|| tasks::parts(tool, variants.tasks?))
            .or_else(|| memories::parts(tool, variants.memories?))
            .or_else(|| board::parts(tool, variants.board?))
            .or_else(|| variants.skills.then(|| skills::parts(tool))?)?,
    };
    Some(Definition {
        name: tool.as_str(),
        description,
        parameters: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIANTS: Variants<'static> = Variants {
        read: Some(ReadPolicy {
            mode: ReadMode::DefaultCap,
            line_cap: 250,
        }),
        shell: Some(ShellPolicy {
            mode: ShellMode::Offload,
            max_lines: 120,
            max_chars: 6000,
        }),
        tasks: Some(TaskMode::Issues),
        memories: Some(MemoryStrategy::KeywordSearch),
        skills: true,
        targets: &[Target {
            slug: "scout",
            name: "Scout",
            description: "Looks things up.",
        }],
        exits: &[Exit {
            state: "done",
            description: "",
            history: false,
        }],
        forks: true,
        successors: &[Target {
            slug: "mason",
            name: "Mason",
            description: "Builds.",
        }],
        board: Some(BoardRoster {
            implementers: &[Target {
                slug: "coder",
                name: "Coder",
                description: "Writes code.",
            }],
            reviewers: &[],
            reviewers_required: false,
        }),
    };

    #[test]
    fn figures_of_the_profile_stand_in_the_definition() {
        let read = definition(ToolName::ReadFile, VARIANTS).unwrap();
        assert!(read.parameters.to_string().contains("Omitted: 250."));
        let shell = definition(ToolName::Shell, VARIANTS).unwrap();
        assert!(
            shell
                .description
                .contains("last 120 lines or 6000 characters")
        );
    }

    #[test]
    fn a_tool_without_its_policy_has_no_definition() {
        assert_eq!(definition(ToolName::Shell, Variants::default()), None);
        assert_eq!(definition(ToolName::CreateIssue, Variants::default()), None);
    }

    #[test]
    fn every_schema_is_closed() {
        for tool in ToolName::ALL {
            if let Some(definition) = definition(*tool, VARIANTS) {
                assert_eq!(definition.parameters["additionalProperties"], json!(false));
            }
        }
    }
}
