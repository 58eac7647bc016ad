//! What holds of agents that answer with programs: who calls what, and what became of each program
//! (04 §6, §11; 06 §2.7, §3).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use vocab::operations::Operation;
use vocab::outcome::{ErrorBase, ErrorType};

use super::line::Line;
use super::{Found, rule};

pub(super) fn check(lines: &[Line], found: &mut Found) {
    let mut agents: BTreeMap<&str, Agent<'_>> = BTreeMap::new();
    for line in lines {
        if let Some(name) = &line.agent {
            agents.entry(name).or_default().take(line, found);
        }
    }
}

/// One incarnation.
#[derive(Default)]
struct Agent<'a> {
    /// How it answers; nothing is asked of one that did not say.
    mode: Option<Mode>,
    /// What its programs may call.
    offered: BTreeSet<&'a str>,
    /// Calls since the last program was accounted for.
    calls: Vec<&'a Line>,
    /// Programs of the turn, and those that failed.
    programs: u64,
    failed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Tools,
    Programs,
}

impl<'a> Agent<'a> {
    fn take(&mut self, line: &'a Line, found: &mut Found) {
        match line.kind.as_str() {
            "agent_surface" => self.surface(line, found),
            "tool_call" | "tool_result" => self.belongs(Mode::Tools, line, found),
            "api_call" => {
                self.belongs(Mode::Programs, line, found);
                self.calls.push(line);
            }
            "api_result" => self.result(line, found),
            "code_execution" => self.execution(line, found),
            "turn_outcome" => self.outcome(line, found),
            "context_breakdown" => {
                self.programs = 0;
                self.failed = 0;
            }
            _ => {}
        }
    }

    fn surface(&mut self, line: &'a Line, found: &mut Found) {
        let mut wrong = |message: &str| found.add(line.number, rule::PROGRAMS, message);
        let filled = |field: &str| line.get(field).as_array().is_some_and(|it| !it.is_empty());
        match line.text("executionMode") {
            "tool_calling" => {
                self.mode = Some(Mode::Tools);
                if filled("apis") {
                    wrong("an agent that calls tools is offered modules");
                }
            }
            "responses_as_code" => {
                self.mode = Some(Mode::Programs);
                if filled("tools") {
                    wrong("an agent that answers with programs is offered tools");
                }
                if line.text("programLanguage").is_empty() {
                    wrong("an agent that answers with programs says no language");
                }
            }
            _ => {}
        }
        let modules = line.get("apis").as_array().into_iter().flatten();
        let functions = modules.filter_map(|module| module["functions"].as_array());
        let operations = functions.flatten().map(|function| &function["operation"]);
        self.offered = operations.filter_map(Value::as_str).collect();
    }

    fn belongs(&self, mode: Mode, line: &Line, found: &mut Found) {
        if self.mode.is_some_and(|it| it != mode) {
            let message = format!("{} of an agent that answers otherwise", line.kind);
            found.add(line.number, rule::PROGRAMS, message);
        }
    }

    fn result(&self, line: &Line, found: &mut Found) {
        self.belongs(Mode::Programs, line, found);
        let operation = line.text("operation");
        let unknown = self.mode == Some(Mode::Programs) && !self.offered.contains(operation);
        if unknown && line.text("failure") != "unavailable" {
            let message = format!("`{operation}`, which the agent is not offered, was serviced");
            found.add(line.number, rule::PROGRAMS, message);
        }
        // Operations of a later gg are not known here, and nothing is asked of them.
        if let (Some(row), Ok(class)) = (Operation::find(operation), line.text("failure").parse())
            && !row.can_fail(class)
        {
            let message = format!("`{operation}` failed as {class}, which it cannot");
            found.add(line.number, rule::PROGRAMS, message);
        }
    }

    fn execution(&mut self, line: &Line, found: &mut Found) {
        self.belongs(Mode::Programs, line, found);
        let mut wrong = |message: String| found.add(line.number, rule::PROGRAMS, message);
        let ok = line.get("ok") == true;
        if ok != line.get("error").is_null() {
            wrong(format!(
                "a program with ok {} and {} error",
                line.get("ok"),
                if ok { "an" } else { "no" }
            ));
        }
        let calls = std::mem::take(&mut self.calls);
        let submission = line.text("callId");
        for (place, call) in calls.iter().enumerate() {
            let id = format!("{submission}.{}", place + 1);
            if call.text("callId") != id {
                wrong(format!(
                    "call {} is of this program, and is not `{id}`",
                    call.get("callId")
                ));
            }
        }
        let made = line.get("apiCalls").as_u64().unwrap_or_default();
        let dispatched = line.get("toolCalls").as_u64().unwrap_or_default();
        if made != calls.len() as u64 {
            wrong(format!("apiCalls is {made}, {} were made", calls.len()));
        }
        if dispatched > made {
            wrong(format!("{dispatched} of {made} calls were dispatched"));
        }
        self.programs += 1;
        self.failed += u64::from(!ok);
    }

    /// The error of a turn is that of one of its programs, or that there was none.
    fn outcome(&mut self, line: &Line, found: &mut Found) {
        if self.mode != Some(Mode::Programs) {
            return;
        }
        let mut wrong = |message: String| found.add(line.number, rule::PROGRAMS, message);
        if !self.calls.is_empty() {
            wrong(format!(
                "{} calls of no program that was accounted for",
                self.calls.len()
            ));
            self.calls.clear();
        }
        let Ok(error) = line.text("errorType").parse::<ErrorType>() else {
            return;
        };
        let of_program = matches!(
            error.base(),
            ErrorBase::Transpile | ErrorBase::ProgramFault | ErrorBase::SandboxLimit
        );
        if of_program && self.failed == 0 {
            wrong(format!("{error}, and no program of the turn failed"));
        }
        if error == ErrorType::MissingCompletionNoProgram && self.programs > 0 {
            wrong(format!("{error}, and {} programs ran", self.programs));
        }
        if error == ErrorType::MissingCompletionNoCall {
            wrong(format!("{error} of an agent that answers with programs"));
        }
    }
}
