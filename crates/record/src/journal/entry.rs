//! What the run hands to the journal: values the actors already hold, shared rather than copied.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use vocab::band::Band;
use vocab::failure::FailureClass;
use vocab::ids::{
    AgentId, CallId, GenerationId, ModelId, ProviderName, RoutingKey, SessionId, Slug,
};
use vocab::message::{Image, Message};
use vocab::outcome::{EndStatus, Limit};

use crate::event::{HookDecision, Origin, Shell};

/// The journal's first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The caller's name for the run.
    pub session_id: SessionId,
    /// The run's routing key. Its first characters stand on every line.
    pub routing_key: RoutingKey,
    /// The capability set, whole.
    pub capability_set: Option<Arc<RawValue>>,
    /// Per model its ordered candidates.
    pub model_providers: Option<Arc<RawValue>>,
    /// Who wrote it.
    pub recorder: Recorder,
}

/// The build that wrote a journal: the version explains, the commit verifies a binary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorder {
    /// gg's version.
    pub gg_version: String,
    /// The commit it was built from, where known.
    pub commit: Option<String>,
}

/// What the run starts from. Written again when a late value resolves; the last one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Seed {
    /// The commit the workspace stood at, where it is a repository.
    pub baseline: Option<String>,
    /// The task prompt.
    pub build_prompt: String,
    /// Tokens per model.
    pub windows: BTreeMap<ModelId, u64>,
    /// Modalities per model, as finally resolved.
    pub modalities: BTreeMap<ModelId, Vec<String>>,
}

/// One agent's provenance. Written at creation and again at the end of its loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRow {
    /// The incarnation.
    pub id: AgentId,
    /// Its profile.
    pub profile: Slug,
    /// Where it comes from.
    pub origin: Origin,
    /// How its loop ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_as: Option<EndStatus>,
    /// The ceiling it met.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<Limit>,
}

/// One consumed input.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A model call that brought a reply.
    ModelIo {
        /// What was asked.
        request: RequestRecord,
        /// What was answered.
        response: ResponseRecord,
        /// The call's duration, retries and backoff included.
        latency_ms: u64,
    },
    /// A model call that brought none, or one that could not be used.
    ModelError {
        /// What was asked.
        request: RequestRecord,
        /// What went wrong.
        error: Box<ModelErrorRecord>,
    },
    /// The exact outcome of one tool call.
    ToolResult {
        /// The call it closes.
        call_id: CallId,
        /// The name as the model wrote it.
        tool: String,
        /// The arguments as JSON text.
        arguments: Arc<str>,
        /// Whether it succeeded.
        ok: bool,
        /// Its class, exactly when not `ok`.
        failure: Option<FailureClass>,
        /// The result's text. The last 256 KiB are kept.
        output: Arc<str>,
        /// Its pictures; kept as descriptors.
        images: Vec<Image>,
    },
    /// The window behind the exchange just recorded, as a delta on the agent's previous frame.
    PromptFrame {
        /// Rows of the previous frame that still stand, from its start.
        keep: usize,
        /// Rows behind them.
        push: Vec<FrameRow>,
    },
    /// One command line.
    Shell {
        /// `tool`, `program`, `hook`.
        origin: &'static str,
        /// As given to `sh -c`.
        command: Arc<str>,
        /// Relative to the agent's root, absolute outside it.
        cwd: String,
        /// −1 for a timeout, a signal or a failed launch.
        exit_code: i32,
        /// The process's own stream, as far as it was kept. The last 32 KiB are recorded.
        stdout: Arc<str>,
        /// As `stdout`.
        stderr: Arc<str>,
        /// Characters cut from `stdout` before it came here.
        stdout_dropped: u64,
        /// Characters cut from `stderr` before it came here.
        stderr_dropped: u64,
    },
    /// What a hook of the operator's answered.
    Hook {
        /// What it fired at.
        event: &'static str,
        /// What it goes by.
        name: Arc<str>,
        /// `command`, `built-in`, `custom`.
        kind: &'static str,
        /// What came of it.
        decision: HookDecision,
        /// The message, or the reason of a block or a failure.
        text: Option<Arc<str>>,
    },
    /// One `git` command of gg's own.
    Git {
        /// Its arguments.
        args: Vec<String>,
        /// Where it ran.
        cwd: String,
        /// −1 for a timeout, a signal or a failed launch.
        exit_code: i32,
        /// Its output. The last 32 KiB are recorded.
        stdout: Arc<str>,
        /// As `stdout`.
        stderr: Arc<str>,
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
        /// Until `maxRuntimeSecs`, where armed.
        remaining_ms: Option<u64>,
    },
}

