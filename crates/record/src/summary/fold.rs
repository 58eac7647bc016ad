//! Folding emissions into a summary, one at a time, in the order of the stream.
//!
//! Always true: the fold holds one row per agent, per slot, per provider and per module with what
//! it holds now, never one per turn.

use std::collections::BTreeMap;

use vocab::board::IssueStatus;
use vocab::ids::{AgentId, ModelId, ProviderName, Slug};
use vocab::outcome::{Breach, EndStatus, ErrorBase, ErrorType, TurnVerdict};
use vocab::usage::{Figure, Tokens};

use super::clocks::Clocks;
use super::held::Reached;
use super::issues::Issues;
use super::{Errors, Money, ProviderFaults, ProviderStat, RejectedResponses, Summary};
use crate::event::{
    AgentState, CodeExecution, Compaction, ContextBreakdown, ContextManaged, Emission, Event,
    HookDecision, Origin, ResponseRejected, SlotUsage, TaskStatus, TransitionKind, TurnOutcome,
    UndocumentedCalls, Usage,
};

/// What the summary needs and no event carries.
#[derive(Clone, Debug)]
pub struct Conclusion {
    /// How the run ended.
    pub status: EndStatus,
    /// The process's exit code.
    pub exit_code: u8,
    /// The ceilings in force by wire key, unarmed ones absent.
    pub limits: BTreeMap<&'static str, f64>,
    /// The ceiling that ended the root.
    pub limit_hit: Option<Breach>,
    /// From the first line to now.
    pub wall_ms: u64,
    /// Replies abandoned as loops whose price was not found.
    pub loop_abort_unpriced: u64,
    /// Bytes of the journal.
    pub capture_bytes: u64,
    /// Why capture stopped early.
    pub capture_stopped: Option<String>,
}

/// The fold over a run's emissions.
#[derive(Debug, Default)]
pub struct Fold {
    agents: BTreeMap<AgentId, AgentRow>,
    slots: BTreeMap<(Slug, ModelId), SlotRow>,
    /// By folded name: a provider that changes its spelling stays one, under its first.
    providers: BTreeMap<(Option<String>, Option<ModelId>), ProviderRow>,
    all: SlotRow,
    execution_mode: Option<&'static str>,
    program_language: Option<&'static str>,
    agents_failed: u64,
    max_depth: u32,
    spawns: u64,
    forks: u64,
    execs: u64,
    fsm_transitions: u64,
    model_calls: u64,
    model_ms: u64,
    model_retries: u64,
    rejected: u64,
    rejected_tokens: u64,
    rejected_money: Money,
    max_response_chars: u64,
    max_response_output_tokens: u64,
    tool_calls: u64,
    api_calls: u64,
    code_executions: u64,
    code_failures: u64,
    compile_ms: u64,
    compile_wait_ms: u64,
    undocumented_calls: UndocumentedCalls,
    shell_commands: u64,
    hooks_run: u64,
    hooks_blocked: u64,
    ran_out_of_context: bool,
    peak_context_tokens: u64,
    peak_context_share: f64,
    compactions: u64,
    compaction_fallbacks: u64,
    compaction_money: Money,
    evictions: u64,
    archivals: u64,
    memories_written: u64,
    skills_read: Reached,
    tasks_completed: Reached,
    issues: Issues,
    faults: ProviderFaults,
    provider_switches: u64,
    prefix_breaks: u64,
    errors: Errors,
    clocks: Clocks,
}

#[derive(Debug, Default)]
struct AgentRow {
    model: Option<ModelId>,
    /// Who served the turn that has no outcome yet.
    serving: Option<ProviderName>,
}

#[derive(Debug, Default)]
struct SlotRow {
    tokens: Tokens,
    total: Money,
    work: Money,
    calls: u64,
}

impl SlotRow {
    fn add(&mut self, usage: &Usage) {
        self.calls += 1;
        self.tokens.add(&usage.tokens);
        self.total.add(usage.cost.as_ref(), &usage.tokens);
        if usage.figure == Figure::Work {
            self.work.add(usage.cost.as_ref(), &usage.tokens);
        }
    }
}

#[derive(Debug, Default)]
struct ProviderRow {
    stat: ProviderStat,
    money: Money,
}

