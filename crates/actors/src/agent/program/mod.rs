//! What a program's calls end in: the services of `sandbox`, for one agent (04 §11; R45).
//!
//! While a program runs, whatever its calls touch is one value, [`Held`], on the program's own
//! thread: reading and writing the window, files, tasks and documentation suspends nothing and
//! crosses nothing. What suspends, or concerns an actor that others share, is sent to the agent's
//! loop as a [`Crossing`], together with the held state: the loop carries it out with the methods
//! that serve tool calls, and sends state and answer back. The program's thread waits meanwhile.
//!
//! Always true: the state is in one place at a time, with the program or with the loop; a dispatched
//! call leaves one entry in the journal.

mod board;
mod code;
mod context;
mod delegation;
mod docs;
mod files;
mod frame;
pub(super) mod given;
mod memories;
mod programs;
mod session;
mod shell;
mod skills;
mod tasks;
pub(super) mod views;

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc as blocking;
use std::sync::{Arc, Mutex};

use ::context::window::Window;
use config::profile::Profile;
use provider::request::Shape;
use record::journal::Entry;
use sandbox::arms::Arm;
use sandbox::contract::CodeModule;
use sandbox::prepare::PrepareContext;
use sandbox::services::Call;
use serde_json::Value;
use tokio::sync::mpsc;
use tools::{FilePolicy, Halt, Place};
use vocab::failure::Failure;
use vocab::grant::Offer;
use vocab::ids::CallId;
use vocab::message::Image;

use super::holdings;
pub(super) use super::hooked::Broken;
use super::hooked::Ran;
use super::loaded::Loaded;
use super::succession::Declared;
use super::turns::Turns;
use super::undone::{Undone, defective, stopping};
use super::upkeep::Upkeep;
use crate::messages::Keep;
use crate::shared::Shared;
use crate::telemetry::Voice;

/// What a program's calls touch: the agent's own, lent to the program while it runs.
pub(super) struct Held {
    /// What the agent sends.
    pub(super) window: Window,
    /// Tasks, skills, the address of the memories, and snapshots of what changed.
    pub(super) modules: holdings::Held,
    /// How it lives within its window.
    pub(super) upkeep: Upkeep,
    /// What the turn declared: copies and a succession.
    pub(super) declared: Declared,
    /// What a code agent keeps beside what every agent keeps.
    pub(super) code: CodeState,
}

/// What a code agent keeps beside what every agent keeps, from turn to turn.
#[derive(Default)]
pub(super) struct CodeState {
    /// What its documentation views came to.
    pub(super) docs: docs::Docs,
    /// The programs it keeps.
    pub(super) library: programs::Library,
    /// What its programs showed.
    pub(super) views: views::Shown,
    /// The ending its programs declared.
    pub(super) session: session::Declaration,
    /// The code of skills and memories that it uses.
    pub(super) loaded: Loaded,
    /// What gg could not do for a call, or a hook did not judge: the agent ends of it.
    pub(super) broken: Option<Broken>,
    /// What preparing its programs keeps.
    pub(super) preparing: PrepareContext,
    /// Whether the operator was told that it calls what it was not told of.
    pub(super) warned_undocumented: bool,
}

impl CodeState {
    /// Of a new agent.
    pub(super) fn of(profile: &Profile, preparing: PrepareContext) -> Self {
        Self {
            preparing,
            docs: docs::Docs::of(profile),
            library: programs::Library::of(profile),
            ..Self::default()
        }
    }

    /// A turn begins: nothing was shown or declared in it.
    pub(super) fn begin_turn(&mut self) {
        self.views = views::Shown::default();
        self.session = session::Declaration::default();
    }

    /// What a program may import of what the agent has loaded.
    pub(super) fn modules(&self) -> Vec<CodeModule> {
        self.loaded.modules()
    }

    /// Notes a defect of gg's own, of which the agent ends, and answers what the program is told. The
    /// first stays the cause.
    pub(super) fn defect(&mut self, cause: impl Into<String>) -> Failure {
        self.broken.get_or_insert(Broken::Defect(cause.into()));
        defective()
    }

    /// What a program is told of a call that came to nothing.
    pub(super) fn undone(&mut self, undone: Undone) -> Failure {
        match undone {
            Undone::Refused(failure) => failure,
            Undone::Defect(cause) => self.defect(cause),
        }
    }
}

/// Something the loop does for a program, with the state put back into it.
pub(super) type Request =
    Box<dyn for<'a> FnOnce(&'a mut Turns) -> Pin<Box<dyn Future<Output = Answer> + 'a>> + Send>;

