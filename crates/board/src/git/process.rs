//! One git command from its start to its output.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::time::{Instant, sleep, timeout};

use super::error::GitError;
use super::lease::{Lease, Taken, has_ended};
use super::shield::Shield;

/// What one command may take: it touches a disk and nothing else.
const LONGEST: Duration = Duration::from_secs(600);

/// From one look at a lock to the next: no event tells of its going on every file system.
const LOOK: Duration = Duration::from_millis(25);

/// Bytes of git's own words that are kept.
const SAID: usize = 2000;

/// How git is started.
#[derive(Debug)]
pub(super) struct Git {
    program: PathBuf,
    /// The user's content filters.
    filters: Vec<(String, String)>,
    shield: Mutex<Protection>,
    patience: Duration,
    /// The mark of the run's commands (R38).
    run: OsString,
    /// The run's hold on its workspace, which a command that outlives the run keeps.
    hold: OnceLock<File>,
}

/// The shield, and the filters that it keeps from running since they failed.
#[derive(Debug)]
struct Protection {
    shield: Arc<Shield>,
    off: Vec<String>,
}

/// A command to run.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    dir: &'a Path,
    args: Vec<OsString>,
    input: Vec<u8>,
    variables: Vec<(&'static str, OsString)>,
}

/// What a command answered.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

impl<'a> Invocation<'a> {
    /// A command on the work tree that a folder is, and on no other: whatever becomes of its
    /// `.git`, or of what the configuration says of its place, git looks nowhere else.
    pub(super) fn new<S: AsRef<OsStr>>(dir: &'a Path, args: impl IntoIterator<Item = S>) -> Self {
        Self::anywhere(dir, args)
            .variable("GIT_DIR", dir.join(".git"))
            .variable("GIT_WORK_TREE", dir)
    }

    /// A command on whatever repository git finds from a folder on, where it needs one.
    pub(super) fn anywhere<S: AsRef<OsStr>>(
        dir: &'a Path,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            dir,
            args: args.into_iter().map(|arg| arg.as_ref().into()).collect(),
            input: Vec::new(),
            variables: Vec::new(),
        }
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().into());
        self
    }

    pub(super) fn input(mut self, input: Vec<u8>) -> Self {
        self.input = input;
        self
    }

    pub(super) fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// As a sentence names it: the subcommand, and its first words.
    fn what(&self) -> String {
        let words: Vec<_> = (self.args.iter().take(4))
            .map(|arg| arg.to_string_lossy())
            .collect();
        words.join(" ").chars().take(80).collect()
    }
}

impl Output {
    pub(super) fn ok(&self) -> bool {
        self.code == Some(0)
    }

    /// What it wrote to its standard output, without the line end.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }

    /// What it said, of either stream, from the end.
    pub(super) fn said(&self) -> String {
        let mut said = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        if said.is_empty() {
            String::from_utf8_lossy(&self.stdout)
                .trim()
                .clone_into(&mut said);
        }
        let mut from = said.len().saturating_sub(SAID);
        while !said.is_char_boundary(from) {
            from += 1;
        }
        said.split_off(from)
    }

    /// The content filter that failed, where that is why it failed.
    fn failed_filter(&self) -> Option<String> {
        if self.ok() {
            return None;
        }
        let said = String::from_utf8_lossy(&self.stderr);
        said.lines().find_map(failed_filter).map(str::to_owned)
    }

    /// The lock that another git holds, where that is why it failed.
    fn lock(&self) -> Option<PathBuf> {
        if self.ok() {
            return None;
        }
        // `fatal: Unable to create '/a/.git/index.lock': File exists.`, in any of its wordings.
        let said = String::from_utf8_lossy(&self.stderr);
        let line = said
            .lines()
            .find(|line| line.contains(".lock': File exists"))?;
        let (before, _) = line.split_once("': File exists")?;
        Some(before.rsplit('\'').next()?.into())
    }
}

/// The content filter that a line of git's says has failed.
fn failed_filter(line: &str) -> Option<&str> {
    if let Some((_, rest)) = line.split_once(": clean filter '") {
        return rest.strip_suffix("' failed");
    }
    let (_, rest) = line.split_once(": smudge filter ")?;
    rest.strip_suffix(" failed")
}

impl Git {
    /// A git that is shielded but for the user's own filters.
    pub(super) fn new(
        program: PathBuf,
        filters: Vec<(String, String)>,
        patience: Duration,
        run: &str,
    ) -> Self {
        let shield = Shield::new(&filters, &[]);
        Self::with(program, filters, shield, patience, run)
    }

    /// A git as the user has it.
    pub(super) fn unshielded(program: PathBuf, patience: Duration, run: &str) -> Self {
        Self::with(program, Vec::new(), Shield::none(), patience, run)
    }

    fn with(
        program: PathBuf,
        filters: Vec<(String, String)>,
        shield: Shield,
        patience: Duration,
        run: &str,
    ) -> Self {
        Self {
            program,
            filters,
            shield: Mutex::new(Protection {
                shield: Arc::new(shield),
                off: Vec::new(),
            }),
            patience,
            run: run.into(),
            hold: OnceLock::new(),
        }
    }

    /// Has every command from now on keep a hold on the workspace until it ends; the first counts.
    pub(super) fn keep(&self, hold: File) {
        self.hold.set(hold).ok();
    }

    /// Keeps a filter that failed from running again: what is in the tree is what counts, and a
    /// filter that fails for one file fails every look at it.
    fn switch_off(&self, filter: String) -> bool {
        let mut protection = self.protection();
        if protection.off.contains(&filter) {
            return false;
        }
        protection.off.push(filter);
        protection.shield = Arc::new(Shield::new(&self.filters, &protection.off));
        true
    }