impl Fold {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one emission, in stream order.
    pub fn take(&mut self, emission: &Emission) {
        let agent = emission.agent.as_ref();
        match &emission.event {
            Event::AgentSpawned(spawned) => {
                self.max_depth = self.max_depth.max(spawned.depth);
                self.spawns += u64::from(matches!(spawned.origin, Origin::Spawn { .. }));
                if let Some(row) = self.agent(agent) {
                    row.model = Some(spawned.model_id.clone());
                }
            }
            Event::AgentStatus(status) => {
                self.agents_failed += u64::from(status.status == AgentState::Failed);
                if let Some(agent) = agent {
                    self.clocks.changed(agent, status.status, emission.at_ms);
                }
            }
            Event::AgentTransition(transition) => match transition.kind {
                TransitionKind::Exec => self.execs += 1,
                TransitionKind::Fork => self.forks += 1,
                TransitionKind::Fsm => self.fsm_transitions += 1,
            },
            Event::AgentSurface(surface) => {
                if self.execution_mode.is_none() {
                    self.execution_mode = Some(surface.execution_mode);
                    self.program_language = surface.program_language;
                }
            }
            Event::ContextBreakdown(breakdown) => self.breakdown(breakdown),
            Event::Prompt(prompt) => {
                self.model_calls += 1;
                self.model_ms += prompt.duration_ms;
                self.serve(agent, prompt.provider.as_ref());
            }
            Event::Usage(usage) => {
                // The late price of an abandoned reply belongs to no turn.
                if emission.turn.is_some() {
                    self.serve(agent, usage.provider.as_ref());
                }
                self.usage(usage);
            }
            Event::ResponseRejected(rejected) => {
                self.serve(agent, rejected.provider.as_ref());
                self.rejected(rejected);
            }
            Event::ToolResult(result) => {
                self.tool_calls += 1;
                if let Some(class) = result.failure {
                    *self.errors.tool_failures.entry(class).or_default() += 1;
                }
            }
            Event::ApiCall(_) => self.api_calls += 1,
            Event::CodeExecution(execution) => self.execution(execution),
            Event::Shell(_) => self.shell_commands += 1,
            Event::Hook(hook) => {
                self.hooks_run += 1;
                self.hooks_blocked += u64::from(hook.decision == HookDecision::Block);
            }
            Event::ContextManaged(managed) => self.managed(managed),
            Event::Compaction(compaction) => self.compaction(compaction),
            Event::MemoryRevision(revision) => {
                self.memories_written += u64::from(revision.text.is_some());
            }
            Event::SkillsState(state) => {
                let read = state.skills.iter().filter(|skill| skill.read);
                let names = read.map(|skill| &*skill.name);
                self.skills_read.stands(&state.module_id, names);
            }
            Event::TasksState(state) => {
                let done = state
                    .tasks
                    .iter()
                    .filter(|task| task.status == TaskStatus::Done);
                let ids = done.map(|task| task.id.as_str());
                self.tasks_completed.stands(&state.module_id, ids);
            }
            Event::BoardState(state) => {
                for issue in &state.issues {
                    self.issues.filed(issue.id.as_str());
                }
            }
            Event::IssueStatus(moved) => {
                self.issues.moved(moved.issue_id.as_str(), moved.status);
            }
            Event::IssueReview(_) => self.issues.reviewed(),
            Event::WorktreeMerged(landed) => self.issues.landed(landed.outcome),
            Event::ProviderFault(fault) => match fault.kind {
                "stall" => self.faults.stall += 1,
                "cache_miss" => self.faults.cache_miss += 1,
                _ => {}
            },
            Event::ProviderSwitch(_) => self.provider_switches += 1,
            Event::PrefixBroken(_) => self.prefix_breaks += 1,
            Event::Log(log) => {
                self.model_retries += u64::from(log.code == Some(RETRY));
                self.ran_out_of_context |= log.code == Some(OVERFLOW);
            }
            Event::TurnOutcome(outcome) => self.outcome(agent, outcome),
            Event::SessionStarted(_)
            | Event::LimitExceeded(_)
            | Event::AgentMessage(_)
            | Event::FsmState(_)
            | Event::AgentModules(_)
            | Event::MemoryState(_)
            | Event::ArchiveState(_)
            | Event::ContextMessage(_)
            | Event::AssistantMessage(_)
            | Event::ToolCall(_)
            | Event::ApiResult(_)
            | Event::TurnTiming(_)
            | Event::SlotUsage(_)
            | Event::SessionSummary(_)
            | Event::SessionEnded(_) => {}
        }
    }

    /// One row per `(profile, model)` pair touched, in the order of their names: the `slot_usage`
    /// lines, once the last agent has joined.
    pub fn slots(&self) -> Vec<SlotUsage> {
        self.slots
            .iter()
            .map(|((profile, model), row)| SlotUsage {
                profile_id: profile.clone(),
                model_id: model.clone(),
                tokens: row.tokens,
                cost: row.total.cost(),
                work_cost: row.work.cost(),
                calls: row.calls,
                unpriced_calls: row.total.unpriced_calls(),
                unpriced_tokens: row.total.unpriced_tokens(),
            })
            .collect()
    }

