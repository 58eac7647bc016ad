//! The event catalogue: every line of the telemetry stream, as a type (06 §2).
//!
//! An event is data. Who emits it, and in which order, is the actors' business; how it becomes a
//! line is [`crate::stream`]'s. Field names on the wire are camelCase; a field that is omitted
//! when empty says so with `skip_serializing_if`.

mod agents;
mod board;
mod held;
mod hooks;
mod machine;
mod program;
mod provider;
mod reclaimed;
mod succession;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use vocab::band::{Band, BandTokens};
use vocab::failure::FailureClass;
use vocab::ids::{AgentId, CallId, MessageId, ModelId, ProviderName, RoutingKey, Slug};
use vocab::knowledge::MemoryScope;
use vocab::message::Role;
use vocab::outcome::{Breach, EndStatus, ErrorBase, ErrorType, Limit, TurnVerdict};
use vocab::usage::{Cost, Figure, Tokens};

use crate::summary::Summary;

pub use agents::{AgentMessage, AgentSpawned, AgentState, AgentStatus, Origin, WaitingOn};
pub use board::{
    BoardRow, BoardState, EpicRow, IssueMoved, IssueReview, ReviewerRow, WorktreeMerged,
    WorktreeRow,
};
pub use held::{
    ArchiveRow, ArchiveState, MemoryRevision, MemoryRow, MemoryState, MemoryTotals, SkillRow,
    SkillsState, TaskRow, TaskStatus, TasksState,
};
pub use hooks::{HookDecision, HookRun};
pub use machine::FsmState;
pub use program::{
    ApiCall, ApiResult, CodeExecution, ProgramLog, ProgramLogLevel, UndocumentedCalls,
};
pub use provider::{PrefixBroken, ProviderFault, ProviderSwitch};
pub use reclaimed::{Compaction, ContextManaged, ManagedAction, Retained, WindowTokens};
pub use succession::{AgentTransition, TransitionKind, TransitionRow};

/// One event on its way to the stream, before the writer gives it its `seq`.
#[derive(Clone, Debug)]
pub struct Emission {
    /// Milliseconds since the Unix epoch, taken where the event happened.
    pub at_ms: i64,
    /// Whom it happened to; `None` on run-scoped events alone.
    pub agent: Option<AgentId>,
    /// The agent's turn, on turn-scoped events.
    pub turn: Option<u32>,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// First line of every stream.
    SessionStarted(Box<SessionStarted>),
    /// Operator prose.
    Log(Log),
    /// A ceiling stopped an agent; directly precedes the return of its loop.
    LimitExceeded(LimitExceeded),
    /// A provider failed in a way worth counting.
    ProviderFault(ProviderFault),
    /// The run left a provider for the model's next candidate.
    ProviderSwitch(ProviderSwitch),
    /// A request did not extend what the agent's last one sent.
    PrefixBroken(PrefixBroken),
    /// A hook of the operator's ran.
    Hook(Box<HookRun>),
    /// An incarnation opens.
    AgentSpawned(Box<AgentSpawned>),
    /// An agent's place in the run changed.
    AgentStatus(AgentStatus),
    /// It wrote to an agent it started.
    AgentMessage(AgentMessage),
    /// The state of a machine it stands in, where it stands in one.
    FsmState(FsmState),
    /// Another comes of it: its successor, or a copy of it.
    AgentTransition(Box<AgentTransition>),
    /// Its six modules, once.
    AgentModules(AgentModules),
    /// What it is offered, once.
    AgentSurface(AgentSurface),
    /// Its memories, as it arrives and after each change.
    MemoryState(Box<MemoryState>),
    /// It wrote, edited or deleted a memory.
    MemoryRevision(Box<MemoryRevision>),
    /// Its task list, as it arrives and after each change.
    TasksState(TasksState),
    /// Its skills, as it arrives and after each first use.
    SkillsState(SkillsState),
    /// The run's board, as it arrives and after each of its writes.
    BoardState(Box<BoardState>),
    /// Its archive, as it arrives and after each archival.
    ArchiveState(ArchiveState),
    /// Tokens per band, each turn.
    ContextBreakdown(ContextBreakdown),
    /// A message of the agent's pool, once.
    ContextMessage(Box<ContextMessage>),
    /// One exchange with a model.
    Prompt(Box<Prompt>),
    /// It freed a part of its window.
    ContextManaged(ContextManaged),
    /// Its window was restarted on a summary.
    Compaction(Box<Compaction>),
    /// What the model said.
    AssistantMessage(AssistantMessage),
    /// A usage delta.
    Usage(Box<Usage>),
    /// A tool call opens.
    ToolCall(ToolCall),
    /// A tool call closes.
    ToolResult(Box<ToolResult>),
    /// A program's call opens.
    ApiCall(ApiCall),
    /// A program's call closes.
    ApiResult(ApiResult),
    /// A submitted program, whatever became of it.
    CodeExecution(Box<CodeExecution>),
    /// A command line ran.
    Shell(Box<Shell>),
    /// A reply was cut at the output cap and rejected whole.
    ResponseRejected(Box<ResponseRejected>),
    /// The judgement of one model call.
    TurnOutcome(TurnOutcome),
    /// Where a turn's time went.
    TurnTiming(TurnTiming),
    /// gg moved an issue. The run's, like the two behind it.
    IssueStatus(Box<IssueMoved>),
    /// A round of review is over.
    IssueReview(Box<IssueReview>),
    /// An issue's branch came to its end.
    WorktreeMerged(Box<WorktreeMerged>),
    /// One `(profile, model)` pair's sums, once the last agent has joined.
    SlotUsage(SlotUsage),
    /// The run's summary.
    SessionSummary(Box<Summary>),
    /// Last line of every stream that was not cut.
    SessionEnded(SessionEnded),
}

