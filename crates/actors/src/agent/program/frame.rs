//! The frame of a program's calls: what the membrane asks and tells of the agent (04 §11).

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
        format!("{}.{}", self.setting.submission, self.calls).into()
    }
}

impl Frame for Serving {
    fn opened(&mut self, operation: &'static Operation) {
        self.calls += 1;
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

    fn pending(&self, _: &'static Operation) -> Option<String> {
        None
    }

    fn documented(&self, operation: &'static Operation) -> bool {
        let held = self.held.as_deref();
        held.is_some_and(|held| held.code.docs.documented(operation))
    }

    fn spelling(&self, operation: &'static Operation) -> String {
        operation.id.to_owned()
    }
}
