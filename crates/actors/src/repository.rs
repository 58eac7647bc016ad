//! Where a git repository keeps its files, and which commit is checked out, read without git.
//!
//! A linked work tree has files of its own and shares the rest with the repository it belongs to.
//! gg's build script reads its own commit with this file too, so it knows nothing but the standard
//! library.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folders a work tree's git files stand in.
pub(crate) struct Repository {
    /// The work tree's own: `HEAD`.
    pub(crate) own: PathBuf,
    /// Shared by all work trees: branches, `info/exclude`.
    pub(crate) common: PathBuf,
}

impl Repository {
    /// The repository whose work tree begins at `dir`; `None` where none does.
    pub(crate) fn of(dir: &Path) -> Option<Self> {
        let dot_git = dir.join(".git");
        let own = if dot_git.is_dir() {
            dot_git
        } else {
            let pointer = read_text(dot_git).ok()?;
            dir.join(pointer.strip_prefix("gitdir:")?.trim())
        };
        let common = match read_text(own.join("commondir")) {
            Ok(common) => own.join(common.trim()),
            Err(_) => own.clone(),
        };
        Some(Self { own, common })
    }

    /// The commit that is checked out; `None` on a branch without one.
    pub(crate) fn head(&self) -> Option<String> {
        let head = read_text(self.own.join("HEAD")).ok()?;
        let Some(branch) = head.trim().strip_prefix("ref: ") else {
            return Some(head.trim().to_owned());
        };
        if let Ok(commit) = read_text(self.common.join(branch)) {
            return Some(commit.trim().to_owned());
        }
        let packed = read_text(self.common.join("packed-refs")).ok()?;
        packed
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(_, name)| *name == branch)
            .map(|(commit, _)| commit.to_owned())
    }
}

fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read_regular(path)?).map_err(io::Error::other)
}

/// Reads a regular file. A pipe or a device may keep a reader for ever; a file of a repository is
/// neither.
pub(crate) fn read_regular(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    if !fs::metadata(path)?.is_file() {
        let why = format!("`{}` is no regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    fs::read(path)
}
