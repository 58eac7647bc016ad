//! A turn's events in their order, and what a turn needs to be closed (06 §1 rule 5).

use super::held::is_snapshot;
use super::line::Line;
use super::{Found, rule};

/// The order of a turn's events (06 §1 rule 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Breakdown,
    Messages,
    Prompt,
    Usage,
    Assistant,
    Work,
    Snapshots,
    Outcome,
    Timing,
}

impl Place {
    pub(super) fn of(line: &Line) -> Option<Self> {
        // Without a turn these belong to none: an arrival's snapshot, a hook's command, the
        // late price of an abandoned reply.
        line.turn?;
        Some(match line.kind.as_str() {
            "context_breakdown" => Self::Breakdown,
            "context_message" => Self::Messages,
            "prompt" => Self::Prompt,
            "usage" | "response_rejected" => Self::Usage,
            "assistant_message" => Self::Assistant,
            "tool_call" | "tool_result" | "api_call" | "api_result" | "code_execution" => {
                Self::Work
            }
            "shell" if line.text("origin") != "hook" => Self::Work,
            "context_managed" => Self::Work,
            "memory_revision" => Self::Snapshots,
            _ if is_snapshot(line) => Self::Snapshots,
            "turn_outcome" => Self::Outcome,
            "turn_timing" => Self::Timing,
            _ => return None,
        })
    }

    /// Whether a turn has at most one of it.
    pub(super) const fn is_single(self) -> bool {
        matches!(
            self,
            Self::Breakdown | Self::Prompt | Self::Assistant | Self::Outcome | Self::Timing
        )
    }
}

/// One pass from `context_breakdown` to `turn_timing`. A re-ask is a cycle of the same turn.
pub(super) struct Cycle {
    pub(super) turn: u64,
    pub(super) place: Place,
    pub(super) prompt_ms: Option<u64>,
    pub(super) has_outcome: bool,
    pub(super) has_timing: bool,
    pub(super) was_error: bool,
}

impl Cycle {
    pub(super) const fn new(turn: u64, place: Place) -> Self {
        Self {
            turn,
            place,
            prompt_ms: None,
            has_outcome: false,
            has_timing: false,
            was_error: false,
        }
    }

    /// An answered request has its outcome, and every turn its timing.
    pub(super) fn check_closed(&self, line: usize, found: &mut Found) {
        let turn = self.turn;
        if self.prompt_ms.is_some() && !self.has_outcome {
            found.add(
                line,
                rule::TURN_CLOSED,
                format!("turn {turn} has a prompt and no outcome"),
            );
        }
        if !self.has_timing {
            found.add(
                line,
                rule::TURN_CLOSED,
                format!("turn {turn} has no timing"),
            );
        }
    }
}
