//! The worktrees of issues: cut, committed, put back, put away.

use std::path::{Path, PathBuf};

use crate::issue::Worktree;
use crate::protocol::{Committed, PutAway};

use super::Repository;
use super::begun::{self, under_way};
use super::error::GitError;
use super::process::Invocation;
use super::stage::Nested;
use super::status::Status;
use super::text::shown;

/// Names tried for a branch before the repository is believed to be strange.
const NAMES: u32 = 1000;

impl Repository {
    /// Cuts a worktree from the workspace's HEAD, what is pending there committed first. While a
    /// conflict is open it is cut from HEAD as it stands.
    pub async fn cut(&self, branch_stem: &str) -> Result<Worktree, GitError> {
        let main = self.0.main.lock().await;
        let status = self.git().status(self.workspace(), false).await?;
        let settled = main.open.is_none() && under_way(&self.0.own).is_none();
        let baseline = if settled && status.unmerged.is_empty() {
            self.commit_pending(status).await?
        } else {
            status.commit
        };
        let baseline = baseline.ok_or(GitError::Misplaced("the workspace has no commit"))?;
        let mut last = None;
        for number in 1..=NAMES {
            let branch = numbered(branch_stem, number);
            let path = self
                .0
                .trees
                .join(branch.replace("gg/", "").replace('/', "-"));
            if path.exists() {
                continue;
            }
            let add = Invocation::new(
                self.workspace(),
                ["worktree", "add", "-q", "--no-track", "-b", &branch],
            );
            let add = add.arg(&path).arg(&baseline);
            let output = {
                let _folders = self.0.folders.lock().await;
                self.git().ask(&add).await?
            };
            if output.ok() {
                return Ok(Worktree {
                    path,
                    branch,
                    baseline,
                });
            }
            let said = output.said();
            // A branch of an earlier run, or of an earlier life of the issue, keeps its name.
            let taken = said.contains("already exists");
            last = Some(GitError::Failed {
                what: format!("worktree add -b {branch}"),
                said,
            });
            if !taken {
                // Git takes a folder back that it could not fill, and leaves the branch.
                if !path.exists() {
                    let branch = format!("refs/heads/{branch}");
                    let delete = ["update-ref", "-d", &branch, &baseline];
                    let delete = Invocation::new(self.workspace(), delete);
                    // Why the worktree could not be cut is what is told.
                    self.git().ask(&delete).await.ok();
                }
                break;
            }
        }
        Err(last.unwrap_or(GitError::Misplaced("no name is left for a worktree")))
    }

    /// Commits everything a worktree holds to its branch, ignored files excepted.
    pub async fn commit(&self, worktree: &Worktree, message: &str) -> Result<Committed, GitError> {
        let (commit, mut ignored, nested) = self.commit_to_branch(worktree, message).await?;
        let between = self
            .git()
            .between(&worktree.path, &worktree.baseline, &commit)
            .await?;
        if !between.gitlinks.is_empty() {
            return Err(GitError::Unsupported(format!(
                "its branch names a commit of another repository at `{}`, which nobody else has; \
                 commit the files themselves",
                between.gitlinks.join("`, `")
            )));
        }
        ignored.extend(nested.iter().map(|path| format!("{path}/.git/")));
        Ok(Committed {
            commit,
            changes: between.map,
            ignored,
        })
    }

    /// Puts a worktree back to a commit; what is ignored stays.
    pub async fn reset(&self, worktree: &Worktree, commit: &str) -> Result<(), GitError> {
        let own = sound(worktree)?;
        let dir = &worktree.path;
        self.unlock(worktree, &own).await;
        self.quit(dir, &own).await?;
        let head = format!("refs/heads/{}", worktree.branch);
        let head = Invocation::new(dir, ["symbolic-ref", "HEAD", &head]);
        self.git().run(head).await?;
        self.git()
            .run(Invocation::new(dir, ["reset", "-q", "--hard", commit]))
            .await?;
        let clean = Invocation::new(dir, ["clean", "-q", "-ffd"]);
        self.git().run(clean).await?;
        Ok(())
    }

    /// Removes the folder and the branch of what was merged. Both stay where something came in
    /// since.
    pub async fn remove(&self, worktree: &Worktree, commit: &str) -> PutAway {
        match self.try_remove(worktree, commit).await {
            Ok(end) => end,
            Err(error) => PutAway::Kept(error.to_string()),
        }
    }

