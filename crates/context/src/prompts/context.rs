//! What a template may reference: these types are the documented list.
//!
//! A capability that is off is `None` or `false`, and always there: strict rendering refuses a
//! name the context does not carry.

use serde::Serialize;
use vocab::operations::EndingRole;
use vocab::tools::EndingCall;

use super::code_surface::CodeSurface;
use super::delegation::SubagentsSection;
use super::knowledge::{MemoriesSection, SkillsSection, TasksSection};
use super::machine::MachineSection;
use super::succession::{ExecSection, ForkSection};

/// The variables of a system prompt, for gg's template and for an override alike.
///
/// Nothing here may differ between two runs of one configuration: no path, id or date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemContext {
    /// The calls that end the agent, as it writes them, in offered order.
    pub endings: Vec<&'static str>,
    /// The language and the modules of an agent that answers with programs.
    pub code: Option<CodeSurface>,
    /// Whether the agent reviews another's work.
    pub review: bool,
    /// The working window, tokens.
    pub window_limit: u64,
    /// Reading files, where on.
    pub read_file: Option<ReadFile>,
    /// Whether writing files is on.
    pub write_file: bool,
    /// Whether editing files is on.
    pub edit_file: bool,
    /// Whether listing directories is on.
    pub list_dir: bool,
    /// Whether searching is on.
    pub search: bool,
    /// Running commands, where on.
    pub shell: Option<Shell>,
    /// What becomes of a full window, where compaction is on.
    pub compaction: Option<CompactionSection>,
    /// What the agent may take out of its window, where it holds such a call.
    pub managed: Option<ManagedSection>,
    /// How the files it opens on stand in its window, where there are some.
    pub autoload: Option<AutoloadSection>,
    /// The task list, where on.
    pub tasks: Option<TasksSection>,
    /// Memories, where the agent holds some.
    pub memories: Option<MemoriesSection>,
    /// Skills, where there are some to read.
    pub skills: Option<SkillsSection>,
    /// Other agents to put to work, where there are some.
    pub subagents: Option<SubagentsSection>,
    /// The state of a machine it stands in, where there is a way out of it.
    pub machine: Option<MachineSection>,
    /// Copying itself, where it can.
    pub fork: Option<ForkSection>,
    /// Becoming another agent, where it can.
    pub exec: Option<ExecSection>,
}

impl SystemContext {
    /// The context of an agent that calls tools and has nothing but its ending calls.
    pub fn new(role: EndingRole, window_limit: u64) -> Self {
        let endings = EndingCall::of_role(role).iter();
        Self {
            endings: endings.map(|call| call.as_str()).collect(),
            code: None,
            review: role == EndingRole::Review,
            window_limit,
            read_file: None,
            write_file: false,
            edit_file: false,
            list_dir: false,
            search: false,
            shell: None,
            compaction: None,
            managed: None,
            autoload: None,
            tasks: None,
            memories: None,
            skills: None,
            subagents: None,
            machine: None,
            fork: None,
            exec: None,
        }
    }

    /// The context of an agent that answers with programs and has nothing but what its surface
    /// says.
    pub fn of_code(role: EndingRole, window_limit: u64, mut code: CodeSurface) -> Self {
        Self {
            endings: std::mem::take(&mut code.endings),
            code: Some(code),
            ..Self::new(role, window_limit)
        }
    }
}

/// Who summarizes a full window. Exactly one of `prose`, `compact`, `memories` and `handoff` is
/// true or named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionSection {
    /// The agent, in a reply of plain text.
    pub prose: bool,
    /// The agent, by this call.
    pub compact: Option<&'static str>,
    /// The agent, into its memories and without a summary.
    pub memories: bool,
    /// Another model.
    pub handoff: bool,
}

/// The calls by which an agent frees its window; `null` where it does not hold one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManagedSection {
    /// Evicts file views.
    pub evict: Option<&'static str>,
    /// Archives turns.
    pub archive: Option<&'static str>,
}

/// How autoloaded files stand in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AutoloadSection {
    /// Whether they stay in it verbatim.
    pub locked: bool,
}

/// How files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadFile {
    /// Lines of a read without `limit`; `null` where that means all of them.
    pub line_cap: Option<u64>,
    /// Whether the model is declared to take no pictures, so that they are described.
    pub blind: bool,
}

/// How a command's output is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shell {
    /// Whether all output also goes to files.
    pub offload: bool,
    /// Lines shown.
    pub max_lines: u64,
    /// Characters shown.
    pub max_chars: u64,
}

/// The variables of the answer to a reply without a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MissingCall<'a> {
    /// The calls that end the agent, in offered order.
    pub(super) endings: &'a [EndingCall],
}

/// What `picture_removed` may reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PictureRemoved<'a> {
    /// The text that stood beside the picture.
    pub(super) text: &'a str,
}
