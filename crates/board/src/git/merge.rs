//! Merging into the workspace, and judging what became of a conflict (03 §7.5, R34).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use vocab::listed::Listed;

use crate::protocol::{MergeEnd, Resolution};

use super::begun::under_way;
use super::error::GitError;
use super::journal::{Note, Stage};
use super::markers;
use super::process::{Git, Invocation};
use super::status::Status;
use super::text::{path, records, shown};
use super::{MainTree, Repository};

/// Merges tried while somebody writes into the workspace between its commit and the merge.
const TRIES: u32 = 3;

/// First parents looked at for the commit that was merged into.
const HISTORY: &str = "--max-count=10000";

/// A merge that conflicted, or that git failed over.
#[derive(Clone, Debug)]
pub(super) struct OpenMerge {
    /// The branch, as markers name it.
    pub(super) branch: String,
    /// Its commit.
    pub(super) commit: String,
    /// The branch merged into; `None` where HEAD was detached.
    pub(super) into: Option<String>,
    /// HEAD before.
    pub(super) before: String,
    /// Paths in conflict, and how long their markers are.
    pub(super) paths: Vec<(PathBuf, usize)>,
    /// It did not conflict: git failed over it, and may have written a part of it.
    pub(super) failed: bool,
}

impl OpenMerge {
    /// What is merged into, in a sentence.
    fn target(&self) -> &str {
        self.into.as_deref().unwrap_or("HEAD")
    }

    /// What is noted of it, lest it be killed.
    pub(super) fn note(&self, stage: Stage) -> Note {
        Note {
            stage,
            branch: self.branch.clone(),
            commit: self.commit.clone(),
            into: self.target().to_owned(),
            before: self.before.clone(),
        }
    }
}

impl Repository {
    /// Merges a commit into what the workspace has checked out, what is pending there committed
    /// first. A conflict stays open in the workspace.
    pub async fn merge(&self, branch: &str, commit: &str, message: &str) -> MergeEnd {
        let mut main = self.0.main.lock().await;
        match self.try_merge(&mut main, branch, commit, message).await {
            Ok(end) => end,
            Err(error) => MergeEnd::Failed(error.to_string()),
        }
    }

    async fn try_merge(
        &self,
        main: &mut MainTree,
        branch: &str,
        commit: &str,
        message: &str,
    ) -> Result<MergeEnd, GitError> {
        if main.open.is_some() {
            return Err(GitError::Misplaced("another merge is open"));
        }
        let (dir, git) = (self.workspace(), self.git());
        let mut said = String::new();
        for _ in 0..TRIES {
            if let Some(begun) = under_way(&self.0.own) {
                return Err(GitError::Unsupported(format!(
                    "{} that is not gg's is under way in the workspace",
                    begun.what
                )));
            }
            let status = git.status(dir, false).await?;
            let into = status.branch.clone();
            let before = self.commit_pending(status).await?;
            let before = before.ok_or(GitError::Misplaced("the workspace has no commit"))?;
            self.spares(&before, commit).await?;
            self.unlocked(into.as_deref()).await?;
            let merge = Invocation::new(
                dir,
                [
                    "merge",
                    "--no-ff",
                    "--no-edit",
                    "--no-stat",
                    "--no-log",
                    "--no-verify",
                    "--no-gpg-sign",
                    "--no-verify-signatures",
                    "--no-squash",
                    "--commit",
                    "--no-autostash",
                    "--cleanup=verbatim",
                    "-m",
                    message,
                    branch,
                ],
            );
            let mut open = OpenMerge {
                branch: branch.to_owned(),
                commit: commit.to_owned(),
                into,
                before,
                paths: Vec::new(),
                failed: false,
            };
            open.note(Stage::Merging).write(&self.0.own)?;
            let output = git.ask(&merge).await?;
            if output.ok() {
                return self.landed(main, open).await;
            }
            if self.0.own.join("MERGE_HEAD").exists() {
                let status = git.status(dir, false).await?;
                if !status.unmerged.is_empty() {
                    let output = [output.stdout, output.stderr].concat();
                    let output = String::from_utf8_lossy(&output).trim().to_owned();
                    return self.conflict(main, open, status, output).await;
                }
                // Nothing conflicts: git could not end it, over a lock of somebody's. There is
                // nothing in that for an agent to resolve.
                main.open = Some(open);
                self.undo(main).await?;
                said = output.said();
                continue;
            }
            said = output.said();
            // Somebody wrote where the merge was to write, before git wrote anything: that is
            // committed, and tried again.
            if said.contains("would be overwritten") {
                Note::clear(&self.0.own)?;
                continue;
            }
            open.failed = true;
            main.open = Some(open);
            match self.undo(main).await {
                Ok(kept) if kept.is_empty() => {}
                Ok(kept) => {
                    said = format!(
                        "{said}; what the workspace held then stays on `{}`",
                        kept.join("`, `")
                    );
                }
                Err(error) => {
                    said = format!("{said}; what it wrote could not be taken back: {error}");
                }
            }
            break;
        }
        Err(GitError::Failed {
            what: format!("merge {branch}"),
            said,
        })
    }

