//! The run summary (06 §7): what a run came to, as scalars and maps that a query can reach.
//!
//! [`Summary`] is the type on the wire, [`Fold`] makes one from the run's emissions. Rates are
//! never stored: their numerators and denominators are.
//!
//! Always true: every figure is a fold of the emissions, but for those a [`Conclusion`] brings
//! because no event carries them (clocks, ceilings, prices not found, the journal's size).

mod clocks;
mod fold;
mod held;
mod issues;
mod money;

use std::collections::BTreeMap;

use serde::Serialize;
use vocab::failure::FailureClass;
use vocab::ids::{ModelId, ProviderName};
use vocab::outcome::{Breach, EndStatus, ErrorType};
use vocab::usage::{Cost, Tokens};

use crate::event::{SlotUsage, UndocumentedCalls};

pub use fold::{Conclusion, Fold};
pub(crate) use held::Reached;
pub(crate) use issues::Issues;
pub use money::Money;

/// The run summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// `tool_calling` or `responses_as_code`, of the root; absent where it never opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_mode: Option<&'static str>,
    /// The language of the root's programs, where it answers with programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program_language: Option<&'static str>,
    /// How the run ended.
    pub status: EndStatus,
    /// The process's exit code.
    pub exit_code: u8,
    /// From the first line to this one.
    pub wall_ms: u64,
    /// The agents' time minus what they spent suspended.
    pub active_ms: u64,
    /// What they spent suspended.
    pub waiting_ms: u64,
    /// Incarnations.
    pub agents: u64,
    /// Those that ended in a failure.
    pub agents_failed: u64,
    /// The deepest incarnation's depth; 0 for a lone root.
    pub max_depth: u32,
    /// Most agents running at one time.
    pub peak_parallel: u64,
    /// Agents that another one started.
    pub spawns: u64,
    /// Copies that agents made of themselves.
    pub forks: u64,
    /// Agents that became another by a call.
    pub execs: u64,
    /// Agents that became the next of their machine.
    pub fsm_transitions: u64,
    /// Exchanges with a model that brought a reply.
    pub model_calls: u64,
    /// Their duration, retries and backoff included.
    pub model_ms: u64,
    /// Attempts made after a failed one.
    pub model_retries: u64,
    /// Tokens by class, over every usage delta.
    pub tokens: Tokens,
    /// USD as reported by the gateway; `null` where calls were made and none had a price.
    pub cost: Option<f64>,
    /// The part of [`cost`](Self::cost) spent on turns that did their work.
    pub work_cost: Option<f64>,
    /// USD at list prices; `null` where a part has none (R35).
    pub comparable_cost: Option<f64>,
    /// Replies without a reported price (R35).
    pub unpriced_calls: u64,
    /// Their tokens.
    pub unpriced_tokens: u64,
    /// Spend per profile and model, as in the `slot_usage` lines.
    pub slot_costs: Vec<SlotUsage>,
    /// Spend and turns per provider and model.
    pub provider_stats: Vec<ProviderStat>,
    /// Replies cut at the output cap.
    pub rejected_responses: RejectedResponses,
    /// Replies abandoned as loops whose price was not found.
    pub loop_abort_unpriced: u64,
    /// Most characters of a reply, over turns other than `model_length_capped`.
    pub max_response_chars: u64,
    /// Most output and reasoning tokens of a reply, over the same turns.
    pub max_response_output_tokens: u64,
    /// Calls dispatched, by tool agents and by programs, failed or not.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u64,
    /// Calls that programs made, refused ones and those that dispatch nothing included.
    pub api_calls: u64,
    /// Programs submitted.
    pub code_executions: u64,
    /// Those of them that failed.
    pub code_failures: u64,
    /// Milliseconds spent preparing them.
    pub compile_ms: u64,
    /// Milliseconds spent getting components to run them.
    pub compile_wait_ms: u64,
    /// Calls whose documentation was not in view.
    pub undocumented_calls: UndocumentedCalls,
    /// Command lines run.
    pub shell_commands: u64,
    /// Hooks run.
    pub hooks_run: u64,
    /// Those of them that blocked what they fired at.
    pub hooks_blocked: u64,
    /// Whether a window ever stood at its limit or above, or a provider refused a request as too
    /// long.
    pub ran_out_of_context: bool,
    /// Most tokens in a window.
    pub peak_context_tokens: u64,
    /// The greatest share of its limit a window held, 1 for full.
    pub peak_context_share: f64,
    /// Windows restarted on a summary.
    pub compactions: u64,
    /// Those of them that nobody summarized usably.
    pub compaction_fallbacks: u64,
    /// USD as reported for compactions' own requests, which [`cost`](Self::cost) does not hold;
    /// `null` where some were made and none had a price.
    pub compaction_cost: Option<f64>,
    /// Times an agent took views out of its window.
    pub evictions: u64,
    /// Times an agent archived turns.
    pub archivals: u64,
    /// Memories written or rewritten; deletions are none.
    pub memories_written: u64,
    /// Skills read, each once for the set of skills that holds it.
    pub skills_read: u64,
    /// Tasks that were marked as done.
    pub tasks_completed: u64,
    /// Issues that a turn left on the board, those removed later too.
    pub issues: u64,
    /// Those of them that are done.
    pub issues_done: u64,
    /// Those of them that failed, and were not revived.
    pub issues_failed: u64,
    /// Times a failed issue was revived.
    pub issues_reopened: u64,
    /// Rounds of review.
    pub review_rounds: u64,
    /// Merges that conflicted, resolved or not.
    pub merge_conflicts: u64,
    /// Provider faults by kind.
    pub provider_faults: ProviderFaults,
    /// Times the run left a provider for the next candidate.
    pub provider_switches: u64,
    /// Requests that did not extend their agent's last one.
    pub prefix_breaks: u64,
    /// The ceilings in force, unarmed ones absent.
    pub limits: BTreeMap<&'static str, f64>,
    /// The ceiling that ended the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_hit: Option<Breach>,
    /// Turn errors.
    pub errors: Errors,
    /// Bytes of the capture journal.
    pub capture_bytes: u64,
    /// Why capture stopped early: `write_failed`, `byte_ceiling`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture_stopped: Option<String>,
}

