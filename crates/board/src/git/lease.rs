//! A file that says, by a lock of the system's, whether the process that made it lives.
//!
//! A process that was handed it holds it too: a git that outlives a killed run keeps that run's lease
//! until it has done what it began.
//!
//! Always true: whoever holds a lease holds it until its process is gone, however that ends; a
//! lease that can be taken is nobody's.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::Pid;

/// Bytes read of what a holder wrote.
const NOTE: u64 = 200;

/// A lease that is held.
#[derive(Debug)]
pub(super) struct Lease {
    path: PathBuf,
    file: File,
}

/// What came of asking for one.
#[derive(Debug)]
pub(super) enum Taken {
    /// It is held now.
    Mine(Lease),
    /// A process that lives holds it; what that process wrote into it.
    Theirs(String),
}

impl Lease {
    /// Takes a lease, its file made where there is none, and writes who holds it.
    pub(super) fn take(path: &Path) -> io::Result<Taken> {
        loop {
            let file = options().create(true).mode(0o600).open(path)?;
            let second = file.try_clone()?;
            match Self::lock(path, file) {
                Ok(Some(Taken::Mine(lease))) => return lease.note().map(Taken::Mine),
                Ok(Some(theirs)) => return Ok(theirs),
                // Whoever held it removed the file between its opening and its locking.
                Ok(None) => {}
                // A file system without locks: nobody will be able to take it for free either.
                Err(error) if unsupported(&error) => {
                    let path = path.to_owned();
                    return Ok(Taken::Mine(Self { path, file: second }));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes who holds it.
    fn note(mut self) -> io::Result<Self> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        write!(self.file, "{}", std::process::id())?;
        Ok(self)
    }

    /// Takes a lease whose holder is gone; `None` where there is no such file.
    pub(super) fn inherit(path: &Path) -> io::Result<Option<Taken>> {
        match options().open(path) {
            Ok(file) => Self::lock(path, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `None` where the file is no longer the one at that path.
    fn lock(path: &Path, mut file: File) -> io::Result<Option<Taken>> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut note = Vec::new();
                (&mut file).take(NOTE).read_to_end(&mut note)?;
                let note = String::from_utf8_lossy(&note).into_owned();
                return Ok(Some(Taken::Theirs(note)));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let held = file.metadata()?;
        let same = match std::fs::symlink_metadata(path) {
            Ok(found) => (found.dev(), found.ino()) == (held.dev(), held.ino()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        let path = path.to_owned();
        Ok(same.then_some(Taken::Mine(Self { path, file })))
    }

    /// The lease, to be handed to a process; read, it is an empty file.
    pub(super) fn hand_on(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Removes the file of a lease whose object is gone.
    pub(super) fn remove(&self) {
        // A file that stays says nothing once its holder is gone.
        std::fs::remove_file(&self.path).ok();
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Closing alone would leave it held by a process that is just being started.
        self.file.unlock().ok();
    }
}

/// Whether the process that wrote itself down as a holder has ended: whoever holds the lease still is
/// one that it started. A process that nobody has waited for yet has ended too.
pub(super) fn has_ended(holder: &str) -> bool {
    let id = holder.parse().ok().filter(|id| *id > 0);
    let Some(id) = id.and_then(Pid::from_raw) else {
        return false;
    };
    if rustix::process::test_kill_process(id) == Err(rustix::io::Errno::SRCH) {
        return true;
    }
    // proc_pid_stat(5): the state stands behind the name, which may hold anything.
    let stat = std::fs::read_to_string(format!("/proc/{holder}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .map(|(_, rest)| rest.as_bytes()[..].first().copied());
    matches!(state.flatten(), Some(b'Z' | b'X'))
}

/// How the file is opened: no link that somebody else laid is followed.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NOFOLLOW.bits();
    options
        .read(true)
        .write(true)
        .custom_flags(flags.cast_signed());
    options
}

/// Whether it is the file system that knows no locks.
fn unsupported(error: &io::Error) -> bool {
    let none = rustix::io::Errno::NOLCK.raw_os_error();
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(none)
}

#[cfg(test)]
mod tests {
    use rustix::process::{WaitId, WaitIdOptions};

    use super::*;

    #[test]
    fn a_lease_is_held_until_it_is_dropped_and_says_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lease");
        assert!(Lease::inherit(&path).unwrap().is_none());
        let Taken::Mine(held) = Lease::take(&path).unwrap() else {
            panic!("nobody holds it");
        };
        let own = std::process::id().to_string();
        assert!(matches!(Lease::take(&path).unwrap(), Taken::Theirs(by) if by == own));
        assert!(matches!(
            Lease::inherit(&path).unwrap(),
            Some(Taken::Theirs(_))
        ));
        drop(held);
        let Some(Taken::Mine(dead)) = Lease::inherit(&path).unwrap() else {
            panic!("it is free");
        };
        dead.remove();
        assert!(Lease::inherit(&path).unwrap().is_none());
        // A new one is another file, whoever still holds the old one.
        assert!(matches!(Lease::take(&path).unwrap(), Taken::Mine(_)));
    }

    #[tokio::test]
    async fn a_holder_has_ended_once_nothing_of_it_runs() {
        assert!(!has_ended(&std::process::id().to_string()));
        assert!(!has_ended(""));
        assert!(!has_ended("-1"));
        let mut child = tokio::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let id = child.id().unwrap().to_string();
        assert!(!has_ended(&id));
        drop(child.stdin.take());
        // Ended, and not waited for.
        let pid = Pid::from_raw(id.parse().unwrap()).unwrap();
        let states = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        rustix::process::waitid(WaitId::Pid(pid), states).unwrap();
        assert!(has_ended(&id));
        child.wait().await.unwrap();
        assert!(has_ended(&id));
    }
}
