//! The lines of a flow log (`--flow FILE`): one per message an actor handled, and a closing one.
//!
//! The log is written while the run goes, one line at the moment a handler returns, so the order
//! of lines is the order of handling. Always true of a whole log: `seq` counts from 0 without a gap,
//! the last line is the one [`FlowEnd`], and its `messages` is the number of lines before it.

use serde::{Deserialize, Serialize};

/// One handled message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowLine {
    /// When its handler began: RFC 3339, UTC, milliseconds or finer.
    pub ts: String,
    /// Its place in the log, from 0.
    pub seq: u64,
    /// Who sent it.
    pub from: String,
    /// Who handled it.
    pub to: String,
    /// The message's type name, without its path.
    pub message: String,
    /// Microseconds from its sending to `ts`.
    pub queued_us: u64,
    /// Microseconds its handler ran; a later answer is not part of it.
    pub handled_us: u64,
    /// Of those, the ones in which the actors' thread was ready and had no processor: another
    /// thread stood in its place. Absent where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub displaced_us: Option<u64>,
    /// Messages in the receiver's mailbox when it was taken out, itself included.
    pub depth: u32,
}

/// The closing line: what a reader checks the rest against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowEnd {
    /// Always true; what tells this line from a message.
    pub end: bool,
    /// Messages handled, one line each.
    pub messages: u64,
    /// Messages sent and never handled: their actor was gone, or the run was over.
    pub unhandled: u64,
}
