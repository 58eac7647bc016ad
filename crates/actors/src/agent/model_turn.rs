//! One exchange with a model: ask, account, log, and hand the reply to its work.
//!
//! Tokens of new messages are counted while the request is under way, so that a turn costs the
//! network nothing.

use std::ops::ControlFlow;
use std::sync::Arc;

use actix::MailboxError;
use context::window::NewItem;
use context::{prompts, tokens};
use provider::call::CallError;
use provider::fault::Fault;
use provider::price::Accounted;
use provider::reply::{Reply, unique_ids};
use provider::request::{ModelRequest, ToolChoice};
use record::event::{AssistantMessage, ContextBreakdown, Event, LogLevel, Prompt};
use record::journal::{
    Entry, MessageList, ModelErrorKind, ModelErrorRecord, RequestRecord, RequestRole, RequestShape,
};
use vocab::band::Band;
use vocab::ids::{MessageId, ModelId};
use vocab::message::{Message, ToolCall};
use vocab::outcome::{Breach, EndStatus, ErrorType, Limit, TurnVerdict};
use vocab::usage::Figure;

use super::LoopEnd;
use super::code_turn::submission;
use super::records::{describe, describe_call, error_record, frame_row, response_record};
use super::spending::Spent;
use super::surface::Called;
use super::turn_clock::TurnClock;
use super::turns::{ReplySize, Turns};
use crate::link::Link;
use crate::messages::{Complete, Completion, Keep};
use crate::programs;
use crate::provider_client::{CallFailure, Failure, ProviderClient};
use crate::stop::StopCause;

impl Turns {
    /// Asks the model once and carries out what it answers.
    pub(super) async fn exchange(
        &mut self,
        turn: u32,
        clock: &mut TurnClock,
    ) -> ControlFlow<LoopEnd> {
        let Some(client) = self.links.client.clone() else {
            return ControlFlow::Break(LoopEnd::internal(format!(
                "no client for model `{}`",
                self.spec.profile.model_id
            )));
        };
        if self.window.picture_bytes() > 0 && self.is_blind() {
            // Another agent's request taught the run that this model takes none.
            self.strip_pictures(turn)?;
        }
        clock.dispatched();
        let answer = self.ask(&client, turn);
        // Beside the first request of all: whoever runs programs first finds them warm.
        if self.spec.depth == 0 {
            programs::warm_up(&self.shared);
        }
        let mut request = self.request_record();
        let mut sent = self.window.ids();
        let (mut answer, ()) = tokio::join!(answer, self.report_window(turn));
        if let Ok(Err(CallFailure::Failed(failure))) = &answer
            && self.window.picture_bytes() > 0
            && failure.error.fault.refuses_pictures()
        {
            self.discarded.add(&failure.error.loops);
            self.go_blind(turn, &failure.error, request)?;
            let again = self.ask(&client, turn);
            request = self.request_record();
            sent = self.window.ids();
            self.report_messages(turn);
            answer = again.await;
        }
        let duration_ms = clock.answered();
        match answer {
            Ok(Ok(completion)) => {
                self.answered_with(turn, completion, request, sent, duration_ms)
                    .await
            }
            Ok(Err(CallFailure::Stopped(cause))) => ControlFlow::Break(self.stopped(cause)),
            Ok(Err(CallFailure::Failed(failure))) => {
                self.failed(turn, &failure, request, sent, duration_ms)
            }
            Err(_) => ControlFlow::Break(LoopEnd::internal(format!(
                "the model client died: {}",
                crate::panics::last()
            ))),
        }
    }

