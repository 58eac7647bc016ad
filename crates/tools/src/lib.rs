//! Acting on a workspace: files, search, commands.
//!
//! A call is parsed from a model's JSON ([`parse`]), then carried out: file tools block and belong
//! on a blocking thread ([`run_file`]); commands run on a thread of their own and are awaited
//! ([`shell::Runner`]). A write or an edit is a plan, then its application ([`write::Plan`]),
//! so that whoever stands between sees the file as it would become.
//!
//! Always true: every result and every failure is deterministic text, made of what the workspace
//! holds; nothing here knows of agents or models.

#![expect(
    clippy::format_push_string,
    reason = "notes are short, and `write!` into a String fails in no way worth a branch"
)]

mod arguments;
mod call;
mod edit;
mod explain;
mod faults;
mod given;
mod halt;
mod image;
mod list;
mod open_files;
mod output;
mod paths;
pub mod procfs;
mod read;
mod replace;
mod search;
pub mod shell;
mod text;
mod tree;
pub mod write;

pub use arguments::Arguments;
pub use call::{
    Call, DEFAULT_TIMEOUT, EditFile, ListDir, MAX_TIMEOUT, ReadFile, Search, Shell, WriteFile,
    parse,
};
pub use faults::{Faults, MOST_ITEMS, MOST_NAME, MOST_TEXT};
pub use halt::{Halt, halted};
pub use image::{dimensions, sniff};
pub use list::{DirEntry, EntryKind, as_text as listing, list};
pub use open_files::raise_limit;
pub use paths::Place;
pub use read::{FilePolicy, FileRead, Picture, REQUEST_PICTURES, TextRead, read};
pub use search::{Found, SearchMatch, search};
pub use tree::{Tree, tree};
pub use vocab::line::quoted;

use vocab::failure::Failure;
use vocab::message::Image;

/// What a served file call answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The text of the result.
    pub text: String,
    /// Pictures beside it.
    pub images: Vec<Image>,
    /// The view a read opens, keyed by path (04 §3).
    pub view: Option<View>,
}

impl Done {
    /// A result of text alone.
    pub(crate) fn of_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// A file view: what of which file a result shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The path as the call gave it.
    pub path: String,
    /// The lines shown; `None` for a whole file or a picture.
    pub region: Option<Region>,
}

/// Lines of a file, from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first line shown.
    pub first: u64,
    /// The last line shown.
    pub last: u64,
    /// Lines of the file.
    pub total: u64,
}

/// Carries out a file call. Blocks on the disk: call it from a blocking thread, and raise `halt`
/// when its answer is no longer wanted.
///
/// A [`Call::Shell`] is no file call and answers [`vocab::failure::FailureClass::Other`].
pub fn run_file(
    call: &Call,
    place: &Place,
    policy: &FilePolicy,
    halt: &Halt,
) -> Result<Done, Failure> {
    match call {
        Call::ReadFile(call) => Ok(read(call, place, policy, halt)?.into_done(&call.path)),
        Call::WriteFile(_) | Call::EditFile(_) => write::plan(call, place)?.apply(),
        Call::ListDir(call) => Ok(Done::of_text(list::as_text(&list(call, place)?))),
        Call::Search(call) => Ok(Done::of_text(search(call, place, halt)?.as_text())),
        Call::Shell(_) => Err(Failure::new(
            vocab::failure::FailureClass::Other,
            "a command is not run as a file call",
        )),
    }
}

#[cfg(test)]
mod tests;
