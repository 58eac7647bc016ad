//! What holds of each agent's own lines: how it opens, how its turns run, how it ends.

use std::collections::{BTreeMap, HashMap, HashSet};

use vocab::outcome::{EndStatus, ErrorType, Limit};

use super::held::Held;
use super::line::Line;
use super::turn::{Cycle, Place};
use super::{Ending, Found, hooks, reclaimed, rule};

pub(super) fn check(lines: &[Line], ending: Ending, found: &mut Found) {
    let mut agents: BTreeMap<&str, Agent<'_>> = BTreeMap::new();
    let defect = (lines.iter()).any(|line| line.kind == "log" && line.text("code") == "defect");
    let mut slots_begun = false;
    for line in lines {
        if line.kind == "slot_usage" && !slots_begun {
            slots_begun = true;
            for (name, agent) in &agents {
                if !agent.ended {
                    found.add(
                        line.number,
                        rule::JOINED,
                        format!("slot_usage while `{name}` has not ended"),
                    );
                }
            }
        }
        if let Some(name) = &line.agent {
            let agent = agents.entry(name).or_insert_with(|| Agent {
                held: Held::of(defect),
                ..Agent::default()
            });
            agent.take(line, found);
        }
    }
    if ending == Ending::Finished {
        let last = lines.last().map_or(1, |line| line.number);
        for (name, agent) in &agents {
            agent.conclude(name, last, slots_begun, found);
        }
    }
}

/// How far an incarnation has opened.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Opening {
    #[default]
    Nothing,
    Spawned,
    InMachine,
    Modules,
    Done,
}

#[derive(Default)]
struct Agent<'a> {
    opening: Opening,
    held: Held<'a>,
    logged: HashSet<&'a str>,
    cycle: Option<Cycle>,
    last_outcome: Option<Outcome>,
    calls: HashMap<&'a str, &'a Line>,
    limit: Option<&'a Line>,
    ended: bool,
    ended_as: Option<EndStatus>,
}

/// Whether an agent ends by a fault of gg's own.
pub(super) fn is_death(line: &Line) -> bool {
    line.text("endedAs") == EndStatus::InternalError.as_str()
}

#[derive(Clone, Copy)]
struct Outcome {
    is_error: bool,
    is_fatal: bool,
    streak: u64,
}