    /// Sends the window as it stands; the request is on its way before the answer is awaited.
    fn ask(
        &mut self,
        client: &Link<ProviderClient>,
        turn: u32,
    ) -> impl Future<Output = Result<Result<Completion, CallFailure>, MailboxError>> + use<> {
        // An act that no answered request has shown yet is still news.
        let rewritten = self.window.take_rewritten();
        self.rewritten = self.rewritten.or(rewritten);
        client.ask(Complete {
            role: RequestRole::Agent,
            agent: self.spec.id.clone(),
            profile: self.spec.profile.slug.clone(),
            turn,
            request: ModelRequest {
                thread: self.window.request_thread(),
                signal: self.window.signal().map(|it| Message::clone(it)),
                toolset: Arc::clone(&self.surface.toolset),
                tool_choice: self.surface.tool_choice(),
                rewritten: self.rewritten,
            },
            pictures: self.window.picture_bytes() > 0,
            settings: self.settings.clone(),
            stop: self.stop.clone(),
        })
    }

    fn is_blind(&self) -> bool {
        !self.shared.shows_images(&self.spec.profile.model_id)
    }

    /// The provider refused the pictures: the run learns that the model takes none, and the same
    /// turn goes on without them (04 §3).
    fn go_blind(
        &mut self,
        turn: u32,
        error: &CallError,
        request: RequestRecord,
    ) -> ControlFlow<LoopEnd> {
        let model = &self.spec.profile.model_id;
        let why = self.shared.mask.apply(&error.to_string()).into_owned();
        self.tell_blindness(model, &why);
        let record = error_record(error, &why);
        self.keep(Entry::ModelError {
            request: asked_of(request, error),
            error: Box::new(ModelErrorRecord {
                kind: ModelErrorKind::ImageUnsupported,
                ..record
            }),
        });
        self.strip_pictures(turn)
    }

    /// The run learns that a model takes no pictures.
    pub(super) fn tell_blindness(&self, model: &ModelId, why: &str) {
        if self.shared.learn_blindness(model, &self.links.voice) {
            self.links.voice.log(
                LogLevel::Warn,
                Some("blind"),
                format!("model `{model}` is sent no more pictures: {why}"),
            );
        }
    }

    fn strip_pictures(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        self.surface.files.attach_images = false;
        let stripped = self.window.strip_pictures(prompts::picture_removed);
        self.rendered(turn, stripped)
    }

    /// Counts what is new and reports the window: its breakdown, then each message not reported
    /// before.
    async fn report_window(&mut self, turn: u32) {
        // The request goes out first.
        tokio::task::yield_now().await;
        self.count_aside().await;
        let (bands, total) = self.window.breakdown();
        self.links.voice.say_in_turn(
            turn,
            Event::ContextBreakdown(ContextBreakdown {
                window_limit: self.spec.window_limit,
                total,
                bands,
            }),
        );
        self.report_messages(turn);
    }

    fn report_messages(&mut self, turn: u32) {
        for logged in self.window.unlogged() {
            self.links
                .voice
                .say_in_turn(turn, Event::ContextMessage(Box::new(describe(logged))));
        }
    }

    /// The run stopped while the call was under way: nothing was answered, nothing is judged.
    pub(super) fn stopped(&self, cause: StopCause) -> LoopEnd {
        match cause {
            StopCause::Canceled => LoopEnd::of(EndStatus::Canceled),
            StopCause::Defect => LoopEnd::of(EndStatus::InternalError),
            StopCause::Deadline => LoopEnd {
                breach: Some(self.runtime_breach()),
                ..LoopEnd::of(EndStatus::TimedOut)
            },
        }
    }

    fn runtime_breach(&self) -> Breach {
        let limits = &self.shared.launch.capability_set.limits;
        let threshold = limits.max_runtime_secs.unwrap_or_default() as f64;
        Breach {
            limit: Limit::Runtime,
            threshold,
            // The timer that dropped the call may round down by a fraction of a tick.
            observed: self.shared.clock.elapsed().as_secs_f64().max(threshold),
            window: None,
            turns: self.answered as f64,
            agent_id: self.spec.id.clone(),
        }
    }

