//! One turn's clock, and the three figures it comes to.
//!
//! Always true: the figures sum exactly to the turn.

use record::event::TurnTiming;
use tokio::time::Instant;

use crate::clock::millis;

/// One turn's clock: start, dispatch, answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct TurnClock {
    begun: Instant,
    dispatched: Option<Instant>,
    request_ms: u64,
}

impl TurnClock {
    pub(super) fn start() -> Self {
        Self {
            begun: Instant::now(),
            dispatched: None,
            request_ms: 0,
        }
    }

    pub(super) fn dispatched(&mut self) {
        self.dispatched = Some(Instant::now());
    }

    /// Notes the answer and returns the call's duration.
    pub(super) fn answered(&mut self) -> u64 {
        self.request_ms = self.dispatched.map_or(0, |at| millis(at.elapsed()));
        self.request_ms
    }

    /// The three phases; what a turn did not reach is 0.
    pub(super) fn timing(self) -> TurnTiming {
        let total = millis(self.begun.elapsed());
        let Some(dispatched) = self.dispatched else {
            return TurnTiming {
                prompt_ms: total,
                request_ms: 0,
                response_ms: 0,
            };
        };
        let prompt_ms = millis(dispatched.duration_since(self.begun));
        TurnTiming {
            prompt_ms,
            request_ms: self.request_ms,
            response_ms: total.saturating_sub(prompt_ms + self.request_ms),
        }
    }
}
