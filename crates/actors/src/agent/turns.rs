//! The turn loop: boundary, request, reply, work, judgement, again (architecture §5).
//!
//! What a reply's work is depends on the execution mode; here it is [`tool_turn`](super::tool_turn)
//! alone. Everything else of a turn is the same for every mode: the order of its events, what is
//! judged, what ends it. How an incarnation comes to its first turn is in [`opening`](super::opening).
//!
//! Always true: one outcome per judged model call, recorded before the next boundary is asked.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::window::{Cursor, Window};
use provider::call::LoopAborts;
use provider::request::Shape;
use record::event::{Event, LogLevel, TurnOutcome};
use record::journal::AgentRow;
use vocab::outcome::{Breach, EndStatus, ErrorType, TurnVerdict};
use vocab::rewrite::Rewrite;

use super::holdings::Held;
use super::outfits::Outfit;
use super::program::CodeState;
use super::seat::Seat;
use super::succession::Declared;
use super::surface::{self, Surface};
use super::turn_clock::TurnClock;
use super::upkeep::Upkeep;
use super::{AgentSpec, Ending, Links, LoopEnd, under_latch};
use crate::delegation::Letter;
use crate::messages::{Boundary, Leave, RecordTurn, Room};
use crate::panics;
use crate::provider_client::CallSettings;
use crate::shared::Shared;
use crate::stop::{StopCause, StopWatch};
use crate::succession::Arrival;
use crate::supervisor::{Holdings, Verdict};

/// An agent at work: everything its loop holds exclusively.
pub(crate) struct Turns {
    pub(super) spec: AgentSpec,
    pub(super) shared: Arc<Shared>,
    pub(super) links: Links,
    pub(super) stop: StopWatch,
    /// What it is given like others.
    pub(super) outfit: Arc<Outfit>,
    pub(super) surface: Surface,
    pub(super) window: Window,
    pub(super) held: Held,
    /// Turns answered, what `maxTurns` measures.
    pub(super) answered: u64,
    /// Error outcomes in a row.
    streak: u64,
    /// Replies discarded as loops since the last outcome.
    pub(super) discarded: Discarded,
    /// What has changed messages that the last request sent.
    pub(super) rewritten: Option<Rewrite>,
    /// Whether the coming request is the last one again.
    pub(super) reasked: bool,
    /// How it lives within its window.
    pub(super) upkeep: Upkeep,
    /// How its requests are made.
    pub(super) settings: CallSettings,
    /// Messages of the request list that the journal already has.
    pub(super) journaled: Cursor,
    /// Rows of the prompt frame that the journal already has.
    pub(super) framed: Cursor,
    /// The slot it holds.
    pub(super) seat: Seat,
    /// What was written to it and does not stand in the window yet.
    pub(super) letters: Vec<Letter>,
    /// What its turn declared, to be carried out as it closes.
    pub(super) declared: Declared,
    /// Of whom it comes, until it has opened.
    pub(super) arrival: Option<Arrival>,
    /// What a code agent keeps beside what every agent keeps.
    pub(super) code: CodeState,
}

/// How the life of an incarnation ended.
pub(super) enum Life {
    /// Its loop ended, and its lineage with it.
    Over(LoopEnd),
    /// Another goes on in its place.
    HandedOn,
}

/// Replies discarded as loops, and their size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Discarded {
    replies: u64,
    words: u64,
    chars: u64,
}

impl Discarded {
    pub(super) fn add(&mut self, loops: &LoopAborts) {
        self.replies += loops.replies;
        self.words = self.words.saturating_add(loops.words);
        self.chars = self.chars.saturating_add(loops.chars);
    }
}

/// What a judged reply left to say about itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReplySize {
    pub(super) chars: u64,
    pub(super) output_tokens: u64,
}