    /// The total of every reported price so far: what `maxCost` is measured against.
    pub fn spent(&self) -> f64 {
        self.all.total.cost().actual.unwrap_or(0.0)
    }

    /// The summary of everything taken.
    pub fn conclude(self, conclusion: Conclusion) -> Summary {
        let slot_costs = self.slots();
        let provider_stats = self
            .providers
            .into_iter()
            .map(|((_, model_id), row)| ProviderStat {
                model_id,
                cost: row.money.cost(),
                unpriced_calls: row.money.unpriced_calls(),
                ..row.stat
            })
            .collect();
        let cost = self.all.total.cost();
        Summary {
            execution_mode: self.execution_mode,
            program_language: self.program_language,
            status: conclusion.status,
            exit_code: conclusion.exit_code,
            wall_ms: conclusion.wall_ms,
            active_ms: self.clocks.active_ms(),
            waiting_ms: self.clocks.waiting_ms(),
            agents: self.agents.len() as u64,
            agents_failed: self.agents_failed,
            max_depth: self.max_depth,
            peak_parallel: self.clocks.peak_parallel(),
            spawns: self.spawns,
            forks: self.forks,
            execs: self.execs,
            fsm_transitions: self.fsm_transitions,
            model_calls: self.model_calls,
            model_ms: self.model_ms,
            model_retries: self.model_retries,
            tokens: self.all.tokens,
            cost: cost.actual,
            work_cost: self.all.work.cost().actual,
            comparable_cost: cost.comparable,
            unpriced_calls: self.all.total.unpriced_calls(),
            unpriced_tokens: self.all.total.unpriced_tokens(),
            slot_costs,
            provider_stats,
            rejected_responses: RejectedResponses {
                count: self.rejected,
                tokens: self.rejected_tokens,
                cost: self.rejected_money.cost().actual,
            },
            loop_abort_unpriced: conclusion.loop_abort_unpriced,
            max_response_chars: self.max_response_chars,
            max_response_output_tokens: self.max_response_output_tokens,
            tool_calls: self.tool_calls,
            api_calls: self.api_calls,
            code_executions: self.code_executions,
            code_failures: self.code_failures,
            compile_ms: self.compile_ms,
            compile_wait_ms: self.compile_wait_ms,
            undocumented_calls: self.undocumented_calls,
            shell_commands: self.shell_commands,
            hooks_run: self.hooks_run,
            hooks_blocked: self.hooks_blocked,
            ran_out_of_context: self.ran_out_of_context,
            peak_context_tokens: self.peak_context_tokens,
            peak_context_share: self.peak_context_share,
            compactions: self.compactions,
            compaction_fallbacks: self.compaction_fallbacks,
            compaction_cost: self.compaction_money.cost().actual,
            evictions: self.evictions,
            archivals: self.archivals,
            memories_written: self.memories_written,
            skills_read: self.skills_read.count(),
            tasks_completed: self.tasks_completed.count(),
            issues: self.issues.count(),
            issues_done: self.issues.ended(IssueStatus::Done),
            issues_failed: self.issues.ended(IssueStatus::Failed),
            issues_reopened: self.issues.reopened(),
            review_rounds: self.issues.rounds(),
            merge_conflicts: self.issues.conflicts(),
            provider_faults: self.faults,
            provider_switches: self.provider_switches,
            prefix_breaks: self.prefix_breaks,
            limits: conclusion.limits,
            limit_hit: conclusion.limit_hit,
            errors: self.errors,
            capture_bytes: conclusion.capture_bytes,
            capture_stopped: conclusion.capture_stopped,
        }
    }

    fn execution(&mut self, execution: &CodeExecution) {
        self.code_executions += 1;
        self.code_failures += u64::from(!execution.ok);
        self.tool_calls += execution.tool_calls;
        self.compile_ms += execution.compile_ms.unwrap_or_default();
        self.compile_wait_ms += execution.compile_wait_ms.unwrap_or_default();
        if let Some(undocumented) = &execution.undocumented_calls {
            self.undocumented_calls.calls += undocumented.calls;
            for (operation, calls) in &undocumented.operations {
                *self
                    .undocumented_calls
                    .operations
                    .entry(operation)
                    .or_default() += calls;
            }
        }
    }

