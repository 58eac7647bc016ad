//! What the deltas of a stream sum to, against what its last lines say.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use vocab::board::IssueStatus;
use vocab::outcome::ErrorBase;
use vocab::usage::{Cost, Tokens};

use super::line::Line;
use super::{Found, rule};
use crate::summary::{Issues, Money, Reached};

pub(super) fn check(lines: &[Line], found: &mut Found) {
    let sums = Sums::of(lines);
    let Some(summary) = lines.iter().find(|line| line.kind == "session_summary") else {
        return;
    };
    sums.check_slots(lines, summary.number, found);
    sums.check_summary(summary, found);
    check_slices(lines, &sums, summary, found);
    if let Some(end) = lines.iter().find(|line| line.kind == "session_ended") {
        for field in ["status", "exitCode"] {
            if end.get(field) != summary.get(field) {
                found.add(
                    end.number,
                    rule::SUMMARY_SUMS,
                    format!(
                        "{field} is {}, the summary's {}",
                        end.get(field),
                        summary.get(field)
                    ),
                );
            }
        }
    }
}

#[derive(Default)]
struct Slot {
    tokens: Tokens,
    total: Money,
    work: Money,
    calls: u64,
}

impl Slot {
    fn add(&mut self, line: &Line) {
        let tokens: Tokens = read(line.get("tokens"));
        let cost: Cost = read(line.get("cost"));
        self.calls += 1;
        self.tokens.add(&tokens);
        self.total.add(Some(&cost), &tokens);
        if line.text("figure") == "work" {
            self.work.add(Some(&cost), &tokens);
        }
    }

    fn row(&self) -> Value {
        json!({
            "tokens": self.tokens,
            "cost": self.total.cost(),
            "workCost": self.work.cost(),
            "calls": self.calls,
            "unpricedCalls": self.total.unpriced_calls(),
            "unpricedTokens": self.total.unpriced_tokens(),
        })
    }
}

/// A value of a known shape; its default where it has another.
fn read<T: Default + for<'de> Deserialize<'de>>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_default()
}

/// The rows of a list.
fn rows<'a>(line: &'a Line, field: &str) -> impl Iterator<Item = &'a Value> {
    line.get(field).as_array().into_iter().flatten()
}

#[derive(Default)]
struct Sums {
    slots: BTreeMap<(String, String), Slot>,
    all: Slot,
    /// Prices of abandoned replies that were found.
    late: u64,
    /// Compactions' own requests.
    compactions: Money,
    skills: Reached,
    tasks: Reached,
    issues: Issues,
    /// Figures of the summary by their path.
    figures: BTreeMap<String, f64>,
}

impl Sums {
    fn of(lines: &[Line]) -> Self {
        let mut sums = Self::default();
        for line in lines {
            match line.kind.as_str() {
                "usage" => {
                    let slot = (
                        line.text("profileId").to_owned(),
                        line.text("modelId").to_owned(),
                    );
                    sums.slots.entry(slot).or_default().add(line);
                    sums.all.add(line);
                    sums.late += u64::from(line.turn.is_none());
                }
                "agent_spawned" => {
                    sums.count("/agents");
                    sums.max("/maxDepth", line.get("depth"));
                    if line.get("origin")["kind"] == "spawn" {
                        sums.count("/spawns");
                    }
                }
                "agent_transition" => match line.text("kind") {
                    "exec" => sums.count("/execs"),
                    "fork" => sums.count("/forks"),
                    "fsm" => sums.count("/fsmTransitions"),
                    _ => {}
                },
                "agent_status" if line.text("status") == "failed" => sums.count("/agentsFailed"),
                "prompt" => {
                    sums.count("/modelCalls");
                    sums.sum("/modelMs", line.get("durationMs"));
                }
                "tool_result" => {
                    sums.count("/toolCalls");
                    if let Some(class) = line.get("failure").as_str() {
                        sums.count(&format!("/errors/toolFailures/{class}"));
                    }
                }
                "provider_fault" if line.text("kind") == "stall" => {
                    sums.count("/providerFaults/stall");
                }
                "provider_fault" if line.text("kind") == "cache_miss" => {
                    sums.count("/providerFaults/cacheMiss");
                }
                "provider_switch" => sums.count("/providerSwitches"),
                "prefix_broken" => sums.count("/prefixBreaks"),
                "log" if line.text("code") == "retry" => sums.count("/modelRetries"),
                "api_call" => sums.count("/apiCalls"),
                "shell" => sums.count("/shellCommands"),
                "hook" => {
                    sums.count("/hooksRun");
                    if line.text("decision") == "block" {
                        sums.count("/hooksBlocked");
                    }
                }
                "response_rejected" => sums.count("/rejectedResponses/count"),
                "code_execution" => sums.execution(line),
                "compaction" => sums.compaction(line),
                "context_managed" if line.text("action") == "archive_thread" => {
                    sums.count("/archivals");
                }
                "context_managed" => sums.count("/evictions"),
                "memory_revision" if !line.get("text").is_null() => {
                    sums.count("/memoriesWritten");
                }
                "skills_state" => {
                    let read = rows(line, "skills").filter(|row| row["read"] == true);
                    let names = read.filter_map(|row| row["name"].as_str());
                    sums.skills.stands(line.text("module_id"), names);
                }
                "tasks_state" => {
                    let done = rows(line, "tasks").filter(|row| row["status"] == "done");
                    let ids = done.filter_map(|row| row["id"].as_str());
                    sums.tasks.stands(line.text("module_id"), ids);
                }
                "board_state" => {
                    let ids = rows(line, "issues").filter_map(|row| row["id"].as_str());
                    ids.for_each(|id| sums.issues.filed(id));
                }
                "issue_status" => {
                    if let Ok(status) = line.text("status").parse() {
                        sums.issues.moved(line.text("issueId"), status);
                    }
                }
                "issue_review" => sums.issues.reviewed(),
                "worktree_merged" => {
                    if let Ok(outcome) = line.text("outcome").parse() {
                        sums.issues.landed(outcome);
                    }
                }
                "turn_outcome" => sums.outcome(line),
                "context_breakdown" => sums.max("/peakContextTokens", line.get("total")),
                _ => {}
            }
        }
        sums
    }