/// Takes the state back to the program that waits, with what came of its request.
pub(super) type Answer = Box<dyn FnOnce(Box<Held>)>;

/// A call that the loop carries out.
pub(super) struct Crossing {
    /// The state, on its way to the loop.
    pub(super) held: Box<Held>,
    /// What is to be done.
    pub(super) request: Request,
}

/// What a program's calls need and none of them changes.
#[derive(Clone)]
pub(super) struct Setting {
    pub(super) shared: Arc<Shared>,
    pub(super) voice: Voice,
    /// The turn it runs in.
    pub(super) turn: u32,
    /// The call that submitted it.
    pub(super) submission: CallId,
    /// Where it works.
    pub(super) place: Place,
    /// What a read may do; the room for pictures is asked of the window.
    pub(super) files: FilePolicy,
    /// Raised once what its calls on files come to is wanted no more.
    pub(super) halt: Halt,
    /// What the agent may call.
    pub(super) offer: Arc<Offer>,
    /// The language of its programs.
    pub(super) arm: &'static dyn Arm,
    /// Whether hooks stand around its writes.
    pub(super) watches_writes: bool,
    /// Whether it is the program that the agent opens on: its calls leave no events, and the run's
    /// clock does not concern it.
    pub(super) quiet: bool,
    /// What its calls came to so far, for when its state is lost.
    pub(super) counts: Arc<Counts>,
}

/// Calls of one submission, counted where they happen.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// All of them.
    pub(super) calls: AtomicU64,
    /// Those that were dispatched.
    pub(super) dispatched: AtomicU64,
    /// Calls of tools that failed, those that were not dispatched too.
    pub(super) failed: AtomicU64,
    /// The call that is open, and whether anybody still hears of calls.
    bracket: Mutex<frame::Bracket>,
}

/// What a dispatched call came to.
pub(super) struct Carried<T> {
    /// What the program gets.
    pub(super) value: T,
    /// The same as a tool would say it, for the journal.
    pub(super) text: String,
    /// The pictures of it.
    pub(super) images: Vec<Image>,
}

impl<T> Carried<T> {
    /// A value, and how a tool would say it.
    pub(super) fn new(value: T, text: impl Into<String>) -> Self {
        Self {
            value,
            text: text.into(),
            images: Vec::new(),
        }
    }
}

/// The services of one program.
pub(super) struct Serving {
    /// Away while a call crosses; lost where the loop died meanwhile.
    held: Option<Box<Held>>,
    crossings: mpsc::UnboundedSender<Crossing>,
    setting: Setting,
}

impl Serving {
    /// The services of a program, and where its crossings come out.
    pub(super) fn new(
        held: Box<Held>,
        setting: Setting,
    ) -> (Self, mpsc::UnboundedReceiver<Crossing>) {
        let (crossings, receiver) = mpsc::unbounded_channel();
        let serving = Self {
            held: Some(held),
            crossings,
            setting,
        };
        (serving, receiver)
    }

    /// The state, given back; `None` where it was lost.
    pub(super) fn into_held(self) -> Option<Box<Held>> {
        self.held
    }

    /// A call that was answered as another is: a defect.
    fn mismatched(&mut self) -> Failure {
        match self.held() {
            Ok((held, _)) => held
                .code
                .defect("a program's call was answered as another is"),
            Err(lost) => lost,
        }
    }

    /// The state, for a call that dispatches nothing.
    pub(super) fn held(&mut self) -> Result<(&mut Held, &Setting), Failure> {
        let held = self.held.as_deref_mut().ok_or_else(stopping)?;
        Ok((held, &self.setting))
    }

    /// Carries out a dispatched call on the program's own thread. `arguments` are what a tool of the
    /// same name would have been called with: the key of the journal's entry.
    pub(super) fn local<T>(
        &mut self,
        call: &Call,
        arguments: &Value,
        work: impl FnOnce(&mut Held, &Setting) -> Result<Carried<T>, Failure>,
    ) -> Result<T, Failure> {
        let held = self.held.as_deref_mut().ok_or_else(stopping)?;
        let outcome = work(held, &self.setting);
        self.record(call, arguments, outcome)
    }

