//! Where an agent meets the operator's hooks: at its start, around its writes, commands and
//! compactions, and before its ending stands (01 §8).
//!
//! The supervisor has them run; here their answers take effect. Without hooks of an event nothing
//! is asked and nothing waits.
//!
//! Always true: nothing is written, run or ended that a hook had to judge and did not let pass;
//! what hooks say stands behind the results of the calls it is about.

use std::ops::ControlFlow;
use std::sync::Arc;

use config::hooks::HookEvent;
use context::prompts;
use context::window::Retention;
use record::event::Origin;
use tools::{Call, Done, shell, write};
use vocab::band::Band;
use vocab::failure::{Failure, FailureClass};
use vocab::outcome::{EndStatus, TurnVerdict};

use super::records::CommandOrigin;
use super::tool_turn::Answer;
use super::turns::{ReplySize, Turns};
use super::undone::{defective, stopping};
use super::{Ending, LoopEnd};
use crate::hooks::{self, Facts, Fired, Passage, Told, Who};
use crate::messages::RunHook;
use crate::panics;
use crate::stop::StopCause;

/// What ends an agent behind a call, whatever the call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// What gg itself could not do.
    Defect(String),
    /// What a hook did not judge; the run ends of it.
    Unjudged(String),
}

/// What came of a call that hooks stand around.
pub(super) struct Ran<T> {
    /// What the call came to.
    pub(super) outcome: Result<T, Failure>,
    /// What ends the agent behind it.
    pub(super) broken: Option<Broken>,
}

impl<T> Ran<T> {
    /// What a call came to, and nothing beside it.
    fn of(outcome: Result<T, Failure>) -> Self {
        Self {
            outcome,
            broken: None,
        }
    }

    /// The same with another value.
    pub(super) fn rendered<U>(self, render: impl FnOnce(T) -> Result<U, Failure>) -> Ran<U> {
        Ran {
            outcome: self.outcome.and_then(render),
            broken: self.broken,
        }
    }

    /// What a call's work came to, or the defect that kept it from coming to anything.
    fn of_work(outcome: Result<Result<T, Failure>, String>) -> Self {
        match outcome {
            Ok(outcome) => Self::of(outcome),
            Err(cause) => Self::from(Held::defect(cause)),
        }
    }
}

impl From<Ran<Done>> for Answer {
    fn from(Ran { outcome, broken }: Ran<Done>) -> Self {
        let answer = Self::of(outcome);
        match broken {
            None => answer,
            Some(Broken::Defect(cause)) => Self {
                defect: Some(cause),
                ..answer
            },
            Some(Broken::Unjudged(why)) => Self {
                unjudged: Some(why),
                ..answer
            },
        }
    }
}

/// What a call is answered that is not carried out.
struct Held {
    failure: Failure,
    broken: Option<Broken>,
}

impl Held {
    fn defect(cause: String) -> Self {
        Self {
            failure: defective(),
            broken: Some(Broken::Defect(cause)),
        }
    }
}

impl<T> From<Held> for Ran<T> {
    fn from(Held { failure, broken }: Held) -> Self {
        Self {
            outcome: Err(failure),
            broken,
        }
    }
}

impl Turns {
    /// Whether an event of this agent has a hook.
    pub(super) fn hooks_at(&self, event: HookEvent) -> bool {
        let of_run = &self.shared.launch.capability_set.hooks;
        if event.is_of_session() {
            hooks::has_any(of_run, event)
        } else {
            hooks::has_any(&self.spec.profile.hooks, event)
        }
    }

    /// Whether hooks stand around its commands.
    pub(super) fn watches_commands(&self) -> bool {
        self.hooks_at(HookEvent::PreShell) || self.hooks_at(HookEvent::PostShell)
    }

    /// Has the hooks of an event run.
    async fn fire(
        &self,
        turn: Option<u32>,
        event: HookEvent,
        facts: Facts,
    ) -> Result<Fired, String> {
        if !self.hooks_at(event) {
            return Ok(Fired::open());
        }
        let ask = RunHook {
            event,
            who: Who::of(&self.spec),
            facts,
            turn,
            stop: self.stop.clone(),
            deadline: self.shared.clock.deadline(),
        };
        let fired = self.links.supervisor.ask(ask).await;
        fired.map_err(|_| format!("the hooks died: {}", panics::last()))
    }