/// See [`Event::SessionStarted`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStarted {
    /// The capability set, whole, as resolved; as written where the launch is refused.
    pub capability_set: Option<Arc<RawValue>>,
    /// Per model its ordered candidates.
    pub model_providers: Option<Arc<RawValue>>,
    /// Per model its list prices, as the launch gave them: what a reader prices a lost cache by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_prices: Option<Arc<RawValue>>,
    /// The run's routing key.
    pub routing_key: RoutingKey,
    /// The preset's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// gg's version.
    pub gg_version: &'static str,
    /// The commit gg was built from, where the build knew it.
    pub commit: Option<&'static str>,
    /// The workspace.
    pub workspace: Option<String>,
    /// Tokens per model.
    pub windows: BTreeMap<ModelId, u64>,
    /// The ceilings in force; unarmed ones absent.
    pub limits: BTreeMap<&'static str, f64>,
}

/// How grave a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Worth knowing.
    Info,
    /// Something was lost, cut or retried.
    Warn,
    /// Something failed.
    Error,
}

/// See [`Event::Log`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
    /// How grave.
    pub level: LogLevel,
    /// A sentence for the operator.
    pub message: String,
    /// A stable word for readers that count: `retry`, `limits_armed`, `refusal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
}

/// See [`Event::LimitExceeded`]. Who observed it stands in the envelope.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitExceeded {
    /// The ceiling.
    pub limit: Limit,
    /// Its value.
    pub threshold: f64,
    /// What was observed.
    pub observed: f64,
    /// Turns the agent had answered.
    pub turns: f64,
    /// Outcomes the error rate is taken over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<f64>,
}

impl From<&Breach> for LimitExceeded {
    fn from(breach: &Breach) -> Self {
        Self {
            limit: breach.limit,
            threshold: breach.threshold,
            observed: breach.observed,
            turns: breach.turns,
            window: breach.window,
        }
    }
}

/// See [`Event::AgentModules`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentModules {
    /// A row for every kind, switched-off ones too.
    pub modules: Vec<ModuleRow>,
}