impl From<&Shell> for Entry {
    /// A command, as far as its event shows it.
    fn from(event: &Shell) -> Self {
        Self::Shell {
            origin: event.origin,
            command: Arc::clone(&event.command),
            cwd: event.cwd.clone(),
            exit_code: event.exit_code,
            stdout: event.stdout.as_str().into(),
            stderr: event.stderr.as_str().into(),
            stdout_dropped: event.stdout_dropped,
            stderr_dropped: event.stderr_dropped,
        }
    }
}

/// Whom a request was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestRole {
    /// The agent's own turn.
    Agent,
    /// A summarizer.
    Compaction,
}

/// Whether a call was required of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestShape {
    /// It chose.
    Free,
    /// A tool was required.
    Forced,
}

/// What a model was asked.
#[derive(Clone, Debug)]
pub struct RequestRecord {
    /// Whom it was made for.
    pub role: RequestRole,
    /// Whether a call was required.
    pub shape: RequestShape,
    /// Its messages.
    pub messages: MessageList,
    /// The tools array; `None` on the one request that offers none (R55).
    pub toolset: Option<Arc<RawValue>>,
    /// The model.
    pub model: ModelId,
    /// The candidate asked, where there is one.
    pub provider: Option<ProviderName>,
}

/// The messages of a request, as a delta on the same agent's previous request of the same role: what
/// a summarizer is asked in between shares nothing with the agent's own thread. A signal is part of
/// its own request only: it is never kept.
#[derive(Clone, Debug, Default)]
pub struct MessageList {
    /// Messages of the previous list that still stand, from its start.
    pub keep: usize,
    /// Messages behind them.
    pub push: Vec<Arc<Message>>,
    /// The context-usage signal, last.
    pub signal: Option<Arc<Message>>,
}

/// What a model answered.
#[derive(Clone, Debug)]
pub struct ResponseRecord {
    /// The reply as the window would hold it.
    pub reply: Arc<Message>,
    /// Its reasoning text, where streamed.
    pub reasoning: Option<Arc<str>>,
    /// As the provider gave it.
    pub finish_reason: Option<String>,
    /// The provider's usage object, verbatim.
    pub usage: Option<Arc<RawValue>>,
    /// Who served it, where named.
    pub provider: Option<ProviderName>,
    /// The gateway's id of it.
    pub generation: Option<GenerationId>,
}

/// How a model call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// No credential to ask with.
    MissingCredential,
    /// A status that no retry mends.
    FatalStatus,
    /// The retry schedule was spent.
    RetryExhausted,
    /// The model refuses pictures.
    ImageUnsupported,
    /// A 2xx that cannot be read.
    Unparseable,
    /// Every attempt repeated itself without end.
    ResponseLoop,
    /// Another provider answered than the one asked.
    ProviderMismatch,
    /// The call outlived its timeout.
    Timeout,
    /// The reply was cut at the output cap.
    LengthCapped,
    /// The run stopped the call before it was answered.
    Canceled,
}

/// A failed model call.
#[derive(Clone, Debug)]
pub struct ModelErrorRecord {
    /// How it failed.
    pub kind: ModelErrorKind,
    /// In words.
    pub message: String,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// Attempts made.
    pub attempts: Option<u32>,
    /// Of a loop: replies discarded.
    pub discarded: Option<u32>,
    /// Of a mismatch: who served it. Who was asked stands on the request.
    pub served: Option<ProviderName>,
    /// What was answered, where a whole reply came and was rejected.
    pub response: Option<ResponseRecord>,
}

impl ModelErrorRecord {
    /// A failure of a kind, in words, with nothing else known.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            attempts: None,
            discarded: None,
            served: None,
            response: None,
        }
    }
}

/// Which part of the window an item stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slot {
    /// The system prompt.
    System,
    /// The conversation.
    Thread,
    /// The context-usage signal.
    Signal,
}

/// One window item, as a prompt frame has it.
#[derive(Clone, Debug)]
pub struct FrameRow {
    /// The message it renders to.
    pub message: Arc<Message>,
    /// Where it stands.
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

/// The part of a file a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameRegion {
    /// Its first line, from 1.
    pub offset: u64,
    /// Its lines.
    pub limit: u64,
}