    async fn answered_with(
        &mut self,
        turn: u32,
        completion: Completion,
        request: RequestRecord,
        sent: Vec<MessageId>,
        duration_ms: u64,
    ) -> ControlFlow<LoopEnd> {
        let Completion {
            mut reply,
            asked,
            loops,
            expected_cached_tokens,
            ..
        } = completion;
        self.discarded.add(&loops);
        self.rewritten = None;
        let ahead = self.start_ahead(&reply.calls);
        unique_ids(&mut reply.calls, &mut |id| self.window.has_call(id));
        let estimate = estimate(&reply);
        let accounted = self.account(reply.usage.as_ref(), estimate);
        let size = size(&reply, accounted.as_ref());
        // One message, held by the window and on its way to the journal.
        let message = Arc::new(reply.message(asked.as_ref()));
        self.keep(Entry::ModelIo {
            request: RequestRecord {
                provider: asked,
                ..request
            },
            response: response_record(&reply, Arc::clone(&message)),
            latency_ms: duration_ms,
        });
        let frame = self.frame();
        let reply_id = self.push_reply(turn, message, estimate);
        self.report_messages(turn);
        self.report_prompt(
            turn,
            frame,
            Prompt {
                messages: sent,
                reply: reply_id,
                finish_reason: reply.finish_reason.clone(),
                tokens: accounted.as_ref().map(|it| it.tokens).unwrap_or_default(),
                duration_ms,
                provider: reply.provider.clone(),
            },
        );
        // Work is what gg carries out: a name it does not offer is answered and runs nothing.
        let runs = |call: &ToolCall| match self.surface.called(&call.name) {
            Called::Unavailable => false,
            Called::Program => submission::of(call).is_ok(),
            Called::Tool(_) | Called::Ending(_) => true,
        };
        let figure = if reply.calls.iter().any(runs) {
            Figure::Work
        } else {
            Figure::Total
        };
        self.report_usage(
            turn,
            Spent {
                usage: reply.usage.as_ref(),
                provider: reply.provider.as_ref(),
                expected_cached_tokens,
            },
            accounted,
            figure,
        );
        self.links.voice.say_in_turn(
            turn,
            Event::AssistantMessage(AssistantMessage {
                text: reply.text.clone(),
                calls: reply.calls.iter().map(describe_call).collect(),
                reasoning: reply.reasoning.clone(),
            }),
        );
        let text = reply.text.as_deref();
        if self.surface.code.is_some() {
            return Box::pin(self.work_programs(turn, &reply.calls, size)).await;
        }
        // Boxed: an agent whose call is in flight, as most of a crowd are, has no room for it.
        Box::pin(self.work(turn, text, &reply.calls, ahead, size)).await
    }

    /// Puts the reply into the window; a reply of nothing at all enters none.
    fn push_reply(&mut self, turn: u32, message: Arc<Message>, estimate: u64) -> Option<MessageId> {
        if let Message::Assistant {
            text: None, calls, ..
        } = &*message
            && calls.is_empty()
        {
            return None;
        }
        let reasoning = message.reasoning().map_or(0, |it| tokens::of_reasoning(it));
        Some(self.window.push(NewItem {
            tokens: Some(estimate + reasoning),
            ..NewItem::new(Band::Assistant, turn, message)
        }))
    }

    /// A reply without a call: told which calls end the session (01 §9.3).
    pub(super) fn no_call(&mut self, turn: u32, size: ReplySize) -> ControlFlow<LoopEnd> {
        if self.surface.code.is_some() {
            return self.no_program(turn, size);
        }
        let text = prompts::missing_call(self.surface.endings);
        let text = self.rendered(turn, text)?;
        self.notice(turn, text)?;
        self.close_error(turn, ErrorType::MissingCompletionNoCall, size)
    }