    /// Waits for what a merge would fail over only once it had begun: the locks of others on the
    /// workspace and on the branch that is merged into.
    async fn unlocked(&self, into: Option<&str>) -> Result<(), GitError> {
        let own = &self.0.own;
        let branch = into.map(|into| self.0.common.join(format!("refs/heads/{into}.lock")));
        for lock in [own.join("index.lock"), own.join("HEAD.lock")]
            .into_iter()
            .chain(branch)
        {
            if !self.git().lock_goes(&lock).await {
                let secs = self.git().patience_secs();
                return Err(GitError::Locked { lock, secs });
            }
        }
        Ok(())
    }

    /// Refuses to write over what nobody could bring back: files that the workspace ignores, and
    /// those that git takes for unchanged whatever they hold.
    async fn spares(&self, before: &str, commit: &str) -> Result<(), GitError> {
        self.spares_ignored(before, commit).await?;
        if self.0.unseen.is_empty() {
            return Ok(());
        }
        let range = format!("{before}...{commit}");
        let args = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
        let diff = Invocation::new(self.workspace(), args).arg(range);
        let touched = self.git().run(diff).await?;
        let touched: Vec<_> = (records(&touched.stdout).into_iter())
            .map(path)
            .filter(|path| self.0.unseen.contains(path))
            .collect();
        if touched.is_empty() {
            return Ok(());
        }
        Err(GitError::Unsupported(format!(
            "the merge would write over {}, which git was told to take for unchanged (`git \
             update-index`)",
            Listed(&shown(&touched))
        )))
    }

    async fn spares_ignored(&self, before: &str, commit: &str) -> Result<(), GitError> {
        let range = format!("{before}...{commit}");
        let args = [
            "diff",
            "--name-only",
            "-z",
            "--no-renames",
            "--diff-filter=A",
            "--no-ext-diff",
            &range,
        ];
        let dir = self.workspace();
        let output = self.git().run(Invocation::new(dir, args)).await?;
        let mut there = BTreeSet::new();
        for added in records(&output.stdout) {
            // A file may also stand where the merge needs a folder.
            for (above, place) in path(added).ancestors().enumerate() {
                if let Ok(found) = std::fs::symlink_metadata(dir.join(place)) {
                    if above == 0 || !found.is_dir() {
                        there.insert(place.to_owned());
                    }
                    break;
                }
            }
        }
        if there.is_empty() {
            return Ok(());
        }
        let args = [
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--",
        ];
        let ignored = (there.iter()).fold(Invocation::new(dir, args), |list, place| {
            let mut only = OsString::from(":(literal,top)");
            only.push(place);
            list.arg(only)
        });
        let ignored = self.git().run(ignored).await?;
        let lost: Vec<_> = records(&ignored.stdout).into_iter().map(path).collect();
        if lost.is_empty() {
            return Ok(());
        }
        Err(GitError::Unsupported(format!(
            "the merge would write over {}, which the workspace holds and ignores",
            Listed(&shown(&lost))
        )))
    }

    /// Git merged. That it merged the commit that was approved is looked at too.
    async fn landed(&self, main: &mut MainTree, open: OpenMerge) -> Result<MergeEnd, GitError> {
        let head = Invocation::new(self.workspace(), ["rev-parse", "HEAD", "HEAD^2"]);
        let output = self.git().ask(&head).await?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines();
        let commit = lines.next().unwrap_or_default().to_owned();
        let merged = output.ok() && lines.next() == Some(&open.commit);
        // A branch without a commit of its own is merged already, by no merge.
        if merged || commit == open.before && self.is_ancestor(&open.commit, &commit).await? {
            Note::clear(&self.0.own)?;
            return Ok(MergeEnd::Merged { commit });
        }
        let branch = open.branch.clone();
        main.open = Some(open);
        self.undo(main).await?;
        Err(GitError::Unsupported(format!(
            "the branch `{branch}` has moved since it was approved"
        )))
    }

