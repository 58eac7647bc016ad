//! What of procfs gg opens for nobody: the entries of processes, its own among them.
//!
//! gg's tools and the files of programs act within gg's own process. What only the process itself may
//! see is there for them to take: its memory with the key in it (R23), its environment, its open files
//! by number. So nothing in the folder of any process is opened, however it is spelled: what is judged
//! is the file that was opened, and on the way to a file the links that only the kernel can follow. A
//! command runs in a process of its own, and sees what the system lets it see.
//!
//! Always true: `/proc/mounts` and `/proc/net` can be read, though they are links into such a folder;
//! a file whose place cannot be known is judged by its file system alone.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, PROC_SUPER_MAGIC, fstatfs, openat};

/// Why such a file is not opened, for a sentence that names it.
pub const REASON: &str = "it belongs to a process; gg opens nothing there";

/// Where procfs usually is.
const USUAL: &str = "/proc";

/// What the folder of a process holds that tells of the system: `/proc/mounts` and `/proc/net` lead
/// there.
const OF_THE_SYSTEM: [&str; 3] = ["mounts", "mountinfo", "net"];

/// Whether what was opened is in the folder of a process, or is it.
///
/// Costs the reading of one link, which the kernel answers from memory; a file system is asked only
/// where the path of a file looks as if it were procfs.
pub fn of_process(file: impl AsFd) -> bool {
    let file = file.as_fd();
    let link = format!("{USUAL}/self/fd/{}", file.as_raw_fd());
    match std::fs::read_link(link) {
        Ok(path) if path.is_absolute() && !names_process(&path) => false,
        _ => fstatfs(file).map_or(true, |found| found.f_type == PROC_SUPER_MAGIC),
    }
}

/// Refuses a file that was opened, where it is a process's.
pub(crate) fn refuse(file: &File) -> io::Result<()> {
    if of_process(file) {
        return Err(refused());
    }
    Ok(())
}

/// Refuses a folder by its path: nothing in it is opened, and no link in it followed. One that is not
/// there or is none holds nothing.
pub(crate) fn refuse_folder(folder: &Path) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(CWD, folder, flags, Mode::empty()) {
        Ok(folder) if of_process(&folder) => Err(refused()),
        _ => Ok(()),
    }
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, REASON)
}

/// Whether a path would be in a process's folder, were it one of procfs.
fn names_process(path: &Path) -> bool {
    let number = |part: &Component<'_>| {
        let name = part.as_os_str().as_encoded_bytes();
        name.iter().all(u8::is_ascii_digit)
    };
    let Ok(usual) = path.strip_prefix(USUAL) else {
        return path.components().any(|part| number(&part));
    };
    let mut parts = usual.components();
    parts.next().is_some_and(|first| number(&first))
        && !parts
            .next()
            .is_some_and(|entry| OF_THE_SYSTEM.iter().any(|name| entry.as_os_str() == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_processes_are_told_from_the_rest_of_procfs() {
        for (path, named) in [
            ("/proc/12/mem", true),
            ("/proc/12", true),
            ("/proc/12/task/13/mem", true),
            ("/proc/12/task/13/net", true),
            ("/host/proc/12/net", true),
            ("/data/2026/x", true),
            ("/proc/12/mounts", false),
            ("/proc/12/net/tcp", false),
            ("/proc/cpuinfo", false),
            ("/proc/irq/12/smp_affinity", false),
            ("/proc", false),
            ("/home/x", false),
        ] {
            assert_eq!(names_process(Path::new(path)), named, "{path}");
        }
    }

    #[test]
    fn what_was_opened_is_judged_and_not_how_it_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/proc/self/mem", &link).unwrap();
        let numbered = folder.path().join("2026");
        std::fs::write(&numbered, "").unwrap();
        let of = |path: &Path| of_process(File::open(path).unwrap());
        let own = std::process::id();
        for path in [
            "/proc/self/mem",
            "/proc/thread-self/environ",
            "/proc/self/task",
            "/proc/../proc/./self/maps",
            &format!("/proc/{own}/mem"),
            &format!("/proc/{own}/task/{own}/mem"),
            "/proc/self",
        ] {
            assert!(of(Path::new(path)), "{path}");
        }
        assert!(of(&link));
        assert!(!of(&numbered));
        for path in [
            "/proc/cpuinfo",
            "/proc/mounts",
            "/proc/net/dev",
            "/proc",
            "/dev/null",
        ] {
            assert!(!of(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn folders_are_refused_without_being_read() {
        for folder in ["/proc/self", "/proc/self/fd", "/dev/fd"] {
            let error = refuse_folder(Path::new(folder)).unwrap_err();
            assert_eq!(error.to_string(), REASON);
        }
        for folder in ["/proc", "/", "/nowhere", "/dev/null"] {
            refuse_folder(Path::new(folder)).unwrap();
        }
    }
}
