//! Getting what a work tree holds into a commit, whatever stands in the way (03 §7.5).
//!
//! Git stages it where it can. Where a filter or an encoding of the repository's attributes fails,
//! the bytes are stored as they are: work is not lost over a converter. A repository inside the
//! work tree would become an entry that names a commit nobody else has, so its files are stored
//! as files; in the workspace itself it is left out.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::error::GitError;
use super::process::{Git, Invocation};
use super::status::Status;
use super::text::{os, path, records};

/// What becomes of repositories inside a work tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nested {
    /// Their files are committed as files.
    Carry,
    /// They stay where they are and are not committed.
    Leave,
}

impl Git {
    /// Commits everything that is not ignored, where there is anything.
    pub(super) async fn commit_all(
        &self,
        dir: &Path,
        status: &Status,
        nested: Nested,
        message: &str,
    ) -> Result<(), GitError> {
        self.stage(dir, status, nested).await?;
        let commit = Invocation::new(
            dir,
            [
                "commit",
                "-q",
                "--no-verify",
                "--no-gpg-sign",
                "--no-post-rewrite",
                "--cleanup=verbatim",
                "-m",
                message,
            ],
        );
        let output = self.ask(&commit).await?;
        // What a filter gave back as it was before differs on the disk and nowhere else.
        let nothing = output.code == Some(1) && output.stderr.is_empty();
        if output.ok() || nothing {
            return Ok(());
        }
        Err(GitError::Failed {
            what: "commit".to_owned(),
            said: output.said(),
        })
    }

    /// Puts everything that is not ignored into the index.
    pub(super) async fn stage(
        &self,
        dir: &Path,
        status: &Status,
        nested: Nested,
    ) -> Result<(), GitError> {
        let add = |more: &[&str]| {
            let mut add = Invocation::new(dir, ["add", "-A"]);
            for argument in more {
                add = add.arg(argument);
            }
            add = add.arg("--").arg(".");
            for path in &status.nested {
                let mut not = OsString::from(":(exclude,literal,top)");
                not.push(path);
                add = add.arg(not);
            }
            add
        };
        let output = self.ask(&add(&[])).await?;
        if !output.ok() {
            // One file stops the rest; then the rest goes first.
            self.ask(&add(&["--ignore-errors"])).await?;
            self.stage_raw(dir, &output.said()).await?;
        }
        if nested == Nested::Carry {
            for path in &status.nested {
                self.carry(dir, path).await?;
            }
        }
        Ok(())
    }

    /// Stores what could not be staged as it is on the disk.
    async fn stage_raw(&self, dir: &Path, said: &str) -> Result<(), GitError> {
        let left = Invocation::new(
            dir,
            [
                "ls-files",
                "-z",
                "--modified",
                "--others",
                "--exclude-standard",
            ],
        );
        let left = self.run(left).await?;
        let paths = records(&left.stdout);
        if paths.iter().any(|path| path.ends_with(b"/")) {
            // A repository that appeared since the tree was looked at.
            return Err(GitError::Failed {
                what: "add".to_owned(),
                said: said.to_owned(),
            });
        }
        self.store(dir, Path::new(""), &paths).await
    }

    /// Commits the files of a repository inside a work tree as files.
    async fn carry(&self, dir: &Path, nested: &Path) -> Result<(), GitError> {
        let mut open = vec![nested.to_owned()];
        while let Some(nested) = open.pop() {
            let inside = dir.join(&nested);
            if !inside.join(".git").exists() {
                // An entry for a repository that was never fetched: an empty folder.
                continue;
            }
            let list = Invocation::new(
                &inside,
                [
                    "ls-files",
                    "-z",
                    "--cached",
                    "--others",
                    "--exclude-standard",
                ],
            );
            let files = self.run(list).await?;
            let (folders, files): (Vec<_>, Vec<_>) = records(&files.stdout)
                .into_iter()
                .partition(|path| path.ends_with(b"/") || inside.join(os(path)).is_dir());
            open.extend((folders.into_iter()).map(|folder| nested.join(path(folder))));
            self.store(dir, &nested, &files).await?;
        }
        Ok(())
    }

    /// The name of no object, as long as the repository's names are.
    async fn no_object(&self, dir: &Path) -> Result<String, GitError> {
        let format = Invocation::new(dir, ["rev-parse", "--show-object-format"]);
        let sha256 = self.run(format).await?.text() == "sha256";
        Ok("0".repeat(if sha256 { 64 } else { 40 }))
    }

    /// Puts files into the index as they are, past every attribute.
    async fn store(&self, dir: &Path, below: &Path, paths: &[&[u8]]) -> Result<(), GitError> {
        let mut rows = Vec::new();
        let nothing = self.no_object(dir).await?;
        for name in paths {
            let path = below.join(os(name));
            let full = dir.join(&path);
            let kind = match std::fs::symlink_metadata(&full) {
                Ok(kind) => kind,
                // It is tracked and gone.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    rows.extend_from_slice(format!("0 {nothing}\t").as_bytes());
                    rows.extend_from_slice(path.as_os_str().as_bytes());
                    rows.push(0);
                    continue;
                }
                Err(error) => return Err(GitError::io(full, error)),
            };
            let (mode, bytes) = if kind.is_symlink() {
                let target = std::fs::read_link(&full);
                let target = target.map_err(|error| GitError::io(&full, error))?;
                ("120000", target.as_os_str().as_bytes().to_vec())
            } else if kind.is_file() {
                let bytes = std::fs::read(&full).map_err(|error| GitError::io(&full, error))?;
                let runs = kind.permissions().mode() & 0o100 != 0;
                (if runs { "100755" } else { "100644" }, bytes)
            } else {
                // A pipe, a socket: git knows no such thing.
                continue;
            };
            let hash = Invocation::new(dir, ["hash-object", "-w", "--no-filters", "--stdin"]);
            let hash = self.run(hash.input(bytes)).await?.text();
            rows.extend_from_slice(format!("{mode} {hash}\t").as_bytes());
            rows.extend_from_slice(path.as_os_str().as_bytes());
            rows.push(0);
        }
        if rows.is_empty() {
            return Ok(());
        }
        let update = Invocation::new(dir, ["update-index", "-z", "--index-info"]);
        self.run(update.input(rows)).await?;
        Ok(())
    }
}
