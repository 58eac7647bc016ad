//! The ground a board stands on: the workspace's repository, opened before the first agent.

use std::path::Path;
use std::sync::Arc;

use board::git::{GitError, GitThread, Opened, Options, Repository};
use config::Launch;
use record::event::LogLevel;
use vocab::ids::RoutingKey;
use vocab::listed::Listed;

use super::{CODE, Hands};
use crate::panics;
use crate::telemetry::Voice;

/// A repository that a board can work on, and how it was found.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) hands: Hands,
    opened: Opened,
}

/// Says whether a board can work on a workspace, and changes nothing.
///
/// # Errors
///
/// Why not, in a sentence.
pub(crate) fn examine(workspace: &Path) -> Result<(), GitError> {
    let unseen = |why: &dyn std::fmt::Display| {
        GitError::Unsupported(format!("it could not be looked at: {why}"))
    };
    let options = Options::new(workspace, &RoutingKey::from("check"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| unseen(&error))?;
    // On a thread of its own, whoever asks: a runtime cannot be entered from within another.
    let look = std::thread::Builder::new()
        .name("gg-examine".to_owned())
        .spawn(move || runtime.block_on(Repository::examine(&options)))
        .map_err(|error| unseen(&error))?;
    look.join().unwrap_or_else(|_| Err(unseen(&panics::last())))
}

/// Opens the repository of a launch that has a board; `None` for any other.
///
/// # Errors
///
/// Why no board can work on the workspace, in a sentence.
pub(crate) async fn open(launch: &Launch, run: &RoutingKey) -> Result<Option<Ground>, GitError> {
    if launch.board().is_none() {
        return Ok(None);
    }
    let thread = GitThread::new();
    let options = Options::new(&launch.workspace_dir, run);
    let opened = thread.run(Repository::open(options)).await;
    let (repository, opened) = opened.map_err(|gone| GitError::Unsupported(gone.to_string()))??;
    let hands = Hands {
        repository,
        thread: Arc::new(thread),
    };
    Ok(Some(Ground { hands, opened }))
}

impl Ground {
    /// Tells the operator how the repository was found.
    pub(crate) fn tell(&self, voice: &Voice) {
        if self.opened.initialized {
            let text = "the workspace was no git repository: it is one now, and what was in it is \
                        its first commit";
            voice.log(LogLevel::Info, CODE, text);
        }
        if let Some(note) = self.opened.leftover_note() {
            voice.log(LogLevel::Warn, CODE, note);
        }
        if let Some(unjudged) = &self.opened.unjudged {
            voice.log(LogLevel::Warn, CODE, unjudged.clone());
        }
        if let Some(note) = self.opened.stays_note() {
            voice.log(LogLevel::Info, CODE, note);
        }
        if !self.opened.nested.is_empty() {
            let nested = Listed(&self.opened.nested);
            let text = format!(
                "repositories in the workspace that it does not track are in no worktree: {nested}"
            );
            voice.log(LogLevel::Warn, CODE, text);
        }
    }
}
