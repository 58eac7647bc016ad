//! Compilers as processes: run once, or kept warm (05 §8).
//!
//! Always true: a compiler sees a home, a temporary directory and a working directory of its own and
//! nothing of gg's environment but where programs are found; one that takes longer than its time is
//! killed with all it started, and reaped.
#![expect(
    clippy::disallowed_methods,
    reason = "a compiler is no command of the run: it is bounded, redirected and reaped here"
)]

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use rustix::process::{Pid, Signal, kill_process_group};

use super::alive::{Alive, Mark};

/// How long a compiler may take (05 §8).
pub(crate) const COMPILE_TIME: Duration = Duration::from_mins(1);

/// Bytes of a compiler's words that are kept, from the first on.
const MAX_OUTPUT: u64 = 4 << 20;

/// Bytes of standard error that a failure is told with.
const TAIL: usize = 2048;

/// Where a compiler runs, what it takes for its own, and with whom it is ended.
#[derive(Clone, Debug)]
pub(crate) struct Redirected {
    pub(crate) cwd: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) temporary: PathBuf,
    pub(crate) alive: Alive,
}

impl Redirected {
    /// For a compiler that is only asked what it is.
    pub(crate) fn anywhere() -> Self {
        let temporary = std::env::temp_dir();
        Self {
            cwd: temporary.clone(),
            home: temporary.clone(),
            temporary,
            alive: Alive::default(),
        }
    }
}

/// What a compiler came to.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) success: bool,
    pub(crate) stdout: String,
    /// How it ended and the end of what it wrote on standard error, for a person.
    pub(crate) account: String,
}

/// A compiler that gave no verdict.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompilerError {
    #[error("`{0}` could not be started: {1}")]
    Start(String, #[source] std::io::Error),
    #[error("`{0}` gave no answer within {secs} s and was killed", secs = .1.as_secs_f64())]
    Timeout(String, Duration),
    #[error("`{0}` could not be reaped")]
    Lost(String),
}

/// Runs a compiler to its end.
pub(crate) fn run<S: AsRef<OsStr>>(
    program: &Path,
    arguments: &[S],
    at: &Redirected,
    limit: Duration,
) -> Result<Finished, CompilerError> {
    let name = name(program);
    let mut command = redirected(program, at);
    command.args(arguments).stdin(Stdio::null());
    let started = at.alive.start(&mut command);
    let (mut child, mark) = started.map_err(|error| CompilerError::Start(name.clone(), error))?;
    let group = Pid::from_child(&child);
    let (told, ended) = bounded(1);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || {
        let errors = std::thread::spawn(move || drained(stderr));
        let output = drained(stdout);
        let errors = errors.join().unwrap_or_default();
        mark.ended();
        // Nobody waits any more where its time was over.
        told.send((child.wait(), output, errors)).ok();
    });
    let (status, stdout, stderr) = match ended.recv_timeout(limit) {
        Ok(ended) => ended,
        Err(RecvTimeoutError::Timeout) => {
            // It may just have ended; then there is no such group.
            kill_process_group(group, Signal::KILL).ok();
            // The thread that drains it sees the end of its output, and reaps it.
            ended.recv().ok();
            return Err(CompilerError::Timeout(name, limit));
        }
        Err(RecvTimeoutError::Disconnected) => return Err(CompilerError::Lost(name)),
    };
    let status = status.map_err(|_| CompilerError::Lost(name.clone()))?;
    Ok(Finished {
        success: status.success(),
        stdout,
        account: account(&name, status, &stderr),
    })
}

/// A compiler that stays, with pipes to and from it.
pub(super) fn started<S: AsRef<OsStr>>(
    program: &Path,
    arguments: &[S],
    at: &Redirected,
) -> Result<(Child, Mark), CompilerError> {
    let mut command = redirected(program, at);
    command.args(arguments).stdin(Stdio::piped());
    let started = at.alive.start(&mut command);
    started.map_err(|error| CompilerError::Start(name(program), error))
}

/// Ends a process and all of its group.
pub(super) fn end(child: &mut Child) {
    // What has ended has no group any more: its number may be somebody else's.
    if matches!(child.try_wait(), Ok(None)) {
        kill_process_group(Pid::from_child(child), Signal::KILL).ok();
        child.wait().ok();
    }
}

/// What a process wrote on standard error, once it has closed it.
pub(super) fn errors_of(child: &mut Child) -> Receiver<String> {
    let (told, words) = bounded(1);
    let stderr = child.stderr.take();
    // Nobody may want to know any more: the process was dropped.
    std::thread::spawn(move || told.send(drained(stderr)).ok());
    words
}

