//! What a run reads of its workspace's git repository, and the one line it leaves there.
//!
//! No git is run for it: a start may not cost a process.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::repository::{Repository, read_regular};

/// The pattern that keeps gg's own folder out of commits and of `git status`.
const PATTERN: &str = "/.gg/";

/// Adds `/.gg/` to the repository's `info/exclude` where it lacks the line (01 §1). A workspace
/// without a repository is left as it is.
pub(crate) fn exclude_from_git(dir: &Path) -> io::Result<()> {
    let Some(repository) = Repository::of(dir) else {
        return Ok(());
    };
    let exclude = repository.common.join("info/exclude");
    let present = match read_regular(&exclude) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut lines = present.split(|byte| *byte == b'\n');
    if lines.any(|line| line.trim_ascii() == PATTERN.as_bytes()) {
        return Ok(());
    }
    if let Some(info) = exclude.parent() {
        fs::create_dir_all(info)?;
    }
    let gap = if present.last().is_some_and(|last| *last != b'\n') {
        "\n"
    } else {
        ""
    };
    // Appended, so that a full disk leaves the user's own lines as they are.
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&exclude)?;
    file.write_all(format!("{gap}{PATTERN}\n").as_bytes())
}

/// The commit a workspace stands at; `None` where there is none.
pub(crate) fn git_head(dir: &Path) -> Option<String> {
    Repository::of(dir)?.head()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn write(dir: &Path, path: &str, text: &str) {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn repository(exclude: Option<&str>) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), ".git/HEAD", "ref: refs/heads/main\n");
        if let Some(text) = exclude {
            write(dir.path(), ".git/info/exclude", text);
        }
        dir
    }

    fn excluded(dir: &TempDir) -> String {
        fs::read_to_string(dir.path().join(".git/info/exclude")).unwrap()
    }

    #[test]
    fn the_folder_is_excluded_once_and_other_lines_stay() {
        for (before, after) in [
            (None, "/.gg/\n"),
            (Some("*.log\n"), "*.log\n/.gg/\n"),
            (Some("*.log"), "*.log\n/.gg/\n"),
            (Some("/.gg/\n*.log\n"), "/.gg/\n*.log\n"),
        ] {
            let dir = repository(before);
            exclude_from_git(dir.path()).unwrap();
            exclude_from_git(dir.path()).unwrap();
            assert_eq!(excluded(&dir), after);
        }
    }

    #[test]
    fn a_folder_without_a_repository_stays_empty() {
        let dir = tempfile::tempdir().unwrap();
        exclude_from_git(dir.path()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(git_head(dir.path()), None);
    }

    #[test]
    fn a_linked_work_tree_excludes_in_the_repository_it_belongs_to() {
        let main = repository(None);
        write(main.path(), ".git/refs/heads/side", "abc123\n");
        write(
            main.path(),
            ".git/worktrees/side/HEAD",
            "ref: refs/heads/side\n",
        );
        write(main.path(), ".git/worktrees/side/commondir", "../..\n");
        let side = tempfile::tempdir().unwrap();
        let own = main.path().join(".git/worktrees/side");
        write(side.path(), ".git", &format!("gitdir: {}\n", own.display()));
        exclude_from_git(side.path()).unwrap();
        assert_eq!(excluded(&main), "/.gg/\n");
        assert_eq!(git_head(side.path()).as_deref(), Some("abc123"));
    }

    #[test]
    fn the_commit_is_found_in_a_branch_in_packed_refs_and_detached() {
        let dir = repository(None);
        assert_eq!(git_head(dir.path()), None, "a branch without a commit");
        write(
            dir.path(),
            ".git/packed-refs",
            "# pack\nabc refs/heads/main\n",
        );
        assert_eq!(git_head(dir.path()).as_deref(), Some("abc"));
        write(dir.path(), ".git/refs/heads/main", "def\n");
        assert_eq!(git_head(dir.path()).as_deref(), Some("def"));
        write(dir.path(), ".git/HEAD", "0123\n");
        assert_eq!(git_head(dir.path()).as_deref(), Some("0123"));
    }
}