    /// Carries out a dispatched call on the agent's loop.
    pub(super) fn across<T: Send + 'static>(
        &mut self,
        call: &Call,
        arguments: &Value,
        work: impl AsyncFnOnce(&mut Turns, u32) -> Result<Carried<T>, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = self.setting.turn;
        let outcome = self.cross(async move |turns: &mut Turns| work(turns, turn).await);
        self.record(call, arguments, outcome)
    }

    /// Has the loop do something with the state, and waits for it.
    pub(super) fn cross<T: Send + 'static>(
        &mut self,
        work: impl AsyncFnOnce(&mut Turns) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let held = self.held.take().ok_or_else(stopping)?;
        let (sender, receiver) = blocking::sync_channel(1);
        let request: Request = Box::new(move |turns| {
            Box::pin(async move {
                let outcome = work(turns).await;
                let answer: Answer = Box::new(move |held| {
                    // A program that waits no more has ended, and its agent with it.
                    sender.send((held, outcome)).ok();
                });
                answer
            })
        });
        if let Err(unsent) = self.crossings.send(Crossing { held, request }) {
            self.held = Some(unsent.0.held);
            return Err(stopping());
        }
        let (held, outcome) = receiver.recv().map_err(|_| stopping())?;
        self.held = Some(held);
        outcome
    }

    /// What a dispatched call came to, taken in, and its entry of the journal.
    fn record<T>(
        &mut self,
        call: &Call,
        arguments: &Value,
        outcome: Result<Carried<T>, Failure>,
    ) -> Result<T, Failure> {
        let Some(tool) = call.operation().tool else {
            return outcome.map(|carried| carried.value);
        };
        if self.setting.counts.is_left() {
            // It was told as failed, and whoever kept the journal may be gone.
            return outcome.map(|carried| carried.value);
        }
        self.setting
            .counts
            .dispatched
            .fetch_add(1, Ordering::Relaxed);
        if let (Ok(_), Some(held)) = (&outcome, self.held.as_deref_mut()) {
            held.upkeep.succeeded(tool);
        }
        let mask = &self.setting.shared.mask;
        let (output, failure, images) = match &outcome {
            Ok(carried) => (
                mask.apply(&carried.text).into_owned(),
                None,
                carried.images.clone(),
            ),
            Err(failure) => {
                let text = failure.as_result_text(tool.as_str());
                let text = mask.apply(&text).into_owned();
                (text, Some(failure.class), Vec::new())
            }
        };
        self.setting.keep(Entry::ToolResult {
            call_id: format!("program:{}:{tool}", call.ordinal()).into(),
            tool: tool.as_str().to_owned(),
            arguments: arguments.to_string().into(),
            ok: failure.is_none(),
            failure,
            output: output.into(),
            images,
        });
        outcome.map(|carried| carried.value)
    }
}

impl Setting {
    fn keep(&self, entry: Entry) {
        self.voice.telemetry.tell(Keep {
            agent: self.voice.agent.clone(),
            entry,
        });
    }
}

impl Turns {
    /// Gives away what a program's calls touch.
    pub(super) fn lend(&mut self) -> Box<Held> {
        let nothing = Window::new(
            self.spec.window_limit,
            "",
            Shape::of(&self.spec.profile.model_id),
        );
        Box::new(Held {
            window: std::mem::replace(&mut self.window, nothing),
            modules: std::mem::replace(&mut self.held, holdings::Held::lent()),
            upkeep: std::mem::take(&mut self.upkeep),
            declared: std::mem::take(&mut self.declared),
            code: std::mem::take(&mut self.code),
        })
    }

    /// Takes it back.
    pub(super) fn take_back(&mut self, held: Box<Held>) {
        let Held {
            window,
            modules,
            upkeep,
            declared,
            code,
        } = *held;
        self.window = window;
        self.held = modules;
        self.upkeep = upkeep;
        self.declared = declared;
        self.code = code;
    }
}

/// What a call between hooks came to. What ends the agent behind it is kept for the turn.
pub(super) fn broke<T>(turns: &mut Turns, ran: Ran<T>) -> Result<T, Failure> {
    let Ran { outcome, broken } = ran;
    turns.code.broken = turns.code.broken.take().or(broken);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_defect_stays_the_cause_and_the_program_is_told_no_other() {
        let mut code = CodeState::default();
        let first = code.defect("the first");
        let second = code.undone(Undone::Defect("a second".to_owned()));
        assert_eq!(first, second);
        assert_eq!(code.broken, Some(Broken::Defect("the first".to_owned())));
        let refused = Failure::invalid("no");
        assert_eq!(code.undone(Undone::Refused(refused.clone())), refused);
    }
}
