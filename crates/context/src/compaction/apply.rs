//! A boundary applied to a window: what stands for the conversation, and what is put beside it.

use std::sync::Arc;

use vocab::band::Band;
use vocab::message::{Image, Message};

use super::Answer;
use crate::prompts::{self, Heading, PromptError, Unread};
use crate::reframe::{SUMMARY, reframed};
use crate::window::{NewItem, Region, Restart, Restarted, Window};

/// What a boundary puts into the window besides what is pinned.
#[derive(Clone, Debug, Default)]
pub struct Material {
    /// Documentation views rendered anew, in first-open order.
    pub docs: Vec<NewItem>,
    /// The files a `compact` call named, read anew: [`file_view`] makes them.
    pub files: Vec<NewItem>,
    /// Those that could not be read.
    pub unread: Vec<Unread>,
    /// Whether the agent keeps memories, which the fixed note then points to.
    pub memories: bool,
}

/// A boundary that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What it made of the window.
    pub restarted: Restarted,
    /// What stands for the conversation, as recorded: a summary without its heading, or the note.
    pub summary: Arc<str>,
    /// Whether the note stands where a summary was asked for.
    pub fallback: bool,
}

/// Restarts a window on an answer. The modules' blocks are to be refreshed before.
///
/// # Errors
///
/// A template that does not render; then nothing has changed.
pub fn apply(
    window: &mut Window,
    answer: &Answer,
    material: Material,
    turn: u32,
) -> Result<Applied, PromptError> {
    let summary: Arc<str> = match answer {
        Answer::Prose(text) => text.as_str().into(),
        Answer::Compact(call) => call.summary.as_str().into(),
        Answer::Memories | Answer::Fallback => prompts::compaction_note(material.memories)?.into(),
    };
    let mut text = prompts::headed(&Heading::of(SUMMARY), &summary)?;
    if !material.unread.is_empty() {
        text.push_str("\n\n");
        text.push_str(&prompts::compaction_unread(&material.unread)?);
    }
    let said = Message::User {
        text: text.into(),
        images: Vec::new(),
    };
    let restart = Restart {
        docs: material.docs,
        files: material.files,
        summary: NewItem::new(Band::History, turn, said),
    };
    Ok(Applied {
        restarted: window.restart(restart, reframed)?,
        summary,
        fallback: *answer == Answer::Fallback,
    })
}

/// A file read anew for a restarted window: no call stands before it, so it is headed.
///
/// # Errors
///
/// A template that does not render.
pub fn file_view(
    path: &str,
    region: Option<Region>,
    text: &str,
    image: Option<Image>,
    turn: u32,
) -> Result<NewItem, PromptError> {
    let heading = Heading {
        word: "File",
        name: Some(path),
        region,
    };
    let message = Message::User {
        text: prompts::headed(&heading, text)?.into(),
        images: image.into_iter().collect(),
    };
    Ok(NewItem {
        selector: Some(path.into()),
        region,
        ..NewItem::new(Band::FileView, turn, message)
    })
}
