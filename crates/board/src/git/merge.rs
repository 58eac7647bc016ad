//! Merging into the workspace, and judging what became of a conflict (03 §7.5, R34).

use std::path::Path;

use crate::protocol::{MergeEnd, Resolution};

use super::error::GitError;
use super::markers;
use super::open::under_way;
use super::process::{Git, Invocation};
use super::{MainTree, Repository};

/// Merges tried while somebody writes into the workspace between its commit and the merge.
const TRIES: u32 = 3;

/// First parents looked at for the commit that was merged into.
const HISTORY: &str = "--max-count=10000";

/// A merge that conflicted.
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
    pub(super) paths: Vec<(String, usize)>,
}

impl OpenMerge {
    /// What is merged into, in a sentence.
    fn target(&self) -> &str {
        self.into.as_deref().unwrap_or("HEAD")
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
            if let Some(what) = under_way(&self.0.own) {
                return Err(GitError::Unsupported(format!(
                    "a {what} that is not gg's is under way in the workspace"
                )));
            }
            let status = git.status(dir, false).await?;
            let into = status.branch.clone();
            let before = self.commit_pending(status).await?;
            let before = before.ok_or(GitError::Misplaced("the workspace has no commit"))?;
            self.spares_ignored(&before, commit).await?;
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
            let output = git.ask(&merge).await?;
            let open = OpenMerge {
                branch: branch.to_owned(),
                commit: commit.to_owned(),
                into,
                before,
                paths: Vec::new(),
            };
            if output.ok() {
                return self.landed(main, open).await;
            }
            if self.0.own.join("MERGE_HEAD").exists() {
                let output = [output.stdout, output.stderr].concat();
                let output = String::from_utf8_lossy(&output).trim().to_owned();
                return self.conflict(main, open, output).await;
            }
            said = output.said();
            // Somebody wrote where the merge was to write: that is committed, and tried again.
            if !said.contains("would be overwritten") {
                break;
            }
        }
        Err(GitError::Failed {
            what: format!("merge {branch}"),
            said,
        })
    }

    /// Refuses to write over what the workspace ignores: nobody could bring it back.
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
        let text = String::from_utf8_lossy(&output.stdout);
        let there: Vec<_> = (text.split('\0'))
            .filter(|path| !path.is_empty() && std::fs::symlink_metadata(dir.join(path)).is_ok())
            .collect();
        if there.is_empty() {
            return Ok(());
        }
        let tracked = Invocation::new(dir, ["ls-files", "-z", "--"]);
        let tracked = there.iter().fold(tracked, |list, path| {
            list.arg(format!(":(literal,top){path}"))
        });
        let tracked = self.git().run(tracked).await?;
        let tracked = String::from_utf8_lossy(&tracked.stdout).into_owned();
        let tracked: Vec<_> = tracked.split('\0').collect();
        let lost: Vec<_> = (there.into_iter())
            .filter(|path| !tracked.contains(path))
            .collect();
        if lost.is_empty() {
            return Ok(());
        }
        Err(GitError::Unsupported(format!(
            "the merge would write over `{}`, which the workspace holds and ignores",
            lost.join("`, `")
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
        output: String,
    ) -> Result<MergeEnd, GitError> {
        let status = self.git().status(self.workspace(), false).await?;
        let mut paths = status.unmerged;
        paths.sort();
        open.paths = (paths.iter())
            .map(|path| {
                // A path may also be in conflict for not being there.
                let text = std::fs::read(self.workspace().join(path)).unwrap_or_default();
                (path.clone(), markers::size(&text, &open.branch))
            })
            .collect();
        let into = open.target().to_owned();
        main.open = Some(open);
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
            Ok(Ok(commit)) => {
                main.open = None;
                Resolution::Resolved { commit }
            }
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
        if let Some(what) = under_way(&self.0.own) {
            return Ok(Err(format!("a {what} is still open in the workspace")));
        }
        if !status.unmerged.is_empty() {
            return Ok(Err(format!(
                "`{}` is still in conflict",
                status.unmerged.join("`, `")
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
        for (path, size) in &open.paths {
            let resolved = blob(self.git(), self.workspace(), &head, path).await?;
            let ours = blob(self.git(), self.workspace(), &open.before, path).await?;
            let theirs = blob(self.git(), self.workspace(), &open.commit, path).await?;
            if let Some(line) = markers::left(&resolved, &ours, &theirs, *size, &open.branch) {
                return Ok(Err(format!("`{path}` still has the line `{line}`")));
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
async fn blob(git: &Git, dir: &Path, commit: &str, path: &str) -> Result<Vec<u8>, GitError> {
    let name = format!("{commit}:{path}");
    let output = git
        .ask(&Invocation::new(dir, ["cat-file", "blob", &name]))
        .await?;
    Ok(if output.ok() {
        output.stdout
    } else {
        Vec::new()
    })
}
