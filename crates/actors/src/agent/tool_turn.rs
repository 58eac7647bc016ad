//! The work of a tool-calling turn: its calls, in order, one result each (04 §2).
//!
//! Files are read and written on a blocking thread and commands run in processes of their own;
//! the loop awaits them, so that the mailbox keeps serving.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;

use context::tokens;
use context::window::{NewItem, Retention};
use record::event::{Event, ToolCall as ToolCallEvent, ToolResult};
use record::journal::Entry;
use record::text;
use tokio::time::Instant;
use tools::{Call, Done, FilePolicy, Halt, REQUEST_PICTURES, shell};
use vocab::band::Band;
use vocab::capability::CapabilityId;
use vocab::failure::{Failure, FailureClass};
use vocab::message::{Image, Message, ToolCall};
use vocab::outcome::{EndStatus, TurnVerdict};
use vocab::tools::ToolName;

use super::LoopEnd;
use super::closing::Worked;
use super::code_turn::Said;
use super::ending::{self, Ending};
use super::records::{CommandOrigin, command_event, region};
use super::surface::Called;
use super::turns::{ReplySize, Turns};
use super::undone::{defective, stopping};
use crate::clock::millis;
use crate::stop::StopCause;

/// Characters of a result that its event shows.
const PREVIEW_CHARS: usize = 2_048;

/// A longer result is counted on a thread of its own: at 50 MB/s it would cost the arbiter
/// milliseconds.
pub(super) const COUNT_HERE: usize = 16 * 1024;

/// A command that runs while its turn's events are still being made.
pub(super) struct Ahead {
    begun: Instant,
    outcome: Pin<Box<dyn Future<Output = shell::Outcome>>>,
}

/// What a call left, before it is recorded.
pub(super) struct Answer {
    pub(super) outcome: Result<Done, Failure>,
    pub(super) shell: Option<shell::Record>,
    pub(super) ending: Option<Ending>,
    /// The skill whose text this is, where it stays in the window.
    pub(super) skill: Option<Arc<str>>,
    /// What gg itself could not do; the agent ends of it.
    pub(super) defect: Option<String>,
    /// What a hook did not judge; the run ends of it.
    pub(super) unjudged: Option<String>,
}

impl Answer {
    pub(super) fn failed(failure: Failure) -> Self {
        Self::of(Err(failure))
    }

    pub(super) fn of(outcome: Result<Done, Failure>) -> Self {
        Self {
            outcome,
            shell: None,
            ending: None,
            skill: None,
            defect: None,
            unjudged: None,
        }
    }

    /// What a call's work came to, or the defect that kept it from coming to anything.
    pub(super) fn of_work(outcome: Result<Result<Done, Failure>, String>) -> Self {
        outcome.map_or_else(Self::defect, Self::of)
    }

    /// What gg itself could not do.
    pub(super) fn defect(cause: String) -> Self {
        Self {
            defect: Some(cause),
            ..Self::failed(defective())
        }
    }
}

impl Answer {
    pub(super) fn of_command(outcome: shell::Outcome) -> Self {
        Self {
            shell: Some(outcome.record.clone()),
            ..Self::of(shell_done(outcome))
        }
    }
}

impl Turns {
    /// Starts the first call of a reply, where that is a command: it runs while the reply is
    /// recorded, which takes 12 µs of a turn's way. Everything else waits for its turn in
    /// [`work`](Self::work).
    pub(super) fn start_ahead(&self, calls: &[ToolCall]) -> Option<Ahead> {
        let call = calls.first()?;
        if self.stop.has(StopCause::Canceled) || self.shared.clock.spent() {
            return None;
        }
        let Called::Tool(tool @ ToolName::Shell) = self.surface.called(&call.name) else {
            return None;
        };
        if self.upkeep.refusal(tool).is_some() || self.watches_commands() {
            return None;
        }
        let Ok(Call::Shell(command)) = tools::parse(tool, &call.arguments) else {
            return None;
        };
        Some(Ahead {
            begun: Instant::now(),
            outcome: Box::pin(self.start_command(command)),
        })
    }

    /// Runs the calls of a reply and closes the turn; the first may run already.
    pub(super) async fn work(
        &mut self,
        turn: u32,
        text: Option<&str>,
        calls: &[ToolCall],
        mut ahead: Option<Ahead>,
        size: ReplySize,
    ) -> ControlFlow<LoopEnd> {
        let mut ending = None;
        let mut succeeded = Vec::with_capacity(calls.len());
        for call in calls {
            if self.stop.has(StopCause::Canceled) {
                break;
            }
            let answer = self.one_call(turn, call, ahead.take()).await;
            if let Some(cause) = answer.defect {
                self.tell_changes(turn).await;
                return self.close_fatal(turn, cause, size);
            }
            if let Some(why) = answer.unjudged {
                self.tell_changes(turn).await;
                return self.close_unjudged(turn, why, size);
            }
            ending = answer.ending.or(ending);
            let ok = answer.outcome.is_ok();
            if let (true, Called::Tool(tool)) = (ok, self.surface.called(&call.name)) {
                self.upkeep.succeeded(tool);
            }
            succeeded.push(ok);
        }
        self.tell_changes(turn).await;
        // An agent that had ended before the stop reached it has ended.
        let ended = ending.is_some() && succeeded.len() == calls.len();
        if self.stop.has(StopCause::Canceled) && !ended {
            // What was declared was cut short by the operator, not by the agent: no error of its.
            self.answered += 1;
            self.judge(turn, TurnVerdict::Progressed, None, size);
            return ControlFlow::Break(LoopEnd::of(EndStatus::Canceled));
        }
        let worked = Worked {
            text,
            calls: &succeeded,
            ending,
            size,
            said: Said::default(),
        };
        self.close_turn(turn, worked).await
    }

