//! The lines of a flow log (`--flow FILE`): one per message an actor handled, and a closing one.
//!
//! The log is written while the run goes, one line at the moment a handler returns, so the order
//! of lines is the order in which handlers returned. Readers order by `ts` where they want the
//! order of sending. Always true of a whole log: `seq` counts from 0 without a gap, the last line
//! is the one [`FlowEnd`], and its `messages` is the number of lines before it.

use serde::{Deserialize, Serialize};

/// One message, from its sending to the return of its handler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowLine {
    /// When it was sent: RFC 3339, UTC, milliseconds or finer.
    pub ts: String,
    /// Its place in the log, from 0.
    pub seq: u64,
    /// The sending actor: its kind, and its id where there are several (`Agent root`).
    pub from: String,
    /// The receiving actor, spelled as in `from`.
    pub to: String,
    /// The message's type name, without its path.
    pub message: String,
    /// Microseconds it lay in the mailbox: from `ts` to the call of the handler.
    pub queued_us: u64,
    /// Microseconds its handler ran, without what the handler only set going.
    pub handled_us: u64,
    /// Messages in the receiver's mailbox when it was taken out, itself included.
    pub depth: u32,
}

/// The last line: what a reader checks the rest against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowEnd {
    /// Always true; what tells this line from a message.
    pub end: bool,
    /// Lines before this one: messages sent and handled.
    pub messages: u64,
    /// Messages sent and never handled, because their receiver was gone or the run was over.
    pub unhandled: u64,
}