/// One module of an incarnation.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleRow {
    /// `history`, `memories`, `tasks`, `board`, `skills`, `archive`.
    pub kind: &'static str,
    /// Its store; `None` where switched off.
    pub store: Option<String>,
    /// Whether the capability is on.
    pub enabled: bool,
    /// Whether the prompt carries it.
    pub carried: bool,
    /// `created`, `inherited`, `profile`, `run`, `transferred`, `forked`.
    pub origin: &'static str,
    /// True where no access model exists.
    pub writable: bool,
    /// Of memories: whose they are, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<MemoryScope>,
}

/// See [`Event::AgentSurface`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSurface {
    /// `tool_calling` or `responses_as_code`.
    pub execution_mode: &'static str,
    /// Code agents: the language of their programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_language: Option<&'static str>,
    /// Code agents: which types a documentation view brings along, joined by `+`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_view_types: Option<String>,
    /// Tool agents: the resolved tools in offered order, ending calls last.
    pub tools: Vec<&'static str>,
    /// Code agents: the bound modules.
    pub apis: Vec<ApiModule>,
}

/// A module of a code agent's surface. Tool-calling agents have none.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiModule {
    /// The id shared by all languages.
    pub module: String,
    /// As its language spells it.
    pub path: String,
    /// What it is for, in a line.
    pub description: String,
    /// What can be called of it.
    pub functions: Vec<ApiFunction>,
}

/// A way to call an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiFunction {
    /// As its language spells it, relative to its module.
    pub name: String,
    /// What is called.
    pub operation: &'static str,
}

/// See [`Event::ContextBreakdown`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextBreakdown {
    /// The working window, tokens.
    pub window_limit: u64,
    /// Sum of the bands.
    pub total: u64,
    /// Tokens per band.
    pub bands: BandTokens,
}

/// See [`Event::ContextMessage`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextMessage {
    /// Its fingerprint.
    pub id: MessageId,
    /// Who it is from.
    pub role: Role,
    /// Its band.
    pub band: Band,
    /// Its estimated tokens.
    pub tokens: u64,
    /// The item's selector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Arc<str>>,
    /// Its text.
    pub content: Arc<str>,
    /// Its pictures, described.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageDescriptor>,
    /// The calls it requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallDescriptor>,
    /// The call it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<CallId>,
}

/// A picture without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageDescriptor {
    /// `image/png` and so on.
    pub media_type: String,
    /// Bytes of the file.
    pub bytes: u64,
    /// Pixels, where the header gives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Pixels, where the header gives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// Its estimated tokens.
    pub tokens: u64,
}

/// A requested call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallDescriptor {
    /// The id its result carries.
    pub id: CallId,
    /// The name as the model wrote it.
    pub name: String,
    /// JSON text as the window holds it.
    pub arguments: Arc<str>,
}

/// See [`Event::Prompt`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// Ids of the request's messages, in order.
    pub messages: Vec<MessageId>,
    /// Id of the reply, where it enters the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<MessageId>,
    /// As the provider gave it; `null` where it gave none.
    pub finish_reason: Option<String>,
    /// Usage of the exchange.
    pub tokens: Tokens,
    /// The call's duration, retries and backoff included.
    pub duration_ms: u64,
    /// Who served it, where named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderName>,
}

/// See [`Event::AssistantMessage`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Its text, unmodified.
    pub text: Option<Arc<str>>,
    /// Its calls.
    pub calls: Vec<CallDescriptor>,
    /// Its reasoning text, where streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Arc<str>>,
}

/// See [`Event::Usage`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// The asking profile.
    pub profile_id: Slug,
    /// The model asked.
    pub model_id: ModelId,
    /// Tokens by class.
    pub tokens: Tokens,
    /// Both bases; omitted where neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Who served it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderName>,
    /// Tokens that the agent's last request should have left in the provider's cache, by gg's
    /// estimate; absent where nothing could be expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_cached_tokens: Option<u64>,
    /// The provider's usage object, verbatim.
    pub wire: Option<Arc<RawValue>>,
    /// Whether the output split was moved by gg's estimate (06 §5).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reconciled: bool,
    /// Whether a figure was impossible and clamped (F88).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clamped: bool,
    /// Which money figure it belongs to.
    pub figure: Figure,
}

