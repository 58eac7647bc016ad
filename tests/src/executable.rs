//! A script that may be run at once, whatever else this process starts meanwhile.
//!
//! A file that a process has open for writing cannot be run, and a child that another test is just
//! starting holds every file of its parent until it is itself: so a child of its own writes it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a script, in place of what is there.
///
/// # Panics
///
/// Where it cannot be written.
pub fn executable(path: &Path, text: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", "rm -f \"$0\" && cat >\"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    let mut pipe = writer.stdin.take().expect("it was piped");
    pipe.write_all(text.as_bytes()).expect("the shell reads");
    drop(pipe);
    let status = writer.wait().expect("the shell ends");
    assert!(status.success(), "{} cannot be written", path.display());
}
