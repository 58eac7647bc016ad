//! The telemetry actor: the only writer of standard output and of the journal (03 §10.1).
//!
//! It passes events to the stream's thread and inputs to the journal's, both in batches, and
//! folds what passes into the run's summary. It waits for neither: an agent that finds the stream
//! full at its turn boundary asks for room, a program in any case between its calls, and both are
//! answered when the writer has caught up (R53).

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, AsyncContext, Context, ResponseFuture};
use record::event::{Emission, Event, Log, LogLevel, SessionEnded};
use record::journal::{AgentRow, Journal, JournalReport, Seed};
use record::mask::Mask;
use record::stream::{Gauge, Stream, StreamReport};
use record::summary::Fold;
use tokio::sync::oneshot;
use vocab::ids::SessionId;

use crate::clock;
use crate::flow::Tap;
use crate::link::{Link, Named, Receive, SHARED_MAILBOX, routes};
use crate::messages::{
    CloseJournal, Conclude, Emit, Keep, KeepAgent, KeepSeed, RaiseDefect, Room, RoomAgain,
};
use crate::panics::{self, DeathWatch};

/// Events wait this long for company before they go to the writer.
const BATCH_DELAY: Duration = Duration::from_millis(5);
/// A batch this large goes at once.
const BATCH_SIZE: usize = 256;

/// Where a run's stream goes.
pub struct Outputs {
    /// Standard output, or what stands for it.
    pub stdout: Box<dyn Write + Send>,
    /// A second copy, for `--run-dir`.
    pub tee: Option<Box<dyn Write + Send>>,
}

impl std::fmt::Debug for Outputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Outputs {{ tee: {} }}", self.tee.is_some())
    }
}

/// Tells the supervisor of a defect; set once the supervisor exists.
type Alarm = Arc<dyn Fn(RaiseDefect) + Send + Sync>;

/// Something for the journal.
enum Input {
    Entry(Keep),
    Agent(AgentRow),
    Seed(Seed),
}

/// See the module.
pub struct Telemetry {
    stream: Option<Stream>,
    journal: Option<Journal>,
    fold: Option<Fold>,
    batch: Vec<Emission>,
    inputs: Vec<Input>,
    flush_due: bool,
    waiting_for_room: Vec<oneshot::Sender<()>>,
    alarm: Option<Alarm>,
    capture_reported: bool,
    /// Armed with the alarm: before that there is nobody to tell.
    death: Option<DeathWatch>,
}

impl Telemetry {
    /// Starts the stream's thread and the actor; what tells agents whether they have to ask it for
    /// room comes with it.
    pub(crate) fn start(
        session: SessionId,
        outputs: Outputs,
        mask: Mask,
        journal: Journal,
        tap: Option<&Tap>,
    ) -> io::Result<(Link<Self>, Gauge)> {
        let mut context = Context::new();
        context.set_mailbox_capacity(SHARED_MAILBOX);
        let link = Link::new(context.address(), "telemetry", tap);
        let waker = link.held_by("stream");
        let stream = Stream::start_masked(
            session,
            outputs.stdout,
            outputs.tee,
            Box::new(move || waker.tell(RoomAgain)),
            mask,
        )?;
        let gauge = stream.gauge();
        context.run(Self {
            stream: Some(stream),
            journal: Some(journal),
            fold: Some(Fold::new()),
            batch: Vec::new(),
            inputs: Vec::new(),
            flush_due: false,
            waiting_for_room: Vec::new(),
            alarm: None,
            capture_reported: false,
            death: None,
        });
        Ok((link, gauge))
    }

    fn push(&mut self, emission: Emission, context: &mut Context<Self>) {
        if let Some(fold) = &mut self.fold {
            fold.take(&emission);
        }
        self.batch.push(emission);
        self.flush_soon(context);
    }

    /// Passes on what has come together: at once where it is much, else a little later.
    fn flush_soon(&mut self, context: &mut Context<Self>) {
        if self.batch.len() + self.inputs.len() >= BATCH_SIZE {
            self.flush();
        } else if !self.flush_due {
            self.flush_due = true;
            context.run_later(BATCH_DELAY, |telemetry, _| {
                telemetry.flush_due = false;
                telemetry.flush();
            });
        }
    }