    /// A call that failed for good, or in one of the ways that are asked again byte for byte.
    fn failed(
        &mut self,
        turn: u32,
        failure: &Failure,
        request: RequestRecord,
        sent: Vec<MessageId>,
        duration_ms: u64,
    ) -> ControlFlow<LoopEnd> {
        let Failure {
            error,
            expected_cached_tokens: expected,
        } = failure;
        self.discarded.add(&error.loops);
        let why = self.shared.mask.apply(&error.to_string()).into_owned();
        let error_type = error.error_type();
        self.keep(Entry::ModelError {
            request: asked_of(request, error),
            error: Box::new(error_record(error, &why)),
        });
        match &error.fault {
            Fault::LengthCapped(capped) => {
                self.rewritten = None;
                self.rejected(turn, capped, *expected, sent, duration_ms);
            }
            fault => self.pay_for_discarded(turn, fault, *expected),
        }
        self.judge(
            turn,
            TurnVerdict::Error,
            Some(error_type),
            ReplySize::default(),
        );
        self.tell_error(turn, error_type, Some(&why));
        if error.fault.overflows_context() {
            self.links.voice.log(
                LogLevel::Warn,
                Some("context_overflow"),
                format!(
                    "the provider found the request longer than the window of model `{}`",
                    self.spec.profile.model_id
                ),
            );
        }
        if error.is_reasked() {
            self.reasked = true;
            return ControlFlow::Continue(());
        }
        let status = match error_type {
            ErrorType::ModelAuth => EndStatus::AuthError,
            _ => EndStatus::ModelError,
        };
        ControlFlow::Break(LoopEnd {
            error: Some(why),
            mismatch: error_type == ErrorType::ModelProviderMismatch,
            ..LoopEnd::of(status)
        })
    }

    /// The window as the request renders it: taken before its reply enters.
    pub(super) fn frame(&mut self) -> Entry {
        let frame = self.window.since(self.framed);
        self.framed = frame.cursor;
        Entry::PromptFrame {
            keep: frame.keep,
            push: frame.rows.into_iter().map(frame_row).collect(),
        }
    }

    /// One exchange, and the window it was made from.
    pub(super) fn report_prompt(&self, turn: u32, frame: Entry, prompt: Prompt) {
        self.links
            .voice
            .say_in_turn(turn, Event::Prompt(Box::new(prompt)));
        self.keep(frame);
    }

    /// The request as the journal keeps it: what the last one did not hold.
    fn request_record(&mut self) -> RequestRecord {
        let delta = self.window.since(self.journaled);
        self.journaled = delta.cursor;
        RequestRecord {
            role: RequestRole::Agent,
            shape: match self.surface.tool_choice() {
                ToolChoice::Auto => RequestShape::Free,
                ToolChoice::Required | ToolChoice::Named(_) => RequestShape::Forced,
            },
            messages: MessageList {
                keep: delta.keep,
                push: delta.rows.into_iter().map(|row| row.message).collect(),
                signal: self.window.signal().cloned(),
            },
            toolset: Some(Arc::clone(&self.surface.toolset.json)),
            model: self.spec.profile.model_id.clone(),
            // Known with the answer: the run may move while the call is under way.
            provider: None,
        }
    }

    pub(super) fn keep(&self, entry: Entry) {
        self.links.voice.telemetry.tell(Keep {
            agent: Some(self.spec.id.clone()),
            entry,
        });
    }
}

/// The request with whom it was last asked of.
pub(super) fn asked_of(request: RequestRecord, error: &CallError) -> RequestRecord {
    RequestRecord {
        provider: error.candidate.as_ref().map(|it| it.provider.clone()),
        ..request
    }
}

/// gg's own estimate of a reply, in tokens: its text and its arguments.
pub(super) fn estimate(reply: &Reply) -> u64 {
    let text = reply.text.as_deref().map_or(0, tokens::count);
    text + reply
        .calls
        .iter()
        .map(|call| tokens::count(&call.arguments))
        .sum::<u64>()
}

fn size(reply: &Reply, accounted: Option<&Accounted>) -> ReplySize {
    let chars = |text: &str| text.chars().count() as u64;
    // Of a program its text counts, not how JSON writes it.
    let of_call = |call: &ToolCall| match submission::of(call) {
        Ok(program) => chars(&program),
        _ => chars(&call.arguments),
    };
    ReplySize {
        chars: reply.text.as_deref().map_or(0, chars)
            + reply.calls.iter().map(of_call).sum::<u64>(),
        output_tokens: accounted
            .and_then(|it| it.tokens.completion())
            .unwrap_or_default(),
    }
}
