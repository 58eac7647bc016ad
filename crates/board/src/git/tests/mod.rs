//! Real repositories in temporary folders, and what agents and strangers do to them.

mod bending;
#[path = "../../../../../tests/src/executable.rs"]
#[allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    unreachable_pub,
    reason = "of tests, which the suites of the binary share"
)]
mod executable;
mod guarded;
mod killed;
mod merging;
mod opening;
mod sweeping;
mod worktrees;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{GitError, Opened, Options, Repository};
use crate::issue::Worktree;
use crate::protocol::Committed;

/// A folder with a workspace in it.
pub(crate) struct Field {
    folder: tempfile::TempDir,
}

impl Field {
    /// A workspace without a repository.
    pub(crate) fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ws")).unwrap();
        Self { folder }
    }

    /// A workspace with a repository and a commit.
    pub(crate) async fn new() -> Self {
        let field = Self::bare();
        field
            .sh(
                "git init -q -b main . && git config user.name me && git config user.email me@x \
                 && printf 'one\\ntwo\\nthree\\n' >a.txt && echo '*.log' >.gitignore \
                 && git add -A && git commit -qm first",
            )
            .await;
        field
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            workspace: self.workspace(),
            trees: self.folder.path().join("trees"),
            run: "run".to_owned(),
            program: "git".into(),
            patience: Duration::from_secs(10),
        }
    }

    pub(crate) async fn open(&self) -> (Repository, Opened) {
        Repository::open(self.options()).await.unwrap()
    }

    pub(crate) async fn refused(&self) -> String {
        let mut options = self.options();
        options.patience = Duration::from_millis(100);
        let found = Repository::examine(&options).await;
        let refused = Repository::open(options).await.unwrap_err();
        // A lock may go; whatever else refuses is found without opening.
        if !matches!(refused, GitError::Locked { .. }) {
            assert_eq!(found.unwrap_err().to_string(), refused.to_string());
        }
        refused.to_string()
    }

    /// Runs a script in the workspace.
    pub(crate) async fn sh(&self, script: &str) -> String {
        sh(&self.workspace(), script).await
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::write(self.workspace().join(path), text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.workspace().join(path)).unwrap()
    }

    /// The tracked state: HEAD, its branch, and the files.
    pub(crate) async fn state(&self) -> String {
        self.sh(
            "git rev-parse HEAD; git symbolic-ref -q HEAD; git status --porcelain; \
                 for f in $(git ls-files); do echo \"== $f\"; cat \"$f\"; done; \
                 ls .git/MERGE_HEAD 2>/dev/null || true",
        )
        .await
    }
}

/// Runs a script that has to succeed.
pub(crate) async fn sh(dir: &Path, script: &str) -> String {
    let output = tokio::process::Command::new("sh")
        .arg("-c")
        .arg(format!("set -e\n{script}"))
        .current_dir(dir)
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "agent")
        .env("GIT_AUTHOR_EMAIL", "agent@x")
        .env("GIT_COMMITTER_NAME", "agent")
        .env("GIT_COMMITTER_EMAIL", "agent@x")
        .output()
        .await
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{script}\n{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text.trim_end().to_owned()
}

/// A worktree in which a script was run, and its commit.
pub(super) async fn worked(
    repository: &Repository,
    stem: &str,
    script: &str,
) -> (Worktree, Result<Committed, GitError>) {
    let worktree = repository.cut(stem).await.unwrap();
    sh(&worktree.path, script).await;
    let committed = repository.commit(&worktree, "work").await;
    (worktree, committed)
}

/// As [`worked`], where the commit succeeds.
pub(super) async fn did(
    repository: &Repository,
    stem: &str,
    script: &str,
) -> (Worktree, Committed) {
    let (worktree, committed) = worked(repository, stem, script).await;
    (worktree, committed.unwrap())
}
