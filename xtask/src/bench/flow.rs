//! A flow log, read: which actor each message went to, and how long its handler took.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

/// A message that was handled, as the log has it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    /// The actor; `None` in lines that are of no message.
    #[serde(default)]
    pub(super) to: Option<String>,
    /// Time in the handler, microseconds.
    #[serde(default)]
    pub(super) handled_us: u64,
    /// Of that, ready to run and without a processor, microseconds.
    #[serde(default)]
    pub(super) displaced_us: u64,
    /// Messages in the mailbox then.
    #[serde(default)]
    pub(super) depth: u64,
}

/// The lines of a log.
pub(super) fn lines(flow: &Path) -> Result<impl Iterator<Item = Result<Line>>> {
    let lines = BufReader::new(File::open(flow)?).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}
