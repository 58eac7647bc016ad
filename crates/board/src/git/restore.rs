//! Undoing a merge that was not resolved: the workspace as it was, and nothing lost that somebody
//! committed meanwhile.

use std::ffi::OsString;
use std::path::Path;

use super::begun::{self, under_way};
use super::error::GitError;
use super::journal::{Note, Stage};
use super::merge::{OpenMerge, blob};
use super::process::Invocation;
use super::stage::Nested;
use super::status::Status;
use super::worktree::numbered;
use super::{MainTree, Repository};

/// Names tried for a branch.
const NAMES: u32 = 1000;

impl Repository {
    /// Undoes the open merge. Its answer names the branches that keep what was committed while it
    /// was open.
    ///
    /// # Errors
    ///
    /// Where the workspace is not as it was before; the merge then still counts as open.
    pub async fn restore(&self) -> Result<Vec<String>, GitError> {
        let mut main = self.0.main.lock().await;
        self.undo(&mut main).await
    }

    pub(super) async fn undo(&self, main: &mut MainTree) -> Result<Vec<String>, GitError> {
        let Some(open) = &main.open else {
            return Err(GitError::Misplaced("no merge is open"));
        };
        // Undoing comes first: where it cannot be noted, the conflict still is. A merge that git
        // failed over stays noted as what it is.
        if !open.failed {
            open.note(Stage::Undoing).write(&self.0.own).ok();
        }
        let kept = self.go_back(open).await?;
        Note::clear(&self.0.own)?;
        main.open = None;
        Ok(kept)
    }

    async fn go_back(&self, open: &OpenMerge) -> Result<Vec<String>, GitError> {
        let (dir, git) = (self.workspace(), self.git());
        // What git knows how to undo it undoes with care for what others wrote meanwhile. Where it
        // cannot, the look below finds out.
        for _ in 0..3 {
            let Some(begun) = under_way(&self.0.own) else {
                break;
            };
            let abort = Invocation::new(dir, begun.back);
            if !git.ask(&abort).await?.ok() {
                break;
            }
        }
        let mut status = git.status(dir, false).await?;
        let mut kept = Vec::new();
        if !self.is_back(open, &status) {
            kept = self.keep(open, &status).await?;
            let back = |force: &[&str]| {
                let mut back = Invocation::new(dir, ["checkout", "-q"]);
                for argument in force {
                    back = back.arg(argument);
                }
                match &open.into {
                    Some(branch) => back.arg("-B").arg(branch).arg(&open.before),
                    None => back.arg("--detach").arg(&open.before),
                }
            };
            if under_way(&self.0.own).is_some() || !git.ask(&back(&[])).await?.ok() {
                kept.extend(self.keep_tree(open, &status).await?);
                git.run(Invocation::new(dir, ["reset", "-q", "--hard"]))
                    .await?;
                self.quit(dir, &self.0.own).await?;
                for begun in begun::all(&self.0.own) {
                    git.run(Invocation::new(dir, begun.back)).await?;
                }
                git.run(back(&["-f"])).await?;
            }
            status = git.status(dir, false).await?;
        }
        if self.is_back(open, &status) {
            if open.failed {
                kept.extend(self.take_back(open, status).await?);
            }
            return Ok(kept);
        }
        Err(GitError::Unsupported(format!(
            "the workspace could not be brought back to `{}` at {}",
            open.into.as_deref().unwrap_or("HEAD"),
            open.before
        )))
    }