    async fn conflict(
        &self,
        main: &mut MainTree,
        mut open: OpenMerge,
        status: Status,
        output: String,
    ) -> Result<MergeEnd, GitError> {
        let mut paths = status.unmerged;
        paths.sort();
        open.paths = (paths.iter())
            .map(|path| {
                // A path may also be in conflict for not being there.
                let text = std::fs::read(self.workspace().join(path)).unwrap_or_default();
                (path.clone(), markers::size(&text, &open.branch))
            })
            .collect();
        let paths = shown(&paths);
        let into = open.target().to_owned();
        let note = open.note(Stage::Conflict);
        main.open = Some(open);
        if let Err(error) = note.write(&self.0.own) {
            self.undo(main).await?;
            return Err(error);
        }
        Ok(MergeEnd::Conflict {
            paths,
            into,
            output,
        })
    }

    /// Whether the conflict that is open is resolved, by git's word alone. One that is, is no
    /// longer open.
    pub async fn check(&self) -> Resolution {
        let mut main = self.0.main.lock().await;
        let judged = match &main.open {
            Some(open) => self.judge(open).await,
            None => Err(GitError::Misplaced("no merge is open")),
        };
        match judged {
            Ok(Ok(commit)) => match Note::clear(&self.0.own) {
                Ok(()) => {
                    main.open = None;
                    Resolution::Resolved { commit }
                }
                Err(error) => Resolution::Unresolved(error.to_string()),
            },
            Ok(Err(why)) => Resolution::Unresolved(why),
            Err(error) => Resolution::Unresolved(error.to_string()),
        }
    }

    /// HEAD where it is resolved, else why it is not.
    async fn judge(&self, open: &OpenMerge) -> Result<Result<String, String>, GitError> {
        let status = self.git().status(self.workspace(), false).await?;
        if status.branch != open.into {
            return Ok(Err(format!(
                "the workspace has `{}` checked out and not `{}`, which was merged into",
                status.branch.as_deref().unwrap_or("a detached HEAD"),
                open.target()
            )));
        }
        if let Some(begun) = under_way(&self.0.own) {
            return Ok(Err(format!(
                "{} is still open in the workspace",
                begun.what
            )));
        }
        if !status.unmerged.is_empty() {
            return Ok(Err(format!(
                "`{}` is still in conflict",
                shown(&status.unmerged).join("`, `")
            )));
        }
        let Some(head) = status.commit else {
            return Ok(Err("the workspace has no commit".to_owned()));
        };
        if !self.is_ancestor(&open.commit, &head).await? {
            return Ok(Err(format!(
                "`{}` is not merged into `{}`",
                open.branch,
                open.target()
            )));
        }
        let line = ["rev-list", "--first-parent", HISTORY, &head];
        let line = Invocation::new(self.workspace(), line);
        let line = self.git().run(line).await?.text();
        if !line.lines().any(|commit| commit == open.before) {
            return Ok(Err(format!(
                "the history of `{}` was rewritten",
                open.target()
            )));
        }
        let dir = self.workspace();
        let between = self.git().between(dir, &open.before, &head).await?;
        if !between.gitlinks.is_empty() {
            return Ok(Err(format!(
                "{} names a commit of another repository, which nobody else has",
                Listed(&between.gitlinks)
            )));
        }
        for (path, size) in &open.paths {
            let resolved = blob(self.git(), self.workspace(), &head, path).await?;
            let ours = blob(self.git(), self.workspace(), &open.before, path).await?;
            let theirs = blob(self.git(), self.workspace(), &open.commit, path).await?;
            if let Some(line) = markers::left(&resolved, &ours, &theirs, *size, &open.branch) {
                return Ok(Err(format!(
                    "`{}` still has the line `{line}`",
                    path.display()
                )));
            }
        }
        Ok(Ok(head))
    }

    pub(super) async fn is_ancestor(&self, one: &str, other: &str) -> Result<bool, GitError> {
        let ask = ["merge-base", "--is-ancestor", one, other];
        let ask = Invocation::new(self.workspace(), ask);
        let output = self.git().ask(&ask).await?;
        match output.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(GitError::Failed {
                what: "merge-base".to_owned(),
                said: output.said(),
            }),
        }
    }
}

/// A file of a commit; empty where the commit has none.
pub(super) async fn blob(
    git: &Git,
    dir: &Path,
    commit: &str,
    path: &Path,
) -> Result<Vec<u8>, GitError> {
    let mut name = OsString::from(format!("{commit}:"));
    name.push(path);
    let output = git
        .ask(&Invocation::new(
            dir,
            ["cat-file".into(), "blob".into(), name],
        ))
        .await?;
    Ok(if output.ok() {
        output.stdout
    } else {
        Vec::new()
    })
}
