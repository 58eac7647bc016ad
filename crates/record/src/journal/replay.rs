//! What a journal held, resolved: pools as arrays, every list whole.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use thiserror::Error;
use vocab::band::Band;
use vocab::failure::FailureClass;
use vocab::ids::{AgentId, CallId, ModelId, ProviderName};

use super::entry::{AgentRow, FrameRegion, Header, RequestRole, RequestShape, Seed, Slot};
use super::line::{Clip, ImageDescriptor, MessageBody, Reply, ReplyError, Text};
use crate::event::HookDecision;

/// A journal as read. Where [`stopped`](Self::stopped) is set it is partial, and whoever shows it
/// says so.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The first line; `None` where not even that was whole.
    pub header: Option<Header>,
    /// The last seed.
    pub seed: Option<Seed>,
    /// Agents in creation order, each as last written.
    pub agents: Vec<AgentRow>,
    /// The message pool.
    pub messages: Vec<Pooled<MessageBody>>,
    /// The toolset pool.
    pub toolsets: Vec<Pooled<Arc<RawValue>>>,
    /// The text pool.
    pub texts: Vec<Pooled<Arc<str>>>,
    /// The inputs, by `seq`.
    pub entries: Vec<Recorded>,
    /// Why it is not whole.
    pub stopped: Option<Stopped>,
}

impl Replay {
    /// Whether something is missing.
    pub const fn is_partial(&self) -> bool {
        self.stopped.is_some()
    }

    /// A text, wherever it stands.
    pub fn text<'a>(&'a self, text: &'a Text) -> &'a str {
        match text {
            Text::Inline(text) => text,
            // The reader refuses references past a pool.
            Text::Pooled(index) => self
                .texts
                .get(*index as usize)
                .map_or("", |pooled| &pooled.body),
        }
    }

    /// A message of the pool.
    pub fn message(&self, index: u32) -> Option<&MessageBody> {
        self.messages.get(index as usize).map(|pooled| &pooled.body)
    }
}

/// One body of a pool.
#[derive(Clone, Debug)]
pub struct Pooled<B> {
    /// Its address: SHA-256 cut to 128 bits, in hex.
    pub id: String,
    /// The body.
    pub body: B,
    /// What it was before it was clipped.
    pub clip: Option<Clip>,
}

/// One consumed input.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its place among the inputs of all agents.
    pub seq: u64,
    /// Who consumed it.
    pub agent: Option<AgentId>,
    /// What it was.
    pub input: Input,
}

/// What was consumed.
#[derive(Clone, Debug)]
pub enum Input {
    /// A reply.
    ModelIo {
        /// What was asked.
        request: Request,
        /// What was answered.
        response: Reply,
        /// The call's duration.
        latency_ms: u64,
    },
    /// A failed call.
    ModelError {
        /// What was asked.
        request: Request,
        /// What went wrong.
        error: ReplyError,
    },
    /// A tool's outcome.
    ToolResult {
        /// The call it closes.
        call_id: CallId,
        /// The name as the model wrote it.
        tool: String,
        /// The arguments as JSON text.
        arguments: Text,
        /// Whether it succeeded.
        ok: bool,
        /// Its class, exactly when not `ok`.
        failure: Option<FailureClass>,
        /// The result's text.
        output: Text,
        /// Its pictures.
        images: Vec<ImageDescriptor>,
    },
    /// The window behind an exchange, whole.
    PromptFrame {
        /// Its items, in order.
        rows: Vec<Frame>,
    },
    /// A command.
    Shell {
        /// `tool`, `program`, `hook`.
        origin: String,
        /// As given to `sh -c`.
        command: Text,
        /// Where it ran.
        cwd: String,
        /// −1 for a timeout, a signal or a failed launch.
        exit_code: i32,
        /// Its output.
        stdout: Text,
        /// Its error output.
        stderr: Text,
        /// Characters cut before the journal had it.
        stdout_dropped: u64,
        /// Characters cut before the journal had it.
        stderr_dropped: u64,
    },
    /// What a hook answered.
    Hook {
        /// What it fired at.
        event: String,
        /// What it goes by.
        name: String,
        /// `command`, `built-in`, `custom`.
        action: String,
        /// What came of it.
        decision: HookDecision,
        /// The message, or the reason of a block or a failure.
        text: Option<Text>,
    },
    /// A `git` command of gg's own.
    Git {
        /// Its arguments.
        args: Vec<String>,
        /// Where it ran.
        cwd: String,
        /// −1 for a timeout, a signal or a failed launch.
        exit_code: i32,
        /// Its output.
        stdout: Text,
        /// Its error output.
        stderr: Text,
    },
    /// A look at the cancel file.
    CancelProbe {
        /// Whether it was there.
        found: bool,
    },
    /// A look at the run clock.
    Clock {
        /// Since the session started.
        elapsed_ms: u64,
        /// Until the ceiling, where armed.
        remaining_ms: Option<u64>,
    },
}

