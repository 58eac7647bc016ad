//! A copy of a workspace that shares nothing with what it was copied from.
//!
//! Every byte is read and written: no clone of extents, no hard link, so that one run's writes can
//! cost another neither time nor contents. Modes, times and symbolic links are kept; a link into
//! the workspace by its absolute path leads into the copy. What is left out is said: gg's own
//! records of earlier runs, the study's own folder, and what is neither file, link nor directory.

use std::fs::{self, File, FileTimes, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};

/// gg's own folder in a workspace, and what of it is input of a run.
const OWN: &str = ".gg";
const OWN_INPUT: &str = "skills";

/// Bytes read at a time; between two reads a stop is heard.
const BLOCK: usize = 256 * 1024;

/// Why a directory cannot be copied such that its copy stands alone; `None` where it can.
pub(crate) fn obstacle(workspace: &Path) -> Option<String> {
    let git = workspace.join(".git");
    // A worktree and a submodule hold a file there that names the repository of all their copies.
    git.is_file().then(|| {
        format!(
            "`{}` is a linked worktree or a submodule: its copies would all write to one \
             repository; study a clone of it",
            workspace.display()
        )
    })
}

/// Copies a workspace into a new directory. `without` is left out wherever it lies. The answer is
/// what else was passed over.
pub(crate) fn copy(
    from: &Path,
    to: &Path,
    without: &Path,
    stop: &AtomicBool,
) -> anyhow::Result<Vec<PathBuf>> {
    let from = fs::canonicalize(from)
        .with_context(|| format!("the workspace `{}` cannot be read", from.display()))?;
    let mut copy = Copy {
        from: &from,
        to,
        without,
        stop,
        block: vec![0; BLOCK],
        passed_over: Vec::new(),
    };
    copy.directory(Path::new(""))?;
    Ok(copy.passed_over)
}

struct Copy<'a> {
    from: &'a Path,
    to: &'a Path,
    without: &'a Path,
    stop: &'a AtomicBool,
    block: Vec<u8>,
    passed_over: Vec<PathBuf>,
}

impl Copy<'_> {
    /// A directory at a path relative to the workspace, with all that is in it.
    fn directory(&mut self, place: &Path) -> anyhow::Result<()> {
        let (from, to) = (self.from.join(place), self.to.join(place));
        let unread = || format!("`{}` cannot be read", from.display());
        let unwritten = || format!("`{}` cannot be written", to.display());
        let metadata = fs::metadata(&from).with_context(unread)?;
        fs::create_dir_all(&to).with_context(unwritten)?;
        for entry in fs::read_dir(&from).with_context(unread)? {
            let entry = entry.with_context(unread)?;
            let place = place.join(entry.file_name());
            let kind = entry.file_type().with_context(unread)?;
            if self.leaves_out(&place) {
                continue;
            }
            if kind.is_dir() {
                self.directory(&place)?;
            } else if kind.is_file() {
                self.file(&place)?;
            } else if kind.is_symlink() {
                self.link(&place)?;
            } else {
                self.passed_over.push(place);
            }
        }
        // Behind its contents: a directory that may not be written to has some, too, and each of
        // them changes its time.
        stamp(&File::open(&to).with_context(unwritten)?, &metadata).with_context(unwritten)
    }

    fn leaves_out(&self, place: &Path) -> bool {
        let own = Path::new(OWN);
        if place.parent() == Some(own) && !place.ends_with(OWN_INPUT) {
            return true;
        }
        // An empty folder of gg's own would be of no use.
        let bare = place == own && !self.from.join(own).join(OWN_INPUT).exists();
        bare || self.from.join(place) == self.without
    }

    fn file(&mut self, place: &Path) -> anyhow::Result<()> {
        let (from, to) = (self.from.join(place), self.to.join(place));
        let unread = || format!("`{}` cannot be read", from.display());
        let unwritten = || format!("`{}` cannot be written", to.display());
        let mut source = File::open(&from).with_context(unread)?;
        let metadata = source.metadata().with_context(unread)?;
        let mut target = File::create_new(&to).with_context(unwritten)?;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                bail!("the study was stopped");
            }
            match source.read(&mut self.block) {
                Ok(0) => break,
                Ok(read) => target
                    .write_all(&self.block[..read])
                    .with_context(unwritten)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error).with_context(unread),
            }
        }
        stamp(&target, &metadata).with_context(unwritten)
    }

    fn link(&self, place: &Path) -> anyhow::Result<()> {
        let (from, to) = (self.from.join(place), self.to.join(place));
        let target =
            fs::read_link(&from).with_context(|| format!("`{}` cannot be read", from.display()))?;
        let target = match target.strip_prefix(self.from) {
            Ok(within) => self.to.join(within),
            Err(_) => target,
        };
        symlink(target, &to).with_context(|| format!("`{}` cannot be written", to.display()))
    }
}

/// Gives a copy the mode and the times of what it was made from.
fn stamp(copy: &File, metadata: &fs::Metadata) -> io::Result<()> {
    copy.set_permissions(Permissions::from_mode(
        metadata.permissions().mode() & 0o7777,
    ))?;
    let times = FileTimes::new()
        .set_accessed(metadata.accessed()?)
        .set_modified(metadata.modified()?);
    copy.set_times(times)
}

