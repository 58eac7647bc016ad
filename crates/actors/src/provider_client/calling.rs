//! One model call, carried out: what `provider::call` decides is sent, awaited and told here.
//!
//! Always true: no borrow of what calls share is held across an await; the move of the run that
//! one call made wakes every call that waits for the candidate left.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use provider::cache::Expectation;
use provider::call::{Asks, Attempt, Call, Next, Notice, Wait};
use provider::fault::Fault;
use provider::price::UsageReport;
use provider::reply::Reply;
use record::event::{Event, LogLevel, PrefixBroken, ProviderFault, ProviderSwitch};
use record::journal::RequestRole;
use vocab::candidate::CandidateFault;
use vocab::ids::ProviderName;

use super::abandoned::Abandoned;
use super::{CallFailure, Failure, Shared};
use crate::messages::{Complete, Completion};
use crate::stop::StopCause;
use crate::telemetry::Voice;

/// One call under way.
struct Calling {
    shared: Rc<Shared>,
    call: Complete,
    voice: Voice,
    decided: Call,
    /// Waits begun at the candidate where the call is.
    waits: u32,
}

/// What is known of an attempt when it is sent.
struct Sent<'a> {
    at: Duration,
    asked: Option<&'a ProviderName>,
    expectation: &'a Expectation,
}

impl Shared {
    /// Attempts until there is a reply, nobody is left to ask, or the run stops.
    pub(super) async fn complete(
        self: Rc<Self>,
        call: Complete,
    ) -> Result<Completion, CallFailure> {
        let voice = Voice {
            telemetry: self.telemetry.clone(),
            agent: Some(call.agent.clone()),
        };
        let asks = Asks::of(&call.request, call.pictures);
        let decided = Call::new(asks, self.max_retries, self.max_delay);
        Calling {
            shared: self,
            call,
            voice,
            decided,
            waits: 0,
        }
        .run()
        .await
    }
}

impl Calling {
    async fn run(mut self) -> Result<Completion, CallFailure> {
        let mut expected = None;
        loop {
            match self.next() {
                Next::Attempt(attempt) => {
                    let asked = attempt.candidate.as_ref().map(|it| it.provider.clone());
                    let at = self.shared.clock.elapsed();
                    let expectation = self.expect(at, asked.as_ref());
                    expected = expectation.fresh.then_some(expectation.shared_tokens);
                    let sent = Sent {
                        at,
                        asked: asked.as_ref(),
                        expectation: &expectation,
                    };
                    let reply = self.attempt(&attempt).await.map_err(CallFailure::Stopped)?;
                    match reply {
                        Ok(reply) => {
                            self.observe(&sent, reply.provider.as_ref(), reply.usage.as_ref());
                            return Ok(self.completed(reply, asked, expected));
                        }
                        Err(fault) => {
                            if let Some(it) = fault.discarded() {
                                self.observe(&sent, it.provider.as_ref(), it.usage.as_ref());
                            }
                            self.faulted(fault, asked);
                        }
                    }
                }
                Next::Wait(wait) => self.wait(wait).await.map_err(CallFailure::Stopped)?,
                Next::Tell(notice) => self.tell(&notice),
                Next::GiveUp(error) => {
                    return Err(CallFailure::Failed(Box::new(Failure {
                        error: *error,
                        expected_cached_tokens: expected,
                    })));
                }
            }
        }
    }

    fn next(&mut self) -> Next {
        let mut candidates = self.shared.candidates.borrow_mut();
        let mut degraded = self.shared.degraded.borrow_mut();
        self.decided.next(&mut candidates, &mut degraded)
    }

    /// Whether it is the agent's own turn: only those extend one another.
    fn is_turn(&self) -> bool {
        self.call.role == RequestRole::Agent
    }

    /// What the agent's last request left at the provider about to be asked.
    fn expect(&self, at: Duration, asked: Option<&ProviderName>) -> Expectation {
        if !self.is_turn() {
            return Expectation::default();
        }
        let memories = self.shared.memories.borrow();
        memories
            .get(&self.call.agent)
            .map(|memory| memory.expect(at, asked, &self.call.request))
            .unwrap_or_default()
    }

    /// Holds an answer's usage against what was expected, and remembers what it left.
    fn observe(&self, sent: &Sent<'_>, named: Option<&ProviderName>, usage: Option<&UsageReport>) {
        if !self.is_turn() {
            return;
        }
        let Sent {
            at,
            asked,
            expectation,
        } = *sent;
        let served = named.or(asked);
        if let Some(broken) = &expectation.broken {
            self.say(Event::PrefixBroken(PrefixBroken {
                model_id: self.shared.sender.model.clone(),
                provider: served.cloned(),
                message: broken.message as u64,
                byte: broken.byte as u64,
                act: broken.act,
                shared_tokens: expectation.shared_tokens,
                lost_tokens: expectation.lost_tokens,
            }));
        }
        if let Some(miss) = expectation.judge(usage.and_then(|usage| usage.cached)) {
            self.say(Event::ProviderFault(ProviderFault {
                provider: served.cloned(),
                model_id: self.shared.sender.model.clone(),
                kind: "cache_miss",
                shared_prefix_tokens: Some(miss.shared_tokens),
                cached_tokens: Some(miss.cached_tokens),
            }));
            if let Some(served) = served {
                self.shared.candidates.borrow_mut().missed(served);
            }
        }
        self.shared
            .memories
            .borrow_mut()
            .entry(self.call.agent.clone())
            .or_default()
            .answered(at, asked, &self.call.request, usage);
    }