/// See [`Event::ToolCall`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The id its result carries.
    pub call_id: CallId,
    /// The name as the model wrote it.
    pub tool: String,
    /// The arguments as JSON text.
    pub arguments: Arc<str>,
}

/// See [`Event::ToolResult`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call it closes.
    pub call_id: CallId,
    /// The name as the model wrote it.
    pub tool: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// Its class, exactly when not `ok`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureClass>,
    /// Characters of the result text.
    pub chars: u64,
    /// At most 2,048 characters of it, from the start.
    pub preview: String,
    /// From dispatch to result.
    pub duration_ms: u64,
}

/// See [`Event::Shell`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shell {
    /// `tool`, `program`, `hook`.
    pub origin: &'static str,
    /// As given to `sh -c`.
    pub command: Arc<str>,
    /// Relative to the agent's root, absolute outside it.
    pub cwd: String,
    /// −1 for a timeout, a signal or a failed launch.
    pub exit_code: i32,
    /// The last 16,384 characters of the process's own stream.
    pub stdout: String,
    /// The last 16,384 characters of the process's own stream.
    pub stderr: String,
    /// Leading characters cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub stdout_dropped: u64,
    /// Leading characters cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub stderr_dropped: u64,
}

/// See [`Event::ResponseRejected`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseRejected {
    /// Characters of the reply's text and arguments.
    pub chars: u64,
    /// Its usage.
    pub tokens: Tokens,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Who served it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderName>,
    /// The model asked.
    pub model_id: ModelId,
}

/// See [`Event::TurnOutcome`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnOutcome {
    /// The judgement.
    pub outcome: TurnVerdict,
    /// The family, exactly when `outcome` is `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBase>,
    /// The type, exactly when `outcome` is `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_type: Option<ErrorType>,
    /// This agent's streak; above 0 exactly on an error.
    pub consecutive_errors: u64,
    /// This agent's turn number; repeated on a re-ask.
    pub turns: u64,
    /// Replies discarded as loops before the one judged.
    #[serde(skip_serializing_if = "is_zero")]
    pub loop_aborts: u64,
    /// Their words.
    #[serde(skip_serializing_if = "is_zero")]
    pub loop_abort_words: u64,
    /// Their characters.
    #[serde(skip_serializing_if = "is_zero")]
    pub loop_abort_chars: u64,
    /// Characters of reply text and submitted program text.
    #[serde(skip_serializing_if = "is_zero")]
    pub response_chars: u64,
    /// Output and reasoning tokens.
    #[serde(skip_serializing_if = "is_zero")]
    pub response_output_tokens: u64,
}

/// See [`Event::TurnTiming`]. The three sum exactly to the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnTiming {
    /// Turn start to dispatch.
    pub prompt_ms: u64,
    /// The call; equal to the prompt event's `durationMs`.
    pub request_ms: u64,
    /// The remainder.
    pub response_ms: u64,
}

/// See [`Event::SlotUsage`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SlotUsage {
    /// The profile.
    pub profile_id: Slug,
    /// The model.
    pub model_id: ModelId,
    /// Tokens by class.
    pub tokens: Tokens,
    /// Everything that reported a price.
    pub cost: Cost,
    /// Turns that did their work.
    pub work_cost: Cost,
    /// Replies accounted for: answered calls, and abandoned ones whose price was found.
    pub calls: u64,
    /// Of these, calls without a reported price (R35).
    #[serde(skip_serializing_if = "is_zero", default)]
    pub unpriced_calls: u64,
    /// Their tokens.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub unpriced_tokens: u64,
}

/// See [`Event::SessionEnded`].
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEnded {
    /// How the run ended.
    pub status: EndStatus,
    /// The process's exit code.
    pub exit_code: u8,
    /// Why, where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(figure: &u64) -> bool {
    *figure == 0
}

#[cfg(test)]
mod tests;