/// One provider's share of one model's calls. A turn belongs to the provider that its own usage,
/// prompt or rejection names, else to the row without one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderStat {
    /// The provider as it was first spelled, where named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderName>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<ModelId>,
    /// Usage deltas.
    pub calls: u64,
    /// Tokens by class.
    pub tokens: Tokens,
    /// Everything that reported a price.
    pub cost: Cost,
    /// Replies without a reported price.
    #[serde(skip_serializing_if = "is_zero")]
    pub unpriced_calls: u64,
    /// Replies cut at the output cap.
    #[serde(skip_serializing_if = "is_zero")]
    pub rejected: u64,
    /// Outcomes.
    pub turns: u64,
    /// Outcomes that did their declared work.
    pub working: u64,
    /// Error outcomes. What is left of `turns` is fatal.
    pub errors: u64,
}

/// Replies cut at the output cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RejectedResponses {
    /// How many.
    pub count: u64,
    /// Their tokens.
    pub tokens: u64,
    /// What they cost, as reported; `null` where some were made and none had a price.
    pub cost: Option<f64>,
}

/// Provider faults by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderFaults {
    /// Streams that fell silent.
    pub stall: u64,
    /// Prefixes that should have been cached and were not.
    pub cache_miss: u64,
}

/// Turn errors, by base and by type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Errors {
    /// Every outcome, fatal ones too.
    pub turns: u64,
    /// Error outcomes: the sum of the five bases.
    pub errors: u64,
    /// The longest streak of any one agent.
    pub max_consecutive: u64,
    /// Errors of base `model_api`.
    pub model_api: u64,
    /// Errors of base `transpile`.
    pub transpile: u64,
    /// Errors of base `program_fault`.
    pub program_fault: u64,
    /// Errors of base `sandbox_limit`.
    pub sandbox_limit: u64,
    /// Errors of base `missing_completion`.
    pub missing_completion: u64,
    /// Replies discarded as loops. They are no errors.
    pub loop_aborts: u64,
    /// Their words.
    pub loop_abort_words: u64,
    /// Their characters.
    pub loop_abort_chars: u64,
    /// Errors by type; sums to `errors`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_type: BTreeMap<ErrorType, u64>,
    /// Failed tool calls by failure class.
    pub tool_failures: BTreeMap<FailureClass, u64>,
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
