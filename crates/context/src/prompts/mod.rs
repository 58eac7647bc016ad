//! What gg says to a model: the templates of `templates/`, rendered.
//!
//! Strict Handlebars without escaping. Every text a model reads from gg stands in a template,
//! tool definitions and tool results aside (R61); a template is embedded in the binary and
//! compiled when it is first rendered, since compiling costs as much as the rest of a start.
//!
//! Always true: rendering one context twice gives one text, and a context holds nothing that
//! differs between two runs of one configuration, so that runs share what a provider has cached.

mod briefs;
mod code_surface;
mod code_turn;
mod context;
mod delegation;
mod hooks;
mod knowledge;
mod machine;
mod succession;
mod template;
mod window;

use vocab::tools::EndingCall;

pub use briefs::{
    ChangeLine, IssueBrief, ItemLine, MergeBrief, ReviewBrief, VerdictLine, brief_fix,
    brief_implement, brief_merge, brief_review, items,
};
pub use code_surface::{CodeSurface, ModuleImport, ProgramBounds, ProgramLanguage, ProgramLibrary};
pub use code_turn::{
    Carrier, CodeCompaction, CodeNotice, Declined, NotSubmitted, RuntimeError, Stopped,
    code_compaction, code_compaction_restated, code_notice, compiler_error, more_failures,
    no_program, not_submitted, nothing_shown, runtime_error,
};
pub use context::{
    AutoloadSection, CompactionSection, ManagedSection, ReadFile, Shell, SystemContext,
};
pub use delegation::{RosterLine, SubagentsSection, agent_message};
pub use hooks::{ending_blocked, hook_message};
pub use knowledge::{
    MemoriesSection, SkillLine, SkillsSection, TasksSection, manual, memories, memory_notice,
    task_list,
};
pub use machine::{ExitLine, MachineSection};
pub use succession::{
    ChildLine, ExecSection, ForkNote, ForkSection, MachineLine, ModuleLine, SuccessionNote,
    fork_note, succession_note,
};
use template::templates;
pub use window::{
    BandShare, CompactionInstruction, Heading, SignalContext, Undone, Unread, ViewShare,
    compaction_instruction, compaction_note, compaction_restated, compaction_unread,
    context_signal, evicted_view, handoff_instruction, handoff_system, headed, repetition_notice,
    superseded_picture,
};

templates! {
    SYSTEM_TOOL_CALLING = "system_tool_calling",
    SYSTEM_CODE = "system_code",
    MISSING_CALL = "missing_call",
    PICTURE_REMOVED = "picture_removed",
}

/// The name an operator's whole-template override goes by in sentences.
const OVERRIDE: &str = "systemPrompt";

/// A template that could not be used. Of gg's own it is a defect; so it is of an override that
/// parses and does not render (01 §9.6).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromptError {
    /// It is not Handlebars.
    #[error("template `{name}` does not parse at line {line}, column {column}: {reason}")]
    Parse {
        /// The template.
        name: &'static str,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the parser says, in one line.
        reason: String,
    },
    /// It asks for what the context does not carry.
    #[error("template `{name}` does not render at line {line}, column {column}: {reason}")]
    Render {
        /// The template.
        name: &'static str,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What the engine says.
        reason: String,
    },
}

impl PromptError {
    /// The same, met so many lines further down.
    fn moved(mut self, lines: usize) -> Self {
        match &mut self {
            Self::Parse { line, .. } | Self::Render { line, .. } => *line += lines,
        }
        self
    }
}

/// Renders an agent's system prompt: the operator's custom instructions as written, then gg's
/// template of the way it answers, or the one that replaces it.
pub fn system(
    context: &SystemContext,
    custom_instructions: Option<&str>,
    override_template: Option<&str>,
) -> Result<String, PromptError> {
    let text = match override_template {
        None => template_of(context.code.is_some()).render(context)?,
        Some(source) => template::render_once(OVERRIDE, source, context)?,
    };
    Ok(match custom_instructions {
        Some(instructions) if !instructions.trim().is_empty() => {
            format!("{}\n\n{text}", instructions.trim_end())
        }
        _ => text,
    })
}

/// gg's system template: of agents that answer with programs, or that call tools.
fn template_of(code: bool) -> &'static template::Embedded {
    if code {
        &SYSTEM_CODE
    } else {
        &SYSTEM_TOOL_CALLING
    }
}

/// Compiles the system template ahead of its first rendering, which waits for it: that of agents
/// that answer with programs, or that call tools. For a thread of its own at the start of a run:
/// compiling takes as long as starting the cast.
pub fn warm(code: bool) {
    template_of(code).warm();
}

/// Judges a whole-template override as a launch does: whether it parses. Refused, it is answered
/// by a sentence with line and column.
pub fn check_override(source: &str) -> Result<(), String> {
    template::parse(OVERRIDE, source).map_err(|error| error.to_string())
}

/// The text of a message whose picture a provider refused: what stood beside it, and a note.
pub fn picture_removed(text: &str) -> Result<String, PromptError> {
    PICTURE_REMOVED.render(&context::PictureRemoved { text })
}

/// Answers a reply that called no tool (`missing_completion_no_call`).
pub fn missing_call(endings: &[EndingCall]) -> Result<String, PromptError> {
    MISSING_CALL.render(&context::MissingCall { endings })
}

/// Every embedded template: its name, and its source as a console shows it.
pub fn templates() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.into_iter()
        .chain(window::ALL)
        .chain(knowledge::ALL)
        .chain(delegation::ALL)
        .chain(succession::ALL)
        .chain(hooks::ALL)
        .chain(briefs::ALL)
        .chain(code_turn::ALL)
        .map(|template| (template.name, template.source))
}
