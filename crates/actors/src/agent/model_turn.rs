//! One exchange with a model: ask, account, log, and hand the reply to its work.
//!
//! Tokens of new messages are counted while the request is under way, so that a turn costs the
//! network nothing.

use std::ops::ControlFlow;
use std::sync::Arc;

use actix::MailboxError;
use context::window::NewItem;
use context::{prompts, tokens};
use provider::fault::Discarded;
use provider::price::{self, Accounted, UsageReport};
use provider::reply::{Reply, unique_ids};
use provider::request::{ModelRequest, ToolChoice};
use provider::schedule::{CallError, Fault};
use record::event::{
    AssistantMessage, ContextBreakdown, Event, LogLevel, Prompt, ResponseRejected, Usage,
};
use record::journal::{
    Entry, MessageList, ModelErrorKind, ModelErrorRecord, RequestRecord, RequestRole, RequestShape,
};
use vocab::band::Band;
use vocab::ids::{MessageId, ProviderName};
use vocab::message::{Message, ToolCall};
use vocab::outcome::{Breach, EndStatus, ErrorType, Limit, TurnVerdict};
use vocab::usage::Figure;

use super::LoopEnd;
use super::records::{describe, describe_call, error_record, frame_row, response_record};
use super::surface::Called;
use super::turns::{ReplySize, TurnClock, Turns};
use crate::link::Link;
use crate::messages::{AddCost, Complete, Completion, Keep};
use crate::provider_client::{CallFailure, ProviderClient};
use crate::stop::StopCause;

impl Turns {
    /// Asks the model once and carries out what it answers.
    pub(super) async fn exchange(
        &mut self,
        turn: u32,
        clock: &mut TurnClock,
    ) -> ControlFlow<LoopEnd> {
        let Some(client) = self.links.client.clone() else {
            return ControlFlow::Break(LoopEnd {
                error: Some(format!(
                    "no client for model `{}`",
                    self.spec.profile.model_id
                )),
                ..LoopEnd::of(EndStatus::InternalError)
            });
        };
        if self.window.picture_bytes() > 0 && self.is_blind() {
            // Another agent's request taught the run that this model takes none.
            self.strip_pictures(turn)?;
        }
        clock.dispatched();
        let answer = self.ask(&client, turn);
        let mut request = self.request_record();
        let mut sent = self.window.ids();
        let (mut answer, ()) = tokio::join!(answer, self.report_window(turn));
        if let Ok(Err(CallFailure::Failed(error))) = &answer
            && self.window.picture_bytes() > 0
            && error.fault.refuses_pictures()
        {
            self.go_blind(turn, error, request)?;
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
            Ok(Err(CallFailure::Stopped(cause))) => self.stopped(cause),
            Ok(Err(CallFailure::Failed(error))) => {
                self.failed(turn, &error, request, sent, duration_ms)
            }
            Err(_) => ControlFlow::Break(LoopEnd {
                error: Some(format!("the model client died: {}", crate::panics::last())),
                ..LoopEnd::of(EndStatus::InternalError)
            }),
        }
    }

    /// Sends the window as it stands; the request is on its way before the answer is awaited.
    fn ask(
        &mut self,
        client: &Link<ProviderClient>,
        turn: u32,
    ) -> impl Future<Output = Result<Result<Completion, CallFailure>, MailboxError>> + use<> {
        client.ask(Complete {
            agent: self.spec.id.clone(),
            profile: self.spec.profile.slug.clone(),
            turn,
            request: ModelRequest {
                thread: self.window.request_thread(),
                signal: None,
                toolset: Arc::clone(&self.surface.toolset),
                tool_choice: ToolChoice::Auto,
            },
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
        if self.shared.learn_blindness(model, &self.links.voice) {
            self.links.voice.log(
                LogLevel::Warn,
                Some("blind"),
                format!("model `{model}` is sent no more pictures: {why}"),
            );
        }
        let record = error_record(error, &why);
        self.keep(Entry::ModelError {
            request,
            error: Box::new(ModelErrorRecord {
                kind: ModelErrorKind::ImageUnsupported,
                ..record
            }),
        });
        self.strip_pictures(turn)
    }

    fn strip_pictures(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        self.surface.files.attach_images = false;
        match self.window.strip_pictures(prompts::picture_removed) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                let cause = format!("a notice does not render: {error}");
                self.close_fatal(turn, cause, ReplySize::default())
            }
        }
    }