fn redirected(program: &Path, at: &Redirected) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .current_dir(&at.cwd)
        .env("HOME", &at.home)
        .env("TMPDIR", &at.temporary)
        .env("LANG", "C.UTF-8")
        .env("LC_ALL", "C.UTF-8")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A signal to gg's group must not look like a compiler that crashed.
        .process_group(0);
    for (variable, folder) in [
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_RUNTIME_DIR", "runtime"),
        ("XDG_STATE_HOME", "state"),
    ] {
        command.env(variable, at.home.join(folder));
    }
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// All a pipe gives, up to a bound; the rest is read and dropped, so that its writer ends.
fn drained(pipe: Option<impl Read>) -> String {
    let Some(mut pipe) = pipe else {
        return String::new();
    };
    let mut bytes = Vec::new();
    // A pipe that breaks has said all it will.
    pipe.by_ref().take(MAX_OUTPUT).read_to_end(&mut bytes).ok();
    std::io::copy(&mut pipe, &mut std::io::sink()).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn account(name: &str, status: ExitStatus, stderr: &str) -> String {
    let mut account = format!("`{name}` ended with {status}");
    let tail = tail(stderr);
    if !tail.is_empty() {
        account.push_str(&format!("; it wrote: {tail}"));
    }
    account
}

/// The end of a text, from the start of a line where it is cut.
pub(super) fn tail(text: &str) -> &str {
    let text = text.trim();
    let from = text.len().saturating_sub(TAIL);
    if from == 0 {
        return text;
    }
    let line = text.as_bytes()[from..]
        .iter()
        .position(|byte| *byte == b'\n');
    match line {
        Some(at) => &text[from + at + 1..],
        None => &text[text.ceil_char_boundary(from)..],
    }
}

fn name(program: &Path) -> String {
    program.file_name().map_or_else(
        || program.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(folder: &Path) -> Redirected {
        Redirected {
            cwd: folder.to_owned(),
            home: folder.join("home"),
            temporary: folder.join("tmp"),
            alive: Alive::default(),
        }
    }

    fn sh(script: &str, limit: Duration) -> Result<Finished, CompilerError> {
        let folder = tempfile::tempdir().unwrap();
        run(
            Path::new("/bin/sh"),
            &["-c", script],
            &at(folder.path()),
            limit,
        )
    }

    #[test]
    fn a_compiler_sees_what_is_its_own_and_no_more() {
        let finished = sh("pwd; env | sort", COMPILE_TIME).unwrap();
        assert!(finished.success);
        let names: Vec<_> = finished
            .stdout
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once('='))
            .map(|(name, _)| name)
            .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
            .collect();
        assert_eq!(
            names,
            [
                "HOME",
                "LANG",
                "LC_ALL",
                "PATH",
                "TMPDIR",
                "XDG_CACHE_HOME",
                "XDG_CONFIG_HOME",
                "XDG_DATA_HOME",
                "XDG_RUNTIME_DIR",
                "XDG_STATE_HOME"
            ]
        );
        let cwd = Path::new(finished.stdout.lines().next().unwrap());
        let home = finished
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix("HOME="));
        assert!(Path::new(home.unwrap()).starts_with(cwd));
    }

    #[test]
    fn one_that_hangs_is_killed_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let held = folder.path().join("held");
        // What it started holds a lock for as long as it lives.
        let script = format!("exec 9>{}; flock 9; sleep 600 & sleep 600", held.display());
        let started = run(
            Path::new("/bin/sh"),
            &["-c", &script],
            &at(folder.path()),
            Duration::from_millis(500),
        );
        assert!(
            matches!(started, Err(CompilerError::Timeout(..))),
            "{started:?}"
        );
        let lock = std::fs::File::create(&held).unwrap();
        crate::trial::until("nothing of it is left", || lock.try_lock().is_ok());
    }

    #[test]
    fn one_that_fails_is_told_with_its_last_words() {
        let finished = sh("echo out; echo why >&2; exit 3", COMPILE_TIME).unwrap();
        assert!(!finished.success);
        assert_eq!(finished.stdout, "out\n");
        assert_eq!(
            finished.account,
            "`sh` ended with exit status: 3; it wrote: why"
        );
        let missing = run(
            Path::new("/nowhere/tsc"),
            &[] as &[&str],
            &at(Path::new("/")),
            COMPILE_TIME,
        );
        assert!(matches!(missing, Err(CompilerError::Start(..))));
    }

    #[test]
    fn a_long_account_is_cut_at_a_line() {
        let long = "ü".repeat(3000);
        assert!(tail(&long).chars().all(|c| c == 'ü'));
        assert_eq!(tail(&format!("{}\nend", "x".repeat(3000))), "end");
    }
}