impl<'a> Agent<'a> {
    fn take(&mut self, line: &'a Line, found: &mut Found) {
        self.after_limit(line, found);
        if self.ended && line.kind != "log" && !is_late_price(line) && !hooks::follows_an_end(line)
        {
            found.add(
                line.number,
                rule::AFTER_END,
                format!("{} behind the agent's end", line.kind),
            );
        }
        if !self.open(line, found) {
            self.held.open(line);
            return;
        }
        self.held.take(line, found);
        if let Some(place) = Place::of(line) {
            self.advance(place, line, found);
        }
        match line.kind.as_str() {
            "context_breakdown" => bands(line, found),
            "context_message" => self.message(line, found),
            "prompt" => self.prompt(line, found),
            "tool_call" | "api_call" => self.call(line, found),
            "tool_result" => self.result("tool_call", line, found),
            "api_result" => self.result("api_call", line, found),
            "shell" => self.shell(line, found),
            "context_managed" => {
                let names = |call: &&'a Line| match call.kind.as_str() {
                    "tool_call" => call.text("tool"),
                    _ => call.text("operation"),
                };
                reclaimed::managed(line, self.calls.values().map(names), found);
            }
            "compaction" => {
                reclaimed::compaction(line, &mut self.cycle, !self.calls.is_empty(), found);
            }
            "turn_outcome" => self.outcome(line, found),
            "turn_timing" => self.timing(line, found),
            "limit_exceeded" => self.limit = Some(line),
            "agent_status" => self.status(line, found),
            _ => {}
        }
    }

    /// Follows the opening; false while it lasts.
    fn open(&mut self, line: &Line, found: &mut Found) -> bool {
        use Opening::{Done, InMachine, Modules, Nothing, Spawned};

        let next = match (self.opening, line.kind.as_str()) {
            (Nothing, "agent_spawned") => Spawned,
            (Spawned, "fsm_state") => InMachine,
            (Spawned | InMachine, "agent_modules") => Modules,
            (Modules, "agent_surface") => {
                self.opening = Done;
                return false;
            }
            (Done, "agent_spawned" | "agent_modules" | "agent_surface") => {
                found.add(
                    line.number,
                    rule::OPENING,
                    format!("{} a second time", line.kind),
                );
                Done
            }
            (Done, _) => return true,
            // Who died before it had said what it is has an end all the same.
            (_, "agent_status") if is_death(line) => {
                self.opening = Done;
                return true;
            }
            (opening, kind) => {
                let expected = match opening {
                    Nothing => "agent_spawned",
                    Spawned | InMachine => "agent_modules",
                    Modules | Done => "agent_surface",
                };
                found.add(
                    line.number,
                    rule::OPENING,
                    format!("{kind} where {expected} is expected"),
                );
                // One fault, one violation: the rest is judged as if it had opened.
                self.opening = Done;
                return true;
            }
        };
        self.opening = next;
        false
    }

    fn advance(&mut self, place: Place, line: &Line, found: &mut Found) {
        let turn = line.turn.unwrap_or_default();
        let stays = self
            .cycle
            .as_ref()
            .is_some_and(|cycle| !cycle.has_timing && cycle.turn == turn);
        if !stays {
            self.begin(place, turn, line, found);
            return;
        }
        let Some(cycle) = &mut self.cycle else {
            return;
        };
        let repeats = place == cycle.place && place.is_single();
        if place < cycle.place || repeats {
            found.add(
                line.number,
                rule::TURN_ORDER,
                format!("{} behind the turn's {:?}", line.kind, cycle.place),
            );
        }
        cycle.place = cycle.place.max(place);
    }

    fn begin(&mut self, place: Place, turn: u64, line: &Line, found: &mut Found) {
        let mut re_asked = false;
        if let Some(before) = &self.cycle {
            before.check_closed(line.number, found);
            re_asked = before.turn == turn && before.was_error;
            if !re_asked && turn != before.turn + 1 {
                found.add(
                    line.number,
                    rule::TURN_ORDER,
                    format!("turn {turn} follows turn {}", before.turn),
                );
            }
        }
        // A turn that fails before its request has an outcome and a timing only.
        let starts_well = place == Place::Breakdown || place >= Place::Outcome || re_asked;
        if !starts_well {
            found.add(
                line.number,
                rule::TURN_ORDER,
                format!("turn {turn} starts with {}", line.kind),
            );
        }
        self.cycle = Some(Cycle::new(turn, place));
    }

    fn message(&mut self, line: &'a Line, found: &mut Found) {
        if !self.logged.insert(line.text("id")) {
            found.add(
                line.number,
                rule::POOL,
                format!("message {} is logged a second time", line.get("id")),
            );
        }
    }

    fn prompt(&mut self, line: &Line, found: &mut Found) {
        // Those it repeats were asked about where they were new.
        let ids = line.get("messages").as_array();
        let reply = Some(line.get("reply")).filter(|reply| !reply.is_null());
        for id in ids.into_iter().flatten().chain(reply) {
            if !self.logged.contains(id.as_str().unwrap_or_default()) {
                found.add(
                    line.number,
                    rule::POOL,
                    format!("the prompt names message {id}, which is not logged before it"),
                );
            }
        }
        if let Some(cycle) = &mut self.cycle {
            cycle.prompt_ms = line.get("durationMs").as_u64();
        }
    }

    fn call(&mut self, line: &'a Line, found: &mut Found) {
        if let Some(open) = self.calls.insert(line.text("callId"), line) {
            found.add(
                line.number,
                rule::PAIRING,
                format!(
                    "call {} is open since line {}",
                    line.get("callId"),
                    open.number
                ),
            );
        }
    }

    fn result(&mut self, opened_by: &str, line: &Line, found: &mut Found) {
        let id = line.get("callId");
        match self.calls.remove(line.text("callId")) {
            Some(call) if call.kind == opened_by => {
                for field in ["tool", "operation"] {
                    if call.get(field) != line.get(field) {
                        found.add(
                            line.number,
                            rule::PAIRING,
                            format!(
                                "call {id} was {} and is now {}",
                                call.get(field),
                                line.get(field)
                            ),
                        );
                    }
                }
            }
            _ => found.add(
                line.number,
                rule::PAIRING,
                format!("{} closes {id}, which no {opened_by} opened", line.kind),
            ),
        }
        let ok = line.get("ok").as_bool();
        if ok != Some(line.get("failure").is_null()) {
            found.add(
                line.number,
                rule::FAILURE,
                format!(
                    "ok is {}, failure is {}",
                    line.get("ok"),
                    line.get("failure")
                ),
            );
        }
    }

    fn shell(&self, line: &Line, found: &mut Found) {
        let opened_by = match line.text("origin") {
            "tool" => "tool_call",
            "program" => "api_call",
            _ => return,
        };
        if !self.calls.values().any(|call| call.kind == opened_by) {
            found.add(
                line.number,
                rule::ENCLOSURE,
                format!("a command outside any open {opened_by}"),
            );
        }
    }

    fn outcome(&mut self, line: &Line, found: &mut Found) {
        for call in self.calls.drain() {
            found.add(
                line.number,
                rule::PAIRING,
                format!("call `{}` is open at its turn's outcome", call.0),
            );
        }
        let verdict = line.text("outcome");
        let is_error = verdict == "error";
        let streak = line.get("consecutiveErrors").as_u64().unwrap_or_default();
        let mut wrong = |message: String| found.add(line.number, rule::OUTCOME, message);
        let (base, kind) = (line.get("error"), line.get("errorType"));
        if base.is_null() == is_error || kind.is_null() == is_error {
            wrong(format!("{verdict} with error {base} and errorType {kind}"));
        } else if let Some(Ok(known)) = kind.as_str().map(str::parse::<ErrorType>)
            && base.as_str() != Some(known.base().as_str())
        {
            wrong(format!("{known} is of base {}, not {base}", known.base()));
        }
        if (streak > 0) != is_error {
            wrong(format!("{verdict} with a streak of {streak}"));
        }
        // A fatal outcome leaves the count behind the streak alone, so nothing follows from it.
        let expected = match self.last_outcome {
            _ if !is_error => None,
            Some(before) if before.is_fatal => None,
            Some(before) if before.is_error => Some(before.streak + 1),
            _ => Some(1),
        };
        if let Some(expected) = expected
            && streak != expected
        {
            wrong(format!("a streak of {streak}, expected {expected}"));
        }
        self.last_outcome = Some(Outcome {
            is_error,
            is_fatal: verdict == "fatal",
            streak,
        });
        if let Some(cycle) = &mut self.cycle {
            cycle.has_outcome = true;
            cycle.was_error = is_error;
        }
    }

    fn timing(&mut self, line: &Line, found: &mut Found) {
        let Some(cycle) = &mut self.cycle else {
            return;
        };
        cycle.has_timing = true;
        let request_ms = line.get("requestMs").as_u64();
        if cycle.prompt_ms.is_some() && cycle.prompt_ms != request_ms {
            found.add(
                line.number,
                rule::TIMING,
                format!(
                    "requestMs is {}, the prompt's durationMs {}",
                    line.get("requestMs"),
                    cycle.prompt_ms.unwrap_or_default()
                ),
            );
        }
    }

    /// Between `limit_exceeded` and the end only the turn's timing may stand.
    fn after_limit(&mut self, line: &Line, found: &mut Found) {
        let Some(limit) = self.limit else {
            return;
        };
        match line.kind.as_str() {
            "turn_timing" => return,
            "agent_status" if is_end(line) => {
                let met: Option<Limit> = limit.text("limit").parse().ok();
                if let Some(met) = met
                    && line.text("endedAs") != met.status().as_str()
                {
                    found.add(
                        line.number,
                        rule::LIMIT,
                        format!("limit `{met}` ended the agent as {}", line.get("endedAs")),
                    );
                }
            }
            _ => found.add(
                limit.number,
                rule::LIMIT,
                format!("{} stands before the agent's end", line.kind),
            ),
        }
        self.limit = None;
    }

    fn status(&mut self, line: &Line, found: &mut Found) {
        if !is_end(line) {
            return;
        }
        self.ended = true;
        self.ended_as = line.text("endedAs").parse().ok();
        let failed = line.text("status") == "failed";
        match self.ended_as {
            Some(ended_as) if ended_as.is_failure() != failed => found.add(
                line.number,
                rule::STATUS,
                format!("{} as {ended_as}", line.text("status")),
            ),
            None if line.get("endedAs").is_null() => {
                found.add(line.number, rule::STATUS, "an end that does not say how");
            }
            _ => {}
        }
    }

    fn conclude(&self, name: &str, last: usize, slots_begun: bool, found: &mut Found) {
        if self.opening != Opening::Done {
            found.add(last, rule::OPENING, format!("`{name}` never opened"));
        }
        if !self.ended && !slots_begun {
            found.add(last, rule::JOINED, format!("`{name}` never ended"));
        }
        if let Some(limit) = self.limit {
            found.add(limit.number, rule::LIMIT, "the agent's end does not follow");
        }
        // What was stopped from outside ends with what it had recorded.
        let was_stopped = matches!(
            self.ended_as,
            Some(
                EndStatus::Canceled
                    | EndStatus::TimedOut
                    | EndStatus::InternalError
                    | EndStatus::HookError
            )
        );
        if was_stopped {
            return;
        }
        if let Some(cycle) = &self.cycle {
            cycle.check_closed(last, found);
        }
        for call in self.calls.values() {
            found.add(
                call.number,
                rule::PAIRING,
                format!("call {} is never closed", call.get("callId")),
            );
        }
    }
}

fn is_end(line: &Line) -> bool {
    line.kind == "agent_status" && matches!(line.text("status"), "done" | "failed")
}

/// What an abandoned reply cost is asked for when every agent has ended; no ceiling and no work has
/// a part in it.
fn is_late_price(line: &Line) -> bool {
    line.kind == "usage" && line.turn.is_none() && line.text("figure") == "total"
}

fn bands(line: &Line, found: &mut Found) {
    let sum: u64 = line
        .get("bands")
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, tokens)| tokens.as_u64())
        .sum();
    if line.get("total").as_u64() != Some(sum) {
        found.add(
            line.number,
            rule::BANDS,
            format!("total is {}, the bands sum to {sum}", line.get("total")),
        );
    }
}
