//! What a work tree that git calls clean may hold all the same.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use vocab::listed::Listed;

use super::error::GitError;
use super::process::{Git, Invocation};
use super::text::{path, records, shown};

impl Git {
    /// Refuses a work tree that holds what git does not look at: a repository inside with commits
    /// of its own, or a file that git was told to take for unchanged.
    pub(super) async fn holds_nothing_else(&self, dir: &Path) -> Result<(), GitError> {
        // Of each file: how git looks at it, a blank, its path.
        let list = self
            .run(Invocation::new(dir, ["ls-files", "-v", "-z"]))
            .await?;
        let rows: Vec<_> = (records(&list.stdout).into_iter())
            .filter_map(|row| Some((*row.first()?, path(row.get(2..)?))))
            .collect();
        let unseen: Vec<_> = (rows.iter())
            .filter(|(tag, path)| unseen(*tag) && dir.join(path).symlink_metadata().is_ok())
            .map(|(_, path)| path)
            .collect();
        if !unseen.is_empty() {
            return Err(GitError::Unsupported(format!(
                "git was told to take {} for unchanged (`git update-index`), and what it holds may \
                 be nowhere else",
                Listed(&shown(&unseen))
            )));
        }
        let inner = self
            .inner_repositories(dir, rows.iter().map(|(_, path)| &**path))
            .await?;
        if !inner.is_empty() {
            return Err(GitError::Unsupported(format!(
                "{} in it is a repository of its own, whose commits are nowhere else",
                Listed(&shown(&inner))
            )));
        }
        Ok(())
    }

    /// Folders of tracked files that are repositories with commits. Git takes such a folder for an
    /// ordinary one as soon as one file of it is tracked.
    async fn inner_repositories<'a>(
        &self,
        dir: &Path,
        tracked: impl Iterator<Item = &'a Path>,
    ) -> Result<Vec<PathBuf>, GitError> {
        let mut folders = BTreeSet::new();
        for path in tracked {
            for folder in path.ancestors().skip(1) {
                if folder.as_os_str() == OsStr::new("") || !folders.insert(folder) {
                    break;
                }
            }
        }
        folders.retain(|folder| dir.join(folder).join(".git").exists());
        let mut inner = Vec::new();
        for folder in folders {
            let place = dir.join(folder);
            let head = Invocation::new(&place, ["rev-parse", "--verify", "-q", "HEAD"]);
            if self.ask(&head).await?.ok() {
                inner.push(folder.to_owned());
            }
        }
        Ok(inner)
    }
}

/// Whether a file of the index that git shows with this letter is taken for unchanged.
pub(super) const fn taken_for_unchanged(tag: u8) -> bool {
    tag.is_ascii_lowercase()
}

/// Whether git does not look at the file on the disk, where there is one: `S` is a file that is
/// left out of the work tree.
const fn unseen(tag: u8) -> bool {
    taken_for_unchanged(tag) || tag == b'S'
}
