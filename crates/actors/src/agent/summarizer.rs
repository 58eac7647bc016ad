//! A compaction by another request than the agent's turn: the handoff's own call, read and
//! accounted for (02 §6.3, §6.4).
//!
//! It goes through the client of the model that is asked, so that it shares candidates and routing
//! key with the run; what it costs stands on the `compaction` event and in no total of the run.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::compaction::{Answer, CompactionStrategy, handoff};
use provider::call::CallError;
use provider::fault::Fault;
use provider::price::{self, UsageReport};
use provider::request::{CacheLifetime, ModelRequest, Shape, Thread, ToolChoice, toolset};
use record::event::LogLevel;
use record::journal::{
    Entry, MessageList, ModelErrorKind, ModelErrorRecord, RequestRecord, RequestRole, RequestShape,
};
use vocab::ids::ModelId;
use vocab::message::Message;
use vocab::outcome::EndStatus;
use vocab::usage::{Cost, Tokens};

use super::LoopEnd;
use super::compacting::Summarized;
use super::model_turn::{asked_of, estimate};
use super::records::{error_record, response_record};
use super::turns::Turns;
use crate::link::Link;
use crate::messages::{Complete, Completion};
use crate::provider_client::{CallFailure, CallSettings, ProviderClient};

/// Whom a handoff asks.
struct Summarizer {
    model: ModelId,
    /// Whether the profile names it.
    named: bool,
    client: Link<ProviderClient>,
    strategy: CompactionStrategy,
}

impl Turns {
    /// Asks another model for the summary. What it answers unusably, the fixed note stands for.
    pub(super) async fn hand_off(&mut self, turn: u32) -> ControlFlow<LoopEnd, Summarized> {
        let summarizer = self.summarizer()?;
        loop {
            let sees = self.shared.shows_images(&summarizer.model);
            let asked = handoff::ask(&self.window, summarizer.strategy, sees);
            let asked = self.rendered(turn, asked)?;
            let pictures = asked.messages.iter().any(|it| !it.images().is_empty());
            let (request, record) = Self::handoff_request(&summarizer, asked);
            let call = Complete {
                role: RequestRole::Compaction,
                agent: self.spec.id.clone(),
                profile: self.spec.profile.slug.clone(),
                turn,
                request,
                pictures,
                settings: self.handoff_settings(&summarizer),
                stop: self.stop.clone(),
            };
            let begun = tokio::time::Instant::now();
            let answer = summarizer.client.ask(call).await;
            let latency_ms = crate::clock::millis(begun.elapsed());
            match answer {
                Ok(Ok(completion)) => {
                    return ControlFlow::Continue(self.summarized(
                        &summarizer,
                        completion,
                        record,
                        latency_ms,
                    ));
                }
                Ok(Err(CallFailure::Stopped(cause))) => {
                    return ControlFlow::Break(self.stopped(cause));
                }
                Ok(Err(CallFailure::Failed(failure)))
                    if pictures && failure.error.fault.refuses_pictures() =>
                {
                    self.summarizer_is_blind(&summarizer.model, &failure.error, record);
                }
                Ok(Err(CallFailure::Failed(failure))) => {
                    return self.not_summarized(summarizer, &failure.error, record);
                }
                Err(_) => {
                    return ControlFlow::Break(LoopEnd::internal(format!(
                        "the client of the summarizer died: {}",
                        crate::panics::last()
                    )));
                }
            }
        }
    }

    fn summarizer(&self) -> ControlFlow<LoopEnd, Summarizer> {
        let policy = self.spec.profile.compaction();
        let named = policy.and_then(|policy| policy.model);
        let model = named.unwrap_or(&self.spec.profile.model_id).clone();
        match (policy, self.links.summarizer.clone()) {
            (Some(policy), Some(client)) => ControlFlow::Continue(Summarizer {
                named: named.is_some(),
                model,
                client,
                strategy: policy.strategy,
            }),
            _ => ControlFlow::Break(LoopEnd::internal(format!("no client for model `{model}`"))),
        }
    }

    /// The agent's own model reasons as the agent does; a named one as its provider has it. No
    /// request extends this one, so nothing of it is written into a cache.
    fn handoff_settings(&self, summarizer: &Summarizer) -> CallSettings {
        CallSettings {
            reasoning: self
                .settings
                .reasoning
                .clone()
                .filter(|_| !summarizer.named),
            lifetime: CacheLifetime::None,
            ..self.settings.clone()
        }
    }