    /// The hooks of the run's start, where this is its first agent, and those of the agent's.
    pub(super) async fn hooks_of_the_start(&mut self) -> ControlFlow<LoopEnd> {
        // Without a slot the run is stopping: the agent's first boundary ends it.
        if !self.seat.is_taken() {
            return ControlFlow::Continue(());
        }
        let turn = u32::try_from(self.answered).unwrap_or(u32::MAX);
        if self.spec.origin == Origin::Root {
            let event = HookEvent::SessionStart;
            self.observe(turn, None, event, Facts::Nothing).await?;
        }
        let event = HookEvent::AgentStart;
        self.observe(turn, None, event, Facts::Nothing).await
    }

    /// The hooks around a compaction. What those behind it say is pinned (02 §6.2).
    pub(super) async fn hooks_of_compaction(
        &mut self,
        turn: u32,
        event: HookEvent,
    ) -> ControlFlow<LoopEnd> {
        let Some(compaction) = &self.upkeep.compaction else {
            return ControlFlow::Continue(());
        };
        let facts = Facts::Compaction(compaction.strategy().as_str());
        self.observe(turn, Some(turn), event, facts).await
    }

    /// Hooks that have nothing to stop.
    async fn observe(
        &mut self,
        turn: u32,
        within: Option<u32>,
        event: HookEvent,
        facts: Facts,
    ) -> ControlFlow<LoopEnd> {
        let fired = match self.fire(within, event, facts).await {
            Ok(fired) => fired,
            Err(cause) => return ControlFlow::Break(LoopEnd::internal(cause)),
        };
        let retention = match event {
            HookEvent::PostCompact => Retention::Pinned,
            _ => Retention::Ephemeral,
        };
        for told in &fired.told {
            self.show(turn, told, retention)?;
        }
        match fired.passage {
            Passage::Open | Passage::Blocked(_) => ControlFlow::Continue(()),
            Passage::Failed(why) => ControlFlow::Break(unjudged(why)),
            Passage::Stopped => self.cut_short(),
        }
    }