    /// Commits everything a worktree holds to its branch, then removes the folder.
    pub async fn discard(&self, worktree: &Worktree, message: &str) -> PutAway {
        let discard = async {
            self.commit_to_branch(worktree, message).await?;
            self.remove_folder(worktree).await
        };
        match discard.await {
            Ok(()) => PutAway::Removed,
            Err(error) => PutAway::Kept(error.to_string()),
        }
    }

    async fn try_remove(&self, worktree: &Worktree, commit: &str) -> Result<PutAway, GitError> {
        sound(worktree)?;
        let status = self.git().status(&worktree.path, false).await?;
        let on_branch = status.branch.as_ref() == Some(&worktree.branch);
        if !on_branch || status.commit.as_deref() != Some(commit) || !status.is_clean() {
            return Ok(PutAway::Kept(
                "it holds something that was not merged".to_owned(),
            ));
        }
        self.remove_folder(worktree).await?;
        let branch = format!("refs/heads/{}", worktree.branch);
        // With the commit that is expected there: a branch that moved stays.
        let delete = Invocation::new(self.workspace(), ["update-ref", "-d", &branch, commit]);
        // The folder is gone, whatever becomes of the branch.
        Ok(match self.git().ask(&delete).await {
            Ok(output) if output.ok() => PutAway::Removed,
            Ok(output) => PutAway::BranchKept(output.said()),
            Err(error) => PutAway::BranchKept(error.to_string()),
        })
    }

    /// Removes a folder in which git finds nothing that is not on its branch.
    async fn remove_folder(&self, worktree: &Worktree) -> Result<(), GitError> {
        self.git().holds_nothing_else(&worktree.path).await?;
        // Unforced, it refuses whatever is changed, not tracked, or locked.
        let remove = Invocation::new(self.workspace(), ["worktree", "remove"]);
        let remove = remove.arg(&worktree.path);
        let _folders = self.0.folders.lock().await;
        self.git().run(remove).await?;
        Ok(())
    }

    /// The tip of the branch behind it, what is ignored, and repositories inside.
    async fn commit_to_branch(
        &self,
        worktree: &Worktree,
        message: &str,
    ) -> Result<(String, Vec<String>, Vec<String>), GitError> {
        let own = sound(worktree)?;
        let dir = &worktree.path;
        self.unlock(worktree, &own).await;
        let status = self.git().status(dir, true).await?;
        // A branch without a commit is one that was deleted while it was checked out.
        let on_branch = status.branch.as_ref() == Some(&worktree.branch) && status.commit.is_some();
        self.quit(dir, &own).await?;
        let dirty =
            !status.is_clean() || !status.nested.is_empty() || own.join("MERGE_HEAD").exists();
        let mut commit = status.commit.clone();
        if !on_branch {
            commit = Some(self.bring_to_branch(worktree, &status, message).await?);
        } else if dirty {
            self.git()
                .commit_all(dir, &status, Nested::Carry, message)
                .await?;
            let head = Invocation::new(dir, ["rev-parse", "HEAD"]);
            commit = Some(self.git().run(head).await?.text());
        }
        let mut commit =
            commit.ok_or(GitError::Misplaced("the worktree's branch has no commit"))?;
        if status.commit.as_ref() != Some(&worktree.baseline)
            && !self.is_ancestor(&worktree.baseline, &commit).await?
        {
            commit = self.put_upon_baseline(worktree, &commit, message).await?;
        }
        Ok((commit, shown(&status.ignored), shown(&status.nested)))
    }

    /// Commits a worktree that has something else checked out to its branch, so that all of it
    /// can be reached from there: the branch, what was checked out, and what is in the tree.
    async fn bring_to_branch(
        &self,
        worktree: &Worktree,
        status: &Status,
        message: &str,
    ) -> Result<String, GitError> {
        let dir = &worktree.path;
        let git = self.git();
        git.stage(dir, status, Nested::Carry).await?;
        let tree = git.run(Invocation::new(dir, ["write-tree"])).await?.text();
        let branch = format!("refs/heads/{}", worktree.branch);
        let tip = Invocation::new(dir, ["rev-parse", "--verify", "-q", &branch]);
        let tip = git.ask(&tip).await?;
        let tip = if tip.ok() {
            tip.text()
        } else {
            worktree.baseline.clone()
        };
        let mut make = Invocation::new(dir, ["commit-tree", &tree, "-m", message, "-p", &tip]);
        if let Some(head) = status.commit.as_ref().filter(|head| **head != tip) {
            make = make.arg("-p").arg(head);
        }
        let commit = git.run(make).await?.text();
        git.run(Invocation::new(dir, ["update-ref", &branch, &commit]))
            .await?;
        git.run(Invocation::new(dir, ["symbolic-ref", "HEAD", &branch]))
            .await?;
        Ok(commit)
    }