    fn execution(&mut self, line: &Line) {
        self.count("/codeExecutions");
        if line.get("ok") == false {
            self.count("/codeFailures");
        }
        self.sum("/toolCalls", line.get("toolCalls"));
        self.sum("/compileMs", line.get("compileMs"));
        self.sum("/compileWaitMs", line.get("compileWaitMs"));
        let undocumented = line.get("undocumentedCalls");
        self.sum("/undocumentedCalls/calls", &undocumented["calls"]);
        for (operation, calls) in undocumented["operations"].as_object().into_iter().flatten() {
            self.sum(&format!("/undocumentedCalls/operations/{operation}"), calls);
        }
    }

    fn compaction(&mut self, line: &Line) {
        self.count("/compactions");
        if line.get("fallback") == true {
            self.count("/compactionFallbacks");
        }
        if !line.get("tokens").is_null() {
            let tokens: Tokens = read(line.get("tokens"));
            self.compactions.add(Some(&read(line.get("cost"))), &tokens);
        }
    }

    fn outcome(&mut self, line: &Line) {
        self.count("/errors/turns");
        for field in ["loopAborts", "loopAbortWords", "loopAbortChars"] {
            self.sum(&format!("/errors/{field}"), line.get(field));
        }
        self.max("/errors/maxConsecutive", line.get("consecutiveErrors"));
        if let Some(base) = line.get("error").as_str() {
            self.count("/errors/errors");
            if let Ok(base) = base.parse::<ErrorBase>() {
                self.count(&format!("/errors/{}", base_key(base)));
            }
        }
        if let Some(kind) = line.get("errorType").as_str() {
            self.count(&format!("/errors/byType/{kind}"));
        }
        if line.text("errorType") != "model_length_capped" {
            self.max("/maxResponseChars", line.get("responseChars"));
            self.max("/maxResponseOutputTokens", line.get("responseOutputTokens"));
        }
    }

    fn count(&mut self, path: &str) {
        *self.figures.entry(path.to_owned()).or_default() += 1.0;
    }

    fn sum(&mut self, path: &str, value: &Value) {
        *self.figures.entry(path.to_owned()).or_default() += value.as_f64().unwrap_or(0.0);
    }

    fn max(&mut self, path: &str, value: &Value) {
        let figure = self.figures.entry(path.to_owned()).or_default();
        *figure = figure.max(value.as_f64().unwrap_or(0.0));
    }

    fn check_slots(&self, lines: &[Line], summary: usize, found: &mut Found) {
        let mut missing: BTreeMap<_, _> = self.slots.iter().collect();
        for line in lines.iter().filter(|line| line.kind == "slot_usage") {
            let slot = (
                line.text("profileId").to_owned(),
                line.text("modelId").to_owned(),
            );
            let Some(sum) = missing.remove(&slot) else {
                found.add(
                    line.number,
                    rule::SLOT_SUMS,
                    format!("no usage of {slot:?}, or a second slot_usage of it"),
                );
                continue;
            };
            for (field, expected) in sum.row().as_object().into_iter().flatten() {
                if !same(line.get(field), expected) {
                    found.add(
                        line.number,
                        rule::SLOT_SUMS,
                        format!(
                            "{field} is {}, the deltas sum to {expected}",
                            line.get(field)
                        ),
                    );
                }
            }
        }
        for slot in missing.keys() {
            found.add(
                summary,
                rule::SLOT_SUMS,
                format!("no slot_usage of {slot:?}"),
            );
        }
    }

