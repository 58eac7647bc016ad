//! The desk: the files that lie open as an agent of a persistent profile ends, for the next one to
//! open on (03 §4).
//!
//! What is kept is where a view leads, not what it showed: the next agent reads the files as they
//! are when it starts. Reading them is the caller's.
//!
//! Always true: an entry is there once; what is pinned, was evicted, archived or compacted away is
//! not open.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use vocab::band::Band;

use crate::opened::{Loaded, read};
use crate::path::{parts, plain};
use crate::window::{NewItem, Window};

/// An open file, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpenFile {
    /// Its path from the agent's root; a file that is not below it keeps the path it was read by.
    pub path: Arc<str>,
    /// The first and the last line that were shown, from 1; `None` for a whole file or a picture.
    pub lines: Option<(u64, u64)>,
}

impl OpenFile {
    /// The line a read of it starts at, and how many lines it asks for.
    pub fn window(&self) -> Option<(u64, u64)> {
        let (first, last) = self.lines?;
        Some((first, last.saturating_sub(first) + 1))
    }
}

/// What lies open, in the order it was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desk {
    /// Several parts of a file are several entries.
    pub files: Vec<OpenFile>,
}

impl Desk {
    /// The desk of an agent that worked below `root` and ends with this window.
    pub fn of(window: &Window, root: &Path) -> Self {
        let mut seen = HashSet::new();
        let files = open_files(window).map(|(path, lines)| OpenFile {
            path: below(root, path),
            lines,
        });
        Self {
            files: files.filter(|file| seen.insert(file.clone())).collect(),
        }
    }

    /// What of it is to be restored: an entry whose path an agent's window holds already, locked
    /// or not, is not. And how many are not.
    pub fn missing_from(&self, window: &Window, root: &Path) -> (Vec<OpenFile>, usize) {
        let held: HashSet<Arc<str>> = window
            .items()
            .iter()
            .filter(|item| item.band == Band::FileView)
            .filter_map(|item| item.selector.as_ref())
            .map(|path| below(root, path))
            .collect();
        let missing = self.files.iter().filter(|file| !held.contains(&file.path));
        let missing: Vec<_> = missing.cloned().collect();
        let open = self.files.len() - missing.len();
        (missing, open)
    }
}

/// The opening items of files that were read again, in their order, of turn 0.
pub fn items(files: Vec<(OpenFile, Loaded)>) -> Vec<NewItem> {
    let pairs = files.into_iter().enumerate().map(|(place, (open, file))| {
        let arguments = match open.window() {
            Some((offset, limit)) => {
                json!({ "path": &*open.path, "offset": offset, "limit": limit })
            }
            None => json!({ "path": &*open.path }),
        };
        read(&format!("desk-{}", place + 1), &arguments, file)
    });
    pairs.flatten().collect()
}

/// Paths and lines of the file views that a window holds and that nothing pins.
fn open_files(window: &Window) -> impl Iterator<Item = (&Arc<str>, Option<(u64, u64)>)> {
    let items = window.items().iter();
    items
        .filter(|item| item.band == Band::FileView && item.is_ephemeral())
        .filter_map(|item| {
            let lines = item.region.map(|region| (region.first, region.last));
            Some((item.selector.as_ref()?, lines))
        })
}

/// A path from a root, in its one spelling; as it was where it does not lead below the root.
fn below(root: &Path, path: &Arc<str>) -> Arc<str> {
    let root = root.to_string_lossy();
    let mut rest = parts(path);
    let leads = path.starts_with('/') && parts(&root).all(|part| rest.next() == Some(part));
    let rest: Vec<_> = rest.collect();
    if leads && !rest.is_empty() {
        rest.join("/").into()
    } else {
        plain(path)
    }
}

#[cfg(test)]
mod tests;