    /// Sends the request; an error is the run stopping first.
    async fn attempt(&mut self, attempt: &Attempt) -> Result<Result<Reply, Fault>, StopCause> {
        let mut stop = self.call.stop.clone();
        let answer = tokio::select! {
            biased;
            cause = stop.drops_model_calls() => return Err(cause),
            answer = self.shared.source.attempt(&self.shared.sender, &self.call, attempt) => answer,
        };
        if answer.left_out > 0 {
            self.warn_left_out(answer.left_out, attempt);
        }
        Ok(answer.reply)
    }

    /// Says once per agent and candidate that reasoning only its maker can read stays behind
    /// (R26).
    fn warn_left_out(&self, items: usize, attempt: &Attempt) {
        let position = self.shared.candidates.borrow().position();
        let mut warned = self.shared.left_out_at.borrow_mut();
        if warned.insert(self.call.agent.clone(), position) == Some(position) {
            return;
        }
        let whom = attempt.candidate.as_ref().map_or_else(
            || "the server".to_owned(),
            |candidate| format!("`{}`", candidate.provider),
        );
        let (items, are) = match items {
            1 => ("1 reasoning item".to_owned(), "is"),
            many => (format!("{many} reasoning items"), "are"),
        };
        self.warn(
            "reasoning_left_out",
            format!(
                "model `{}`: {items} that only another provider can read {are} not sent to {whom}",
                self.shared.sender.model
            ),
        );
    }

    fn completed(
        self,
        reply: Reply,
        asked: Option<ProviderName>,
        expected_cached_tokens: Option<u64>,
    ) -> Completion {
        let retries = self.decided.retries().into();
        let loops = self.decided.loop_aborts();
        if !loops.is_empty() {
            self.warn(
                "loop_aborts",
                format!(
                    "model `{}`: {loops} discarded before this one",
                    self.shared.sender.model
                ),
            );
        }
        Completion {
            reply,
            asked,
            retries,
            loops: self.decided.into_loop_aborts(),
            expected_cached_tokens,
        }
    }

    fn faulted(&mut self, fault: Fault, asked: Option<ProviderName>) {
        match &fault {
            Fault::Stall { provider, .. } => self.say(Event::ProviderFault(ProviderFault {
                provider: provider.clone().or(asked),
                model_id: self.shared.sender.model.clone(),
                kind: "stall",
                shared_prefix_tokens: None,
                cached_tokens: None,
            })),
            Fault::Looped {
                generation,
                provider,
                ..
            // The price of a summarizer's is in no total, so nobody asks for it later.
            } if self.is_turn() => self.shared.abandoned.note(Abandoned {
                agent: self.call.agent.clone(),
                profile: self.call.profile.clone(),
                model: self.shared.sender.model.clone(),
                provider: provider.clone().or(asked),
                generation: generation.clone(),
            }),
            _ => {}
        }
        self.decided.failed(fault, self.shared.clock.left());
    }

    async fn wait(&mut self, wait: Wait) -> Result<(), StopCause> {
        self.waits = self.waits.saturating_add(1);
        self.warn("retry", wait.sentence(&self.shared.sender.model));
        let left = Arc::clone(&self.shared.left);
        // Made before the position is looked at, so that no move falls in between.
        let left = left.notified();
        if self.decided.is_behind(&self.shared.candidates.borrow()) {
            return Ok(());
        }
        tokio::select! {
            biased;
            cause = self.call.stop.thrown() => return Err(cause),
            () = left => {}
            () = tokio::time::sleep(wait.delay) => {}
        }
        Ok(())
    }

    /// Tells what a call has to tell besides its end, on the asking agent's stream.
    fn tell(&mut self, notice: &Notice) {
        let code = match notice {
            Notice::Given(_) => "degraded",
            Notice::Followed(_) => "provider_followed",
            Notice::Moved(moved) => match moved.moved.fault {
                CandidateFault::FailedCall if self.waits >= self.shared.max_retries => {
                    "retries_spent"
                }
                CandidateFault::FailedCall => "long_wait",
                CandidateFault::Unavailable => "unavailable",
                CandidateFault::CacheMiss => "cache_misses",
            },
        };
        self.warn(code, notice.sentence(&self.shared.sender.model));
        if !matches!(notice, Notice::Given(_)) {
            self.waits = 0;
        }
        if let Some(moved) = notice.as_move() {
            self.say(Event::ProviderSwitch(ProviderSwitch {
                model_id: self.shared.sender.model.clone(),
                from: moved.from.provider.clone(),
                to: moved.to.provider.clone(),
                fault: moved.fault,
            }));
            self.shared.left.notify_waiters();
        }
    }

    fn say(&self, event: Event) {
        self.voice.say_in_turn(self.call.turn, event);
    }

    fn warn(&self, code: &'static str, sentence: String) {
        self.voice.log(LogLevel::Warn, Some(code), sentence);
    }
}