    async fn one_call(&mut self, turn: u32, call: &ToolCall, ahead: Option<Ahead>) -> Answer {
        self.links.voice.say_in_turn(
            turn,
            Event::ToolCall(ToolCallEvent {
                call_id: call.id.clone(),
                tool: call.name.clone(),
                arguments: Arc::clone(&call.arguments),
            }),
        );
        let (begun, answer) = match ahead {
            Some(Ahead { begun, outcome }) => (begun, Answer::of_command(outcome.await)),
            None => (Instant::now(), self.dispatch(turn, call).await),
        };
        self.record_answer(turn, call, &answer, millis(begun.elapsed()))
            .await;
        answer
    }

    async fn dispatch(&mut self, turn: u32, call: &ToolCall) -> Answer {
        match self.surface.called(&call.name) {
            Called::Unavailable | Called::Program => Answer::failed(Failure::new(
                FailureClass::Unavailable,
                format!("not offered; you have {}", self.surface.names().join(", ")),
            )),
            // An ending is never withheld, not even by a spent clock.
            Called::Ending(name) => match ending::read(name, &call.arguments) {
                Ok(ending) => Answer {
                    ending: Some(ending),
                    ..Answer::of(Ok(Done {
                        text: "the session ends here".to_owned(),
                        ..Done::default()
                    }))
                },
                Err(failure) => Answer::failed(failure),
            },
            Called::Tool(_) if self.shared.clock.spent() => Answer::failed(Failure::new(
                FailureClass::LimitExceeded,
                "the run's time is spent; nothing more is carried out",
            )),
            // Its wait was ended by a stop of the run, and it was given no slot to go on in.
            Called::Tool(_) if !self.seat.is_taken() => Answer::failed(stopping()),
            Called::Tool(tool) => match self.upkeep.refusal(tool) {
                Some(refusal) => Answer::failed(refusal),
                None => self.carry_out(turn, tool, &call.arguments).await,
            },
        }
    }

    async fn carry_out(&mut self, turn: u32, tool: ToolName, arguments: &str) -> Answer {
        if let Some(CapabilityId::AgentManagedContext | CapabilityId::Compaction) =
            tool.capability()
        {
            return self.window_call(turn, tool, arguments);
        }
        if let Some(CapabilityId::Subagents | CapabilityId::Exec | CapabilityId::Fork) =
            tool.capability()
        {
            return self.delegate(turn, tool, arguments).await;
        }
        if tool.capability() == Some(CapabilityId::ProjectManagement) {
            return self.call_board(tool, arguments).await;
        }
        if tool == ToolName::TransitionState {
            return self.transition(arguments);
        }
        if is_of_a_module(tool) {
            return self.call_module(tool, arguments).await;
        }
        match tools::parse(tool, arguments) {
            Err(failure) => Answer::failed(failure),
            Ok(Call::Shell(command)) => {
                let ran = self.run_command(turn, command, CommandOrigin::Tool).await;
                ran.rendered(shell_done).into()
            }
            Ok(call @ (Call::WriteFile(_) | Call::EditFile(_))) => {
                self.write_file(turn, call).await.into()
            }
            Ok(call) => self.run_file_call(call).await,
        }
    }

    pub(super) fn start_command(
        &self,
        command: tools::Shell,
    ) -> impl Future<Output = shell::Outcome> + use<> {
        let mut stop = self.stop.clone();
        let request = shell::Request {
            command: command.command.into(),
            script: None,
            place: self.place(),
            timeout: command.timeout,
            time_left: self.shared.clock.left(),
            policy: self.spec.profile.shell(),
        };
        let stop = async move { stop.canceled().await };
        self.shared.runner.run(request, stop)
    }

    pub(super) async fn run_file_call(&mut self, call: Call) -> Answer {
        let place = self.place();
        let policy = FilePolicy {
            picture_room: REQUEST_PICTURES.saturating_sub(self.window.picture_bytes()),
            ..self.surface.files
        };
        let work = move |halt: &Halt| tools::run_file(&call, &place, &policy, halt);
        Answer::of_work(self.call_on_disk(work).await)
    }