    /// The request, and the journal's record of it, which repeats nothing of another.
    fn handoff_request(
        summarizer: &Summarizer,
        asked: handoff::Ask,
    ) -> (ModelRequest, RequestRecord) {
        let messages: Vec<Arc<Message>> = asked.messages.into_iter().map(Arc::new).collect();
        let mut thread = Thread::of(Shape::of(&summarizer.model));
        for message in &messages {
            thread.push(message);
        }
        let offered = Arc::new(toolset(&asked.tools));
        let record = RequestRecord {
            role: RequestRole::Compaction,
            shape: match asked.choice {
                ToolChoice::Auto => RequestShape::Free,
                ToolChoice::Required | ToolChoice::Named(_) => RequestShape::Forced,
            },
            messages: MessageList {
                keep: 0,
                push: messages,
                signal: None,
            },
            toolset: (offered.len > 0).then(|| Arc::clone(&offered.json)),
            model: summarizer.model.clone(),
            provider: None,
        };
        let request = ModelRequest {
            thread: thread.snapshot(),
            signal: None,
            toolset: offered,
            tool_choice: asked.choice,
            rewritten: None,
        };
        (request, record)
    }

    fn summarized(
        &self,
        summarizer: &Summarizer,
        completion: Completion,
        request: RequestRecord,
        latency_ms: u64,
    ) -> Summarized {
        let Completion { reply, asked, .. } = completion;
        let (tokens, cost) = self.priced(&summarizer.model, reply.usage.as_ref(), estimate(&reply));
        let message = Arc::new(Message::Assistant {
            text: reply.text.clone(),
            calls: reply.calls.clone(),
            reasoning: reply.reasoning_for(asked.as_ref()),
        });
        self.keep(Entry::ModelIo {
            request: RequestRecord {
                provider: asked,
                ..request
            },
            response: response_record(&reply, message),
            latency_ms,
        });
        let answer = handoff::read(summarizer.strategy, reply.text.as_deref(), &reply.calls);
        if answer == Answer::Fallback {
            let wanted = match summarizer.strategy {
                CompactionStrategy::HandoffCompaction => "no usable call of `compact`",
                _ => "no text",
            };
            self.warn_fallback(&summarizer.model, &format!("its reply has {wanted}"));
        }
        Summarized {
            answer,
            model: summarizer.model.clone(),
            tokens,
            cost,
        }
    }

    /// The call brought no reply. Only a named model that could not be reached is more than a
    /// missing summary (02 §6.4).
    fn not_summarized(
        &self,
        summarizer: Summarizer,
        error: &CallError,
        request: RequestRecord,
    ) -> ControlFlow<LoopEnd, Summarized> {
        let why = self.shared.mask.apply(&error.to_string()).into_owned();
        self.keep(Entry::ModelError {
            request: asked_of(request, error),
            error: Box::new(error_record(error, &why)),
        });
        if matches!(error.fault, Fault::ProviderMismatch { .. }) {
            return ControlFlow::Break(LoopEnd {
                error: Some(why),
                mismatch: true,
                ..LoopEnd::of(EndStatus::ModelError)
            });
        }
        if summarizer.named && is_unreachable(error) {
            return ControlFlow::Break(LoopEnd::internal(format!(
                "the summarizer `{}` cannot be reached: {why}",
                summarizer.model
            )));
        }
        self.warn_fallback(&summarizer.model, &why);
        let discarded = error.fault.discarded();
        let usage = discarded.and_then(|it| it.usage.as_ref());
        let content = discarded.map_or("", |it| it.content.as_str());
        let (tokens, cost) = self.priced(&summarizer.model, usage, context::tokens::count(content));
        ControlFlow::Continue(Summarized {
            answer: Answer::Fallback,
            model: summarizer.model,
            tokens,
            cost,
        })
    }

    fn summarizer_is_blind(&mut self, model: &ModelId, error: &CallError, request: RequestRecord) {
        let why = self.shared.mask.apply(&error.to_string()).into_owned();
        self.tell_blindness(model, &why);
        self.keep(Entry::ModelError {
            request: asked_of(request, error),
            error: Box::new(ModelErrorRecord {
                kind: ModelErrorKind::ImageUnsupported,
                ..error_record(error, &why)
            }),
        });
    }

    fn priced(
        &self,
        model: &ModelId,
        usage: Option<&UsageReport>,
        estimate: u64,
    ) -> (Option<Tokens>, Option<Cost>) {
        let prices = self.shared.launch.model_prices.get(model);
        usage
            .map(|usage| price::account(usage, estimate, prices))
            .map_or((None, None), |accounted| {
                (Some(accounted.tokens), accounted.cost)
            })
    }

    fn warn_fallback(&self, model: &ModelId, why: &str) {
        self.links.voice.log(
            LogLevel::Warn,
            Some("compaction_fallback"),
            format!("no summary by model `{model}`: {why}; a fixed note stands for it"),
        );
    }
}

/// Whether every candidate was spent without an answer. A model that only repeated itself was
/// reached.
fn is_unreachable(error: &CallError) -> bool {
    match &error.fault {
        Fault::NotFound { .. } => true,
        Fault::Looped { .. } => false,
        _ => error.spent.is_some(),
    }
}
