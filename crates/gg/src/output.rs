//! What commands print: the one way to stdout, and files that are whole or not there.
//!
//! `println!` is not used because it panics where a reader has gone. Here a closed pipe is no
//! error: whoever ran `gg schema | head` has what they wanted, and the command's own verdict stays
//! the exit code. Any other failure to write is an error with a sentence.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// Writes a text to stdout and flushes it.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    write_quietly(&mut io::stdout().lock(), text.as_bytes()).context("stdout cannot be written")
}

/// Says a sentence on stderr. Where stderr cannot be written the sentence is lost and nothing else
/// changes, the exit code least of all.
pub(crate) fn complain(sentence: impl Display) {
    writeln!(io::stderr().lock(), "{sentence}").ok();
}

/// Writes to a stream; a reader that has gone is no error.
fn write_quietly(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Whether stdout is a terminal that wants colour (`NO_COLOR` is honoured).
pub(crate) fn stdout_wants_colour() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints a text, or puts it into a file where one is named.
pub(crate) fn deliver(text: &str, file: Option<&Path>) -> anyhow::Result<()> {
    match file {
        Some(file) => replace_file(file, text.as_bytes()),
        None => print(text),
    }
}

/// Writes a file beside its place, then moves it there, so that a full disk leaves the old one.
///
/// A link is followed and stays. A device or a pipe is written to: moving a file over it would
/// take it from everybody who uses it.
pub(crate) fn replace_file(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let unwritten = || format!("`{}` cannot be written", file.display());
    if std::fs::metadata(file).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return OpenOptions::new()
            .write(true)
            .open(file)
            .and_then(|mut open| write_quietly(&mut open, bytes))
            .with_context(unwritten);
    }
    // What does not exist yet cannot be resolved; its own path is where it goes.
    let place = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let mut beside = place.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    std::fs::write(&beside, bytes)
        .and_then(|()| std::fs::rename(&beside, &place))
        .inspect_err(|_| {
            // What is left of a failed write is of no use; the error below is what matters.
            std::fs::remove_file(&beside).ok();
        })
        .with_context(unwritten)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_has_gone_is_no_error_and_a_full_disk_is_one() {
        assert!(write_quietly(&mut Failing(io::ErrorKind::BrokenPipe), b"x").is_ok());
        assert!(write_quietly(&mut Failing(io::ErrorKind::StorageFull), b"x").is_err());
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("out.txt");
        replace_file(&file, b"one").unwrap();
        replace_file(&file, b"two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_and_a_pipe_stay_what_they_are() {
        use std::io::Read as _;

        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("target"), dir.path().join("link"));
        std::fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        replace_file(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"new");

        let (mut reader, writer) = io::pipe().unwrap();
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&writer);
        let pipe = dir.path().join("pipe");
        std::os::unix::fs::symlink(format!("/proc/self/fd/{descriptor}"), &pipe).unwrap();
        replace_file(&pipe, b"through").unwrap();
        drop(writer);
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "through");
        assert!(pipe.is_symlink());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = replace_file(&dir.path().join("absent/out.txt"), b"x").unwrap_err();
        assert!(error.to_string().contains("absent/out.txt"), "{error}");
    }
}
