//! What git could not do, in sentences.

use std::path::PathBuf;

/// Why an operation of git's did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git`.
    #[error("`{program}` could not be started: {source}; a board needs git 2.31 or newer")]
    NoGit {
        /// What was tried.
        program: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A `git` that is too old.
    #[error("`git` is {0}; a board needs 2.31 or newer")]
    Old(String),
    /// A command failed.
    #[error("`git {what}` failed: {said}")]
    Failed {
        /// The subcommand and the most telling of its arguments.
        what: String,
        /// Its own words.
        said: String,
    },
    /// A command took too long and was ended.
    #[error("`git {what}` did not end within {secs} s and was killed")]
    TimedOut {
        /// The subcommand.
        what: String,
        /// What it had.
        secs: u64,
    },
    /// Another git holds the repository, or held it when it was killed.
    #[error(
        "`{}` was there for {secs} s: another git is at work in the repository, or one was \
         killed; if none runs, remove that file",
        .lock.display()
    )]
    Locked {
        /// The lock.
        lock: PathBuf,
        /// How long it was waited for.
        secs: u64,
    },
    /// Another run works on the workspace.
    #[error(
        "another run of gg (process {by}) works on the workspace `{}` with a board; wait for its \
         end, or give this run a clone of its own",
        .workspace.display()
    )]
    Held {
        /// The workspace.
        workspace: PathBuf,
        /// The process, as it wrote itself down.
        by: String,
    },
    /// What a run was doing that was killed is not done yet.
    #[error(
        "a git command of a run that was killed (process {by}) still works on the workspace `{}`; \
         wait for its end, or end it, then start again",
        .workspace.display()
    )]
    Outlived {
        /// The workspace.
        workspace: PathBuf,
        /// The process of the run, as it wrote itself down.
        by: String,
    },
    /// Git answered something that cannot be read.
    #[error("`git {what}` answered something unexpected: {found:?}")]
    Unreadable {
        /// The subcommand.
        what: &'static str,
        /// The start of it.
        found: String,
    },
    /// A file or folder beside git's own could not be read or written.
    #[error("`{}`: {source}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The workspace is something a board cannot work on.
    #[error("{0}")]
    Unsupported(String),
    /// A worktree's git file does not lead where it did.
    #[error(
        "the worktree `{}` is damaged: its `.git` {found}; nothing was removed",
        .path.display()
    )]
    Damaged {
        /// The worktree.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
    },
    /// An operation does not fit what is under way.
    #[error("{0}")]
    Misplaced(&'static str),
}

impl GitError {
    pub(super) fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }
}
