//! The journal as its producer holds it.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crossbeam_channel::{Sender, TrySendError};
use vocab::ids::AgentId;

use super::entry::{AgentRow, Entry, Header, Seed};
use super::replay::StopReason;
use super::sink::Sink;
use super::writer::{Command, Writer};
use crate::mask::Mask;

/// Batches that may be pending. One more stops capture, because the run does not wait.
pub const QUEUE_BATCHES: usize = 1024;

/// How often a journal's path is taken anew from runs that start at the same moment.
const TRIES: u32 = 16;

/// The handle of a running capture.
pub struct Journal {
    queue: Option<Sender<Vec<Command>>>,
    /// What is told together, while a batch is open.
    open: Option<Vec<Command>>,
    state: Arc<State>,
    writer: Option<JoinHandle<(u64, u64)>>,
    /// Where the file is, and which file it is; `None` for other sinks.
    place: Option<(PathBuf, Identity)>,
}

/// A file's device and number: what tells it from another one at the same path.
type Identity = (u64, u64);

/// What capture came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalReport {
    /// Bytes of the file.
    pub bytes: u64,
    /// Entries in it.
    pub entries: u64,
    /// Why capture stopped early: `write_failed` or `byte_ceiling`.
    pub stopped: Option<String>,
    /// The same in words.
    pub detail: Option<String>,
}

/// What the handle and the writer tell each other.
#[derive(Default)]
pub(super) struct State {
    is_stopped: AtomicBool,
    why: Mutex<Option<(StopReason, String)>>,
}

impl State {
    /// Stops capture; the first reason stands.
    pub(super) fn stop(&self, reason: StopReason, detail: impl Into<String>) {
        let mut why = match self.why.lock() {
            Ok(why) => why,
            Err(poisoned) => poisoned.into_inner(),
        };
        if why.is_none() {
            let detail = detail.into();
            tracing::warn!("capture stopped: {detail}");
            *why = Some((reason, detail));
        }
        self.is_stopped.store(true, Ordering::SeqCst);
    }

    pub(super) fn why(&self) -> Option<(StopReason, String)> {
        if !self.is_stopped.load(Ordering::SeqCst) {
            return None;
        }
        match self.why.lock() {
            Ok(why) => why.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }
}

impl Journal {
    /// Opens a journal at a path, making its folder and replacing what stood there. A journal
    /// that cannot be opened is a stopped one.
    pub fn start(path: &Path, ceiling_bytes: u64, header: Header, mask: Mask) -> Self {
        match open(path) {
            Ok((file, identity)) => {
                let journal = Self::start_with(Box::new(file), ceiling_bytes, header, mask);
                Self {
                    place: Some((path.to_owned(), identity)),
                    ..journal
                }
            }
            Err(error) => Self::stopped_at_once(format!(
                "the journal {} cannot be opened: {error}",
                path.display()
            )),
        }
    }

    /// As [`start`](Self::start), into any sink.
    pub fn start_with(sink: Box<dyn Sink>, ceiling_bytes: u64, header: Header, mask: Mask) -> Self {
        let (queue, incoming) = crossbeam_channel::bounded(QUEUE_BATCHES);
        let state = Arc::new(State::default());
        let writer = Writer::new(sink, ceiling_bytes, mask, Arc::clone(&state));
        let thread = std::thread::Builder::new()
            .name("gg-journal".to_owned())
            .spawn(move || writer.run(header, &incoming));
        match thread {
            Ok(thread) => Self {
                queue: Some(queue),
                open: None,
                state,
                writer: Some(thread),
                place: None,
            },
            Err(error) => {
                Self::stopped_at_once(format!("the journal's thread cannot be started: {error}"))
            }
        }
    }

    fn stopped_at_once(why: String) -> Self {
        let state = Arc::new(State::default());
        state.stop(StopReason::WriteFailed, why);
        Self {
            queue: None,
            open: None,
            state,
            writer: None,
            place: None,
        }
    }