    /// Does a call's work on a blocking thread: what it came to, or the defect that kept it from
    /// coming to anything.
    pub(super) async fn call_on_disk<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Halt) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Result<T, Failure>, String> {
        match self.on_disk(work).await {
            Ok(outcome) => Ok(outcome.unwrap_or_else(|| Err(tools::halted()))),
            Err(error) => Err(format!("a file call died: {error}")),
        }
    }

    /// Does a piece of work on a blocking thread. It is told to halt once the run is canceled;
    /// `None` where it does not heed that.
    pub(super) async fn on_disk<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Halt) -> T + Send + 'static,
    ) -> Result<Option<T>, tokio::task::JoinError> {
        let halt = Halt::default();
        let halted = halt.clone();
        let mut work = tokio::task::spawn_blocking(move || work(&halted));
        tokio::select! {
            finished = &mut work => finished.map(Some),
            () = self.stop.canceled() => {
                halt.raise();
                // A file on a server that is gone answers no look at the flag either.
                match tokio::time::timeout(shell::GRACE, &mut work).await {
                    Ok(finished) => finished.map(Some),
                    Err(_) => Ok(None),
                }
            }
        }
    }

    pub(super) fn place(&self) -> tools::Place {
        tools::Place {
            cwd: self.spec.cwd.clone(),
            root: self.spec.cwd.clone(),
        }
    }

    /// A command's event, and its entry in the journal.
    pub(super) fn record_command(&self, turn: u32, command: &shell::Record, origin: CommandOrigin) {
        let event = command_event(origin, command, &self.shared.mask);
        self.keep(Entry::from(&event));
        self.links
            .voice
            .say_in_turn(turn, Event::Shell(Box::new(event)));
    }

    /// The command's event, the result's event, the journal's entries, and the window's item.
    async fn record_answer(
        &mut self,
        turn: u32,
        call: &ToolCall,
        answer: &Answer,
        duration_ms: u64,
    ) {
        let mask = &self.shared.mask;
        if let Some(command) = &answer.shell {
            self.record_command(turn, command, CommandOrigin::Tool);
        }
        let (body, failure, images): (String, _, &[Image]) = match &answer.outcome {
            Ok(done) => (mask.apply(&done.text).into_owned(), None, &done.images),
            Err(failure) => {
                let text = failure.as_result_text(&call.name);
                (mask.apply(&text).into_owned(), Some(failure.class), &[])
            }
        };
        let body: Arc<str> = body.into();
        self.links.voice.say_in_turn(
            turn,
            Event::ToolResult(Box::new(ToolResult {
                call_id: call.id.clone(),
                tool: call.name.clone(),
                ok: failure.is_none(),
                failure,
                chars: body.chars().count() as u64,
                preview: text::head(&body, PREVIEW_CHARS).to_owned(),
                duration_ms,
            })),
        );
        self.keep(Entry::ToolResult {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            arguments: Arc::clone(&call.arguments),
            ok: failure.is_none(),
            failure,
            output: Arc::clone(&body),
            images: images.to_vec(),
        });
        let view = answer
            .outcome
            .as_ref()
            .ok()
            .and_then(|done| done.view.as_ref());
        let (band, selector) = match (view, &answer.skill) {
            (Some(view), _) => (Band::FileView, Some(view.path.as_str().into())),
            (None, Some(skill)) => (Band::Skill, Some(Arc::clone(skill))),
            (None, None) => (Band::ToolOutput, None),
        };
        self.upkeep.observe(&call.name, &call.arguments, &body);
        let tokens = count(&body).await;
        let tokens = tokens.map(|text| text + images.iter().map(Image::tokens).sum::<u64>());
        let (text, tokens) = self.headed(turn, body, tokens, images);
        let message = Message::Tool {
            call: call.id.clone(),
            text,
            images: images.to_vec(),
        };
        self.window.push(NewItem {
            retention: match answer.skill {
                Some(_) => Retention::Pinned,
                None => Retention::Ephemeral,
            },
            selector,
            region: view.and_then(|view| view.region).map(region),
            tokens,
            ..NewItem::new(band, turn, message)
        });
    }
}

/// A command's end as a tool result says it.
fn shell_done(outcome: shell::Outcome) -> Result<Done, Failure> {
    outcome.result().map(|text| Done {
        text,
        ..Done::default()
    })
}

/// Whether a call is carried out by what the agent holds.
fn is_of_a_module(tool: ToolName) -> bool {
    matches!(
        tool.capability(),
        Some(CapabilityId::Tasks | CapabilityId::Memories | CapabilityId::Skills)
    )
}

/// Counts a long text on another thread; a short one is left to the window.
async fn count(text: &Arc<str>) -> Option<u64> {
    if text.len() <= COUNT_HERE {
        return None;
    }
    let text = Arc::clone(text);
    // A counter that panicked leaves the text to be counted on the loop, where the net is.
    tokio::task::spawn_blocking(move || tokens::count(&text))
        .await
        .ok()
}