    /// Takes back what git wrote of a merge that it failed over, for a full disk for one: else it
    /// would be committed as work of the workspace. What is certainly git's goes; where anything
    /// else is among it, all is kept on a branch first.
    async fn take_back(
        &self,
        open: &OpenMerge,
        mut status: Status,
    ) -> Result<Option<String>, GitError> {
        let (dir, git) = (self.workspace(), self.git());
        let note = open.note(Stage::Merging);
        let mut back = Invocation::new(dir, ["checkout", "-q", "HEAD", "--"]);
        let mut changed = false;
        for path in note.half_written(git, dir, &status).await? {
            if !self.is_part(&path, open).await? {
                let kept = self.keep_tree(open, &status).await?;
                git.run(Invocation::new(dir, ["reset", "-q", "--hard"]))
                    .await?;
                return Ok(kept);
            }
            if status.untracked.contains(&path) {
                let place = dir.join(&path);
                std::fs::remove_file(&place).map_err(|error| GitError::io(place, error))?;
                status.untracked.retain(|other| *other != path);
            } else {
                let mut only = OsString::from(":(literal,top)");
                only.push(&path);
                back = back.arg(only);
                changed = true;
            }
        }
        if changed {
            git.run(back).await?;
        }
        Ok(None)
    }

    /// Whether a file is gone, or holds the beginning of what the merged commit has there, and
    /// nothing else.
    async fn is_part(&self, path: &Path, open: &OpenMerge) -> Result<bool, GitError> {
        let dir = self.workspace();
        let place = dir.join(path);
        match std::fs::symlink_metadata(&place) {
            Ok(kind) if !kind.is_file() => return Ok(false),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(GitError::io(place, error)),
        }
        let found = std::fs::read(&place).map_err(|error| GitError::io(place, error))?;
        let whole = blob(self.git(), dir, &open.commit, path).await?;
        Ok(whole.starts_with(&found))
    }

    fn is_back(&self, open: &OpenMerge, status: &Status) -> bool {
        status.branch == open.into
            && status.commit.as_ref() == Some(&open.before)
            && status.unmerged.is_empty()
            && under_way(&self.0.own).is_none()
    }

    /// Gives a branch to each commit that going back would leave without one.
    async fn keep(&self, open: &OpenMerge, status: &Status) -> Result<Vec<String>, GitError> {
        let mut commits: Vec<String> = status.commit.iter().cloned().collect();
        if let Some(into) = &open.into {
            let tip = format!("refs/heads/{into}");
            let tip = Invocation::new(self.workspace(), ["rev-parse", "--verify", "-q", &tip]);
            let tip = self.git().ask(&tip).await?;
            if tip.ok() && !commits.contains(&tip.text()) {
                commits.push(tip.text());
            }
        }
        let mut kept = Vec::new();
        for commit in commits {
            if !self.is_ancestor(&commit, &open.before).await?
                && !self.is_ancestor(&commit, &open.commit).await?
            {
                kept.push(self.name(open, &commit).await?);
            }
        }
        Ok(kept)
    }

    /// Commits the tree as it stands, to a branch of its own, where that differs from HEAD.
    async fn keep_tree(
        &self,
        open: &OpenMerge,
        status: &Status,
    ) -> Result<Option<String>, GitError> {
        let Some(head) = status.commit.as_ref().filter(|_| !status.is_clean()) else {
            return Ok(None);
        };
        let (dir, git) = (self.workspace(), self.git());
        git.stage(dir, status, Nested::Leave).await?;
        let tree = git.run(Invocation::new(dir, ["write-tree"])).await?.text();
        let message = format!("What the workspace held while `{}` was merged", open.branch);
        let make = ["commit-tree", &tree, "-p", head, "-m", &message];
        let commit = git.run(Invocation::new(dir, make)).await?.text();
        self.name(open, &commit).await.map(Some)
    }

    /// Makes a branch of gg's for a commit.
    async fn name(&self, open: &OpenMerge, commit: &str) -> Result<String, GitError> {
        let stem = format!("{}-unmerged", open.branch);
        for number in 1..=NAMES {
            let branch = numbered(&stem, number);
            let name = format!("refs/heads/{branch}");
            // An empty old value: only where there is none of that name.
            let create = Invocation::new(self.workspace(), ["update-ref", &name, commit, ""]);
            if self.git().ask(&create).await?.ok() {
                return Ok(branch);
            }
        }
        Err(GitError::Misplaced("no name is left for a branch"))
    }
}
