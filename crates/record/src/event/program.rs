//! What a program did: its calls, and what became of it (06 §2.7, §3).

use std::collections::BTreeMap;

use serde::Serialize;
use vocab::failure::FailureClass;
use vocab::ids::CallId;

/// See [`Event::ApiCall`](super::Event::ApiCall). No arguments: what a call was given is in the
/// program.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiCall {
    /// The submission's id and the call's place in it.
    pub call_id: CallId,
    /// `files.read_file` and so on.
    pub operation: &'static str,
}

/// See [`Event::ApiResult`](super::Event::ApiResult).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiResult {
    /// The call it closes.
    pub call_id: CallId,
    /// What was called.
    pub operation: &'static str,
    /// What the program saw.
    pub ok: bool,
    /// Why not, exactly where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureClass>,
    /// How long the program was parked in it.
    pub duration_ms: u64,
}

/// See [`Event::CodeExecution`](super::Event::CodeExecution). Zero counts are omitted.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeExecution {
    /// The submission.
    pub call_id: CallId,
    /// Whether it returned; an ending it declared is another matter.
    pub ok: bool,
    /// Calls that were dispatched.
    pub tool_calls: u64,
    /// All calls: those that dispatch nothing, and refused ones, too.
    #[serde(skip_serializing_if = "is_zero")]
    pub api_calls: u64,
    /// Its own time, without what it was parked in calls.
    pub duration_ms: u64,
    /// How it failed, where it did, as the model reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The ending it declared, also where that was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
    /// What it printed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<ProgramLog>,
    /// Lines it printed that are not here, or are cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub logs_suppressed: u64,
    /// How long getting the component took, in the turn that paid for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compile_wait_ms: Option<u64>,
    /// How long preparing took, where anything is compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compile_ms: Option<u64>,
    /// Serviced calls whose documentation was not in view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undocumented_calls: Option<UndocumentedCalls>,
}

/// Calls whose documentation was not in view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UndocumentedCalls {
    /// How many.
    pub calls: u64,
    /// How many of each operation.
    pub operations: BTreeMap<&'static str, u64>,
}

/// A line that a program printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramLog {
    /// How grave.
    pub level: ProgramLogLevel,
    /// Its text.
    pub text: String,
}

/// How grave a printed line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProgramLogLevel {
    /// Of interest to whoever mends the program.
    Debug,
    /// Worth knowing.
    Info,
    /// Something is off.
    Warn,
    /// Something failed.
    Error,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field over so"
)]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
