//! How an agent begins that comes of another: what it takes over, and what it is told (03 §5.2–5.4).
//!
//! Always true: what the hand-over says is carried or copied is in the agent's hands before it
//! opens; an agent on a window that came along opens no files and gets no task but its note.

use context::modules::handover::{Disposition, Handover};
use context::modules::{Module, ModuleKind};
use context::prompts::{
    self, ChildLine, ForkNote, MachineLine, ModuleLine, PromptError, SuccessionNote,
};
use context::tokens::Measured;
use context::window::{Receiver, Retention, Window};
use provider::request::Shape;
use record::event::{AgentTransition, Event, TransitionRow};
use vocab::band::Band;

use super::turns::Turns;
use crate::succession::{Arrival, Estate, Opening, Uncollected};
use crate::telemetry::Voice;

/// What is still to be put into the window of an agent that comes of another.
pub(super) struct Inheritance {
    handover: Handover,
    /// The window that came along; `None` where none did.
    window: Option<Window>,
    opening: Opening,
}

fn comes(handover: &Handover, kind: ModuleKind) -> bool {
    let row = handover.of(kind);
    row.is_some_and(|row| matches!(row.disposition, Disposition::Carried | Disposition::Copied))
}

impl Turns {
    /// Takes over what came along, apart from the window; what is left to do for that.
    ///
    /// # Errors
    ///
    /// A module that was to come along and did not: a defect of gg's own.
    pub(super) fn inherit(
        &mut self,
        handover: Handover,
        estate: Estate,
        opening: Opening,
    ) -> Result<Inheritance, String> {
        let missing =
            |kind: ModuleKind| format!("`{}` was to be handed over, and was not", kind.as_str());
        let Estate {
            window,
            tasks,
            archive,
            skills,
            notebook: _,
            library,
            turns,
        } = estate;
        self.answered = turns;
        self.code.library.inherit(library);
        if comes(&handover, ModuleKind::Tasks) {
            let own = self.held.tasks.as_mut();
            let (own, mut tasks) = own.zip(tasks).ok_or_else(|| missing(ModuleKind::Tasks))?;
            if !tasks.rebind(&own.policy()) {
                return Err(missing(ModuleKind::Tasks));
            }
            *own = tasks;
        }
        if comes(&handover, ModuleKind::Skills) {
            let own = self.held.skills.as_mut();
            let (own, mut skills) = own.zip(skills).ok_or_else(|| missing(ModuleKind::Skills))?;
            if !skills.rebind(own.catalogue()) {
                return Err(missing(ModuleKind::Skills));
            }
            if handover.forgets_skills() {
                skills.forget();
            }
            *own = skills;
        }
        if comes(&handover, ModuleKind::Archive) {
            let archive = archive.ok_or_else(|| missing(ModuleKind::Archive))?;
            self.upkeep.archive = Some(archive);
        }
        let window = comes(&handover, ModuleKind::History).then_some(window);
        Ok(Inheritance {
            handover,
            window,
            opening,
        })
    }

    /// Puts the window that came along under a system prompt of the agent's own. Whether one came.
    pub(super) fn take_window(&mut self, inheritance: &mut Inheritance, system: &Measured) -> bool {
        let Some(window) = inheritance.window.take() else {
            return false;
        };
        self.window = window.pass_on(Receiver {
            limit: self.spec.window_limit,
            toolset: self.surface.schemas.clone(),
            shape: Shape::of(&self.spec.profile.model_id),
            system: system.clone(),
            demoted: &inheritance.handover.demoted(),
        });
        self.disown_pages();
        true
    }

    /// Says at the window's tail of whom the agent comes and what it is to do.
    pub(super) fn tell_arrival(&mut self, inheritance: &Inheritance) -> Result<(), PromptError> {
        let text = match &inheritance.opening {
            Opening::Copy {
                source,
                turn,
                prompt,
            } => prompts::fork_note(&ForkNote {
                source: source.as_str(),
                turn: *turn,
                prompt,
            })?,
            Opening::Successor {
                predecessor,
                profile,
                how: _,
                note,
                children,
            } => prompts::succession_note(&SuccessionNote {
                predecessor: predecessor.as_str(),
                profile: profile.as_str(),
                history: comes(&inheritance.handover, ModuleKind::History),
                machine: self.spec.position.as_ref().map(|position| MachineLine {
                    name: position.machine().as_str(),
                    state: position.state(),
                }),
                modules: ModuleLine::of(&inheritance.handover),
                children: children.iter().map(child_line).collect(),
                wait: self.surface.waits().as_deref(),
                prompt: note.as_deref(),
            })?,
        };
        let turn = self.turn_number();
        self.put(turn, Band::UserPrompt, Retention::Pinned, text);
        Ok(())
    }
}

fn child_line(child: &Uncollected) -> ChildLine<'_> {
    ChildLine {
        id: child.id.as_str(),
        agent: child.agent.as_str(),
        ended: child.ended,
    }
}

/// Says on the stream of whoever was there who comes, and how. Directly before the newcomer's
/// spawn.
pub(super) fn tell_transition(arrival: &Arrival, newcomer: &Voice) {
    let Some(to_agent_id) = newcomer.agent.clone() else {
        return;
    };
    let voice = newcomer.of(arrival.opening.source());
    let rows = arrival.handover.rows.iter();
    let rows = rows.map(|row| TransitionRow {
        kind: row.kind.as_str(),
        disposition: row.disposition.as_str(),
        from: row.from.clone(),
        to: row.to.clone(),
    });
    voice.say(Event::AgentTransition(Box::new(AgentTransition {
        kind: arrival.opening.kind(),
        to_agent_id,
        modules: rows.collect(),
    })));
}