    /// A stop of the run ended the hooks: a cancel ends the agent here, any other cause at its
    /// boundary.
    fn cut_short(&self) -> ControlFlow<LoopEnd> {
        if self.stop.has(StopCause::Canceled) {
            ControlFlow::Break(LoopEnd::of(EndStatus::Canceled))
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Asks the hooks before an ending is applied (01 §9.4). `None` where one blocks it: the
    /// reason stands in the window, and the session goes on. `dropped` is the call of a succession
    /// that was declared beside it.
    pub(super) async fn gate_ending(
        &mut self,
        turn: u32,
        ending: Ending,
        dropped: Option<&str>,
        size: ReplySize,
    ) -> ControlFlow<LoopEnd, Option<Ending>> {
        let call = ending.call().as_str();
        let event = HookEvent::AgentStop;
        let fired = match self.fire(Some(turn), event, Facts::Declared(call)).await {
            Ok(fired) => fired,
            Err(cause) => return self.close_fatal(turn, cause, size),
        };
        match fired.passage {
            Passage::Open => return ControlFlow::Continue(Some(ending)),
            Passage::Failed(why) => {
                return self.close_unjudged(turn, why, size);
            }
            Passage::Stopped => {
                if let ControlFlow::Break(end) = self.cut_short() {
                    return self.close_short(turn, end, size);
                }
            }
            Passage::Blocked(block) => {
                for told in &fired.told {
                    self.show(turn, told, Retention::Ephemeral)?;
                }
                let text = prompts::ending_blocked(call, &block.text, dropped);
                let text = self.rendered(turn, text)?;
                self.put(turn, Band::System, Retention::Ephemeral, text);
            }
        }
        ControlFlow::Continue(None)
    }

    /// Closes a turn that a hook did not judge: no error of the model's.
    pub(super) fn close_unjudged<T>(
        &mut self,
        turn: u32,
        why: String,
        size: ReplySize,
    ) -> ControlFlow<LoopEnd, T> {
        self.close_short(turn, unjudged(why), size)
    }

    fn close_short<T>(
        &mut self,
        turn: u32,
        end: LoopEnd,
        size: ReplySize,
    ) -> ControlFlow<LoopEnd, T> {
        self.answered += 1;
        self.judge(turn, TurnVerdict::Progressed, None, size);
        ControlFlow::Break(end)
    }

    /// Runs a command between its hooks, and records it. What a hook sees has happened, so it is
    /// told before those behind it are asked.
    pub(super) async fn run_command(
        &mut self,
        turn: u32,
        call: tools::Shell,
        origin: CommandOrigin,
    ) -> Ran<shell::Outcome> {
        let command: Arc<str> = call.command.as_str().into();
        let facts = |ok| Facts::Command {
            command: Arc::clone(&command),
            ok,
        };
        if let Err(held) = self.ask_leave(turn, HookEvent::PreShell, facts(None)).await {
            return held.into();
        }
        let outcome = self.start_command(call).await;
        self.record_command(turn, &outcome.record, origin);
        let ok = Some(outcome.exit_code == 0);
        let ran = Ran::of(Ok(outcome));
        self.ask_after(turn, HookEvent::PostShell, facts(ok), ran)
            .await
    }

    /// Whether hooks stand around its writes.
    pub(super) fn watches_writes(&self) -> bool {
        self.hooks_at(HookEvent::PreWrite) || self.hooks_at(HookEvent::PostWrite)
    }

    /// Writes or edits a file: the plan, the hooks that see the whole file as it would become, its
    /// application, the hooks behind it.
    pub(super) async fn write_file(&mut self, turn: u32, call: Call) -> Ran<Done> {
        let place = self.place();
        let plan = move |call: &Call| write::plan(call, &place);
        if !self.watches_writes() {
            let written = self.call_on_disk(move |_| plan(&call)?.apply());
            return Ran::of_work(written.await);
        }
        let (again, planned) = (plan.clone(), call.clone());
        let planned = self.call_on_disk(move |_| {
            let plan = plan(&planned)?;
            let path = hooks::plain(&plan.target);
            Ok((plan, path))
        });
        let (plan, path) = match planned.await {
            Ok(Ok(planned)) => planned,
            Ok(Err(failure)) => return Ran::of(Err(failure)),
            Err(cause) => return Held::defect(cause).into(),
        };
        let contents: Arc<str> = plan.contents.as_str().into();
        let facts = |ok| Facts::Write {
            path: path.clone(),
            contents: Arc::clone(&contents),
            ok,
        };
        if let Err(held) = self.ask_leave(turn, HookEvent::PreWrite, facts(None)).await {
            return held.into();
        }
        let applied = self.call_on_disk(move |_| {
            // What the hooks let pass is this plan; an edit of another text was not seen by them.
            if again(&call)? != plan {
                return Err(Failure::new(
                    FailureClass::Conflict,
                    "the file was changed while this call was being checked; read it again",
                ));
            }
            plan.apply()
        });
        let ran = Ran::of_work(applied.await);
        let ok = Some(ran.outcome.is_ok());
        self.ask_after(turn, HookEvent::PostWrite, facts(ok), ran)
            .await
    }

    /// Asks the hooks before a call is carried out.
    async fn ask_leave(&mut self, turn: u32, event: HookEvent, facts: Facts) -> Result<(), Held> {
        let held = |failure, broken| Held { failure, broken };
        let refused = |why: &str| Failure::new(FailureClass::Refused, why);
        let fired = self.fire(Some(turn), event, facts).await;
        let fired = fired.map_err(Held::defect)?;
        self.upkeep.told.extend(fired.told);
        match fired.passage {
            Passage::Open => Ok(()),
            Passage::Blocked(block) => Err(held(refused(&block.text), None)),
            Passage::Stopped => Err(held(stopping(), None)),
            Passage::Failed(why) => Err(held(
                refused("what checks this call failed; the run is stopping"),
                Some(Broken::Unjudged(why)),
            )),
        }
    }

    /// Asks the hooks behind a call that was carried out.
    async fn ask_after<T>(
        &mut self,
        turn: u32,
        event: HookEvent,
        facts: Facts,
        ran: Ran<T>,
    ) -> Ran<T> {
        let fired = match self.fire(Some(turn), event, facts).await {
            Ok(fired) => fired,
            Err(cause) => {
                return Ran {
                    broken: ran.broken.or(Some(Broken::Defect(cause))),
                    ..ran
                };
            }
        };
        self.upkeep.told.extend(fired.told);
        match fired.passage {
            Passage::Failed(why) => Ran {
                broken: ran.broken.or(Some(Broken::Unjudged(why))),
                ..ran
            },
            // What was done is done; a stop is met behind it.
            Passage::Open | Passage::Blocked(_) | Passage::Stopped => ran,
        }
    }

    /// Puts what hooks said beside this turn's calls into the window, now that those are answered.
    pub(super) fn show_told(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        for told in std::mem::take(&mut self.upkeep.told) {
            self.show(turn, &told, Retention::Ephemeral)?;
        }
        ControlFlow::Continue(())
    }

    fn show(&mut self, turn: u32, told: &Told, retention: Retention) -> ControlFlow<LoopEnd> {
        let text = prompts::hook_message(&told.text);
        let text = self.rendered(turn, text)?;
        self.put(turn, Band::System, retention, text);
        ControlFlow::Continue(())
    }
}

/// The end of an agent one of whose hooks judged nothing.
fn unjudged(why: String) -> LoopEnd {
    LoopEnd {
        error: Some(why),
        ..LoopEnd::of(EndStatus::HookError)
    }
}