    /// Says once that the journal stopped: capture never fails the run it observes (06 §8).
    fn report_capture(&mut self) {
        let Some(reason) = self.journal.as_ref().and_then(Journal::stopped_because) else {
            return;
        };
        if !std::mem::replace(&mut self.capture_reported, true) {
            self.batch.push(Emission {
                at_ms: clock::now_ms(),
                agent: None,
                turn: None,
                event: Event::Log(Log {
                    level: LogLevel::Warn,
                    message: format!("capture stopped, the run goes on: {reason}"),
                    code: Some("capture_stopped"),
                }),
            });
        }
    }

    fn flush(&mut self) {
        if let Some(journal) = &mut self.journal {
            let inputs = self.inputs.drain(..);
            journal.batch(|journal| {
                for input in inputs {
                    match input {
                        Input::Entry(Keep { agent, entry }) => journal.entry(agent.as_ref(), entry),
                        Input::Agent(row) => journal.agent(row),
                        Input::Seed(seed) => journal.seed(seed),
                    }
                }
            });
        }
        self.report_capture();
        if let Some(stream) = &self.stream
            && !self.batch.is_empty()
        {
            stream.send(std::mem::take(&mut self.batch));
        }
    }

    fn has_room(&self) -> bool {
        self.stream
            .as_ref()
            .is_none_or(|stream| stream.gauge().has_room())
    }

    /// Reports a broken standard output, once.
    fn report_broken(&mut self) {
        let Some(reason) = self.stream.as_ref().and_then(Stream::broken) else {
            return;
        };
        if let Some(alarm) = self.alarm.take() {
            alarm(RaiseDefect {
                agent: None,
                profile: None,
                cause: format!("the event stream cannot be written to stdout: {reason}"),
            });
        }
    }
}

impl Actor for Telemetry {
    type Context = Context<Self>;
}

impl Named for Telemetry {
    fn name(&self) -> &'static str {
        "telemetry"
    }
}

routes!(Telemetry: Emit, Keep, KeepAgent, KeepSeed, Room, RoomAgain, Watch, CloseJournal, Conclude);

/// Hands telemetry the way to raise a defect. From the run, once; one-way.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub(crate) struct Watch(pub(crate) Alarm);

impl Receive<Watch> for Telemetry {
    type Reply = ();

    fn receive(&mut self, Watch(alarm): Watch, _: &mut Context<Self>) {
        let bell = Arc::clone(&alarm);
        self.death = Some(DeathWatch::new(move |text| {
            bell(RaiseDefect {
                agent: None,
                profile: None,
                cause: format!("telemetry panicked: {text}"),
            });
        }));
        self.alarm = Some(alarm);
        self.report_broken();
    }
}

impl Receive<Emit> for Telemetry {
    type Reply = ();

    fn receive(&mut self, Emit(emission): Emit, context: &mut Context<Self>) {
        self.push(emission, context);
    }
}

impl Receive<Keep> for Telemetry {
    type Reply = ();

    fn receive(&mut self, keep: Keep, context: &mut Context<Self>) {
        panics::trip("telemetry");
        self.inputs.push(Input::Entry(keep));
        self.flush_soon(context);
    }
}

impl Receive<KeepAgent> for Telemetry {
    type Reply = ();

    fn receive(&mut self, KeepAgent(row): KeepAgent, context: &mut Context<Self>) {
        self.inputs.push(Input::Agent(row));
        self.flush_soon(context);
    }
}

impl Receive<KeepSeed> for Telemetry {
    type Reply = ();

    fn receive(&mut self, KeepSeed(seed): KeepSeed, context: &mut Context<Self>) {
        self.inputs.push(Input::Seed(seed));
        self.flush_soon(context);
    }
}

impl Receive<Room> for Telemetry {
    type Reply = ResponseFuture<()>;

