//! The telemetry stream: emissions in, one JSON object a line out, on a thread of its own (06 §1).
//!
//! A [`Stream`] is held by one producer, the telemetry actor. [`Stream::send`] never waits; who
//! has to wait for room does so where its [`Gauge`] says that [`QUEUE_LINES`] lines are pending,
//! until the `on_room` callback fires. The writer takes whatever batches are there,
//! serializes them into one reused buffer and writes it with one call.
//!
//! Always true:
//! - `seq` starts at 0 and grows by one a line; every line is valid UTF-8 JSON that ends in `\n`;
//! - no accepted emission is dropped, merged or reordered while the output takes bytes;
//! - once the output has failed it stays failed: later lines are counted, not written to it. A
//!   tee goes on, because the file may be all that is left of the run.

mod encode;
mod output;
mod time;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use vocab::ids::SessionId;

use crate::event::Emission;
use crate::mask::Mask;
use encode::Encoder;
use output::Output;

/// Lines that may be pending before producers wait for room.
pub const QUEUE_LINES: usize = 4096;

/// Longest line; a longer body keeps its head and gains `clippedChars`.
pub const LINE_CEILING_BYTES: usize = 8 << 20;

/// Bytes gathered before a write, where more batches are waiting.
const WRITE_BYTES: usize = 256 << 10;

/// The handle of a running writer.
pub struct Stream {
    batches: Sender<Vec<Emission>>,
    shared: Arc<Shared>,
    writer: JoinHandle<StreamReport>,
}

/// Whether a stream takes more, read from anywhere without asking its producer.
#[derive(Clone)]
pub struct Gauge(Arc<Shared>);

impl std::fmt::Debug for Gauge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gauge(open: {})", self.is_open())
    }
}

impl Gauge {
    /// Whether fewer than [`QUEUE_LINES`] lines are pending.
    pub fn has_room(&self) -> bool {
        self.0.backlog.load(Ordering::SeqCst) < QUEUE_LINES
    }

    /// Whether the output takes lines and there is room for them: nobody has to be asked then.
    pub fn is_open(&self) -> bool {
        self.has_room() && self.0.broken().is_none()
    }
}

/// What the writer did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamReport {
    /// Lines accepted, which is the next `seq`.
    pub lines: u64,
    /// Bytes the output took.
    pub bytes: u64,
    /// Why the output failed, if it did.
    pub error: Option<String>,
    /// Why the tee failed, if it did.
    pub tee_error: Option<String>,
}

#[derive(Default)]
struct Shared {
    backlog: AtomicUsize,
    broken: Mutex<Option<String>>,
}

impl Shared {
    fn broken(&self) -> Option<String> {
        match self.broken.lock() {
            Ok(broken) => broken.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    fn set_broken(&self, why: &str) {
        let mut broken = match self.broken.lock() {
            Ok(broken) => broken,
            Err(poisoned) => poisoned.into_inner(),
        };
        broken.get_or_insert_with(|| why.to_owned());
    }
}

impl Stream {
    /// Starts the writer. `tee` gets the same bytes as `out`. `on_room` is called on the writer's
    /// thread each time the backlog falls back under [`QUEUE_LINES`], and once when `out` fails.
    pub fn start(
        session: SessionId,
        out: Box<dyn Write + Send>,
        tee: Option<Box<dyn Write + Send>>,
        on_room: Box<dyn Fn() + Send>,
    ) -> io::Result<Self> {
        Self::start_masked(session, out, tee, on_room, Mask::default())
    }

    /// As [`start`](Self::start), with the credential replaced in every line.
    pub fn start_masked(
        session: SessionId,
        out: Box<dyn Write + Send>,
        tee: Option<Box<dyn Write + Send>>,
        on_room: Box<dyn Fn() + Send>,
        mask: Mask,
    ) -> io::Result<Self> {
        // Unbounded, because the bound is kept by the producers, who alone may wait.
        let (batches, incoming) = crossbeam_channel::unbounded();
        let shared = Arc::new(Shared::default());
        let writer = Writer {
            encoder: Encoder::new(&session, mask),
            out: Output::new(out),
            tee: tee.map(Output::new),
            shared: Arc::clone(&shared),
            on_room,
        };
        let writer = std::thread::Builder::new()
            .name("gg-stream".to_owned())
            .spawn(move || writer.run(&incoming))?;
        Ok(Self {
            batches,
            shared,
            writer,
        })
    }

    /// Hands over emissions, in order. Never waits.
    pub fn send(&self, batch: Vec<Emission>) {
        if batch.is_empty() {
            return;
        }
        // Counted first: the writer may be done with it before this returns.
        let lines = batch.len();
        self.shared.backlog.fetch_add(lines, Ordering::SeqCst);
        if self.batches.send(batch).is_err() {
            self.shared.backlog.fetch_sub(lines, Ordering::SeqCst);
        }
    }

    /// Lines accepted and not yet written.
    pub fn backlog(&self) -> usize {
        self.shared.backlog.load(Ordering::SeqCst)
    }

    /// Whether it takes more.
    pub fn gauge(&self) -> Gauge {
        Gauge(Arc::clone(&self.shared))
    }

    /// Why the output failed, if it did.
    pub fn broken(&self) -> Option<String> {
        self.shared.broken()
    }

    /// Waits until everything is written, and tells how it went.
    pub fn finish(self) -> StreamReport {
        drop(self.batches);
        self.writer.join().unwrap_or_else(|_| StreamReport {
            error: self.shared.broken(),
            ..StreamReport::default()
        })
    }
}

struct Writer {
    encoder: Encoder,
    out: Output,
    tee: Option<Output>,
    shared: Arc<Shared>,
    on_room: Box<dyn Fn() + Send>,
}

impl Writer {
    fn run(mut self, incoming: &Receiver<Vec<Emission>>) -> StreamReport {
        let _guard = PanicGuard(Arc::clone(&self.shared));
        while let Ok(batch) = incoming.recv() {
            let mut lines = batch.len();
            self.encoder.batch(&batch);
            drop(batch);
            while self.encoder.lines().len() < WRITE_BYTES
                && let Ok(batch) = incoming.try_recv()
            {
                lines += batch.len();
                self.encoder.batch(&batch);
            }
            self.write(lines);
        }
        StreamReport {
            lines: self.encoder.seq(),
            bytes: self.out.bytes(),
            error: self.out.error().map(str::to_owned),
            tee_error: self
                .tee
                .as_ref()
                .and_then(|tee| tee.error().map(str::to_owned)),
        }
    }

    fn write(&mut self, lines: usize) {
        let failed_before = self.out.error().is_some();
        self.out.write(self.encoder.lines());
        if let Some(tee) = &mut self.tee {
            tee.write(self.encoder.lines());
        }
        self.encoder.clear();
        let newly_failed = match self.out.error() {
            Some(why) if !failed_before => {
                tracing::error!("the telemetry stream cannot be written: {why}");
                self.shared.set_broken(why);
                true
            }
            _ => false,
        };
        let before = self.shared.backlog.fetch_sub(lines, Ordering::SeqCst);
        let fell = before >= QUEUE_LINES && before - lines < QUEUE_LINES;
        if fell || newly_failed {
            (self.on_room)();
        }
    }
}

/// Makes a panic of the writer a failed output rather than a silent one.
struct PanicGuard(Arc<Shared>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.set_broken("the stream's writer panicked");
        }
    }
}

#[cfg(test)]
mod tests;
