//! The flow log: one line per message that passes between actors (architecture §4).
//!
//! A `Tap` is held by every link while `--flow` is on. A message is stamped when it is sent and
//! becomes a line when its handler returns; a thread of its own writes the file, so that an actor
//! pays a channel send. Without `--flow` there is no tap and nothing is stamped.
//!
//! Always true: `seq` is gapless, and the closing line says how many messages were sent and never
//! handled.

mod displaced;
mod line;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock;
use displaced::Account;
pub use line::{FlowEnd, FlowLine};

/// What a handled message leaves.
#[derive(Debug)]
pub(crate) struct Handled {
    pub at_us: i64,
    pub from: Arc<str>,
    pub to: Arc<str>,
    pub message: &'static str,
    pub queued: Duration,
    pub running: Duration,
    /// Of that, ready to run and without a processor; `None` where the system does not tell.
    pub displaced: Option<Duration>,
    pub depth: u32,
}

/// Where links report what they carry.
#[derive(Clone, Debug)]
pub(crate) struct Tap {
    /// `None` closes the log.
    lines: mpsc::Sender<Option<Handled>>,
    sent: Arc<AtomicU64>,
    account: Option<Arc<Account>>,
}

impl Tap {
    pub(crate) fn sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// How long the actors' thread was ready to run and had no processor, since it began.
    pub(crate) fn displaced(&self) -> Option<Duration> {
        self.account.as_ref()?.displaced()
    }

    pub(crate) fn handled(&self, line: Handled) {
        // The writer is gone only where the file failed; its error is reported at the end.
        self.lines.send(Some(line)).ok();
    }
}

/// The thread that writes the log.
#[derive(Debug)]
pub(crate) struct FlowWriter {
    lines: mpsc::Sender<Option<Handled>>,
    thread: JoinHandle<io::Result<()>>,
}

impl FlowWriter {
    /// Creates the file and starts the thread. The calling thread is the one that actors run on.
    pub(crate) fn start(path: &Path) -> io::Result<(Tap, Self)> {
        let file = File::create(path).map_err(|error| {
            let why = format!("the flow log `{}` cannot be made: {error}", path.display());
            io::Error::new(error.kind(), why)
        })?;
        let file = BufWriter::new(file);
        let (lines, inbox) = mpsc::channel();
        let sent = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&sent);
        let thread = std::thread::Builder::new()
            .name("gg-flow".to_owned())
            .spawn(move || write_lines(file, &inbox, &counter))?;
        let closing = lines.clone();
        Ok((
            Tap {
                lines,
                sent,
                account: Account::of_this_thread().map(Arc::new),
            },
            Self {
                lines: closing,
                thread,
            },
        ))
    }

    /// Writes the last line and waits for it. Whatever a tap reports afterwards is left out.
    pub(crate) fn finish(self) -> io::Result<()> {
        // The writer is gone only where the file failed; then joining it tells of the failure.
        self.lines.send(None).ok();
        self.thread
            .join()
            .map_err(|_| io::Error::other("the flow writer panicked"))?
    }
}

fn write_lines(
    mut file: BufWriter<File>,
    inbox: &mpsc::Receiver<Option<Handled>>,
    sent: &AtomicU64,
) -> io::Result<()> {
    let mut seq = 0;
    while let Ok(Some(handled)) = inbox.recv() {
        let line = FlowLine {
            ts: clock::timestamp(handled.at_us),
            seq,
            from: handled.from.to_string(),
            to: handled.to.to_string(),
            message: handled.message.to_owned(),
            queued_us: micros(handled.queued),
            handled_us: micros(handled.running),
            displaced_us: handled.displaced.map(micros),
            depth: handled.depth,
        };
        serde_json::to_writer(&mut file, &line)?;
        file.write_all(b"\n")?;
        seq += 1;
    }
    let unhandled = sent.load(Ordering::Relaxed).saturating_sub(seq);
    serde_json::to_writer(
        &mut file,
        &FlowEnd {
            end: true,
            messages: seq,
            unhandled,
        },
    )?;
    file.write_all(b"\n")?;
    file.flush()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
