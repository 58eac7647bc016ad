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
use tools::{Call, Done, write};
use vocab::band::Band;
use vocab::failure::{Failure, FailureClass};
use vocab::outcome::{EndStatus, TurnVerdict};

use super::tool_turn::Answer;
use super::turns::{ReplySize, Turns};
use super::{Ending, LoopEnd};
use crate::hooks::{self, Facts, Fired, Passage, Told, Who};
use crate::messages::RunHook;
use crate::panics;
use crate::stop::StopCause;

/// What a call is answered that is not carried out. Boxed, since an answer is large.
struct Held(Box<Answer>);

impl From<Answer> for Held {
    fn from(answer: Answer) -> Self {
        Self(Box::new(answer))
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
    ) -> ControlFlow<LoopEnd, Option<Ending>> {
        let call = ending.call().as_str();
        let event = HookEvent::AgentStop;
        let fired = match self.fire(Some(turn), event, Facts::Declared(call)).await {
            Ok(fired) => fired,
            Err(cause) => return self.close_fatal(turn, cause, ReplySize::default()),
        };
        match fired.passage {
            Passage::Open => return ControlFlow::Continue(Some(ending)),
            Passage::Failed(why) => {
                return self.close_unjudged(turn, why, ReplySize::default());
            }
            Passage::Stopped => {
                if let ControlFlow::Break(end) = self.cut_short() {
                    return self.close_short(turn, end, ReplySize::default());
                }
            }
            Passage::Blocked(block) => {
                for told in &fired.told {
                    self.show(turn, told, Retention::Ephemeral)?;
                }
                let text = prompts::ending_blocked(call, &block.text, dropped);
                let text = self.rendered(turn, text)?;
                self.notice(turn, text);
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

    /// Runs a command between its hooks.
    pub(super) async fn run_command(&mut self, turn: u32, call: tools::Shell) -> Answer {
        let command: Arc<str> = call.command.as_str().into();
        let facts = |ok| Facts::Command {
            command: Arc::clone(&command),
            ok,
        };
        if let Err(Held(answer)) = self.ask_leave(turn, HookEvent::PreShell, facts(None)).await {
            return *answer;
        }
        let outcome = self.start_command(call).await;
        if !self.hooks_at(HookEvent::PostShell) {
            return Answer::of_command(outcome);
        }
        // Told before its hooks are asked: what a hook sees has happened.
        self.record_command(turn, &outcome.record);
        let ok = Some(outcome.exit_code == 0);
        let answer = Answer {
            shell: None,
            ..Answer::of_command(outcome)
        };
        self.ask_after(turn, HookEvent::PostShell, facts(ok), answer)
            .await
    }

    /// Writes or edits a file: the plan, the hooks that see the whole file as it would become, its
    /// application, the hooks behind it.
    pub(super) async fn write_file(&mut self, turn: u32, call: Call) -> Answer {
        if !self.hooks_at(HookEvent::PreWrite) && !self.hooks_at(HookEvent::PostWrite) {
            return self.run_file_call(call).await;
        }
        let place = self.place();
        let plan = move |call: &Call| write::plan(call, &place);
        let (again, planned) = (plan.clone(), call.clone());
        let planned = self.on_disk(move |_| {
            let plan = plan(&planned)?;
            let path = hooks::plain(&plan.target);
            Ok((plan, path))
        });
        let (plan, path) = match settled(planned.await) {
            Ok(planned) => planned,
            Err(Held(answer)) => return *answer,
        };
        let contents: Arc<str> = plan.contents.as_str().into();
        let facts = |ok| Facts::Write {
            path: path.clone(),
            contents: Arc::clone(&contents),
            ok,
        };
        if let Err(Held(answer)) = self.ask_leave(turn, HookEvent::PreWrite, facts(None)).await {
            return *answer;
        }
        let applied = self.on_disk(move |_| {
            // What the hooks let pass is this plan; an edit of another text was not seen by them.
            if again(&call)? != plan {
                return Err(Failure::new(
                    FailureClass::Conflict,
                    "the file was changed while this call was being checked; read it again",
                ));
            }
            plan.apply()
        });
        let answer = match settled(applied.await) {
            Ok(done) => Answer::of(Ok::<Done, Failure>(done)),
            Err(Held(answer)) => *answer,
        };
        let ok = Some(answer.outcome.is_ok());
        self.ask_after(turn, HookEvent::PostWrite, facts(ok), answer)
            .await
    }

    /// Asks the hooks before a call is carried out.
    async fn ask_leave(&mut self, turn: u32, event: HookEvent, facts: Facts) -> Result<(), Held> {
        let refused = |why: &str| Answer::failed(Failure::new(FailureClass::Refused, why));
        let fired = self.fire(Some(turn), event, facts).await;
        let fired = fired.map_err(Answer::defect)?;
        self.upkeep.told.extend(fired.told);
        match fired.passage {
            Passage::Open => Ok(()),
            Passage::Blocked(block) => Err(refused(&block.text).into()),
            Passage::Stopped => {
                Err(refused("the run is stopping; nothing more is carried out").into())
            }
            Passage::Failed(why) => Err(Answer {
                unjudged: Some(why),
                ..refused("what checks this call failed; the run is stopping")
            }
            .into()),
        }
    }

    /// Asks the hooks behind a call that was carried out.
    async fn ask_after(
        &mut self,
        turn: u32,
        event: HookEvent,
        facts: Facts,
        answer: Answer,
    ) -> Answer {
        let fired = match self.fire(Some(turn), event, facts).await {
            Ok(fired) => fired,
            Err(cause) => {
                return Answer {
                    defect: answer.defect.or(Some(cause)),
                    shell: answer.shell,
                    ..Answer::of(answer.outcome)
                };
            }
        };
        self.upkeep.told.extend(fired.told);
        match fired.passage {
            Passage::Failed(why) => Answer {
                unjudged: Some(why),
                ..answer
            },
            // What was done is done; a stop is met behind it.
            Passage::Open | Passage::Blocked(_) | Passage::Stopped => answer,
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

/// What a blocking thread came to, or the answer of a call it could not be got from.
fn settled<T>(
    finished: Result<Option<Result<T, Failure>>, tokio::task::JoinError>,
) -> Result<T, Held> {
    match finished {
        Ok(outcome) => outcome
            .unwrap_or_else(|| Err(tools::halted()))
            .map_err(|failure| Answer::failed(failure).into()),
        Err(error) => Err(Answer::defect(format!("a file call died: {error}")).into()),
    }
}
