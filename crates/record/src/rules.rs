//! The rules every telemetry stream keeps, as a checker of its text (06 §1, §4, §5, §7).
//!
//! Every suite that runs a session calls [`check`] on what came out, whatever the session was
//! about. It knows two kinds of stream: one that was finished, and one whose process was killed,
//! of which every rule is asked that does not need an end.
//!
//! Readers ignore unknown types and fields, and so does this: an event of a type it does not know
//! has to keep the envelope's rules and no others.
//!
//! Always true: a stream without a violation can be read by each agent's lines alone, and all its
//! sums can be trusted. The checker never panics, whatever the text.

mod agent;
mod board;
mod delegation;
mod held;
mod hooks;
mod issue_waits;
mod lean;
mod line;
mod machine;
mod persistence;
mod programs;
mod providers;
mod reclaimed;
mod report;
mod run;
mod succession;
mod sums;
mod turn;

use std::fmt;

pub use report::{Counts, Report, RunFacts, read};

/// A line that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The line, from 1.
    pub line: usize,
    /// The rule's name: one of the words below.
    pub rule: &'static str,
    /// What was found and what was expected.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.rule, self.message)
    }
}

/// How the process that wrote a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself: the stream has all its last lines.
    Finished,
    /// Killed: the stream may stop anywhere, in the middle of a line too.
    Killed,
}

/// Every violation of a finished stream, by line.
pub fn check(stream: &str) -> Vec<Violation> {
    check_with(stream, Ending::Finished)
}

/// Every violation of a stream that ended in a given way, by line.
pub fn check_with(stream: &str, ending: Ending) -> Vec<Violation> {
    let mut found = Found::default();
    let lines = line::parse(stream, ending, &mut found);
    judge(&lines, ending, &mut found);
    found.violations
}

/// Asks every rule of the lines of a stream, and puts what was found in order.
fn judge(lines: &[line::Line], ending: Ending, found: &mut Found) {
    run::check(lines, ending, found);
    agent::check(lines, ending, found);
    delegation::check(lines, found);
    machine::check(lines, found);
    succession::check(lines, ending, found);
    persistence::check(lines, found);
    board::check(lines, ending, found);
    issue_waits::check(lines, found);
    hooks::check(lines, ending, found);
    programs::check(lines, found);
    providers::check(lines, found);
    sums::check(lines, found);
    found.violations.sort_by_key(|violation| violation.line);
}

/// Violations that are kept. A file that is no stream has one a line, and must not fill the memory.
const KEPT: usize = 10_000;

/// The violations found so far.
#[derive(Default)]
struct Found {
    violations: Vec<Violation>,
    /// Those that were counted and not kept.
    left_out: u64,
}

impl Found {
    fn add(&mut self, line: usize, rule: &'static str, message: impl Into<String>) {
        if self.violations.len() == KEPT {
            self.left_out += 1;
            return;
        }
        self.violations.push(Violation {
            line,
            rule,
            message: message.into(),
        });
    }
}

/// The names of all rules.
pub const fn names() -> &'static [&'static str] {
    rule::ALL
}

