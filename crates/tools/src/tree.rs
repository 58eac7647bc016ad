//! The directories of a workspace as one text, for an agent to open on (R9, R46).
//!
//! One walk in the order of names, on one thread; what ignore files leave out, `.git` and gg's own
//! folder are not there. Links are not followed.
//!
//! Always true: the text is no longer than it may be, and says how many directories it leaves out;
//! a directory stands behind the one that holds it.

use std::path::Path;

use ignore::WalkBuilder;
use vocab::failure::Failure;
use vocab::line::one_line;

use crate::halt::Halt;
use crate::paths::{Place, cannot};

/// Bytes that the line of what was left out has at most.
const COUNT_LINE: usize = 64;

/// The directories below a root, as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// A line a directory, indented by its level, with how many files it holds.
    pub text: String,
    /// Directories that found no room.
    pub left_out: usize,
}

/// A directory that was met.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Met {
    /// 0 for the root.
    level: usize,
    name: String,
    files: usize,
}

/// The tree of a place, `depth` levels below its root, in at most `cap` bytes. Blocks on the disk.
///
/// # Errors
///
/// `not-found` and `io-error` of the root; `limit-exceeded` once `halt` is raised. A directory
/// further down that cannot be read is shown without its own.
pub fn tree(place: &Place, depth: usize, cap: usize, halt: &Halt) -> Result<Tree, Failure> {
    let root = place.resolve(".")?;
    // The walk tells of a missing root and of a missing directory alike; only the first is a failure.
    std::fs::read_dir(&root).map_err(|error| cannot("list", &root.to_string_lossy(), &error))?;
    Ok(shown(&met(&root, depth, halt)?, cap))
}

fn met(root: &Path, depth: usize, halt: &Halt) -> Result<Vec<Met>, Failure> {
    let own = root.join(".gg");
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        // One level more: what the last directories hold is counted.
        .max_depth(Some(depth + 1))
        .filter_entry(move |entry| {
            entry.depth() == 0 || entry.file_name() != ".git" && entry.path() != own
        })
        .sort_by_file_name(Ord::cmp)
        .build();
    let mut met: Vec<Met> = Vec::new();
    // Of each level the directory that is open there.
    let mut open: Vec<usize> = Vec::new();
    for entry in walk {
        halt.check()?;
        let Ok(entry) = entry else { continue };
        let level = entry.depth();
        open.truncate(level);
        if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            if level <= depth {
                open.push(met.len());
                met.push(Met {
                    level,
                    name: one_line(&entry.file_name().to_string_lossy()).into_owned(),
                    files: 0,
                });
            }
        } else if let Some(holder) = open.last().and_then(|at| met.get_mut(*at)) {
            holder.files += 1;
        }
    }
    Ok(met)
}

fn shown(met: &[Met], cap: usize) -> Tree {
    let lines: Vec<_> = met.iter().map(line).collect();
    let whole: usize = lines.iter().map(String::len).sum();
    let room = if whole <= cap {
        cap
    } else {
        cap.saturating_sub(COUNT_LINE)
    };
    let mut tree = Tree::default();
    for (at, line) in lines.iter().enumerate() {
        if tree.text.len() + line.len() > room {
            tree.left_out = lines.len() - at;
            break;
        }
        tree.text += line;
    }
    if tree.left_out > 0 {
        tree.text += &format!("[{} more directories are left out]", tree.left_out);
    } else {
        tree.text.pop();
    }
    tree
}

fn line(met: &Met) -> String {
    let name = if met.level == 0 { "." } else { &met.name };
    let indent = "  ".repeat(met.level.saturating_sub(1));
    match met.files {
        0 => format!("{indent}{name}/\n"),
        1 => format!("{indent}{name}/ (1 file)\n"),
        files => format!("{indent}{name}/ ({files} files)\n"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;
    use vocab::failure::FailureClass;

    use super::*;

    fn workspace(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        folder
    }

    fn text(folder: &tempfile::TempDir, depth: usize) -> String {
        let place = Place::at(folder.path());
        tree(&place, depth, 65_536, &Halt::default()).unwrap().text
    }

    #[test]
    fn directories_stand_in_order_to_the_depth_with_what_they_hold() {
        let folder = workspace(&["b/c/d/e.rs", "b/c/f.rs", "b/c/g.rs", "a.rs", "B/x", "é/y"]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        assert_eq!(
            text(&folder, 2),
            "./ (1 file)\nB/ (1 file)\nb/\n  c/ (2 files)\nempty/\né/ (1 file)"
        );
        assert_eq!(
            text(&folder, 1),
            "./ (1 file)\nB/ (1 file)\nb/\nempty/\né/ (1 file)"
        );
        assert!(text(&folder, 6).contains("\n  c/ (2 files)\n    d/ (1 file)\n"));
    }

    #[test]
    fn what_is_ignored_is_neither_shown_nor_counted() {
        let folder = workspace(&[
            "target/debug/x",
            "src/lib.rs",
            "src/a.tmp",
            ".git/HEAD",
            ".gg/journal",
            ".github/w.yml",
            "notes/mine",
        ]);
        fs::write(folder.path().join(".gitignore"), "target/\n*.tmp\n").unwrap();
        fs::write(folder.path().join(".ignore"), "notes\n").unwrap();
        assert_eq!(
            text(&folder, 3),
            "./ (2 files)\n.github/ (1 file)\nsrc/ (1 file)"
        );
    }

    #[test]
    fn links_are_not_followed_and_names_keep_to_their_line() {
        let folder = workspace(&["a\nb/x"]);
        symlink("..", folder.path().join("up")).unwrap();
        assert_eq!(text(&folder, 6), "./ (1 file)\na\\nb/ (1 file)");
    }

    #[test]
    fn an_empty_workspace_is_its_root_and_a_missing_one_a_failure() {
        let folder = workspace(&[]);
        assert_eq!(text(&folder, 6), "./");
        let gone = Place::at(folder.path().join("gone"));
        let failure = tree(&gone, 1, 100, &Halt::default()).unwrap_err();
        assert_eq!(failure.class, FailureClass::NotFound);
        let halt = Halt::default();
        halt.raise();
        let halted = tree(&Place::at(folder.path()), 1, 100, &halt).unwrap_err();
        assert_eq!(halted.class, FailureClass::LimitExceeded);
    }

    proptest! {
        #[test]
        fn a_tree_keeps_to_its_bytes_and_counts_the_rest(
            names in proptest::collection::vec("[a-z漢]{1,20}", 0..40), cap in 64_usize..900
        ) {
            let met: Vec<_> = names
                .iter()
                .map(|name| Met { level: 1, name: name.clone(), files: name.len() % 3 })
                .collect();
            let whole = shown(&met, usize::MAX);
            prop_assert_eq!(whole.left_out, 0);
            let cut = shown(&met, cap);
            prop_assert!(cut.text.len() <= cap);
            let lines = if names.is_empty() { 0 } else { cut.text.lines().count() };
            let shown = lines - usize::from(cut.left_out > 0);
            prop_assert_eq!(shown + cut.left_out, names.len());
            let same = whole.text.lines().zip(cut.text.lines()).take(shown);
            prop_assert!(same.into_iter().all(|(one, other)| one == other));
        }
    }
}