/// Removes a copy, also where a run took away its own right to write in it.
pub(crate) fn remove(dir: &Path) -> io::Result<()> {
    if let Err(error) = fs::remove_dir_all(dir) {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return Err(error);
        }
        open(dir)?;
        fs::remove_dir_all(dir)?;
    }
    Ok(())
}

/// Makes every directory within writable to its owner.
fn open(dir: &Path) -> io::Result<()> {
    fs::set_permissions(dir, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::time::{Duration, SystemTime};

    use super::*;

    struct Folders {
        _root: tempfile::TempDir,
        from: PathBuf,
        to: PathBuf,
    }

    fn folders() -> Folders {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let (from, to) = (path.join("from"), path.join("to"));
        fs::create_dir(&from).unwrap();
        Folders {
            _root: root,
            from,
            to,
        }
    }

    fn copied(folders: &Folders) -> Vec<PathBuf> {
        let out = folders.from.join("out");
        copy(&folders.from, &folders.to, &out, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn contents_modes_times_and_links_are_kept_and_nothing_is_shared() {
        let folders = folders();
        let (from, to) = (&folders.from, &folders.to);
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/tool.sh"), "echo").unwrap();
        fs::hard_link(from.join("a/tool.sh"), from.join("a/b/same.sh")).unwrap();
        fs::set_permissions(from.join("a/tool.sh"), Permissions::from_mode(0o755)).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let times = FileTimes::new().set_modified(long_ago);
        File::options()
            .write(true)
            .open(from.join("a/tool.sh"))
            .unwrap()
            .set_times(times)
            .unwrap();
        symlink("tool.sh", from.join("a/near")).unwrap();
        symlink(from.join("a"), from.join("inside")).unwrap();
        symlink("/nowhere/else", from.join("outside")).unwrap();
        fs::set_permissions(from.join("a/b"), Permissions::from_mode(0o555)).unwrap();

        assert_eq!(copied(&folders), Vec::<PathBuf>::new());

        let copy = fs::metadata(to.join("a/tool.sh")).unwrap();
        assert_eq!(copy.permissions().mode() & 0o777, 0o755);
        assert_eq!(copy.modified().unwrap(), long_ago);
        assert_eq!(copy.nlink(), 1);
        assert_eq!(
            fs::metadata(to.join("a/b")).unwrap().permissions().mode() & 0o777,
            0o555
        );
        assert_eq!(
            fs::read_link(to.join("a/near")).unwrap(),
            Path::new("tool.sh")
        );
        assert_eq!(fs::read_link(to.join("inside")).unwrap(), to.join("a"));
        assert_eq!(
            fs::read_link(to.join("outside")).unwrap(),
            Path::new("/nowhere/else")
        );
        fs::write(to.join("a/tool.sh"), "changed").unwrap();
        assert_eq!(fs::read(from.join("a/tool.sh")).unwrap(), b"echo");
        remove(to).unwrap();
        assert!(!to.exists());
    }

    #[test]
    fn records_of_earlier_runs_and_the_study_itself_stay_behind() {
        let folders = folders();
        for place in [
            ".gg/replay.ndjson",
            ".gg/skills/csv/SKILL.md",
            "out/runs/x/launch.json",
            "b/.gg/x",
        ] {
            let path = folders.from.join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let socket = std::os::unix::net::UnixListener::bind(folders.from.join("socket")).unwrap();
        assert_eq!(copied(&folders), [PathBuf::from("socket")]);
        drop(socket);
        assert!(!folders.to.join(".gg/replay.ndjson").exists());
        assert!(!folders.to.join("out").exists());
        assert!(folders.to.join(".gg/skills/csv/SKILL.md").exists());
        assert!(folders.to.join("b/.gg/x").exists());
    }

    #[test]
    fn a_folder_of_records_alone_is_not_made() {
        let folders = folders();
        fs::create_dir(folders.from.join(".gg")).unwrap();
        fs::write(folders.from.join(".gg/replay.ndjson"), "x").unwrap();
        copied(&folders);
        assert_eq!(fs::read_dir(&folders.to).unwrap().count(), 0);
    }

    #[test]
    fn a_stop_ends_a_copy() {
        let folders = folders();
        fs::write(folders.from.join("a"), "x").unwrap();
        let stopped = AtomicBool::new(true);
        assert!(copy(&folders.from, &folders.to, Path::new("/absent"), &stopped).is_err());
    }

    #[test]
    fn a_linked_worktree_is_an_obstacle_and_a_repository_is_none() {
        let folders = folders();
        fs::create_dir(folders.from.join(".git")).unwrap();
        assert_eq!(obstacle(&folders.from), None);
        fs::remove_dir(folders.from.join(".git")).unwrap();
        fs::write(folders.from.join(".git"), "gitdir: /elsewhere").unwrap();
        assert!(obstacle(&folders.from).unwrap().contains("linked worktree"));
    }
}