    fn agent(&mut self, agent: Option<&AgentId>) -> Option<&mut AgentRow> {
        let agent = agent?;
        if !self.agents.contains_key(agent) {
            self.agents.insert(agent.clone(), AgentRow::default());
        }
        self.agents.get_mut(agent)
    }

    fn serve(&mut self, agent: Option<&AgentId>, provider: Option<&ProviderName>) {
        if let (Some(row), Some(provider)) = (self.agent(agent), provider) {
            row.serving = Some(provider.clone());
        }
    }

    fn provider(
        &mut self,
        provider: Option<ProviderName>,
        model: Option<ModelId>,
    ) -> &mut ProviderRow {
        let folded = provider.as_ref().map(ProviderName::folded);
        let row = self.providers.entry((folded, model)).or_default();
        if row.stat.provider.is_none() {
            row.stat.provider = provider;
        }
        row
    }

    fn breakdown(&mut self, breakdown: &ContextBreakdown) {
        self.peak_context_tokens = self.peak_context_tokens.max(breakdown.total);
        self.ran_out_of_context |= breakdown.total >= breakdown.window_limit;
        if breakdown.window_limit > 0 {
            let share = breakdown.total as f64 / breakdown.window_limit as f64;
            self.peak_context_share = self.peak_context_share.max(share);
        }
    }

    fn managed(&mut self, managed: &ContextManaged) {
        if managed.action.evicts() {
            self.evictions += 1;
        } else {
            self.archivals += 1;
        }
    }

    fn compaction(&mut self, compaction: &Compaction) {
        self.compactions += 1;
        self.compaction_fallbacks += u64::from(compaction.fallback);
        if let Some(tokens) = &compaction.tokens {
            self.compaction_money.add(compaction.cost.as_ref(), tokens);
        }
    }

    fn usage(&mut self, usage: &Usage) {
        self.all.add(usage);
        let slot = (usage.profile_id.clone(), usage.model_id.clone());
        self.slots.entry(slot).or_default().add(usage);
        let row = self.provider(usage.provider.clone(), Some(usage.model_id.clone()));
        row.stat.calls += 1;
        row.stat.tokens.add(&usage.tokens);
        row.money.add(usage.cost.as_ref(), &usage.tokens);
    }

    fn rejected(&mut self, rejected: &ResponseRejected) {
        let tokens = &rejected.tokens;
        self.rejected += 1;
        self.rejected_tokens += tokens.input().unwrap_or(0) + tokens.completion().unwrap_or(0);
        self.rejected_money.add(rejected.cost.as_ref(), tokens);
        self.provider(rejected.provider.clone(), Some(rejected.model_id.clone()))
            .stat
            .rejected += 1;
    }

    fn outcome(&mut self, agent: Option<&AgentId>, outcome: &TurnOutcome) {
        let (provider, model) = self
            .agent(agent)
            .map(|row| (row.serving.take(), row.model.clone()))
            .unwrap_or_default();
        let stat = &mut self.provider(provider, model).stat;
        stat.turns += 1;
        match outcome.outcome {
            TurnVerdict::Progressed | TurnVerdict::Finished => stat.working += 1,
            TurnVerdict::Error => stat.errors += 1,
            TurnVerdict::Fatal => {}
        }
        self.errors.turns += 1;
        self.errors.loop_aborts += outcome.loop_aborts;
        self.errors.loop_abort_words += outcome.loop_abort_words;
        self.errors.loop_abort_chars += outcome.loop_abort_chars;
        self.errors.max_consecutive = self.errors.max_consecutive.max(outcome.consecutive_errors);
        if let Some(kind) = outcome.error_type {
            self.errors.add(kind);
        }
        if outcome.error_type != Some(ErrorType::ModelLengthCapped) {
            self.max_response_chars = self.max_response_chars.max(outcome.response_chars);
            self.max_response_output_tokens = self
                .max_response_output_tokens
                .max(outcome.response_output_tokens);
        }
    }
}

/// The `code` of the log line that each retry of a model call writes.
const RETRY: &str = "retry";

/// The `code` of the log line of a request that a provider refused as longer than the model's
/// window (F63).
const OVERFLOW: &str = "context_overflow";

impl Errors {
    fn add(&mut self, kind: ErrorType) {
        self.errors += 1;
        *match kind.base() {
            ErrorBase::ModelApi => &mut self.model_api,
            ErrorBase::Transpile => &mut self.transpile,
            ErrorBase::ProgramFault => &mut self.program_fault,
            ErrorBase::SandboxLimit => &mut self.sandbox_limit,
            ErrorBase::MissingCompletion => &mut self.missing_completion,
        } += 1;
        *self.by_type.entry(kind).or_default() += 1;
    }
}
