//! Putting bytes where a path leads, so that the file holds either all of them or what it held
//! (R30).
//!
//! Links are resolved and the target replaced beside itself: a sibling temporary takes the bytes,
//! the target's owner and mode, then its name. Where a new file cannot take the old one's place
//! (it has several names, its directory cannot be written, its owner cannot be kept) the bytes go
//! into the file itself; what it grows by is written first, so that a full disk shows before a
//! byte of the old contents is touched.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use vocab::failure::Failure;

use crate::paths::{kind, reason};
use crate::procfs;

/// Links followed before they count as a loop, as the kernel has it.
const MAX_LINKS: usize = 40;

/// Replaces or creates the file a path leads to. `shown` is the path for a sentence.
pub(crate) fn replace(path: &Path, shown: &str, bytes: &[u8]) -> Result<(), Failure> {
    let failed =
        |error: io::Error| Failure::io(format!("cannot write `{shown}`: {}", reason(&error)));
    let target = follow(path).map_err(failed)?;
    procfs::refuse_folder(parent(&target)).map_err(failed)?;
    match fs::symlink_metadata(&target) {
        Ok(found) if found.is_file() => replace_file(&target, &found, bytes).map_err(failed),
        Ok(found) if found.is_dir() => Err(Failure::io(format!(
            "cannot write `{shown}`: it is a directory"
        ))),
        Ok(found) => Err(Failure::io(format!(
            "cannot write `{shown}`: it is {}",
            kind(&found)
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(&target, bytes)
            .map_err(|error| Failure::io(format!("cannot create `{shown}`: {}", reason(&error)))),
        Err(error) => Err(failed(error)),
    }
}

/// Where a path leads through links of its last name; directories on the way are the kernel's. A link
/// among the entries of a process in procfs is none to follow: what it reads as is no path, or is one
/// of a file that gg itself has open, its own output among them.
pub(crate) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..=MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => {
                procfs::refuse_folder(parent(&path))?;
                path = parent(&path).join(target);
            }
            // What is there and no link, or not there, or under a missing directory.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::InvalidInput | io::ErrorKind::NotFound
                ) =>
            {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// A sibling that vanishes unless it takes the target's name. Hidden, and named so that whoever
/// finds one after a crash knows whose it was.
fn sibling(target: &Path, mode: u32) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".gg-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(parent(target))
}

fn create(target: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(parent(target))?;
    // The mode any program's new file has: read and write, less the umask.
    let mut temporary = sibling(target, 0o666)?;
    temporary.write_all(bytes)?;
    temporary.persist(target).map_err(|error| error.error)?;
    Ok(())
}

fn replace_file(target: &Path, found: &Metadata, bytes: &[u8]) -> io::Result<()> {
    if found.nlink() > 1 {
        return in_place(target, found, bytes);
    }
    match beside(target, found, bytes) {
        Ok(()) => Ok(()),
        Err(Beside::Impossible) => in_place(target, found, bytes),
        Err(Beside::Failed(error)) => Err(error),
    }
}

/// Why a file was not replaced beside itself.
enum Beside {
    /// No other file can take its place.
    Impossible,
    /// The bytes could not be written.
    Failed(io::Error),
}

fn beside(target: &Path, found: &Metadata, bytes: &[u8]) -> Result<(), Beside> {
    let mut temporary = sibling(target, 0o600).map_err(|error| impossible(error, false))?;
    let file = temporary.as_file();
    keep_owner(file, found)?;
    // After the owner: changing that clears the set-user-id bits.
    file.set_permissions(Permissions::from_mode(found.mode() & 0o7777))
        .map_err(|error| impossible(error, false))?;
    temporary.write_all(bytes).map_err(Beside::Failed)?;
    temporary
        .persist(target)
        .map_err(|error| impossible(error.error, true))?;
    Ok(())
}

fn keep_owner(file: &File, found: &Metadata) -> Result<(), Beside> {
    let new = file.metadata().map_err(Beside::Failed)?;
    if (new.uid(), new.gid()) == (found.uid(), found.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(file, Some(found.uid()), Some(found.gid()))
        .map_err(|_| Beside::Impossible)
}

/// Sorts a failure to make or name a sibling: a directory that may not be written, and on renaming
/// a target that is a mount point, leave the file itself writable.
fn impossible(error: io::Error, renaming: bool) -> Beside {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Beside::Impossible,
        io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices if renaming => {
            Beside::Impossible
        }
        _ => Beside::Failed(error),
    }
}

fn in_place(target: &Path, found: &Metadata, bytes: &[u8]) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(target)?;
    procfs::refuse(&file)?;
    let old = found.len();
    let head = bytes.len().min(usize::try_from(old).unwrap_or(usize::MAX));
    // Beyond the old end first: only there is room needed that the file may not have.
    if let Err(error) = file.write_all_at(&bytes[head..], old) {
        file.set_len(old)?;
        return Err(error);
    }
    file.write_all_at(&bytes[..head], 0)?;
    file.set_len(bytes.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use vocab::failure::FailureClass;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn links_are_kept_and_their_target_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/real.md"), "old").unwrap();
        symlink("sub/real.md", at("second")).unwrap();
        symlink(at("second"), at("link.md")).unwrap();
        replace(&at("link.md"), "link.md", b"new").unwrap();
        assert_eq!(fs::read(at("sub/real.md")).unwrap(), b"new");
        assert!(at("link.md").is_symlink() && at("second").is_symlink());
        assert_eq!(names(&at("sub")), ["real.md"]);
    }

    #[test]
    fn a_dangling_link_creates_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("deep/er/target", &link).unwrap();
        replace(&link, "link", b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(
            fs::read(folder.path().join("deep/er/target")).unwrap(),
            b"new"
        );
    }

    #[test]
    fn a_link_loop_is_an_io_error() {
        let folder = tempfile::tempdir().unwrap();
        symlink("b", folder.path().join("a")).unwrap();
        symlink("a", folder.path().join("b")).unwrap();
        let failure = replace(&folder.path().join("a"), "a", b"x").unwrap_err();
        assert_eq!(failure.class, FailureClass::IoError);
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn modes_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        for mode in [0o755, 0o600, 0o444, 0o4755] {
            let path = folder.path().join(format!("{mode:o}"));
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let inode = fs::metadata(&path).unwrap().ino();
            replace(&path, "f", b"new").unwrap();
            let now = fs::metadata(&path).unwrap();
            assert_eq!(now.mode() & 0o7777, mode);
            assert_ne!(now.ino(), inode, "replaced, not written into");
        }
    }

    #[test]
    fn the_owner_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "old").unwrap();
        // Only a privileged process can give a file away; elsewhere the owner is ours anyway.
        let _ = std::os::unix::fs::chown(&path, Some(1234), Some(4321));
        let before = fs::metadata(&path).unwrap();
        replace(&path, "f", b"new").unwrap();
        let now = fs::metadata(&path).unwrap();
        assert_eq!((now.uid(), now.gid()), (before.uid(), before.gid()));
    }

    #[test]
    fn hard_links_are_written_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "something old").unwrap();
        fs::hard_link(&a, &b).unwrap();
        for text in ["short", "something longer than before"] {
            replace(&a, "a", text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&b).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["a", "b"]);
    }

    #[test]
    fn a_directory_that_cannot_be_written_or_a_mount_point_means_in_place() {
        let sorted = |errno: rustix::io::Errno, renaming| {
            matches!(impossible(errno.into(), renaming), Beside::Impossible)
        };
        for errno in [
            rustix::io::Errno::ACCESS,
            rustix::io::Errno::PERM,
            rustix::io::Errno::ROFS,
        ] {
            assert!(sorted(errno, false));
        }
        assert!(sorted(rustix::io::Errno::BUSY, true));
        assert!(!sorted(rustix::io::Errno::NOSPC, false));
        assert!(!sorted(rustix::io::Errno::NOSPC, true));
    }

    #[test]
    fn a_new_file_has_the_mode_of_any_new_file() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plain"), "").unwrap();
        replace(&folder.path().join("ours"), "ours", b"").unwrap();
        let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().mode();
        assert_eq!(mode("ours"), mode("plain"));
    }

    #[test]
    fn a_directory_or_a_special_file_is_an_io_error() {
        let folder = tempfile::tempdir().unwrap();
        let failure = replace(folder.path(), "d", b"x").unwrap_err();
        assert_eq!(failure, Failure::io("cannot write `d`: it is a directory"));
        let failure = replace(Path::new("/dev/null"), "n", b"x").unwrap_err();
        assert_eq!(failure, Failure::io("cannot write `n`: it is a device"));
    }

    #[test]
    fn nothing_is_written_through_what_belongs_to_a_process() {
        let folder = tempfile::tempdir().unwrap();
        let stream = folder.path().join("stream");
        fs::write(&stream, "a line").unwrap();
        let held = File::open(&stream).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&held);
        let link = folder.path().join("link");
        symlink(format!("/proc/self/fd/{number}"), &link).unwrap();
        let own = std::process::id();
        for path in [
            format!("/dev/fd/{number}"),
            format!("/proc/self/fd/{number}"),
            format!("/proc/{own}/fd/{number}"),
            format!("/proc/thread-self/fd/{number}"),
            link.to_str().unwrap().to_owned(),
            "/dev/stdout".to_owned(),
            "/dev/stderr".to_owned(),
            "/proc/self/fd/1".to_owned(),
            "/proc/self/mem".to_owned(),
            "/proc/self/new".to_owned(),
            "/proc/self/oom_score_adj".to_owned(),
        ] {
            let failure = replace(Path::new(&path), &path, b"x").unwrap_err();
            let said = format!("cannot write `{path}`: {}", procfs::REASON);
            assert_eq!(failure, Failure::io(said));
        }
        assert_eq!(fs::read(&stream).unwrap(), b"a line");
        assert_eq!(names(folder.path()), ["link", "stream"]);
    }

    #[test]
    fn a_file_in_the_way_of_a_directory_is_an_io_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("f"), "old").unwrap();
        let failure = replace(&folder.path().join("f/g"), "f/g", b"x").unwrap_err();
        assert_eq!(failure.class, FailureClass::IoError);
        assert_eq!(fs::read(folder.path().join("f")).unwrap(), b"old");
    }

    #[test]
    fn a_full_disk_leaves_the_old_file_and_no_temporary() {
        // The file size limit of a child process stands in for the disk: both fail in `write`.
        // Run in a process of its own, since the limit holds for all threads.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "old").unwrap();
        let linked = folder.path().join("linked");
        fs::write(&linked, "old").unwrap();
        fs::hard_link(&linked, folder.path().join("again")).unwrap();
        if let Ok(folder) = std::env::var("GG_TEST_FULL_DISK") {
            for name in ["f", "linked"] {
                let failure = replace(&Path::new(&folder).join(name), name, &vec![b'x'; 100_000]);
                assert_eq!(failure.unwrap_err().class, FailureClass::IoError);
            }
            return;
        }
        #[expect(clippy::disallowed_methods, reason = "a test outside any runtime")]
        let status = std::process::Command::new("sh")
            .arg("-c")
            .arg("trap '' XFSZ; ulimit -f 8; exec \"$0\" --exact \"$1\"")
            .arg(std::env::current_exe().unwrap())
            .arg("replace::tests::a_full_disk_leaves_the_old_file_and_no_temporary")
            .env("GG_TEST_FULL_DISK", folder.path())
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read(&linked).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["again", "f", "linked"]);
    }
}
