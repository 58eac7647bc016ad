//! A board's git, by the real `git`: worktrees, commits, merges, and proof before anything goes
//! (03 §7.5, R34, R44).
//!
//! [`Repository`] has one method an operation; all of them are asynchronous and may be awaited on
//! any runtime, best on a [`GitThread`], so that starting a process costs nobody else anything.
//! What touches the workspace itself (cutting, merging, checking, undoing) is done one after
//! another, in the order asked; worktrees are worked on beside it.
//!
//! Always true:
//! - Every commit is gg's own: no hook runs, nothing is signed, and no configuration but the
//!   repository's own is read.
//! - A folder goes only once git finds everything in it on its branch; a branch only where it is
//!   an ancestor of what it was merged into.
//! - A merge that does not succeed leaves the workspace's branch and tracked files as they were.
//! - A repository that gg does not know how to work on is refused at [`Repository::open`], in one
//!   sentence that says what to do.
//!
//! What it leaves to others: who merges and when.

mod asked;
mod begun;
mod change_map;
mod error;
mod given_up;
mod hidden;
mod journal;
mod lease;
mod markers;
mod merge;
mod open;
mod process;
mod restore;
mod shield;
mod stage;
mod status;
mod sweep;
mod text;
mod thread;
mod usable;
mod worktree;

#[cfg(test)]
pub(crate) mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use error::GitError;
pub use open::{Leftover, Opened, Options};
pub use sweep::Stays;
pub use thread::{GitThread, Gone};

use lease::Lease;
use merge::OpenMerge;
use process::Git;

/// How long a lock of another git is waited for.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// The repository a run works on. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Repository(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    git: Git,
    /// The workspace, with links resolved.
    workspace: PathBuf,
    /// The git folder of the workspace itself.
    own: PathBuf,
    /// The git folder that all work trees share.
    common: PathBuf,
    /// Where worktrees are made.
    trees: PathBuf,
    /// The same folder, held as long as the run lives.
    held: Lease,
    /// The workspace, held alike.
    workspace_held: Lease,
    /// Files that git takes for unchanged in the workspace, whatever they hold.
    unseen: Vec<PathBuf>,
    /// Taken by whatever touches the workspace.
    main: tokio::sync::Mutex<MainTree>,
    /// Taken while a folder of a worktree comes or goes, behind `main` where both are: a git that
    /// removes one reads what the repository notes of every other, and fails over one that is half
    /// made.
    folders: tokio::sync::Mutex<()>,
}

/// What is known of the workspace between two operations.
#[derive(Debug, Default)]
struct MainTree {
    /// The merge that conflicted and is neither resolved nor undone.
    open: Option<OpenMerge>,
}

impl Repository {
    /// The workspace, with links resolved.
    pub fn workspace(&self) -> &Path {
        &self.0.workspace
    }

    /// Removes the folder for worktrees at the run's end, where none is left in it, and what held
    /// the workspace. Nothing is worked on after that.
    ///
    /// # Errors
    ///
    /// What the system says, but for a folder that holds something or is gone.
    pub fn close(&self) -> Result<(), GitError> {
        use std::io::ErrorKind::{DirectoryNotEmpty, NotFound};
        self.0.workspace_held.remove();
        match std::fs::remove_dir(&self.0.trees) {
            // What is left in it is looked at by a later run, by the lease.
            Err(error) if error.kind() == DirectoryNotEmpty => return Ok(()),
            Err(error) if error.kind() != NotFound => {
                return Err(GitError::io(&self.0.trees, error));
            }
            _ => {}
        }
        self.0.held.remove();
        Ok(())
    }

    fn git(&self) -> &Git {
        &self.0.git
    }
}
