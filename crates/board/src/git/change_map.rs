//! What lies between two commits, file by file.

use std::collections::HashMap;
use std::path::Path;

use crate::changes::{ChangeKind, ChangeMap, FileChange};

use super::error::GitError;
use super::process::{Git, Invocation};

/// The mode of an entry that names a commit of another repository.
const GITLINK: &str = "160000";

/// A change map, and what of it would point at commits nobody else has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Between {
    pub(super) map: ChangeMap,
    pub(super) gitlinks: Vec<String>,
}

impl Git {
    /// What a commit changes since a baseline.
    pub(super) async fn between(
        &self,
        dir: &Path,
        baseline: &str,
        commit: &str,
    ) -> Result<Between, GitError> {
        let args = [
            "diff-tree",
            "-r",
            "-z",
            "-M",
            "--raw",
            "--numstat",
            "--no-ext-diff",
            "--no-textconv",
            baseline,
            commit,
        ];
        let output = self.run(Invocation::new(dir, args)).await?;
        parse(&output.stdout).ok_or_else(|| GitError::Unreadable {
            what: "diff-tree",
            found: output.text().chars().take(200).collect(),
        })
    }
}

/// Reads the raw rows, then the counts that stand behind them.
fn parse(bytes: &[u8]) -> Option<Between> {
    let mut fields = bytes
        .split(|byte| *byte == 0)
        .map(|field| String::from_utf8_lossy(field).into_owned())
        .peekable();
    let mut between = Between::default();
    while let Some(row) = fields.next_if(|field| field.starts_with(':')) {
        let mut parts = row.trim_start_matches(':').split(' ');
        let (_, mode) = (parts.next()?, parts.next()?);
        let letter = parts.nth(2)?.chars().next()?;
        let path = fields.next()?;
        let (path, kind) = match letter {
            'A' => (path, ChangeKind::Added),
            'D' => (path, ChangeKind::Deleted),
            'T' => (path, ChangeKind::TypeChanged),
            'R' | 'C' => (fields.next()?, ChangeKind::Renamed { from: path }),
            _ => (path, ChangeKind::Modified),
        };
        if mode == GITLINK {
            between.gitlinks.push(path.clone());
        }
        between.map.files.push(FileChange {
            path,
            kind,
            lines: None,
        });
    }
    let mut counts = HashMap::new();
    while let Some(row) = fields.next_if(|field| !field.is_empty()) {
        let mut parts = row.splitn(3, '\t');
        let (added, removed) = (parts.next()?, parts.next()?);
        let mut path = parts.next()?.to_owned();
        if path.is_empty() {
            // A rename: both paths stand behind it, the new one last.
            fields.next()?;
            path = fields.next()?;
        }
        // `-` is a file that is not text.
        if let (Ok(added), Ok(removed)) = (added.parse(), removed.parse()) {
            counts.insert(path, (added, removed));
        }
    }
    for file in &mut between.map.files {
        file.lines = counts.get(&file.path).copied();
    }
    (between.map.files).sort_by(|one, other| one.path.cmp(&other.path));
    Some(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_counts_of_every_kind_are_put_together() {
        let text = ":100644 100644 aa bb M\0b.txt\0:000000 100644 00 cc A\0a.bin\0\
                    :100644 100644 dd dd R090\0old.txt\0new.txt\0:000000 160000 00 ee A\0app\0\
                    3\t1\tb.txt\0-\t-\ta.bin\x002\t2\t\0old.txt\0new.txt\x001\t0\tapp\0";
        let between = parse(text.as_bytes()).unwrap();
        let rows: Vec<_> = (between.map.files.iter())
            .map(|file| (file.path.as_str(), file.kind.as_str(), file.lines))
            .collect();
        assert_eq!(
            rows,
            [
                ("a.bin", "added", None),
                ("app", "added", Some((1, 0))),
                ("b.txt", "modified", Some((3, 1))),
                ("new.txt", "renamed", Some((2, 2))),
            ]
        );
        assert_eq!(between.gitlinks, ["app"]);
        assert_eq!(parse(b""), Some(Between::default()));
    }
}