    fn protection(&self) -> MutexGuard<'_, Protection> {
        // Whole between any two statements, whoever panicked.
        self.shield.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a command that has to succeed.
    pub(super) async fn run(&self, invocation: Invocation<'_>) -> Result<Output, GitError> {
        let output = self.ask(&invocation).await?;
        if output.ok() {
            return Ok(output);
        }
        Err(GitError::Failed {
            what: invocation.what(),
            said: output.said(),
        })
    }

    /// Runs a command, and waits for the locks of others.
    pub(super) async fn ask(&self, invocation: &Invocation<'_>) -> Result<Output, GitError> {
        let until = Instant::now() + self.patience;
        loop {
            let output = self.once(invocation).await?;
            if let Some(filter) = output.failed_filter()
                && self.switch_off(filter)
            {
                continue;
            }
            let Some(lock) = output.lock() else {
                return Ok(output);
            };
            if Instant::now() >= until {
                let secs = self.patience.as_secs();
                return Err(GitError::Locked { lock, secs });
            }
            while lock.exists() && Instant::now() < until {
                sleep(LOOK).await;
            }
        }
    }

    /// Waits for a lock that is there to go; false where it stays.
    pub(super) async fn lock_goes(&self, lock: &Path) -> bool {
        let until = Instant::now() + self.patience;
        while lock.exists() {
            if Instant::now() >= until {
                return false;
            }
            sleep(LOOK).await;
        }
        true
    }

    /// Waits until the run that holds the workspace has let go of it, where all that is left of that
    /// run is a command that was under way when it was killed.
    pub(super) async fn lease(&self, workspace: &Path, path: &Path) -> Result<Lease, GitError> {
        let until = Instant::now() + self.patience;
        loop {
            let by = match Lease::take(path).map_err(|error| GitError::io(path, error))? {
                Taken::Mine(lease) => return Ok(lease),
                Taken::Theirs(by) => by,
            };
            let workspace = workspace.to_owned();
            if !has_ended(&by) {
                return Err(GitError::Held { workspace, by });
            }
            if Instant::now() >= until {
                return Err(GitError::Outlived { workspace, by });
            }
            sleep(LOOK).await;
        }
    }

    /// How long that is waited for, in seconds.
    pub(super) const fn patience_secs(&self) -> u64 {
        self.patience.as_secs()
    }

    /// What a command reads. One that reads nothing has the run's hold there, since that is the one
    /// file that a process is sure to inherit; one that does ends with its input.
    fn stdin(&self, invocation: &Invocation<'_>) -> Result<Stdio, GitError> {
        if !invocation.input.is_empty() {
            return Ok(Stdio::piped());
        }
        let Some(hold) = self.hold.get() else {
            return Ok(Stdio::null());
        };
        let hold = hold.try_clone();
        Ok(hold
            .map_err(|error| GitError::io(invocation.dir, error))?
            .into())
    }

    async fn once(&self, invocation: &Invocation<'_>) -> Result<Output, GitError> {
        // The group is set by an attribute and no hook runs before `exec`, so that git is spawned
        // and not forked. In a group of its own it ends what it began, whatever becomes of gg.
        let shield = self.protection().shield.clone();
        let io = |source| GitError::io(&self.program, source);
        let (stdout, stderr) = (memory().map_err(io)?, memory().map_err(io)?);
        let mut command = Command::new(&self.program);
        for name in &shield.removed {
            command.env_remove(name);
        }
        command
            .args(&invocation.args)
            .current_dir(invocation.dir)
            .envs(shield.set.iter().map(|(name, value)| (name, value)))
            .env("GG_RUN", &self.run)
            .envs(
                invocation
                    .variables
                    .iter()
                    .map(|(name, value)| (name, value)),
            )
            .stdin(self.stdin(invocation)?)
            .stdout(stdout.try_clone().map_err(io)?)
            .stderr(stderr.try_clone().map_err(io)?)
            .process_group(0);
        let mut child = command.spawn().map_err(|source| {
            // A folder that is gone fails like a program that is.
            if invocation.dir.is_dir() {
                GitError::NoGit {
                    program: self.program.display().to_string(),
                    source,
                }
            } else {
                GitError::io(invocation.dir, source)
            }
        })?;
        let stdin = child.stdin.take();
        let group = child.id();
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A git that did not want all of it says so by its exit code.
                stdin.write_all(&invocation.input).await.ok();
            }
        };
        let ended = timeout(LONGEST, async {
            let (status, ()) = tokio::join!(child.wait(), feed);
            status
        });
        let Ok(status) = ended.await else {
            kill(group);
            return Err(GitError::TimedOut {
                what: invocation.what(),
                secs: LONGEST.as_secs(),
            });
        };
        Ok(Output {
            code: status.map_err(io)?.code(),
            stdout: whole(stdout).map_err(io)?,
            stderr: whole(stderr).map_err(io)?,
        })
    }
}

/// A file without a name. A git that writes into a pipe dies of it once gg is gone, in the middle of
/// a merge as anywhere.
fn memory() -> std::io::Result<File> {
    let file = rustix::fs::memfd_create("git", rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(file.into())
}

/// All that was written into a file.
fn whole(mut file: File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Ends a group that took too long.
fn kill(group: Option<u32>) {
    let group = group.and_then(|id| rustix::process::Pid::from_raw(id.try_into().ok()?));
    if let Some(group) = group {
        // It may have ended by itself at this moment.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
}