/// The names of the rules.
mod rule {
    /// A line is one JSON object, ends in `\n`, and is no longer than its ceiling.
    pub(super) const FRAMING: &str = "framing";
    /// `type`, `ts`, `seq`, `sessionId`, `agentId`, `turn` are as 06 §1 has them.
    pub(super) const ENVELOPE: &str = "envelope";
    /// `session_started` is the first line and no other.
    pub(super) const FIRST_LINE: &str = "first_line";
    /// All `slot_usage`, then `session_summary`, then `session_ended`, then nothing.
    pub(super) const LAST_LINES: &str = "last_lines";
    /// Every agent has ended before the first `slot_usage`.
    pub(super) const JOINED: &str = "joined";
    /// An `agent_transition` stands directly before the newcomer's `agent_spawned`.
    pub(super) const TRANSITION: &str = "transition";
    /// An incarnation opens with its spawn, state, modules and surface, each once.
    pub(super) const OPENING: &str = "opening";
    /// Nothing of an agent follows its end, but for logs and the late price of a reply it
    /// abandoned.
    pub(super) const AFTER_END: &str = "after_end";
    /// `failed` goes with a failure, `done` with any other ending.
    pub(super) const STATUS: &str = "status";
    /// An agent queues, runs, is blocked, queues again and runs again, and ends from anywhere.
    pub(super) const PLACES: &str = "places";
    /// No more agents run at one time than `maxParallel`, and as many as the summary says.
    pub(super) const PARALLEL: &str = "parallel";
    /// Of a profile with `agent-persistence` no two agents run at one time.
    pub(super) const EXCLUSIVE: &str = "exclusive";
    /// A child is started by an agent that has not ended, one level below it; a successor is of
    /// the depth of whose place it takes.
    pub(super) const LINEAGE: &str = "lineage";
    /// Whoever hands itself on ends by that, and whoever comes of another has its place, what the
    /// hand-over says of each module, and the count of its turns.
    pub(super) const SUCCESSION: &str = "succession";
    /// A block names children or issues, and is over when all of them have ended, or when the run
    /// is stopping; nobody waits for the issue they work for.
    pub(super) const WAITS: &str = "waits";
    /// A message is to a child of whoever writes it.
    pub(super) const MESSAGES: &str = "messages";
    /// Whoever is in a machine stands in a state of its table, came there by the entry or along an
    /// edge that the agent before chose, and was handed what that edge names.
    pub(super) const MACHINE: &str = "machine";
    /// A message is logged once, before the first prompt that names it.
    pub(super) const POOL: &str = "pool";
    /// The events of a turn stand in their order; turns are numbered without a gap.
    pub(super) const TURN_ORDER: &str = "turn_order";
    /// An answered request has its one outcome, and every turn its one timing.
    pub(super) const TURN_CLOSED: &str = "turn_closed";
    /// A timing's `requestMs` is its prompt's `durationMs`.
    pub(super) const TIMING: &str = "timing";
    /// Error, type, base and streak of an outcome fit together.
    pub(super) const OUTCOME: &str = "outcome";
    /// A result closes one open call; every call is closed.
    pub(super) const PAIRING: &str = "pairing";
    /// A failure class stands exactly where a call failed.
    pub(super) const FAILURE: &str = "failure";
    /// What a call causes lies between its two events.
    pub(super) const ENCLOSURE: &str = "enclosure";
    /// `limit_exceeded` directly precedes the return of the agent's loop.
    pub(super) const LIMIT: &str = "limit";
    /// A move of a model goes to the next candidate and is justified by what stands before it; who
    /// serves is a candidate the run has reached.
    pub(super) const SWITCH: &str = "switch";
    /// A broken prefix names a message of its request, and an act; an edit of the agent's own was
    /// made since its last prompt.
    pub(super) const PREFIX: &str = "prefix";
    /// What an agent holds is shown directly behind its surface, and again behind the work of each
    /// turn that changed it, under the store its roster names.
    pub(super) const HELD: &str = "held";
    /// A hook answers only what its event can honour, where its event happens; a script's command
    /// is followed by its answer; what is blocked does not happen, and a hook that judged nothing
    /// ends its agent and the run.
    pub(super) const HOOKS: &str = "hooks";
    /// An issue goes the way it may, starts behind its blockers, is tried no more often than it may
    /// be, and is done by one merge that every reviewer it names has approved; of all merges one is
    /// open at a time. Blockers make no cycle, and a finished run leaves nothing half done.
    pub(super) const BOARD: &str = "board";
    /// A compaction lies between two turns or behind a turn's work, in the turn it says.
    pub(super) const COMPACTION: &str = "compaction";
    /// What was reclaimed is what the window is smaller by, and starts somewhere.
    pub(super) const RECLAIMED: &str = "reclaimed";
    /// Tools are called by agents that are offered tools, and operations by programs; each program is
    /// accounted for once, with its calls, and nothing is serviced that its agent is not offered.
    pub(super) const PROGRAMS: &str = "programs";
    /// The bands sum to the total.
    pub(super) const BANDS: &str = "bands";
    /// Usage deltas sum to the `slot_usage` lines.
    pub(super) const SLOT_SUMS: &str = "slot_sums";
    /// The summary's figures are those of the stream.
    pub(super) const SUMMARY_SUMS: &str = "summary_sums";
    /// All of them.
    pub(super) const ALL: &[&str] = &[
        FRAMING,
        ENVELOPE,
        FIRST_LINE,
        LAST_LINES,
        JOINED,
        TRANSITION,
        OPENING,
        AFTER_END,
        STATUS,
        PLACES,
        PARALLEL,
        EXCLUSIVE,
        LINEAGE,
        SUCCESSION,
        WAITS,
        MESSAGES,
        MACHINE,
        POOL,
        TURN_ORDER,
        TURN_CLOSED,
        TIMING,
        OUTCOME,
        PAIRING,
        FAILURE,
        ENCLOSURE,
        LIMIT,
        SWITCH,
        PREFIX,
        HELD,
        HOOKS,
        BOARD,
        COMPACTION,
        RECLAIMED,
        PROGRAMS,
        BANDS,
        SLOT_SUMS,
        SUMMARY_SUMS,
    ];
}

#[cfg(test)]
mod tests;
