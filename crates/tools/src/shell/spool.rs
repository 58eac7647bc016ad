//! The two files that hold a command's streams whole.
//!
//! They are made while no command is waited for, so that making them costs none anything, and
//! written as its output comes. A file past its cap stops there, and the note says so. A pair that cannot
//! be written any more is removed: half a log would be taken for a whole one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::capture::Source;
use crate::paths::reason;

/// Where the files lie (04 §4).
pub(crate) const FOLDER: &str = "/tmp/gg-shell";

/// Bytes a file holds at most.
pub(crate) const CAP: u64 = 1 << 30;

/// Counts the commands of this process, whichever runner ran them: names must differ.
static SEQUENCE: AtomicU64 = AtomicU64::new(1);

/// Both files of one command.
#[derive(Debug)]
pub(crate) struct Pair {
    stdout: Spool,
    stderr: Spool,
}

/// One file.
#[derive(Debug)]
pub(crate) struct Spool {
    path: PathBuf,
    file: File,
    /// Bytes that came, and the most that are kept.
    came: u64,
    cap: u64,
}

impl Pair {
    /// Makes both files anew; an error is the reason in words.
    pub(crate) fn create(folder: &Path, cap: u64) -> Result<Self, String> {
        let sequence = SEQUENCE.fetch_add(1, Ordering::Relaxed);
        let stem = format!("cmd-{}-{sequence:04}", std::process::id());
        let open = |suffix: &str| {
            let path = folder.join(format!("{stem}.{suffix}"));
            match create(&path) {
                Ok(file) => Ok(Spool {
                    path,
                    file,
                    came: 0,
                    cap,
                }),
                Err(error) => Err(format!(
                    "cannot write {}: {}",
                    path.display(),
                    reason(&error)
                )),
            }
        };
        let stdout = open("stdout")?;
        let stderr = open("stderr").inspect_err(|_| stdout.remove())?;
        Ok(Self { stdout, stderr })
    }

    /// Adds bytes of a stream. On an error, its reason in words, both files are gone.
    pub(crate) fn write(&mut self, source: Source, bytes: &[u8]) -> Result<(), String> {
        let spool = match source {
            Source::Stdout => &mut self.stdout,
            Source::Stderr => &mut self.stderr,
        };
        let Err(error) = spool.write(bytes) else {
            return Ok(());
        };
        let reason = format!("cannot write {}: {}", spool.path.display(), reason(&error));
        self.remove();
        Err(reason)
    }

    /// Whether both files are still where they were made: a command may have removed them.
    fn stands(&self) -> bool {
        self.stdout.path.exists() && self.stderr.path.exists()
    }

    fn remove(&self) {
        self.stdout.remove();
        self.stderr.remove();
    }

    pub(crate) fn spool(&self, source: Source) -> &Spool {
        match source {
            Source::Stdout => &self.stdout,
            Source::Stderr => &self.stderr,
        }
    }
}

/// A pair made ahead for the next command, while nobody waits for one: making two files takes as
/// long as a tenth of a short command.
#[derive(Debug, Default)]
pub(crate) struct Spare(Mutex<Option<Pair>>);

impl Spare {
    /// The pair made ahead, or a new one; an error is the reason in words.
    pub(crate) fn take(&self, folder: &Path, cap: u64) -> Result<Pair, String> {
        match self.lock().take() {
            Some(pair) if pair.stands() => Ok(pair),
            Some(_) | None => Pair::create(folder, cap),
        }
    }

    /// Makes a pair ahead, where there is none. Where that fails, the next command meets the
    /// failure itself.
    pub(crate) fn refill(&self, folder: &Path, cap: u64) {
        let mut spare = self.lock();
        if spare.is_none() {
            *spare = Pair::create(folder, cap).ok();
        }
    }

    /// Removes the pair that no command will take.
    pub(crate) fn discard(&self) {
        if let Some(pair) = self.lock().take() {
            pair.remove();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Pair>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.discard();
    }
}

impl Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = usize::try_from(self.cap.saturating_sub(self.came)).unwrap_or(usize::MAX);
        self.came += bytes.len() as u64;
        self.file.write_all(&bytes[..room.min(bytes.len())])
    }

    fn remove(&self) {
        // Nothing is lost if it stays: no text names it.
        fs::remove_file(&self.path).ok();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes kept and the bytes that came, where those are more.
    pub(crate) fn capped(&self) -> Option<(u64, u64)> {
        (self.came > self.cap).then_some((self.cap, self.came))
    }
}

/// A new file under a name that an earlier process of the same number may have left behind. It is
/// never opened through what stands there: in a folder others can write that might be a link.
fn create(path: &Path) -> io::Result<File> {
    // Commands print what is nobody else's business.
    let open = || {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
    };
    open().or_else(|error| {
        match error.kind() {
            io::ErrorKind::NotFound => {
                let folder = path.parent().unwrap_or(Path::new("/"));
                fs::create_dir_all(folder)?;
                // Shared like `/tmp` itself: whoever runs gg next on this machine keeps files
                // beside these, and can remove only their own.
                fs::set_permissions(folder, Permissions::from_mode(0o1777))?;
            }
            io::ErrorKind::AlreadyExists => fs::remove_file(path)?,
            _ => return Err(error),
        }
        open()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_files_hold_their_stream_up_to_the_cap() {
        let folder = tempfile::tempdir().unwrap();
        let mut pair = Pair::create(&folder.path().join("new"), 4).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(&folder.path().join("new")), 0o1777);
        assert_eq!(mode(pair.spool(Source::Stdout).path()), 0o600);
        pair.write(Source::Stdout, b"abc").unwrap();
        pair.write(Source::Stdout, b"def").unwrap();
        let stdout = pair.spool(Source::Stdout);
        assert_eq!(fs::read(stdout.path()).unwrap(), b"abcd");
        assert_eq!(stdout.capped(), Some((4, 6)));
        let stderr = pair.spool(Source::Stderr);
        assert_eq!(fs::read(stderr.path()).unwrap(), b"");
        assert_eq!(stderr.capped(), None);
    }

    #[test]
    fn what_an_earlier_process_left_is_replaced_and_never_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, path) = (folder.path().join("victim"), folder.path().join("f"));
        fs::write(&victim, "kept").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        create(&path).unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let reason = Pair::create(&file, CAP).unwrap_err();
        assert!(reason.ends_with(".stdout: Not a directory"), "{reason}");
    }
}