    fn check_summary(&self, summary: &Line, found: &mut Found) {
        let cost = self.all.total.cost();
        let money = json!({
            "/cost": cost.actual,
            "/comparableCost": cost.comparable,
            "/workCost": self.all.work.cost().actual,
            "/compactionCost": self.compactions.cost().actual,
            "/skillsRead": self.skills.count(),
            "/tasksCompleted": self.tasks.count(),
            "/issues": self.issues.count(),
            "/issuesDone": self.issues.ended(IssueStatus::Done),
            "/issuesFailed": self.issues.ended(IssueStatus::Failed),
            "/issuesReopened": self.issues.reopened(),
            "/reviewRounds": self.issues.rounds(),
            "/mergeConflicts": self.issues.conflicts(),
            "/tokens": self.all.tokens,
            "/unpricedCalls": self.all.total.unpriced_calls(),
            "/unpricedTokens": self.all.total.unpriced_tokens(),
        });
        let figures = self
            .figures
            .iter()
            .map(|(path, figure)| (path, json!(figure)));
        let money = money
            .as_object()
            .into_iter()
            .flatten()
            .map(|(path, value)| (path, value.clone()));
        for (path, expected) in money.chain(figures) {
            let actual = summary.object().pointer(path).unwrap_or(&Value::Null);
            if !same(actual, &expected) {
                found.add(
                    summary.number,
                    rule::SUMMARY_SUMS,
                    format!("{path} is {actual}, the stream has {expected}"),
                );
            }
        }
        self.check_abandoned(summary, found);
        let sum = |paths: &mut dyn Iterator<Item = f64>| paths.sum::<f64>();
        let errors = summary.get("errors");
        let by_base = sum(&mut ErrorBase::ALL
            .iter()
            .filter_map(|base| errors.get(base_key(*base)).and_then(Value::as_f64)));
        let by_type = sum(&mut errors
            .get("byType")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(_, count)| count.as_f64()));
        for (what, sum) in [("bases", by_base), ("types", by_type)] {
            if !same(&errors["errors"], &json!(sum)) {
                found.add(
                    summary.number,
                    rule::SUMMARY_SUMS,
                    format!(
                        "errors.errors is {}, the {what} sum to {sum}",
                        errors["errors"]
                    ),
                );
            }
        }
    }

    /// Every abandoned reply was priced in the end, or is counted as not. There may be more of them
    /// than outcomes tell of: a call that a cancel dropped has none.
    fn check_abandoned(&self, summary: &Line, found: &mut Found) {
        let unpriced = summary
            .get("loopAbortUnpriced")
            .as_u64()
            .unwrap_or_default();
        let aborts = self.figures.get("/errors/loopAborts").copied();
        let accounted = self.late + unpriced;
        if aborts.is_some_and(|aborts| aborts > accounted as f64) {
            found.add(
                summary.number,
                rule::SUMMARY_SUMS,
                format!(
                    "{} replies were abandoned, and {accounted} accounted for",
                    aborts.unwrap_or_default()
                ),
            );
        }
    }
}

/// The slices of the summary against the lines and totals they divide.
fn check_slices(lines: &[Line], sums: &Sums, summary: &Line, found: &mut Found) {
    let rows = |field: &str| summary.get(field).as_array().cloned().unwrap_or_default();
    let slots: Vec<&Line> = lines
        .iter()
        .filter(|line| line.kind == "slot_usage")
        .collect();
    let slot_costs = rows("slotCosts");
    let alike = slots.len() == slot_costs.len()
        && slots.iter().zip(&slot_costs).all(|(line, row)| {
            row.as_object()
                .into_iter()
                .flatten()
                .all(|(field, value)| same(line.get(field), value))
        });
    if !alike {
        found.add(
            summary.number,
            rule::SUMMARY_SUMS,
            "slotCosts differ from the slot_usage lines",
        );
    }
    let calls: u64 = rows("providerStats")
        .iter()
        .filter_map(|row| row["calls"].as_u64())
        .sum();
    if calls != sums.all.calls {
        found.add(
            summary.number,
            rule::SUMMARY_SUMS,
            format!(
                "the stream has {} usage deltas, providerStats sum to {calls}",
                sums.all.calls
            ),
        );
    }
    for (path, total) in [("turns", "turns"), ("errors", "errors")] {
        let sum: u64 = rows("providerStats")
            .iter()
            .filter_map(|row| row[path].as_u64())
            .sum();
        if !same(&summary.get("errors")[total], &json!(sum)) {
            found.add(
                summary.number,
                rule::SUMMARY_SUMS,
                format!(
                    "errors.{total} is {}, providerStats sum to {sum}",
                    summary.get("errors")[total]
                ),
            );
        }
    }
}

const fn base_key(base: ErrorBase) -> &'static str {
    match base {
        ErrorBase::ModelApi => "modelApi",
        ErrorBase::Transpile => "transpile",
        ErrorBase::ProgramFault => "programFault",
        ErrorBase::SandboxLimit => "sandboxLimit",
        ErrorBase::MissingCompletion => "missingCompletion",
    }
}

/// Whether two figures are one: sums of floats may differ in their last digits, and a zero may
/// be omitted.
fn same(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => expected
            .iter()
            .all(|(key, value)| same(actual.get(key).unwrap_or(&Value::Null), value)),
        (Value::Number(actual), Value::Number(expected)) => {
            let (a, b) = (
                actual.as_f64().unwrap_or(f64::NAN),
                expected.as_f64().unwrap_or(f64::NAN),
            );
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
        }
        (Value::Null, Value::Number(_)) => expected.as_f64() == Some(0.0),
        (actual, expected) => actual == expected,
    }
}
