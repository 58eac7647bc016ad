//! From the path a call gives to the path the kernel is asked for.
//!
//! Relative paths join the working directory, absolute paths stand, `..` is the kernel's: the
//! container is the boundary, not the workspace (04 §3). Only what no file system could hold is
//! refused here.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use vocab::failure::Failure;
use vocab::line::one_line;

use crate::{procfs, replace};

/// Where an agent's calls act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The working directory: relative paths join it, commands start in it.
    pub cwd: PathBuf,
    /// The agent's root, the workspace or its worktree: records name directories relative to it.
    pub root: PathBuf,
}

impl Place {
    /// A place whose working directory is its root.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            cwd: root.clone(),
            root,
        }
    }

    /// The working directory as records name it: relative to the root (`.` for the root itself),
    /// absolute outside it.
    pub fn shown_cwd(&self) -> String {
        match self.cwd.strip_prefix(&self.root) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => rest.to_string_lossy().into_owned(),
            Err(_) => self.cwd.to_string_lossy().into_owned(),
        }
    }

    /// The path a call means.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, Failure> {
        if path.is_empty() {
            return Err(Failure::invalid(
                "`path` is empty; give a file or directory",
            ));
        }
        if path.contains('\0') {
            return Err(Failure::invalid(
                "`path` holds a NUL character, which no file name can",
            ));
        }
        Ok(self.cwd.join(path))
    }
}

/// Opens a regular file for reading, and nothing else: a FIFO, a socket or a device could keep a
/// reader waiting for ever. Nor what belongs to a process, gg's own first of all.
pub(crate) fn open_regular(path: &Path, shown: &str) -> Result<(File, Metadata), Failure> {
    // Looked at before it is opened, since opening alone makes some devices act; then opened
    // without blocking and looked at again, since another file may stand there by then.
    let found = std::fs::metadata(path).map_err(|error| cannot("read", shown, &error))?;
    regular(&found, shown)?;
    replace::follow(path).map_err(|error| cannot("read", shown, &error))?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(|error| cannot("read", shown, &error))?;
    let found = file
        .metadata()
        .map_err(|error| cannot("read", shown, &error))?;
    regular(&found, shown)?;
    procfs::refuse(&file).map_err(|error| cannot("read", shown, &error))?;
    Ok((file, found))
}

/// Refuses what is no regular file, saying what it is.
pub(crate) fn regular(found: &Metadata, shown: &str) -> Result<(), Failure> {
    if found.is_file() {
        Ok(())
    } else if found.is_dir() {
        Err(Failure::invalid(format!(
            "`{shown}` is a directory, not a file"
        )))
    } else {
        Err(Failure::invalid(format!(
            "`{shown}` is {}, not a regular file",
            kind(found)
        )))
    }
}

/// What a thing that is neither file nor directory is, for a sentence.
pub(crate) fn kind(found: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = found.file_type();
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "a special file"
    }
}

/// The failure of a file operation: `not-found` where the thing is missing, else `io-error`.
pub(crate) fn cannot(act: &str, shown: &str, error: &io::Error) -> Failure {
    let shown = one_line(shown);
    match error.kind() {
        io::ErrorKind::NotFound => Failure::not_found(format!("`{shown}` does not exist")),
        _ => Failure::io(format!("cannot {act} `{shown}`: {}", reason(error))),
    }
}

/// What the system said, without the number Rust appends.
pub(crate) fn reason(error: &io::Error) -> String {
    if let Some(said) = crate::open_files::spent(error) {
        return said;
    }
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vocab::failure::FailureClass;

    #[test]
    fn relative_paths_join_and_absolute_paths_stand() {
        let place = Place::at("/work");
        assert_eq!(place.resolve("a/../b").unwrap(), Path::new("/work/a/../b"));
        assert_eq!(place.resolve("/tmp/x").unwrap(), Path::new("/tmp/x"));
    }

    #[test]
    fn only_impossible_paths_are_refused() {
        let place = Place::at("/work");
        assert_eq!(
            place.resolve("").unwrap_err().class,
            FailureClass::InvalidArgument
        );
        assert_eq!(
            place.resolve("a\0b").unwrap_err().class,
            FailureClass::InvalidArgument
        );
    }

    #[test]
    fn a_record_names_directories_from_the_root() {
        let mut place = Place::at("/work");
        assert_eq!(place.shown_cwd(), ".");
        place.cwd = "/work/a/b".into();
        assert_eq!(place.shown_cwd(), "a/b");
        place.cwd = "/elsewhere".into();
        assert_eq!(place.shown_cwd(), "/elsewhere");
    }

    #[test]
    fn a_named_pipe_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let failure = open_regular(&path, "p").unwrap_err();
        assert_eq!(failure.class, FailureClass::InvalidArgument);
        assert_eq!(failure.message, "`p` is a named pipe, not a regular file");
    }

    #[test]
    fn what_belongs_to_a_process_is_not_read_by_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let held = File::open(&file).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&held);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/proc/self/environ", &link).unwrap();
        for path in [
            "/proc/self/mem".to_owned(),
            "/proc/self/environ".to_owned(),
            "/proc/thread-self/maps".to_owned(),
            format!("/proc/{}/environ", std::process::id()),
            format!("/dev/fd/{number}"),
            link.to_str().unwrap().to_owned(),
        ] {
            let failure = open_regular(Path::new(&path), &path).unwrap_err();
            let said = format!("cannot read `{path}`: {}", procfs::REASON);
            assert_eq!(failure, Failure::io(said));
        }
        for path in ["/proc/cpuinfo", "/proc/mounts"] {
            open_regular(Path::new(path), path).unwrap();
        }
    }

    #[test]
    fn a_link_loop_is_an_io_error() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("b", folder.path().join("a")).unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("b")).unwrap();
        let failure = open_regular(&folder.path().join("a"), "a").unwrap_err();
        assert_eq!(failure.class, FailureClass::IoError);
    }
}
