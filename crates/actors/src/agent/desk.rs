//! The desk of a persistent profile: opened on once the slot is granted, left by an ending that
//! stands (03 §4).
//!
//! Always true: a desk is restored before the first turn, never after; what cannot be read is told
//! to the operator and ends nobody.

use std::ops::ControlFlow;

use context::desk::{self, Desk, OpenFile};
use context::opened;
use context::window::NewItem;
use record::event::LogLevel;
use tools::{FilePolicy, REQUEST_PICTURES, ReadFile};

use super::LoopEnd;
use super::file_reads::Shown;
use super::turns::Turns;
use super::written::file_program;
use crate::messages::{FindDesk, LeaveDesk};

/// The code of the log lines about a desk.
const CODE: Option<&str> = Some("desk");

impl Turns {
    /// Brings back what the profile's last agent left open, where it has a desk. An agent that was
    /// given no slot does not work, and opens nothing.
    pub(super) async fn open_on_desk(&mut self) -> ControlFlow<LoopEnd> {
        if self.spec.profile.slot_key().is_none() || !self.seat.is_taken() {
            return ControlFlow::Continue(());
        }
        self.restore_desk().await?;
        self.take_known_news().await
    }

    async fn restore_desk(&mut self) -> ControlFlow<LoopEnd> {
        let ask = FindDesk {
            profile: self.spec.profile.slug.clone(),
        };
        // A supervisor that died answers the coming boundary as little, and that ends the agent.
        let found = self.links.supervisor.ask(ask).await.unwrap_or_default();
        if found == Desk::default() {
            return ControlFlow::Continue(());
        }
        let (missing, open) = found.missing_from(&self.window, &self.spec.cwd);
        let (restored, unread) = self.reopen(missing).await?;
        let count = restored.len();
        let by = match self.arm() {
            None => "read_file calls",
            Some(_) => "one program",
        };
        for item in self.laid_out(restored)? {
            self.window.push(item);
        }
        let mut told = vec![format!(
            "opened on the desk of `{}`: {count} of {} file views, by {by}",
            self.spec.profile.slug,
            found.files.len()
        )];
        for (count, why) in [(open, "open already"), (unread, "not restored")] {
            if count > 0 {
                told.push(format!("{count} {why}"));
            }
        }
        let voice = &self.links.voice;
        voice.log(LogLevel::Info, CODE, told.join("; "));
        ControlFlow::Continue(())
    }

    /// The opening items of what was on a desk.
    fn laid_out(&mut self, restored: Vec<(OpenFile, Shown)>) -> ControlFlow<LoopEnd, Vec<NewItem>> {
        let Some(arm) = self.arm() else {
            let loaded = restored.into_iter().map(|(file, shown)| {
                let loaded = shown.loaded(&file.path);
                (file, loaded)
            });
            return ControlFlow::Continue(desk::items(loaded.collect()));
        };
        if restored.is_empty() {
            return ControlFlow::Continue(Vec::new());
        }
        let opened = restored.iter();
        let program = file_program(arm, opened.map(|(file, _)| (&*file.path, file.window())));
        let receipt = self.receipt_of(&program)?;
        let mut views = Vec::with_capacity(restored.len());
        for (file, shown) in restored {
            let view = shown.view(&file.path, 0);
            views.push(self.rendered(0, view)?);
        }
        ControlFlow::Continue(opened::by_program("desk-1", &program, receipt, views))
    }

    /// Reads files of a desk through the agent's own read mode; and how many cannot be.
    async fn reopen(
        &mut self,
        files: Vec<OpenFile>,
    ) -> ControlFlow<LoopEnd, (Vec<(OpenFile, Shown)>, usize)> {
        let voice = self.links.voice.clone();
        let warn = |path: &str, why: &str| {
            let text = format!("`{path}` was on the desk and is not restored: {why}");
            voice.log(LogLevel::Warn, CODE, text);
        };
        if !self.shows_files() {
            for file in &files {
                warn(&file.path, "the agent has no call that reads files");
            }
            return ControlFlow::Continue((Vec::new(), files.len()));
        }
        let policy = FilePolicy {
            picture_room: REQUEST_PICTURES.saturating_sub(self.window.picture_bytes()),
            ..self.surface.files
        };
        let reads = files.iter().map(|file| {
            let (offset, limit) = file.window().unzip();
            ReadFile {
                path: file.path.to_string(),
                offset,
                limit,
            }
        });
        let read = self.read_files(reads.collect(), policy, None).await?;
        let (mut restored, mut unread) = (Vec::with_capacity(files.len()), 0);
        let views = self.surface.code.is_some();
        for (file, (call, outcome)) in files.into_iter().zip(read) {
            match outcome.and_then(|shown| if views { shown.bounded() } else { Ok(shown) }) {
                Ok(shown) => restored.push((file, shown)),
                Err(failure) => {
                    unread += 1;
                    warn(&call.path, &failure.message);
                }
            }
        }
        ControlFlow::Continue((restored, unread))
    }

    /// Leaves what lies open to the profile's next agent. Only an ending that stands does.
    pub(super) fn leave_desk(&self, end: &LoopEnd) {
        let profile = &self.spec.profile;
        if end.ending.is_none() || profile.slot_key().is_none() {
            return;
        }
        self.links.supervisor.tell(LeaveDesk {
            profile: profile.slug.clone(),
            desk: Desk::of(&self.window, &self.spec.cwd),
        });
    }
}
