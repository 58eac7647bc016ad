//! The pipes of a command, and the next command's, made ahead.
//!
//! Between a model's call and its command stand system calls that need not wait for the call: two pipes
//! and their registration. They are made once a command has answered. The device that is every
//! command's input is opened once.

use std::cell::RefCell;
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, PipeReader, PipeWriter};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use rustix::fs::{OFlags, fcntl_setfl};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe::Receiver;

use super::capture::Source;

/// Bytes read at a time; a pipe holds no more.
const CHUNK: usize = 64 * 1024;

thread_local! {
    /// Where reads land. One for all commands of the thread: what is read is taken at once.
    static LANDING: RefCell<Box<[u8]>> = RefCell::new(vec![0; CHUNK].into());
}

/// What a command holds of its streams.
#[derive(Debug)]
pub(super) struct Far {
    pub(super) stdin: File,
    pub(super) stdout: PipeWriter,
    pub(super) stderr: PipeWriter,
}

/// Pipes for the next command.
#[derive(Debug, Default)]
pub(super) struct Spare {
    made: Mutex<Option<(Pipes, Far)>>,
    /// The device that is every command's input, once a command has run.
    nothing: OnceLock<File>,
}

impl Spare {
    /// Those made ahead, or new ones.
    pub(super) fn take(&self) -> io::Result<(Pipes, Far)> {
        let made = self.lock().take();
        made.map_or_else(|| self.make(), Ok)
    }

    fn make(&self) -> io::Result<(Pipes, Far)> {
        let nothing = if let Some(open) = self.nothing.get() {
            open
        } else {
            let open = File::open("/dev/null")?;
            self.nothing.get_or_init(|| open)
        };
        Pipes::make(nothing.try_clone()?)
    }

    /// Makes them ahead, where there are none. Where that fails, the next command meets the failure
    /// itself.
    pub(super) fn refill(&self) {
        let mut spare = self.lock();
        if spare.is_none() {
            *spare = self.make().ok();
        }
    }

    /// Closes those that no command will take.
    pub(super) fn discard(&self) {
        self.lock().take();
    }

    fn lock(&self) -> MutexGuard<'_, Option<(Pipes, Far)>> {
        // Whole between any two statements, whoever panicked.
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The read ends of a command's pipes.
#[derive(Debug)]
pub(super) struct Pipes {
    stdout: Pipe,
    stderr: Pipe,
    /// Which is asked first: they take turns, so that neither starves the other.
    next: Source,
}

impl Pipes {
    /// New ones, and what the command is to hold of them. Needs the runtime that will read them.
    fn make(stdin: File) -> io::Result<(Self, Far)> {
        let (stdout, stdout_far) = io::pipe()?;
        let (stderr, stderr_far) = io::pipe()?;
        let near = Self {
            stdout: Pipe::new(stdout)?,
            stderr: Pipe::new(stderr)?,
            next: Source::Stdout,
        };
        let far = Far {
            stdin,
            stdout: stdout_far,
            stderr: stderr_far,
        };
        Ok((near, far))
    }

    pub(super) fn open(&self) -> bool {
        self.stdout.open || self.stderr.open
    }

    /// Waits until one has bytes and hands them on, or until one has ended. Nothing is lost if it
    /// is dropped while waiting.
    pub(super) async fn read(&mut self, mut take: impl FnMut(Source, &[u8]) + Send) {
        poll_fn(|context| {
            LANDING.with_borrow_mut(|landing| self.poll(context, landing, &mut take))
        })
        .await;
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        landing: &mut [u8],
        take: &mut dyn FnMut(Source, &[u8]),
    ) -> Poll<()> {
        let other = match self.next {
            Source::Stdout => Source::Stderr,
            Source::Stderr => Source::Stdout,
        };
        for (source, next) in [(self.next, other), (other, self.next)] {
            let mut buffer = ReadBuf::new(landing);
            let read = match source {
                Source::Stdout => self.stdout.poll(context, &mut buffer),
                Source::Stderr => self.stderr.poll(context, &mut buffer),
            };
            match read {
                Poll::Pending => {}
                Poll::Ready(true) => {
                    self.next = next;
                    take(source, buffer.filled());
                    return Poll::Ready(());
                }
                Poll::Ready(false) => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }
}

/// The read end of one.
#[derive(Debug)]
struct Pipe {
    end: Receiver,
    /// It has not ended yet. It is closed with the other, once nobody waits for the command any more.
    open: bool,
}

impl Pipe {
    fn new(end: PipeReader) -> io::Result<Self> {
        // A new pipe's end has no other flags, and is known to be one.
        fcntl_setfl(&end, OFlags::NONBLOCK)?;
        Ok(Self {
            end: Receiver::from_owned_fd_unchecked(end.into())?,
            open: true,
        })
    }

    /// Whether it has bytes; one that fails has ended. One that has ended stays silent.
    fn poll(&mut self, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<bool> {
        if !self.open {
            return Poll::Pending;
        }
        Pin::new(&mut self.end)
            .poll_read(context, buffer)
            .map(|read| {
                self.open = read.is_ok() && !buffer.filled().is_empty();
                self.open
            })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// What stdout brings until both have ended.
    async fn drained(pipes: &mut Pipes) -> Vec<u8> {
        let mut all = Vec::new();
        while pipes.open() {
            pipes.read(|_, bytes| all.extend_from_slice(bytes)).await;
        }
        all
    }

    #[tokio::test]
    async fn pipes_made_ahead_serve_one_command_each() {
        let spare = Spare::default();
        spare.refill();
        spare.refill();
        let mut pairs: Vec<_> = (0..3).map(|_| spare.take().unwrap()).collect();
        for (number, (_, far)) in pairs.iter_mut().enumerate() {
            write!(far.stdout, "{number}").unwrap();
        }
        for (number, (mut pipes, far)) in pairs.into_iter().enumerate() {
            drop(far);
            assert_eq!(drained(&mut pipes).await, number.to_string().into_bytes());
        }
    }

    #[tokio::test]
    async fn one_that_has_ended_is_silent_beside_one_that_has_not() {
        let (mut pipes, mut far) = Spare::default().take().unwrap();
        drop(far.stderr);
        pipes.read(|_, _| panic!("nobody wrote")).await;
        assert!(pipes.open());
        write!(far.stdout, "late").unwrap();
        drop(far.stdout);
        assert_eq!(drained(&mut pipes).await, b"late");
    }
}