/// A request, its delta resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whom it was made for.
    pub role: RequestRole,
    /// Whether a call was required.
    pub shape: RequestShape,
    /// Its messages in the pool, the signal not among them.
    pub messages: Vec<u32>,
    /// The signal, sent behind them.
    pub signal: Option<u32>,
    /// Its tools array in the pool.
    pub toolset: Option<u32>,
    /// The model.
    pub model: ModelId,
    /// The candidate asked.
    pub provider: Option<ProviderName>,
}

/// One item of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its message in the pool.
    pub message: u32,
    /// Where it stood.
    pub slot: Slot,
    /// Its band.
    pub band: Band,
    /// Whether it survives compaction.
    pub survives: bool,
    /// The turn it was pushed in.
    pub turn: u32,
    /// Of a file view: which part of the file.
    pub region: Option<FrameRegion>,
}

/// Why a journal is not whole (06 §8.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It has no last line: the process was killed.
    SessionKilled,
    /// A line is torn, unreadable, foreign or out of place.
    CorruptJournal,
    /// The writer failed or could not keep up.
    WriteFailed,
    /// The ceiling was reached.
    ByteCeiling,
}

impl StopReason {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionKilled => "session_killed",
            Self::CorruptJournal => "corrupt_journal",
            Self::WriteFailed => "write_failed",
            Self::ByteCeiling => "byte_ceiling",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where and why a journal stops short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Why.
    pub reason: StopReason,
    /// The last entry that is whole.
    pub last_seq: Option<u64>,
    /// The line that ends it, from 1.
    pub line: usize,
    /// Bytes before that line.
    pub offset: usize,
    /// What is wrong there.
    pub detail: String,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: partial, up to ", self.reason)?;
        match self.last_seq {
            Some(seq) => write!(f, "entry {seq}")?,
            None => f.write_str("no entry")?,
        }
        write!(
            f,
            "; line {} at byte {}: {}",
            self.line, self.offset, self.detail
        )
    }
}

/// A journal that no record can be made of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// Another format. A journal without a version has format 1.
    #[error("the journal has format {found}; this reader knows format 2 only")]
    Format {
        /// The format found.
        found: u64,
    },
    /// It does not start with a header.
    #[error("the journal starts with a `{found}` line instead of its header")]
    NoHeader {
        /// The type of its first line.
        found: String,
    },
    /// A pool line is missing.
    #[error("line {line}: the {pool} pool goes on with index {found}, expected {expected}")]
    PoolGap {
        /// The line, from 1.
        line: usize,
        /// Which pool.
        pool: &'static str,
        /// The index found.
        found: u32,
        /// The next index.
        expected: usize,
    },
    /// A reference to a body that no line gave.
    #[error("line {line}: {what} {index} is referred to, and {known} are known")]
    Dangling {
        /// The line, from 1.
        line: usize,
        /// `message`, `toolset`, `text`, `kept row`.
        what: &'static str,
        /// The index referred to.
        index: usize,
        /// How many there are.
        known: usize,
    },
}
