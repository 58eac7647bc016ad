//! The lines of a flow log, as written and as read back.

use serde::{Deserialize, Serialize};

/// One handled message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowLine {
    /// When its handler began, RFC 3339 UTC.
    pub ts: String,
    /// Its place in the log, from 0.
    pub seq: u64,
    /// Who sent it.
    pub from: String,
    /// Who handled it.
    pub to: String,
    /// The message's type.
    pub message: String,
    /// Time it stood in the mailbox.
    pub queued_us: u64,
    /// Time its handler ran; a later answer is not part of it.
    pub handled_us: u64,
    /// Messages in the mailbox when it was taken out, itself included.
    pub depth: u32,
}

/// The closing line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlowEnd {
    /// Always true; tells this line from the others.
    pub end: bool,
    /// Messages handled, one line each.
    pub messages: u64,
    /// Messages sent and never handled: their actor was gone.
    pub unhandled: u64,
}
