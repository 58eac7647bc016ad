//! The lines of the journal as they stand in the file, for its writer and its reader alike.
//!
//! Every line starts with `t`, its type, and `run`, the first characters of the routing key: a
//! line of another run that got into the file is then known for what it is (F101).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use vocab::band::Band;
use vocab::failure::FailureClass;
use vocab::ids::{AgentId, CallId, GenerationId, ModelId, ProviderName, RoutingKey};
use vocab::message::Role;

use super::entry::{FrameRegion, ModelErrorKind, RequestRole, RequestShape, Slot};
use crate::event::HookDecision;

/// Characters of the routing key on every line.
const RUN_CHARS: usize = 8;

/// What marks the lines of one run.
pub(super) fn run_mark(key: &RoutingKey) -> &str {
    crate::text::head(key.as_str(), RUN_CHARS)
}

/// What every line starts with.
#[derive(Deserialize)]
pub(super) struct Mark<'a> {
    #[serde(borrow)]
    pub(super) t: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    pub(super) run: std::borrow::Cow<'a, str>,
}

/// The one number a reader branches on.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Format {
    #[serde(default = "format_one")]
    pub(super) format_version: u64,
}

const fn format_one() -> u64 {
    1
}

/// A new pool entry.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PoolLine<B> {
    pub(super) index: u32,
    pub(super) id: String,
    pub(super) body: B,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) clip: Option<Clip>,
}

/// What a clipped text was before: its size in bytes and its address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clip {
    /// Bytes of the whole text.
    pub bytes: u64,
    /// The address of the whole text.
    pub id: String,
}

/// The envelope of an entry.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EntryMark {
    pub(super) seq: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) agent_id: Option<AgentId>,
    pub(super) kind: String,
}

/// The journal's last line.
#[derive(Serialize, Deserialize)]
pub(super) struct End {
    pub(super) entries: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) stopped: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) detail: Option<String>,
}

/// A text: itself where it is short, its index in the text pool where it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The text.
    Inline(Arc<str>),
    /// An index into the text pool.
    Pooled(u32),
}

/// A message in the pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageBody {
    /// Who it is from.
    pub role: Role,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<Text>,
    /// Its pictures.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub images: Vec<ImageDescriptor>,
    /// The calls it requests.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub calls: Vec<Call>,
    /// The call it answers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answers: Option<CallId>,
    /// What the model reasoned on the way to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasoning: Option<ReasoningBody>,
}

/// The reasoning of a message, as it is sent back to whoever made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasoningBody {
    /// Who made it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<ProviderName>,
    /// Its items, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub items: Vec<ReasoningItem>,
    /// Its readable text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<Text>,
}

/// One item of a message's reasoning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasoningItem {
    /// Its JSON object as text, byte for byte what is sent back.
    pub json: Text,
    /// Whether only its maker can read it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub sealed: bool,
}

/// A picture without its bytes; `id` is the address of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageDescriptor {
    /// `image/png` and so on.
    pub media_type: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// The address of the bytes.
    pub id: String,
}

/// A requested call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The id its result carries.
    pub id: CallId,
    /// The name as the model wrote it.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: Text,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestLine {
    pub(super) role: RequestRole,
    pub(super) shape: RequestShape,
    pub(super) messages: ListLine,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) toolset: Option<u32>,
    pub(super) model: ModelId,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) provider: Option<ProviderName>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ListLine {
    pub(super) keep: usize,
    pub(super) push: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) signal: Option<u32>,
}

/// A reply, as the journal has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reply {
    /// Its message, in the pool.
    pub message: u32,
    /// Its reasoning text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasoning: Option<Text>,
    /// As the provider gave it.
    pub finish_reason: Option<String>,
    /// The provider's usage object, verbatim.
    pub usage: Option<Arc<RawValue>>,
    /// Who served it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<ProviderName>,
    /// The gateway's id of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub generation: Option<GenerationId>,
}

/// A failed model call, as the journal has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplyError {
    /// How it failed.
    pub kind: ModelErrorKind,
    /// In words.
    pub message: String,
    /// The HTTP status.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// Attempts made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attempts: Option<u32>,
    /// Replies discarded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub discarded: Option<u32>,
    /// Who served it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub served: Option<ProviderName>,
    /// The rejected reply.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response: Option<Reply>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelIoLine {
    pub(super) request: RequestLine,
    pub(super) response: Reply,
    pub(super) latency_ms: u64,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ModelErrorLine {
    pub(super) request: RequestLine,
    pub(super) error: ReplyError,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResultLine {
    pub(super) call_id: CallId,
    pub(super) tool: String,
    pub(super) arguments: Text,
    pub(super) ok: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) failure: Option<FailureClass>,
    pub(super) output: Text,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(super) images: Vec<ImageDescriptor>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct FrameLine {
    pub(super) keep: usize,
    pub(super) push: Vec<FrameRowLine>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct FrameRowLine {
    pub(super) message: u32,
    pub(super) slot: Slot,
    pub(super) band: Band,
    pub(super) survives: bool,
    pub(super) turn: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) region: Option<FrameRegion>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShellLine {
    pub(super) origin: String,
    pub(super) command: Text,
    pub(super) cwd: String,
    pub(super) exit_code: i32,
    pub(super) stdout: Text,
    pub(super) stderr: Text,
    #[serde(skip_serializing_if = "is_zero", default)]
    pub(super) stdout_dropped: u64,
    #[serde(skip_serializing_if = "is_zero", default)]
    pub(super) stderr_dropped: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HookLine {
    pub(super) event: String,
    pub(super) name: String,
    // `kind` is the entry's own.
    pub(super) action: String,
    pub(super) decision: HookDecision,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) text: Option<Text>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GitLine {
    pub(super) args: Vec<String>,
    pub(super) cwd: String,
    pub(super) exit_code: i32,
    pub(super) stdout: Text,
    pub(super) stderr: Text,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CancelProbeLine {
    pub(super) found: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClockLine {
    pub(super) elapsed_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) remaining_ms: Option<u64>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(figure: &u64) -> bool {
    *figure == 0
}
