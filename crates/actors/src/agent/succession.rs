//! What a turn declares and its close carries out: copies, who takes the agent's place, and issues
//! that are awaited (03 §5.1).
//!
//! Always true: of several successions the first stands; a copy holds the window as it stands
//! when the copy is made.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::modules::ModuleKind;
use context::window::Window;
use provider::request::Shape;
use record::event::LogLevel;
use vocab::failure::{Failure, FailureClass};
use vocab::ids::{AgentId, IssueId, Slug};
use vocab::knowledge::MemoryScope;
use vocab::tools::ToolName;

use super::LoopEnd;
use super::holdings::gone as store_gone;
use super::turns::{Life, Turns};
use crate::messages::{CommitFork, CopyMemories, Succeed};
use crate::panics;
use crate::succession::{Estate, Returned, Succession, SuccessionRefusal};

/// What this turn's calls declared.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Who takes the agent's place.
    pub(super) succession: Option<Successor>,
    /// Copies, in the order they were asked for.
    pub(super) forks: Vec<Copy>,
    /// Issues that are awaited as it closes, in the order they were named.
    pub(super) waits: Vec<IssueId>,
}

/// Who takes an agent's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Successor {
    /// How.
    pub(super) kind: Succession,
    /// Its profile.
    pub(super) target: Slug,
    /// What it is left to do.
    pub(super) note: Option<Arc<str>>,
}

impl Successor {
    /// The call that declared it.
    pub(super) const fn call(&self) -> &'static str {
        match self.kind {
            Succession::Exec => ToolName::Exec.as_str(),
            Succession::Fsm(_) => ToolName::TransitionState.as_str(),
        }
    }
}

/// A copy that is promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    /// Its id.
    pub(super) id: AgentId,
    /// What it is to do.
    pub(super) prompt: Arc<str>,
}

impl Declared {
    /// Declares who takes the agent's place; the first declaration stands.
    pub(super) fn succeed(&mut self, successor: Successor) -> Result<(), Failure> {
        if let Some(first) = &self.succession {
            return Err(Failure::new(
                FailureClass::Refused,
                format!(
                    "this turn already makes you `{}`; the first stands",
                    first.target
                ),
            ));
        }
        self.succession = Some(successor);
        Ok(())
    }

    /// Declares a wait for an issue; each is awaited once.
    pub(super) fn wait_for(&mut self, issue: &IssueId) {
        if !self.waits.contains(issue) {
            self.waits.push(issue.clone());
        }
    }
}

impl Turns {
    /// Makes the copies that the turn promised, each of the window as it stands now.
    pub(super) async fn make_copies(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        for Copy { id, prompt } in std::mem::take(&mut self.declared.forks) {
            let estate = self.copy_estate(turn).await?;
            let ask = CommitFork {
                agent: self.spec.id.clone(),
                id: id.clone(),
                estate,
                prompt,
                turn,
            };
            match self.links.supervisor.ask(ask).await {
                Ok(Ok(())) => {}
                Ok(Err(refusal)) => {
                    let why = Failure::from(refusal);
                    let text = format!("the copy `{id}` is not made: {}", why.message);
                    let voice = &self.links.voice;
                    voice.log(LogLevel::Warn, Some("fork_dropped"), text);
                }
                Err(_) => return ControlFlow::Break(LoopEnd::internal(panics::supervisor_died())),
            }
        }
        ControlFlow::Continue(())
    }

    /// Tells the operator of what the last turn declared and its end kept from being carried out.
    pub(super) fn tell_undone(&self) {
        let voice = &self.links.voice;
        for Copy { id, .. } in &self.declared.forks {
            let text = format!("the copy `{id}` is not made: its maker has ended");
            voice.log(LogLevel::Warn, Some("fork_dropped"), text);
        }
        if let Some(successor) = &self.declared.succession {
            let target = &successor.target;
            let text = format!("nobody of profile `{target}` takes its place: it has ended");
            voice.log(LogLevel::Warn, Some("succession_dropped"), text);
        }
    }

    /// A copy of all it holds, with the memories where the copy gets some of its own.
    async fn copy_estate(&mut self, turn: u32) -> ControlFlow<LoopEnd, Estate> {
        let memories = self.held.row(ModuleKind::Memories);
        let own = memories.is_some_and(|row| row.scope == Some(MemoryScope::Isolated));
        let notebook = match self.held.memories.as_ref().filter(|_| own) {
            None => None,
            Some(memories) => match memories.link.ask(CopyMemories).await {
                Ok(copy) => Some(copy),
                Err(_) => return ControlFlow::Break(LoopEnd::internal(store_gone())),
            },
        };
        ControlFlow::Continue(Estate {
            window: self.window.clone(),
            tasks: self.held.tasks.clone(),
            archive: self.upkeep.archive.clone(),
            skills: self.held.skills.clone(),
            notebook,
            library: self.code.library.kept.clone(),
            // The turn that closes is answered.
            turns: u64::from(turn),
        })
    }

    /// Hands everything on to whoever takes the agent's place. Where nobody does, the agent holds
    /// it again and its next boundary ends it.
    pub(super) async fn hand_on(&mut self, successor: Successor) -> ControlFlow<Life> {
        let Successor { kind, target, note } = successor;
        let empty = Window::new(
            self.spec.window_limit,
            "",
            Shape::of(&self.spec.profile.model_id),
        );
        let estate = Estate {
            window: std::mem::replace(&mut self.window, empty),
            tasks: self.held.tasks.take(),
            archive: self.upkeep.archive.take(),
            skills: self.held.skills.take(),
            notebook: None,
            library: self.code.library.kept.take(),
            turns: self.answered,
        };
        let ask = Succeed {
            agent: self.spec.id.clone(),
            kind,
            target: target.clone(),
            note,
            estate,
            permit: self.seat.leave(),
        };
        let answer = self.links.supervisor.ask(ask).await;
        panics::trip("handed_on");
        let returned = match answer {
            Ok(Ok(_)) => return ControlFlow::Break(Life::HandedOn),
            Ok(Err(returned)) => *returned,
            Err(_) => {
                let end = LoopEnd::internal(panics::supervisor_died());
                return ControlFlow::Break(Life::Over(end));
            }
        };
        let Returned {
            why,
            estate,
            permit,
        } = returned;
        self.window = estate.window;
        self.held.tasks = estate.tasks;
        self.upkeep.archive = estate.archive;
        self.held.skills = estate.skills;
        self.code.library.kept = estate.library;
        if let Some(permit) = permit {
            self.seat.take(permit);
        }
        let why = match why {
            SuccessionRefusal::Stopping => "the run is stopping",
            SuccessionRefusal::Impossible => "gg could not do it",
        };
        let text = format!("nobody of profile `{target}` takes its place: {why}");
        let voice = &self.links.voice;
        voice.log(LogLevel::Warn, Some("succession_dropped"), text);
        ControlFlow::Continue(())
    }
}
