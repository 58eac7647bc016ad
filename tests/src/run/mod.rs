//! One run of the real binary: what it is given, and what it left.
//!
//! [`Run::builder`] puts together a workspace, a launch document and a gateway; [`Builder::run`]
//! starts `gg` and waits. After every run, unless opted out of: the gateway found nothing to
//! refuse, the stream holds every rule of 06 §1, its last line agrees with the exit code, the
//! credential stands nowhere, and no process of the run is left.

mod builder;
mod checks;
mod probe;
mod running;

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::gateway::Gateway;

pub use builder::{Builder, CREDENTIAL};
pub use probe::{Peak, Process, census, probe};
pub use running::Running;

/// A finished run.
pub struct Run {
    /// Its stream, line by line.
    pub lines: Vec<Value>,
    /// Its stream as text.
    pub stdout: String,
    /// What it told the operator.
    pub stderr: String,
    /// Its exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The process id it had.
    pub pid: u32,
    /// The largest figures seen.
    pub peak: Peak,
    /// The gateway it spoke to.
    pub gateway: Option<Gateway>,
    /// Processes that outlived it and carry its marker.
    pub left: Vec<Process>,
    pub(crate) workspace: PathBuf,
    // Holds the workspace and the document until the run is dropped.
    pub(crate) folder: tempfile::TempDir,
}

impl Run {
    /// A run to be put together.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// The events of a type, in order.
    pub fn events(&self, kind: &str) -> Vec<&Value> {
        self.lines
            .iter()
            .filter(|line| line["type"] == kind)
            .collect()
    }

    /// The only event of a type.
    ///
    /// # Panics
    ///
    /// Where there is none, or more than one.
    #[track_caller]
    pub fn event(&self, kind: &str) -> &Value {
        let events = self.events(kind);
        assert_eq!(events.len(), 1, "`{kind}` events\n{}", self.describe());
        events[0]
    }

    /// The last line.
    #[track_caller]
    pub fn last(&self) -> &Value {
        self.lines
            .last()
            .unwrap_or_else(|| panic!("the stream is empty\n{}", self.describe()))
    }

    /// The `session_summary` event.
    #[track_caller]
    pub fn summary(&self) -> &Value {
        self.event("session_summary")
    }

    /// The results of calls of a tool, in order.
    pub fn results(&self, tool: &str) -> Vec<&Value> {
        self.events("tool_result")
            .into_iter()
            .filter(|result| result["tool"] == tool)
            .collect()
    }

    /// The messages of `log` events of a level.
    pub fn logs(&self, level: &str) -> Vec<&str> {
        self.events("log")
            .into_iter()
            .filter(|log| log["level"] == level)
            .filter_map(|log| log["message"].as_str())
            .collect()
    }

    /// The `outcome`s of its turns, an error as its type.
    pub fn outcomes(&self) -> Vec<&str> {
        self.events("turn_outcome")
            .into_iter()
            .map(|turn| {
                turn["errorType"]
                    .as_str()
                    .or(turn["outcome"].as_str())
                    .unwrap_or("")
            })
            .collect()
    }

    /// Asserts how it ended: exit code and status.
    #[track_caller]
    pub fn ended(&self, code: i32, status: &str) -> &Self {
        assert_eq!(
            (
                self.code,
                self.last()["type"].as_str(),
                self.last()["status"].as_str()
            ),
            (Some(code), Some("session_ended"), Some(status)),
            "{}",
            self.describe()
        );
        self
    }

    /// Where it worked.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The folder around workspace and document; side files of a test may stand there.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file of the workspace, as text.
    #[track_caller]
    pub fn file(&self, path: &str) -> String {
        let path = self.workspace.join(path);
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", path.display(), self.describe()))
    }

    /// The capture journal's bytes; empty where there is none.
    pub fn journal(&self) -> Vec<u8> {
        std::fs::read(self.workspace.join(".gg/replay.ndjson")).unwrap_or_default()
    }

    /// The capture journal, line by line.
    #[track_caller]
    pub fn journal_lines(&self) -> Vec<Value> {
        String::from_utf8(self.journal())
            .expect("a journal is UTF-8")
            .lines()
            .map(|line| serde_json::from_str(line).expect("a journal line is JSON"))
            .collect()
    }

    /// What to print beside a failed assertion.
    pub fn describe(&self) -> String {
        let tail: Vec<&str> = self.stdout.lines().rev().take(30).collect();
        let tail: Vec<String> = tail
            .into_iter()
            .rev()
            .map(|line| line.chars().take(600).collect())
            .collect();
        format!(
            "exit code {:?}, signal {:?}\n--- stderr\n{}\n--- last lines of the stream\n{}\n",
            self.code,
            self.signal,
            self.stderr,
            tail.join("\n")
        )
    }
}

/// Where the gg stands that panics as `GG_TRIP` says.
///
/// # Panics
///
/// Where there is none.
pub fn fragile_binary() -> PathBuf {
    let path = binary().with_file_name("gg-trip");
    assert!(
        path.is_file(),
        "there is no gg-trip at {}: run the tests with `cargo xtask test`, or build it first with \
         `cargo build -p gg --features trip` and copy it there",
        path.display()
    );
    path
}

/// Where the `gg` binary built beside the tests stands.
///
/// # Panics
///
/// Where there is none.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("GG_TEST_BINARY") {
        return path.into();
    }
    let test = std::env::current_exe().expect("a test has a path");
    let path = test
        .parent()
        .and_then(Path::parent)
        .map(|profile| profile.join("gg"))
        .unwrap_or_default();
    assert!(
        path.is_file(),
        "there is no gg at {}: run the tests with `cargo xtask test`, or build it first with \
         `cargo build -p gg`",
        path.display()
    );
    path
}

/// Runs another command of the binary and waits for it.
pub fn gg<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Output {
    finished(&mut command(arguments))
}

/// The same, with a gateway at this base URL and a credential for it.
pub fn gg_at<S: AsRef<std::ffi::OsStr>>(
    base_url: &str,
    arguments: impl IntoIterator<Item = S>,
) -> Output {
    let mut command = command(arguments);
    command
        .env("OPENROUTER_BASE_URL", base_url)
        .env("OPENROUTER_API_KEY", CREDENTIAL);
    finished(&mut command)
}

fn command<S: AsRef<std::ffi::OsStr>>(
    arguments: impl IntoIterator<Item = S>,
) -> std::process::Command {
    let mut command = std::process::Command::new(binary());
    command
        .args(arguments)
        .env_remove("OPENROUTER_API_KEY")
        .env_remove("OPENROUTER_BASE_URL")
        .stdin(std::process::Stdio::null());
    command
}

fn finished(command: &mut std::process::Command) -> Output {
    command.output().expect("the binary can be started")
}