    fn receive(&mut self, _: Room, _: &mut Context<Self>) -> Self::Reply {
        self.report_broken();
        let (wake, room) = oneshot::channel();
        if self.has_room() {
            wake.send(()).ok();
        } else {
            self.flush();
            self.waiting_for_room.push(wake);
        }
        Box::pin(async move {
            // A dropped waker is telemetry's own death, which its guard reports.
            room.await.ok();
        })
    }
}

impl Receive<RoomAgain> for Telemetry {
    type Reply = ();

    fn receive(&mut self, _: RoomAgain, _: &mut Context<Self>) {
        self.report_broken();
        for waiter in self.waiting_for_room.drain(..) {
            // The asker may have been stopped meanwhile.
            waiter.send(()).ok();
        }
    }
}

impl Receive<CloseJournal> for Telemetry {
    type Reply = ResponseFuture<JournalReport>;

    fn receive(&mut self, _: CloseJournal, _: &mut Context<Self>) -> Self::Reply {
        self.flush();
        let journal = self.journal.take();
        Box::pin(async move {
            let Some(journal) = journal else {
                return lost_journal("the journal was closed before");
            };
            tokio::task::spawn_blocking(move || journal.finish())
                .await
                .unwrap_or_else(|error| lost_journal(&error.to_string()))
        })
    }
}

impl Receive<Conclude> for Telemetry {
    type Reply = ResponseFuture<StreamReport>;

    fn receive(&mut self, conclude: Conclude, _: &mut Context<Self>) -> Self::Reply {
        let Conclude { conclusion, error } = conclude;
        let (status, exit_code) = (conclusion.status, conclusion.exit_code);
        if let Some(fold) = self.fold.take() {
            let at_ms = clock::now_ms();
            let closing = |event| Emission {
                at_ms,
                agent: None,
                turn: None,
                event,
            };
            for slot in fold.slots() {
                self.batch.push(closing(Event::SlotUsage(slot)));
            }
            let summary = fold.conclude(conclusion);
            self.batch
                .push(closing(Event::SessionSummary(Box::new(summary))));
            self.batch.push(closing(Event::SessionEnded(SessionEnded {
                status,
                exit_code,
                error,
            })));
        }
        self.flush();
        let stream = self.stream.take();
        Box::pin(async move {
            let Some(stream) = stream else {
                return lost_stream("the stream was closed before");
            };
            tokio::task::spawn_blocking(move || stream.finish())
                .await
                .unwrap_or_else(|error| lost_stream(&error.to_string()))
        })
    }
}

/// The report of a journal nobody can ask any more.
fn lost_journal(why: &str) -> JournalReport {
    JournalReport {
        stopped: Some("write_failed".to_owned()),
        detail: Some(why.to_owned()),
        ..JournalReport::default()
    }
}

/// The report of a stream nobody can ask any more.
fn lost_stream(why: &str) -> StreamReport {
    StreamReport {
        error: Some(why.to_owned()),
        ..StreamReport::default()
    }
}

/// A holder's way to emit: the telemetry link, and whom the events happened to.
#[derive(Clone, Debug)]
pub(crate) struct Voice {
    pub(crate) telemetry: Link<Telemetry>,
    pub(crate) agent: Option<vocab::ids::AgentId>,
}

impl Voice {
    /// The same for what happened to another agent.
    pub(crate) fn of(&self, agent: &vocab::ids::AgentId) -> Self {
        Self {
            telemetry: self.telemetry.clone(),
            agent: Some(agent.clone()),
        }
    }

    /// Emits an event of no turn.
    pub(crate) fn say(&self, event: Event) {
        self.emit(None, event);
    }

    /// Emits an event of a turn.
    pub(crate) fn say_in_turn(&self, turn: u32, event: Event) {
        self.emit(Some(turn), event);
    }

    fn emit(&self, turn: Option<u32>, event: Event) {
        let emission = Emission {
            at_ms: clock::now_ms(),
            agent: self.agent.clone(),
            turn,
            event,
        };
        self.telemetry.tell(Emit(emission));
    }

    /// Emits a log line.
    pub(crate) fn log(
        &self,
        level: LogLevel,
        code: Option<&'static str>,
        message: impl Into<String>,
    ) {
        self.say(Event::Log(Log {
            level,
            message: message.into(),
            code,
        }));
    }
}
