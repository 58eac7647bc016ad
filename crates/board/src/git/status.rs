//! Where a work tree stands: `git status`, read.

use std::path::{Path, PathBuf};

use super::error::GitError;
use super::process::{Git, Invocation};
use super::text::path;

/// A work tree's HEAD and what in it is not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    /// The commit HEAD leads to; `None` before the first one.
    pub(super) commit: Option<String>,
    /// The branch that is checked out; `None` where HEAD is detached.
    pub(super) branch: Option<String>,
    /// Tracked paths that differ from HEAD, staged or not.
    pub(super) changed: Vec<PathBuf>,
    /// Paths in conflict.
    pub(super) unmerged: Vec<PathBuf>,
    /// Files that are not tracked.
    pub(super) untracked: Vec<PathBuf>,
    /// Folders that are not tracked and are repositories of their own.
    pub(super) nested: Vec<PathBuf>,
    /// Files and folders that are ignored, where they were asked for.
    pub(super) ignored: Vec<PathBuf>,
}

impl Status {
    /// Whether everything but ignored files and nested repositories is committed.
    pub(super) fn is_clean(&self) -> bool {
        self.changed.is_empty() && self.unmerged.is_empty() && self.untracked.is_empty()
    }
}

impl Git {
    /// Looks at a work tree. Takes no lock.
    pub(super) async fn status(&self, dir: &Path, ignored: bool) -> Result<Status, GitError> {
        let mut look = Invocation::new(
            dir,
            [
                "status",
                "--porcelain=v2",
                "--branch",
                "-z",
                "--no-renames",
                "--untracked-files=all",
                "--ignore-submodules=none",
            ],
        );
        if ignored {
            look = look.arg("--ignored=matching");
        }
        let output = self.run(look.variable("GIT_OPTIONAL_LOCKS", "0")).await?;
        parse(&output.stdout).ok_or_else(|| GitError::Unreadable {
            what: "status",
            found: output.text().chars().take(200).collect(),
        })
    }
}

/// Reads version 2 of the porcelain format, its records ended by NUL.
fn parse(bytes: &[u8]) -> Option<Status> {
    let mut status = Status::default();
    for record in bytes.split(|byte| *byte == 0) {
        let Some(blank) = record.iter().position(|byte| *byte == b' ') else {
            if record.is_empty() {
                continue;
            }
            return None;
        };
        let (kind, rest) = (&record[..blank], &record[blank + 1..]);
        match kind {
            b"#" => {
                let rest = String::from_utf8_lossy(rest);
                if let Some(commit) = rest.strip_prefix("branch.oid ") {
                    status.commit = (commit != "(initial)").then(|| commit.to_owned());
                } else if let Some(branch) = rest.strip_prefix("branch.head ") {
                    status.branch = (branch != "(detached)").then(|| branch.to_owned());
                }
            }
            b"1" => status.changed.push(path(field(rest, 7)?)),
            b"u" => status.unmerged.push(path(field(rest, 9)?)),
            b"?" => match rest.strip_suffix(b"/") {
                // Every file is listed by itself, so a folder is one that git does not enter.
                Some(nested) => status.nested.push(path(nested)),
                None => status.untracked.push(path(rest)),
            },
            b"!" => status.ignored.push(path(rest)),
            _ => return None,
        }
    }
    Some(status)
}

/// What stands behind so many fields that a blank ends.
fn field(record: &[u8], before: usize) -> Option<&[u8]> {
    record.splitn(before + 1, |byte| *byte == b' ').nth(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_record_is_read_and_an_unknown_one_is_not() {
        let text = b"# branch.oid abc\0# branch.head gg/ui-1\0\
                    1 .M N... 100644 100644 100644 aa bb a b.txt\0\
                    u UU N... 100644 100644 100644 100644 aa bb cc c \xff.txt\0\
                    ? new.txt\0? app/\0! target/\0";
        let status = parse(text).unwrap();
        assert_eq!(status.commit.as_deref(), Some("abc"));
        assert_eq!(status.branch.as_deref(), Some("gg/ui-1"));
        assert_eq!(status.changed, [PathBuf::from("a b.txt")]);
        assert_eq!(status.unmerged, [path(b"c \xff.txt")]);
        assert_eq!(status.untracked, [PathBuf::from("new.txt")]);
        assert_eq!(status.nested, [PathBuf::from("app")]);
        assert_eq!(status.ignored, [PathBuf::from("target/")]);
        assert!(!status.is_clean());
        let first = parse(b"# branch.oid (initial)\0# branch.head (detached)\0").unwrap();
        assert_eq!((first.commit, first.branch), (None, None));
        assert_eq!(parse(b"9 what\0"), None);
    }
}
