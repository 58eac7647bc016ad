//! The frame of a program's calls: what the membrane asks and tells of the agent (04 §11).

use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use record::event::{ApiCall, ApiResult, Event};
use sandbox::services::Frame;
use tokio::task::coop::unconstrained;
use tokio::time::Instant;
use vocab::failure::FailureClass;
use vocab::ids::CallId;
use vocab::operations::Operation;

use super::{Counts, Serving};
use crate::clock::millis;
use crate::messages::Room;
use crate::telemetry::Voice;

/// Calls between two looks at whether the stream keeps up.
const BETWEEN_ROOM: u64 = 64;

/// Waits for an answer on a thread of its own, which is parked meanwhile.
///
/// The thread runs a program within one poll of its runtime, which never ends while this waits: no
/// budget of that poll may count here, since what is put off for the next one never comes.
fn waited<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(unconstrained(future));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// The calls of one submission as the record has them: each is closed once, by the program or, where
/// nobody waits for that any more, by who left it behind (04 §11.6).
#[derive(Debug, Default)]
pub(super) struct Bracket {
    open: Option<Open>,
    is_left: bool,
}

/// A call that was opened and not closed.
#[derive(Debug)]
struct Open {
    id: CallId,
    operation: &'static Operation,
    at: Instant,
}

impl Open {
    fn close(self, voice: &Voice, turn: u32, failure: Option<FailureClass>) {
        let event = Event::ApiResult(ApiResult {
            call_id: self.id,
            operation: self.operation.id,
            ok: failure.is_none(),
            failure,
            duration_ms: millis(self.at.elapsed()),
        });
        voice.say_in_turn(turn, event);
    }
}

impl Counts {
    /// A call begins.
    fn open(&self, voice: &Voice, turn: u32, id: CallId, operation: &'static Operation) {
        let mut bracket = self.bracket();
        if bracket.is_left {
            return;
        }
        bracket.open = Some(Open {
            id: id.clone(),
            operation,
            at: Instant::now(),
        });
        let event = Event::ApiCall(ApiCall {
            call_id: id,
            operation: operation.id,
        });
        voice.say_in_turn(turn, event);
    }

    /// The call that was begun last ends. One of gg's own program was never told of, and is counted.
    fn close(
        &self,
        voice: &Voice,
        turn: u32,
        operation: &'static Operation,
        failure: Option<FailureClass>,
    ) {
        let mut bracket = self.bracket();
        if bracket.is_left {
            return;
        }
        if operation.tool.is_some() && failure.is_some() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(open) = bracket.open.take() {
            open.close(voice, turn, failure);
        }
    }

    /// Leaves a program behind: the call it is in is closed as failed, and no later one is told of or
    /// carried out.
    pub(in crate::agent) fn leave(&self, voice: &Voice, turn: u32, failure: FailureClass) {
        let mut bracket = self.bracket();
        bracket.is_left = true;
        if let Some(open) = bracket.open.take() {
            if open.operation.tool.is_some() {
                self.failed.fetch_add(1, Ordering::Relaxed);
            }
            open.close(voice, turn, Some(failure));
        }
    }

    /// Whether the program was left behind.
    pub(super) fn is_left(&self) -> bool {
        self.bracket().is_left
    }

    fn bracket(&self) -> MutexGuard<'_, Bracket> {
        self.bracket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Serving {
    /// The id of the call made last: the submission's, and the call's place in it.
    fn call_id(&self) -> CallId {
        let calls = self.setting.counts.calls.load(Ordering::Relaxed);
        format!("{}.{calls}", self.setting.submission).into()
    }
}

impl Frame for Serving {
    fn opened(&mut self, operation: &'static Operation) {
        let made = self.setting.counts.calls.fetch_add(1, Ordering::Relaxed);
        if made % BETWEEN_ROOM == BETWEEN_ROOM - 1 {
            // No line is lost and none piles up: whoever makes them waits for the stream (R53).
            // Asked whatever its gauge says: beside this thread, lines pile up in telemetry's mailbox
            // first, which no gauge sees.
            // Telemetry gone means its guard has raised the defect that ends the agent.
            waited(self.setting.voice.telemetry.ask(Room)).ok();
        }
        if self.setting.quiet {
            return;
        }
        let setting = &self.setting;
        let id = self.call_id();
        setting
            .counts
            .open(&setting.voice, setting.turn, id, operation);
    }

    fn closed(&mut self, operation: &'static Operation, failure: Option<FailureClass>) {
        let setting = &self.setting;
        setting
            .counts
            .close(&setting.voice, setting.turn, operation, failure);
    }

    fn clock_spent(&self) -> bool {
        let setting = &self.setting;
        setting.counts.is_left() || !setting.quiet && setting.shared.clock.spent()
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::sync::oneshot;

    use super::*;
    use crate::heard::Heard;

    #[actix::test]
    async fn the_call_of_a_program_left_behind_is_closed_once_and_no_later_one_is_told_of() {
        let operation = |id| Operation::find(id).expect("it is in the table");
        let (write, wait) = (
            operation("files.write_file"),
            operation("delegation.wait_for_subagents"),
        );
        let (heard, counts) = (Heard::start(), Counts::default());
        let voice = heard.voice("root");
        counts.open(&voice, 3, "a.1".into(), write);
        counts.close(&voice, 3, write, None);
        counts.open(&voice, 3, "a.2".into(), wait);
        assert!(!counts.is_left());
        counts.leave(&voice, 3, FailureClass::LimitExceeded);
        assert!(counts.is_left());
        // Its thread goes on: the call comes to something after all, and another is made.
        counts.close(&voice, 3, wait, None);
        counts.open(&voice, 3, "a.3".into(), write);
        counts.close(&voice, 3, write, Some(FailureClass::IoError));
        counts.leave(&voice, 3, FailureClass::Other);
        let told = heard.told().await;
        let told: Vec<[&Value; 4]> = told
            .iter()
            .map(|line| ["type", "callId", "operation", "failure"].map(|key| &line[key]))
            .collect();
        let (wrote, waited) = (json!(write.id), json!(wait.id));
        let (call, result) = (json!("api_call"), json!("api_result"));
        assert_eq!(
            told,
            [
                [&call, &json!("a.1"), &wrote, &Value::Null],
                [&result, &json!("a.1"), &wrote, &Value::Null],
                [&call, &json!("a.2"), &waited, &Value::Null],
                [&result, &json!("a.2"), &waited, &json!("limit-exceeded")],
            ]
        );
        assert_eq!(counts.failed.load(Ordering::Relaxed), 1);
    }

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test may panic")]
    fn a_program_waits_as_often_as_it_likes_within_one_poll_of_its_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let (done, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            runtime.block_on(async {
                for _ in 0..1000 {
                    let (answer, answered) = oneshot::channel();
                    answer.send(()).unwrap();
                    waited(answered).unwrap();
                }
            });
            done.send(()).unwrap();
        });
        told.recv_timeout(std::time::Duration::from_secs(60))
            .unwrap();
    }
}
