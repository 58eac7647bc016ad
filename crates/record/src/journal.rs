//! The capture journal `.gg/replay.ndjson`: what the stream lacks to play a run back exactly
//! (06 §8.1–8.6), and the reader that salvages whatever a journal still holds (06 §8.7).
//!
//! A [`Journal`] is held by one producer and writes on a thread of its own, behind a queue of
//! [`QUEUE_BATCHES`] batches. Bodies are interned in three pools (messages, toolsets, texts) and
//! written once; an entry names them by index. The message list of a request is written as a
//! delta on the same agent's previous request of its role, so that a turn's cost does not grow with
//! the run; [`read`] resolves it.
//!
//! Always true:
//! - nothing here fails or delays the run: any fault stops capture, once, with a reason;
//! - an entry is written with the pool bodies it needs or not at all, and a torn tail is cut off;
//! - the reader never panics, whatever the bytes are, and says where it stopped.

mod agree;
mod entry;
mod handle;
mod line;
mod pool;
mod read;
mod replay;
mod sink;
mod writer;

pub use agree::{Disagreement, agree};
pub use entry::{
    AgentRow, Entry, FrameRegion, FrameRow, Header, MessageList, ModelErrorKind, ModelErrorRecord,
    Recorder, RequestRecord, RequestRole, RequestShape, ResponseRecord, Seed, Slot,
};
pub use handle::{Journal, JournalReport, QUEUE_BATCHES};
pub use line::{
    Call, Clip, ImageDescriptor, MessageBody, ReasoningBody, ReasoningItem, Reply, ReplyError, Text,
};
pub use read::read;
pub use replay::{Frame, Input, Pooled, Recorded, Refused, Replay, Request, StopReason, Stopped};
pub use sink::Sink;

/// The format of the journal and of the record made from it. Readers branch on nothing else.
pub const FORMAT_VERSION: u32 = 2;

#[cfg(test)]
mod tests;
