//! What a guest writes on standard error: its first and its last 4 KiB (04 §13).
//!
//! Always true: a write never fails and never waits, and no more than 8 KiB are held.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError};

const KEPT: usize = 4 * 1024;

/// Bytes taken in one write.
const CHUNK: usize = 64 * 1024;

/// The two ends of a text of any length.
#[derive(Debug, Default)]
struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Ends {
    fn push(&mut self, bytes: &[u8]) {
        let (head, rest) = bytes.split_at(bytes.len().min(KEPT - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..excess);
        self.dropped += excess as u64;
    }

    /// The text; where some is missing, whole lines around a line that says how much.
    fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.dropped == 0 {
            return lossy(&[&self.head[..], &tail].concat());
        }
        let mut head = &self.head[..];
        let mut tail = &tail[..];
        let mut dropped = self.dropped;
        if let Some(at) = head.iter().rposition(|byte| *byte == b'\n') {
            dropped += (head.len() - at - 1) as u64;
            head = &head[..=at];
        }
        if let Some(at) = tail.iter().position(|byte| *byte == b'\n') {
            dropped += (at + 1) as u64;
            tail = &tail[at + 1..];
        }
        let mut text = lossy(head);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("… {dropped} bytes dropped\n"));
        text.push_str(&lossy(tail));
        text
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A guest's standard error; clones share what was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured(Arc<Mutex<Ends>>);

impl Captured {
    fn push(&self, bytes: &[u8]) {
        // A panic cannot leave the ends half written in a way that matters: it is text.
        let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ends.push(bytes);
    }

    pub(crate) fn text(&self) -> String {
        let ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ends.text()
    }
}

impl IsTerminal for Captured {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Captured {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Captured {
    fn write(&mut self, bytes: Bytes) -> Result<(), StreamError> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StreamError> {
        Ok(())
    }

    fn check_write(&mut self) -> Result<usize, StreamError> {
        Ok(CHUNK)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Captured {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Captured {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn eight_kib_are_whole_and_one_byte_more_is_cut_at_lines() {
        let mut ends = Ends::default();
        let line = "0123456789abcde\n";
        ends.push(line.repeat(512).as_bytes());
        assert_eq!(ends.text(), line.repeat(512));
        ends.push(b"x");
        let text = ends.text();
        // The tail begins one byte inside a line, which goes with the cut.
        assert!(text.contains("\n… 16 bytes dropped\n0123"), "{text}");
        assert!(text.ends_with("\nx"));
    }

    proptest! {
        #[test]
        fn what_is_kept_and_what_is_dropped_is_all_there_was(
            parts in prop::collection::vec(prop::collection::vec(b' '..b'~', 0..3000), 0..12),
        ) {
            let mut ends = Ends::default();
            let mut whole = Vec::new();
            for part in &parts {
                ends.push(part);
                ends.push(b"\n");
                whole.extend_from_slice(part);
                whole.push(b'\n');
            }
            let held = ends.head.len() + ends.tail.len();
            prop_assert!(held <= 2 * KEPT);
            prop_assert_eq!(held as u64 + ends.dropped, whole.len() as u64);
            prop_assert!(whole.starts_with(&ends.head));
            let tail: Vec<u8> = ends.tail.iter().copied().collect();
            prop_assert!(whole.ends_with(&tail));
        }
    }
}