    /// Counts what is new and reports the window: its breakdown, then each message not reported
    /// before.
    async fn report_window(&mut self, turn: u32) {
        // The request goes out first.
        tokio::task::yield_now().await;
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
    fn stopped(&self, cause: StopCause) -> ControlFlow<LoopEnd> {
        let end = match cause {
            StopCause::Canceled => LoopEnd::of(EndStatus::Canceled),
            StopCause::Defect => LoopEnd::of(EndStatus::InternalError),
            StopCause::Deadline => LoopEnd {
                breach: Some(self.runtime_breach()),
                ..LoopEnd::of(EndStatus::TimedOut)
            },
        };
        ControlFlow::Break(end)
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
        let mut reply = completion.reply;
        unique_ids(&mut reply.calls, &mut |id| self.window.has_call(id));
        let estimate = estimate(&reply);
        let accounted = self.account(reply.usage.as_ref(), estimate);
        let size = size(&reply, accounted.as_ref());
        // One message, held by the window and on its way to the journal.
        let message = Arc::new(Message::Assistant {
            text: reply.text.clone(),
            calls: reply.calls.clone(),
            reasoning: None,
        });
        self.keep(Entry::ModelIo {
            request,
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
        let runs = |call: &ToolCall| self.surface.called(&call.name) != Called::Unavailable;
        let figure = if reply.calls.iter().any(runs) {
            Figure::Work
        } else {
            Figure::Total
        };
        self.report_usage(
            turn,
            reply.usage.as_ref(),
            reply.provider.as_ref(),
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
        if reply.calls.is_empty() {
            return self.no_call(turn, size);
        }
        self.work(turn, &reply.calls, size).await
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
        Some(self.window.push(NewItem {
            tokens: Some(estimate),
            ..NewItem::new(Band::Assistant, turn, message)
        }))
    }

    /// A reply without a call: told which calls end the session (01 §9.3).
    fn no_call(&mut self, turn: u32, size: ReplySize) -> ControlFlow<LoopEnd> {
        let text = match prompts::missing_call(self.surface.endings) {
            Ok(text) => text,
            Err(error) => {
                let cause = format!("a notice does not render: {error}");
                return self.close_fatal(turn, cause, size);
            }
        };
        self.window.push(NewItem::new(
            Band::System,
            turn,
            Message::User {
                text: text.into(),
                images: Vec::new(),
            },
        ));
        self.answered += 1;
        let error = ErrorType::MissingCompletionNoCall;
        self.judge(turn, TurnVerdict::Error, Some(error), size);
        self.tell_error(turn, error, None);
        ControlFlow::Continue(())
    }

    /// A call that failed for good, or in one of the ways that are asked again byte for byte.
    fn failed(
        &mut self,
        turn: u32,
        error: &CallError,
        request: RequestRecord,
        sent: Vec<MessageId>,
        duration_ms: u64,
    ) -> ControlFlow<LoopEnd> {
        let why = self.shared.mask.apply(&error.to_string()).into_owned();
        let error_type = error.error_type();
        self.keep(Entry::ModelError {
            request,
            error: Box::new(error_record(error, &why)),
        });
        match &error.fault {
            Fault::LengthCapped(capped) => self.rejected(turn, capped, sent, duration_ms),
            fault => self.pay_for_discarded(turn, fault),
        }
        self.judge(
            turn,
            TurnVerdict::Error,
            Some(error_type),
            ReplySize::default(),
        );
        self.tell_error(turn, error_type, Some(&why));
        if error.is_reasked() {
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

    /// A reply cut at the output cap: logged and paid for, never entering the window.
    fn rejected(&mut self, turn: u32, capped: &Discarded, sent: Vec<MessageId>, duration_ms: u64) {
        let accounted = self.account(capped.usage.as_ref(), tokens::count(&capped.content));
        let frame = self.frame();
        self.report_prompt(
            turn,
            frame,
            Prompt {
                messages: sent,
                reply: None,
                finish_reason: Some("length".to_owned()),
                tokens: accounted.as_ref().map(|it| it.tokens).unwrap_or_default(),
                duration_ms,
                provider: capped.provider.clone(),
            },
        );
        let (tokens, cost) = accounted
            .as_ref()
            .map_or_else(Default::default, |it| (it.tokens, it.cost));
        self.report_usage(
            turn,
            capped.usage.as_ref(),
            capped.provider.as_ref(),
            accounted,
            Figure::Total,
        );
        self.links.voice.say_in_turn(
            turn,
            Event::ResponseRejected(Box::new(ResponseRejected {
                chars: capped.chars(),
                tokens,
                cost,
                provider: capped.provider.clone(),
                model_id: self.spec.profile.model_id.clone(),
            })),
        );
    }

    /// A reply that could not be read may have been paid for.
    fn pay_for_discarded(&self, turn: u32, fault: &Fault) {
        let Some(discarded) = fault.discarded().filter(|it| it.usage.is_some()) else {
            return;
        };
        let usage = discarded.usage.as_ref();
        let accounted = self.account(usage, tokens::count(&discarded.content));
        self.report_usage(
            turn,
            usage,
            discarded.provider.as_ref(),
            accounted,
            Figure::Total,
        );
    }

    fn account(&self, usage: Option<&UsageReport>, estimate: u64) -> Option<Accounted> {
        let prices = self
            .shared
            .launch
            .model_prices
            .get(&self.spec.profile.model_id);
        usage.map(|usage| price::account(usage, estimate, prices))
    }

    /// The window as the request renders it: taken before its reply enters.
    fn frame(&mut self) -> Entry {
        let frame = self.window.since(self.framed);
        self.framed = frame.cursor;
        Entry::PromptFrame {
            keep: frame.keep,
            push: frame.rows.into_iter().map(frame_row).collect(),
        }
    }

    /// One exchange, and the window it was made from.
    fn report_prompt(&self, turn: u32, frame: Entry, prompt: Prompt) {
        self.links
            .voice
            .say_in_turn(turn, Event::Prompt(Box::new(prompt)));
        self.keep(frame);
    }

    /// Emits a usage delta and tells the ceilings its price. A reply without usage is one too: its
    /// call is counted as unpriced.
    fn report_usage(
        &self,
        turn: u32,
        usage: Option<&UsageReport>,
        provider: Option<&ProviderName>,
        accounted: Option<Accounted>,
        figure: Figure,
    ) {
        let accounted = accounted.unwrap_or_default();
        match accounted.cost.and_then(|cost| cost.actual) {
            Some(usd) => self.links.supervisor.tell(AddCost { usd }),
            None => self.shared.warn_unpriced(&self.links.voice),
        }
        self.links.voice.say_in_turn(
            turn,
            Event::Usage(Box::new(Usage {
                profile_id: self.spec.profile.slug.clone(),
                model_id: self.spec.profile.model_id.clone(),
                tokens: accounted.tokens,
                cost: accounted.cost,
                provider: provider.cloned(),
                wire: usage.map(|usage| Arc::clone(&usage.wire)),
                reconciled: accounted.reconciled,
                clamped: accounted.clamped,
                figure,
            })),
        );
    }

    /// The request as the journal keeps it: what the last one did not hold.
    fn request_record(&mut self) -> RequestRecord {
        let delta = self.window.since(self.journaled);
        self.journaled = delta.cursor;
        RequestRecord {
            role: RequestRole::Agent,
            shape: RequestShape::Free,
            messages: MessageList {
                keep: delta.keep,
                push: delta.rows.into_iter().map(|row| row.message).collect(),
                signal: self.window.signal().cloned(),
            },
            toolset: Some(Arc::clone(&self.surface.toolset.json)),
            model: self.spec.profile.model_id.clone(),
            provider: self.shared.asked_provider(&self.spec.profile.model_id),
        }
    }

    pub(super) fn keep(&self, entry: Entry) {
        self.links.voice.telemetry.tell(Keep {
            agent: Some(self.spec.id.clone()),
            entry,
        });
    }
}

/// gg's own estimate of a reply, in tokens: its text and its arguments.
fn estimate(reply: &Reply) -> u64 {
    let text = reply.text.as_deref().map_or(0, tokens::count);
    text + reply
        .calls
        .iter()
        .map(|call| tokens::count(&call.arguments))
        .sum::<u64>()
}

fn size(reply: &Reply, accounted: Option<&Accounted>) -> ReplySize {
    let chars = |text: &str| text.chars().count() as u64;
    ReplySize {
        chars: reply.text.as_deref().map_or(0, chars)
            + reply
                .calls
                .iter()
                .map(|call| chars(&call.arguments))
                .sum::<u64>(),
        output_tokens: accounted
            .and_then(|it| it.tokens.completion())
            .unwrap_or_default(),
    }
}
