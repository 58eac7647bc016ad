//! What a run reads of its workspace's git repository, and the one line it leaves there.
//!
//! No git is run for it: a start may not cost a process. A linked work tree is followed to the
//! repository it belongs to.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The pattern that keeps gg's own folder out of commits and of `git status`.
const PATTERN: &str = "/.gg/";

/// Adds `/.gg/` to the repository's `info/exclude` where it lacks the line (01 §1). A workspace
/// without a repository is left as it is.
pub(crate) fn exclude_from_git(dir: &Path) -> io::Result<()> {
    let Some(exclude) = git_dir(dir).map(|git| git.join("info/exclude")) else {
        return Ok(());
    };
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
    let common = git_dir(dir)?;
    let own = match read_text(dir.join(".git")) {
        Ok(pointer) => dir.join(pointer.strip_prefix("gitdir:")?.trim()),
        Err(_) => common.clone(),
    };
    let head = read_text(own.join("HEAD")).ok()?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else {
        return Some(head.trim().to_owned());
    };
    if let Ok(commit) = read_text(common.join(reference)) {
        return Some(commit.trim().to_owned());
    }
    let packed = read_text(common.join("packed-refs")).ok()?;
    packed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, name)| *name == reference)
        .map(|(commit, _)| commit.to_owned())
}

/// The repository folder that a work tree's shared files live in.
fn git_dir(dir: &Path) -> Option<PathBuf> {
    let dot_git = dir.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let pointer = read_text(&dot_git).ok()?;
    let own = dir.join(pointer.strip_prefix("gitdir:")?.trim());
    match read_text(own.join("commondir")) {
        Ok(common) => Some(own.join(common.trim())),
        Err(_) => Some(own),
    }
}

fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read_regular(path)?).map_err(io::Error::other)
}

/// Reads a regular file. A pipe or a device may keep a reader for ever; a file of a repository is
/// neither.
fn read_regular(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let path = path.as_ref();
    if !fs::metadata(path)?.is_file() {
        let why = format!("`{}` is no regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    fs::read(path)
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