    /// Passes on what is told within as one batch. A run of many agents tells so much at one moment
    /// that single entries would fill the queue.
    pub fn batch(&mut self, tell: impl FnOnce(&mut Self)) {
        self.open = Some(Vec::new());
        tell(self);
        if let Some(commands) = self.open.take()
            && !commands.is_empty()
        {
            self.send(commands);
        }
    }

    /// What the run starts from; again when a late value resolves.
    pub fn seed(&mut self, seed: Seed) {
        self.tell(Command::Seed(Box::new(seed)));
    }

    /// An agent's provenance; again at the end of its loop.
    pub fn agent(&mut self, agent: AgentRow) {
        self.tell(Command::Agent(Box::new(agent)));
    }

    /// One consumed input. Entries are numbered in the order of these calls.
    pub fn entry(&mut self, agent: Option<&AgentId>, entry: Entry) {
        if self.queue.is_some() {
            self.tell(Command::Entry(agent.cloned(), Box::new(entry)));
        }
    }

    fn tell(&mut self, command: Command) {
        match &mut self.open {
            Some(open) => open.push(command),
            None => self.send(vec![command]),
        }
    }

    fn send(&mut self, commands: Vec<Command>) {
        if self.state.is_stopped.load(Ordering::SeqCst) {
            self.queue = None;
        }
        let Some(queue) = &self.queue else {
            return;
        };
        match queue.try_send(commands) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.state.stop(
                StopReason::WriteFailed,
                format!("{QUEUE_BATCHES} batches of entries were waiting to be written"),
            ),
            Err(TrySendError::Disconnected(_)) => self.state.stop(
                StopReason::WriteFailed,
                "the journal's writer ended before the run",
            ),
        }
    }

    /// Waits until at most half of the queue is pending, as no run does.
    #[cfg(test)]
    pub(super) fn settle(&self) {
        while self
            .queue
            .as_ref()
            .is_some_and(|queue| queue.len() > QUEUE_BATCHES / 2)
        {
            std::thread::yield_now();
        }
    }

    /// Why capture stopped early: `write_failed` or `byte_ceiling`.
    pub fn stopped(&self) -> Option<String> {
        self.state.why().map(|(reason, _)| reason.to_string())
    }

    /// The same in words.
    pub fn stopped_because(&self) -> Option<String> {
        self.state.why().map(|(_, detail)| detail)
    }

    /// Writes what is pending and the last line, and tells how it went.
    pub fn finish(self) -> JournalReport {
        drop(self.queue);
        let (bytes, entries) = match self.writer.map(JoinHandle::join) {
            Some(Ok(written)) => written,
            Some(Err(_)) => {
                self.state
                    .stop(StopReason::WriteFailed, "the journal's writer panicked");
                (0, 0)
            }
            None => (0, 0),
        };
        if let Some((path, identity)) = &self.place
            && fs::symlink_metadata(path)
                .map(|found| identity_of(&found))
                .ok()
                != Some(*identity)
        {
            let path = path.display();
            self.state.stop(
                StopReason::WriteFailed,
                format!("the journal {path} was removed or replaced while the run went on"),
            );
        }
        let why = self.state.why();
        JournalReport {
            bytes,
            entries,
            stopped: why.as_ref().map(|(reason, _)| reason.to_string()),
            detail: why.map(|(_, detail)| detail),
        }
    }
}

/// A new file at a path. What stood there is unlinked rather than written over: it may be a link
/// out of the workspace, a pipe nobody reads, or the journal of a run that still goes on.
fn open(path: &Path) -> io::Result<(File, Identity)> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut tries = 0;
    let file = loop {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        match File::create_new(path) {
            // Another run starts in the same workspace; the last one has the path.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                tries += 1;
            }
            created => break created?,
        }
    };
    let identity = identity_of(&file.metadata()?);
    Ok((file, identity))
}

fn identity_of(file: &Metadata) -> Identity {
    (file.dev(), file.ino())
}