    /// Commits what a branch holds once more, upon the commit the worktree was cut from: an agent
    /// that amended that commit or went back behind it has a branch that lacks it, and a merge
    /// would start from somewhere else than what was reviewed. What the branch was is a further
    /// parent.
    async fn put_upon_baseline(
        &self,
        worktree: &Worktree,
        tip: &str,
        message: &str,
    ) -> Result<String, GitError> {
        let (dir, git) = (&worktree.path, self.git());
        let tree = format!("{tip}^{{tree}}");
        let base = &worktree.baseline;
        let make = ["commit-tree", &tree, "-m", message, "-p", base, "-p", tip];
        let commit = git.run(Invocation::new(dir, make)).await?.text();
        let branch = format!("refs/heads/{}", worktree.branch);
        let update = ["update-ref", &branch, &commit, tip];
        git.run(Invocation::new(dir, update)).await?;
        Ok(commit)
    }

    /// Lets go of a rebase or another sequence that nobody will finish; the tree stays as it is.
    pub(super) async fn quit(&self, dir: &Path, own: &Path) -> Result<(), GitError> {
        for quit in begun::all(own).into_iter().filter_map(|begun| begun.quit) {
            self.git().run(Invocation::new(dir, quit)).await?;
        }
        Ok(())
    }

    /// Removes locks that a killed git left in an issue's own worktree and on its branch: its
    /// agents have ended, and they are waited for like any other before.
    async fn unlock(&self, worktree: &Worktree, own: &Path) {
        let branch = format!("refs/heads/{}.lock", worktree.branch);
        let locks = [
            own.join("index.lock"),
            own.join("HEAD.lock"),
            self.0.common.join(branch),
        ];
        let there: Vec<_> = locks.iter().filter(|lock| lock.exists()).collect();
        for (place, lock) in there.iter().enumerate() {
            // All of them were there before the first was waited for.
            let stays = if place == 0 {
                !self.git().lock_goes(lock).await
            } else {
                lock.exists()
            };
            if stays {
                // Where it cannot be removed, the next command says so.
                std::fs::remove_file(lock).ok();
            }
        }
    }

    /// Commits what the workspace holds beside its HEAD, and says what HEAD is then.
    pub(super) async fn commit_pending(&self, status: Status) -> Result<Option<String>, GitError> {
        if status.is_clean() {
            return Ok(status.commit);
        }
        let message = "Work in the workspace\n\nCommitted before a worktree is cut or a branch \
                       merged.";
        let dir = self.workspace();
        self.git()
            .commit_all(dir, &status, Nested::Leave, message)
            .await?;
        let head = Invocation::new(dir, ["rev-parse", "HEAD"]);
        Ok(Some(self.git().run(head).await?.text()))
    }
}

/// A branch's name, or its n-th.
pub(super) fn numbered(stem: &str, number: u32) -> String {
    if number == 1 {
        stem.to_owned()
    } else {
        format!("{stem}-{number}")
    }
}

/// The git folder of a worktree whose `.git` leads where it was made to lead, and back.
///
/// Without this look a git would search the folders above, and might commit to another repository.
fn sound(worktree: &Worktree) -> Result<PathBuf, GitError> {
    pointer(&worktree.path)
}

/// The same of a folder that is a worktree, if it is one.
pub(super) fn pointer(worktree: &Path) -> Result<PathBuf, GitError> {
    let damaged = |found: String| GitError::Damaged {
        path: worktree.to_owned(),
        found,
    };
    let file = worktree.join(".git");
    let text = std::fs::read(&file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => damaged("is not there".to_owned()),
        _ => damaged(format!("cannot be read: {error}")),
    })?;
    let text = String::from_utf8_lossy(&text);
    let own = text.strip_prefix("gitdir:").map(str::trim);
    let Some(own) = own.map(PathBuf::from) else {
        return Err(damaged("is no pointer to a git folder".to_owned()));
    };
    let back = std::fs::read_to_string(own.join("gitdir")).unwrap_or_default();
    if Path::new(back.trim()) != file {
        return Err(damaged(format!("leads to `{}`", own.display())));
    }
    Ok(own)
}