impl Turns {
    pub(super) fn new(
        spec: AgentSpec,
        shared: Arc<Shared>,
        holdings: Holdings,
        links: Links,
        stop: StopWatch,
        seat: Seat,
        arrival: Option<Arrival>,
    ) -> Self {
        let outfit = shared.outfits.of(&spec, &shared, &holdings.roster);
        let programs = outfit.code.as_ref();
        let held = Held::open(&spec, &shared, holdings, &outfit.offered, programs);
        let surface = outfit.surface(&spec, held.has_skills());
        let settings = surface::call_settings(&spec.profile);
        let window = Window::new(
            spec.window_limit,
            surface.schemas.clone(),
            Shape::of(&spec.profile.model_id),
        );
        let code = CodeState::of(&spec.profile, shared.programs.preparing());
        let upkeep = Upkeep::resolve(
            &spec.profile,
            &surface.tools,
            surface.code.as_ref(),
            spec.window_limit,
        );
        Self {
            spec,
            shared,
            links,
            stop,
            outfit,
            surface,
            window,
            held,
            answered: 0,
            streak: 0,
            discarded: Discarded::default(),
            rewritten: None,
            reasked: false,
            upkeep,
            settings,
            journaled: Cursor::default(),
            framed: Cursor::default(),
            seat,
            letters: Vec::new(),
            declared: Declared::default(),
            arrival,
            code,
        }
    }

    /// Lives the whole life of the incarnation. Boxed: a future holds what it is given twice over.
    pub(super) async fn live(mut self: Box<Self>) -> Life {
        // Boxed, so that its room is given back: an agent opens once and then lives on.
        let end = match Box::pin(self.open()).await {
            ControlFlow::Break(end) => end,
            ControlFlow::Continue(()) => match self.turn_after_turn().await {
                Life::Over(end) => end,
                handed_on @ Life::HandedOn => return handed_on,
            },
        };
        self.leave_desk(&end);
        Life::Over(LoopEnd {
            status: under_latch(end.status, self.stop.cause()),
            ..end
        })
    }

    async fn turn_after_turn(&mut self) -> Life {
        loop {
            if let ControlFlow::Break(end) = self.turn().await {
                self.tell_undone();
                return Life::Over(end);
            }
            // The turn has told all of itself: nothing stands between it and whoever goes on.
            if let Some(successor) = self.declared.succession.take() {
                // Whoever goes on awaits nothing that it did not ask for.
                self.declared.waits.clear();
                if let ControlFlow::Break(life) = self.hand_on(successor).await {
                    return life;
                }
            } else if let ControlFlow::Break(end) = self.await_declared().await {
                return Life::Over(end);
            }
        }
    }

    async fn turn(&mut self) -> ControlFlow<LoopEnd> {
        let mut clock = TurnClock::start();
        self.boundary().await?;
        panics::trip("turn");
        if self.spec.depth > 0 {
            panics::trip("child");
        }
        if self.spec.works_for.is_some() {
            panics::trip("issue_agent");
        }
        let turn = self.turn_number();
        let flow = match self.prepare(turn).await {
            ControlFlow::Continue(()) => self.exchange(turn, &mut clock).await,
            end @ ControlFlow::Break(_) => end,
        };
        let timing = clock.timing();
        self.links
            .voice
            .say_in_turn(turn, Event::TurnTiming(timing));
        if let ControlFlow::Break(end) = &flow
            && let Some(breach) = &end.breach
        {
            self.report_breach(breach);
        }
        flow
    }

    /// Room in the stream, then leave to make the next call.
    async fn boundary(&mut self) -> ControlFlow<LoopEnd> {
        if !self.shared.room.is_open() {
            // Telemetry gone means its guard has raised the defect that the boundary will meet.
            tokio::select! {
                _ = self.links.voice.telemetry.ask(Room) => {}
                _ = self.stop.thrown() => {}
            }
        }
        let ask = Boundary {
            agent: self.spec.id.clone(),
            turns: self.answered,
            reads: !self.reasked,
        };
        let leave = self.links.supervisor.ask(ask).await;
        match leave.map(|Leave { verdict, letters }| (verdict, letters)) {
            Ok((Verdict::Go, letters)) => {
                self.letters = letters;
                ControlFlow::Continue(())
            }
            Ok((Verdict::Stop(status, breach), letters)) => {
                self.drop_letters(&letters);
                if let Some(breach) = &breach {
                    self.report_breach(breach);
                }
                ControlFlow::Break(LoopEnd {
                    breach,
                    ..LoopEnd::of(status)
                })
            }
            Err(error) => ControlFlow::Break(LoopEnd {
                error: Some(format!("the supervisor is gone: {error}")),
                ..LoopEnd::of(EndStatus::InternalError)
            }),
        }
    }

