//! What gg says about the window itself: headings, the signal, compaction, eviction, repetition.

use std::sync::Arc;

use serde::Serialize;
use vocab::line::one_line;

use super::PromptError;
use super::template::templates;
use crate::window::Region;

templates! {
    HEADING = "heading",
    SIGNAL = "context_signal",
    INSTRUCTION = "compaction_instruction",
    RESTATED = "compaction_restated",
    NOTE = "compaction_note",
    UNREAD = "compaction_unread",
    HANDOFF_SYSTEM = "handoff_system",
    HANDOFF_INSTRUCTION = "handoff_instruction",
    EVICTED = "evicted_view",
    SUPERSEDED = "superseded_picture",
    REPETITION = "repetition_notice",
}

/// What heads a message: a word for its kind, and what addresses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Heading<'a> {
    /// `File`, `Output`, `Summary`.
    pub word: &'a str,
    /// A path, a label, a documented name.
    pub name: Option<&'a str>,
    /// The lines of a file.
    pub region: Option<Region>,
}

impl<'a> Heading<'a> {
    /// A heading of one word.
    pub const fn of(word: &'a str) -> Self {
        Self {
            word,
            name: None,
            region: None,
        }
    }
}

/// A text under its heading: the label, a line of dashes, the text as it is.
pub fn headed(heading: &Heading<'_>, text: &str) -> Result<String, PromptError> {
    // A label or a path with a line end in it would forge a heading of gg's.
    let name = heading.name.map(one_line);
    let heading = Heading {
        name: name.as_deref(),
        ..*heading
    };
    Ok(format!("{}\n{text}", HEADING.render(&heading)?))
}

/// The variables of the context-usage signal. Shares are percentages of the working window, as
/// text with one decimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignalContext {
    /// The share of everything.
    pub overall: String,
    /// The bands that hold something, in order.
    pub bands: Vec<BandShare>,
    /// The call that evicts file views, where held.
    pub evict: Option<Arc<str>>,
    /// The call that closes views a program opened, where held.
    pub close: Option<Arc<str>>,
    /// The call that archives turns, where held.
    pub archive: Option<Arc<str>>,
    /// The call that searches what was archived, where held.
    pub search: Option<Arc<str>>,
}

/// One band of the signal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BandShare {
    /// The band's label.
    pub label: &'static str,
    /// Its share.
    pub percent: String,
    /// Under file views, the largest; else empty.
    pub views: Vec<ViewShare>,
}

/// One path of the largest file views.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewShare {
    /// The path.
    pub path: Arc<str>,
    /// The share of all its views.
    pub percent: String,
}

/// The context-usage signal.
pub fn context_signal(context: &SignalContext) -> Result<String, PromptError> {
    SIGNAL.render(context)
}

/// What an agent has to do at a compaction of its own. One of the three.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionInstruction {
    /// A reply in plain text.
    pub prose: bool,
    /// The call that compacts.
    pub compact: Option<&'static str>,
    /// The calls that save memories.
    pub memories: Vec<&'static str>,
}

/// The instruction of a compaction the agent does itself.
pub fn compaction_instruction(context: &CompactionInstruction) -> Result<String, PromptError> {
    INSTRUCTION.render(context)
}

/// What a reply did in place of the compaction it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// It said nothing.
    Blank,
    /// It called nothing.
    Uncalled,
    /// It called what saves nothing.
    Unsaved,
}

/// The instruction again, after a reply that did not do it.
pub fn compaction_restated(instruction: &str, undone: Undone) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Restated<'a> {
        instruction: &'a str,
        blank: bool,
        unsaved: bool,
    }
    RESTATED.render(&Restated {
        instruction,
        blank: undone == Undone::Blank,
        unsaved: undone == Undone::Unsaved,
    })
}

/// What stands where no summary does; `memories` where the agent keeps some.
pub fn compaction_note(memories: bool) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Note {
        memories: bool,
    }
    NOTE.render(&Note { memories })
}

/// A file that was to be read again and was not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// The path, as the call gave it.
    pub path: String,
    /// Why not.
    pub why: String,
}

/// The files a compaction could not read again.
pub fn compaction_unread(unread: &[Unread]) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Files<'a> {
        unread: &'a [Unread],
    }
    let unread: Vec<Unread> = unread
        .iter()
        .map(|file| Unread {
            path: one_line(&file.path).into_owned(),
            why: file.why.clone(),
        })
        .collect();
    UNREAD.render(&Files { unread: &unread })
}

/// The system prompt of a summarizer.
pub fn handoff_system() -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Nothing {}
    HANDOFF_SYSTEM.render(&Nothing {})
}

/// What a summarizer is asked behind the conversation: a call where it is to make one.
pub fn handoff_instruction(compact: Option<&'static str>) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Asked {
        compact: Option<&'static str>,
    }
    HANDOFF_INSTRUCTION.render(&Asked { compact })
}

/// The line in the place of an evicted file view.
pub fn evicted_view(name: Option<&str>) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct View<'a> {
        name: Option<&'a str>,
    }
    let name = name.map(one_line);
    EVICTED.render(&View {
        name: name.as_deref(),
    })
}

/// The text of a superseded view that showed a picture.
pub fn superseded_picture(text: &str, name: Option<&str>) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct View<'a> {
        text: &'a str,
        name: Option<&'a str>,
    }
    let name = name.map(one_line);
    SUPERSEDED.render(&View {
        text,
        name: name.as_deref(),
    })
}

/// What an agent is told that repeats itself; `again` once that is an error.
pub fn repetition_notice(tool: &str, count: u64, again: bool) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Repeated<'a> {
        tool: &'a str,
        count: u64,
        again: bool,
    }
    REPETITION.render(&Repeated { tool, count, again })
}
