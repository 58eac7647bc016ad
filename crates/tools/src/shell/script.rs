//! A script of the operator's that is run in the place of `sh -c` (01 §8.3).

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::process::Command;

use crate::paths::reason;

/// See the module. It is given one argument and no input; whatever mode its output has, the last
/// line of its stdout is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file.
    pub path: PathBuf,
    /// Whether its first line names its interpreter; without one `sh` reads it.
    pub names_interpreter: bool,
    /// Its sole argument.
    pub argument: Arc<str>,
}

impl Script {
    pub(super) fn command(&self) -> Command {
        let mut command = if self.names_interpreter {
            Command::new(&self.path)
        } else {
            let mut command = Command::new("/bin/sh");
            command.arg0("sh").arg(&self.path);
            command
        };
        command.arg(&*self.argument);
        command
    }
}

/// Why a script could not start. A missing interpreter and a missing file are one error of the
/// kernel's.
pub(super) fn why_not(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the script or its interpreter is not there".to_owned(),
        _ => reason(error),
    }
}