    fn report_breach(&self, breach: &Breach) {
        let voice = &self.links.voice;
        voice.log(
            LogLevel::Warn,
            Some("limit_exceeded"),
            format!(
                "ceiling `{}` of {} met: {}",
                breach.limit, breach.threshold, breach.observed
            ),
        );
        voice.say(Event::LimitExceeded(breach.into()));
    }

    /// Records the judgement of one model call: for the ceilings and for the record.
    pub(super) fn judge(
        &mut self,
        turn: u32,
        verdict: TurnVerdict,
        error: Option<ErrorType>,
        size: ReplySize,
    ) {
        // While the defect latch is up an error is gg's, not the model's (01 §9.6).
        let defect = verdict == TurnVerdict::Error && self.stop.has(StopCause::Defect);
        let (verdict, error) = if defect {
            (TurnVerdict::Fatal, None)
        } else {
            (verdict, error)
        };
        let consecutive_errors = match verdict {
            TurnVerdict::Error => self.streak + 1,
            TurnVerdict::Progressed | TurnVerdict::Finished | TurnVerdict::Fatal => 0,
        };
        // A fatal outcome says nothing of the model: what it had run up stands.
        if verdict != TurnVerdict::Fatal {
            self.streak = consecutive_errors;
        }
        let discarded = std::mem::take(&mut self.discarded);
        self.links.supervisor.tell(RecordTurn {
            agent: self.spec.id.clone(),
            verdict,
        });
        self.links.voice.say_in_turn(
            turn,
            Event::TurnOutcome(TurnOutcome {
                outcome: verdict,
                error: error.map(ErrorType::base),
                error_type: error,
                consecutive_errors,
                turns: u64::from(turn),
                loop_aborts: discarded.replies,
                loop_abort_words: discarded.words,
                loop_abort_chars: discarded.chars,
                response_chars: size.chars,
                response_output_tokens: size.output_tokens,
            }),
        );
    }

    /// Tells the operator why a turn failed, in its type's words.
    pub(super) fn tell_error(&self, turn: u32, error: ErrorType, why: Option<&str>) {
        let label = error.label();
        let text = match why {
            Some(why) => format!("turn {turn}: {label}: {why}"),
            None => format!("turn {turn}: {label}"),
        };
        self.links
            .voice
            .log(LogLevel::Warn, Some("turn_error"), text);
    }

    /// Closes a turn that was answered and that gg itself could not carry out.
    pub(super) fn close_fatal<T>(
        &mut self,
        turn: u32,
        cause: String,
        size: ReplySize,
    ) -> ControlFlow<LoopEnd, T> {
        self.answered += 1;
        self.judge(turn, TurnVerdict::Fatal, None, size);
        ControlFlow::Break(LoopEnd::internal(cause))
    }

    /// Closes a turn that was answered.
    pub(super) fn close(
        &mut self,
        turn: u32,
        ending: Option<Ending>,
        size: ReplySize,
    ) -> ControlFlow<LoopEnd> {
        self.answered += 1;
        match ending {
            None => {
                self.judge(turn, TurnVerdict::Progressed, None, size);
                ControlFlow::Continue(())
            }
            Some(ending) => {
                self.judge(turn, TurnVerdict::Finished, None, size);
                ControlFlow::Break(LoopEnd {
                    ending: Some(ending),
                    ..LoopEnd::of(EndStatus::Completed)
                })
            }
        }
    }

    /// The number of the turn being made.
    pub(super) fn turn_number(&self) -> u32 {
        u32::try_from(self.answered + 1).unwrap_or(u32::MAX)
    }
}

/// The journal's row of an agent, at creation or at its loop's end.
pub(super) fn journal_row(spec: &AgentSpec, end: Option<&LoopEnd>) -> AgentRow {
    AgentRow {
        id: spec.id.clone(),
        profile: spec.profile.slug.clone(),
        origin: spec.origin.clone(),
        ended_as: end.map(|end| end.status),
        limit: end
            .and_then(|end| end.breach.as_ref())
            .map(|breach| breach.limit),
    }
}
