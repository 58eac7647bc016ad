//! The frame of a program's calls: what the membrane asks and tells of the agent (04 §11).

use std::sync::atomic::Ordering;

use record::event::{ApiCall, ApiResult, Event};
use sandbox::services::Frame;
use tokio::time::Instant;
use vocab::failure::FailureClass;
use vocab::ids::CallId;
use vocab::operations::Operation;

use super::Serving;
use crate::clock::millis;

impl Serving {
    /// The id of the call made last: the submission's, and the call's place in it.
    fn call_id(&self) -> CallId {
        let calls = self.setting.counts.calls.load(Ordering::Relaxed);
        format!("{}.{calls}", self.setting.submission).into()
    }
}

impl Frame for Serving {
    fn opened(&mut self, operation: &'static Operation) {
        self.setting.counts.calls.fetch_add(1, Ordering::Relaxed);
        self.opened_at = Instant::now();
        let event = Event::ApiCall(ApiCall {
            call_id: self.call_id(),
            operation: operation.id,
        });
        self.setting.voice.say_in_turn(self.setting.turn, event);
    }

    fn closed(&mut self, operation: &'static Operation, failure: Option<FailureClass>) {
        let event = Event::ApiResult(ApiResult {
            call_id: self.call_id(),
            operation: operation.id,
            ok: failure.is_none(),
            failure,
            duration_ms: millis(self.opened_at.elapsed()),
        });
        self.setting.voice.say_in_turn(self.setting.turn, event);
    }

    fn clock_spent(&self) -> bool {
        self.setting.shared.clock.spent()
    }

    fn pending(&self, operation: &'static Operation) -> Option<String> {
        let upkeep = &self.held.as_deref()?.upkeep;
        let refusal = upkeep.refusal(operation.tool?)?;
        Some(refusal.message)
    }

    fn documented(&self, operation: &'static Operation) -> bool {
        let held = self.held.as_deref();
        held.is_some_and(|held| held.code.docs.documented(self.setting.arm, operation))
    }

    fn spelling(&self, operation: &'static Operation) -> String {
        self.setting.arm.spelling(operation)
    }
}
