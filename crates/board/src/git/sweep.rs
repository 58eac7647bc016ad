//! What runs that were killed left among the worktrees of all runs, swept away by a later one.
//!
//! A run holds a lease beside its folder from before the folder is there. A folder whose lease can
//! be taken is nobody's any more; of it goes what git itself finds whole on a branch, as it would
//! have gone at that run's end, and the branch stays.
//!
//! Always true: nothing goes of a folder whose lease is held or missing; nothing goes that holds a
//! file which is not committed, ignored ones included, or a commit that no branch reaches; what
//! stays is named.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use vocab::listed::Listed;

use super::begun;
use super::error::GitError;
use super::lease::{Lease, Taken};
use super::open::FOLDER;
use super::process::{Git, Invocation};
use super::text::shown;
use super::worktree::pointer;

/// Worktrees looked at by one run: each costs a few commands, and a run wants to begin.
const MOST: usize = 64;

/// A folder of an earlier run that was not swept away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stays {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// The lease of a run's folder.
pub(super) fn lease_of(trees: &Path) -> PathBuf {
    let mut name = trees.as_os_str().to_owned();
    name.push(".lease");
    name.into()
}

impl Git {
    /// Sweeps the folders beside a run's own.
    pub(super) async fn sweep(&self, trees: &Path) -> Vec<Stays> {
        let mut stays = Vec::new();
        let Some(all) = trees.parent().filter(|parent| parent.ends_with(FOLDER)) else {
            return stays;
        };
        let mut left = MOST;
        for run in others(all, trees) {
            if left == 0 {
                break;
            }
            match self.sweep_run(&run, &mut left).await {
                Ok(of_it) => stays.extend(of_it),
                Err(error) => stays.push(Stays {
                    why: error.to_string(),
                    path: run,
                }),
            }
        }
        stays
    }

    async fn sweep_run(&self, run: &Path, left: &mut usize) -> Result<Vec<Stays>, GitError> {
        let io = |error| GitError::io(run, error);
        let lease = match Lease::inherit(&lease_of(run)).map_err(io)? {
            Some(Taken::Mine(lease)) => lease,
            // Its run goes on.
            Some(Taken::Theirs(_)) => return Ok(Vec::new()),
            None => {
                return Ok(vec![Stays {
                    path: run.to_owned(),
                    why: "it has no lease that would tell whether its run goes on".to_owned(),
                }]);
            }
        };
        let mut stays = Vec::new();
        for path in entries(run).map_err(io)? {
            let over = if *left == 0 {
                Err(GitError::Misplaced("it was not looked at yet"))
            } else {
                *left -= 1;
                self.remove_finished(&path).await
            };
            if let Err(error) = over {
                let why = error.to_string();
                stays.push(Stays { path, why });
            }
        }
        match std::fs::remove_dir(run) {
            Ok(()) => lease.remove(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => lease.remove(),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Err(error) => return Err(io(error)),
        }
        Ok(stays)
    }

    /// Removes a worktree of a run that is gone, where all of it is on its branch.
    async fn remove_finished(&self, path: &Path) -> Result<(), GitError> {
        let unfinished = |why: &str| Err(GitError::Unsupported(why.to_owned()));
        let own = pointer(path)?;
        let status = self.status(path, true).await?;
        if status.branch.is_none() || status.commit.is_none() {
            return unfinished("what it has checked out is on no branch");
        }
        if !status.is_clean() || !status.nested.is_empty() {
            return unfinished("it holds what is not committed");
        }
        if !status.ignored.is_empty() {
            return Err(GitError::Unsupported(format!(
                "it holds {}, which git ignores",
                Listed(&shown(&status.ignored))
            )));
        }
        if let Some(begun) = begun::under_way(&own) {
            return Err(GitError::Unsupported(format!(
                "{} is under way in it",
                begun.what
            )));
        }
        self.holds_nothing_else(path).await?;
        let given_up = self.given_up(path, &own).await?;
        if !given_up.is_empty() {
            return Err(GitError::Unsupported(format!(
                "commits were made in it that no branch keeps: {}",
                Listed(&given_up)
            )));
        }
        let common = own.join("commondir");
        let common = std::fs::read_to_string(&common)
            .map(|text| own.join(text.trim_end()))
            .map_err(|error| GitError::io(common, error))?;
        let mut at = OsString::from("--git-dir=");
        at.push(&common);
        // Unforced, it refuses whatever is changed, not tracked, or locked.
        let remove = Invocation::anywhere(&common, [&*at, "worktree".as_ref(), "remove".as_ref()]);
        let remove = remove.arg(path);
        self.run(remove).await?;
        Ok(())
    }
}

/// The folders of other runs of this user's, from one on that differs from run to run, so that
/// those that stay do not keep the rest from being looked at.
fn others(all: &Path, own: &Path) -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let ours = |path: &Path| {
        let found = std::fs::symlink_metadata(path);
        found.is_ok_and(|found| found.is_dir() && found.uid() == user)
    };
    // Where it cannot be read, nothing is swept.
    let mut runs = entries(all).unwrap_or_default();
    // A lease whose folder is gone is taken for one with an empty folder.
    for path in &mut runs {
        if path.extension() == Some(OsStr::new("lease")) {
            path.set_extension("");
        }
    }
    runs.sort();
    runs.dedup();
    runs.retain(|path| path != own && (ours(path) || !path.exists()));
    let first = runs.partition_point(|path| &**path < own);
    runs.rotate_left(first);
    runs
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}
