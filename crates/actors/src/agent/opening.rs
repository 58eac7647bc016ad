//! How an incarnation opens: the events it begins with, its slot, its window, turn 0.
//!
//! Always true: nothing of an agent is recorded before its spawn; one that comes of another tells
//! of that one's end before it runs in its slot.

use std::ops::ControlFlow;
use std::sync::Arc;

use context::prompts::{AutoloadSection, PromptError};
use context::tokens::Measured;
use context::window::Retention;
use record::event::{AgentModules, AgentSpawned, Event};
use vocab::band::Band;

use super::LoopEnd;
use super::arrival::{Inheritance, tell_transition};
use super::machine::fsm_state;
use super::records::module_row;
use super::turns::{Turns, journal_row};
use crate::board::worktree_row;
use crate::messages::KeepAgent;
use crate::panics;
use crate::succession::Arrival;

impl Turns {
    /// Says what it is, fills its window and takes its slot.
    pub(super) async fn open(&mut self) -> ControlFlow<LoopEnd> {
        panics::trip("arriving");
        let inheritance = self.announce();
        panics::trip("announced");
        self.tell_holdings().await?;
        self.tell_library();
        panics::trip("opening");
        let inheritance = match inheritance.transpose() {
            Ok(inheritance) => inheritance,
            Err(defect) => return ControlFlow::Break(LoopEnd::internal(defect)),
        };
        if let Some(end) = self.cannot_compact() {
            return ControlFlow::Break(end);
        }
        // Who comes with a slot frees its old key as soon as may be; who may have a desk opens on
        // the files as they are when it starts.
        let first = self.seat.is_taken() || self.spec.profile.slot_key().is_some();
        if first {
            self.take_place().await;
        }
        self.open_window(inheritance).await?;
        if !first {
            self.take_place().await;
        }
        self.hooks_of_the_start().await
    }

    /// The events an incarnation opens with (06 §1, rule 2); what it has taken over.
    fn announce(&mut self) -> Option<Result<Inheritance, String>> {
        let arrival = self.arrival.take();
        if let Some(arrival) = &arrival {
            tell_transition(arrival, &self.links.voice);
        }
        let spec = &self.spec;
        let voice = &self.links.voice;
        voice.say(Event::AgentSpawned(Box::new(AgentSpawned {
            brief: Arc::clone(&spec.brief),
            cwd: spec.cwd.display().to_string(),
            worktree: spec.worktree.as_ref().map(worktree_row),
            parent_id: spec.origin.parent().cloned(),
            profile_id: spec.profile.slug.clone(),
            profile_name: spec.profile.name.clone(),
            origin: spec.origin.clone(),
            agent_kind: spec.kind,
            depth: spec.depth,
            model_id: spec.profile.model_id.clone(),
            window_limit: spec.window_limit,
        })));
        if let Some(position) = &spec.position {
            voice.say(fsm_state(position));
        }
        voice.say(Event::AgentModules(AgentModules {
            modules: self.held.roster.iter().map(module_row).collect(),
        }));
        voice.say(Event::AgentSurface(self.surface.event()));
        voice.telemetry.tell(KeepAgent(journal_row(spec, None)));
        let Arrival {
            handover,
            estate,
            opening,
            farewell,
            announced,
        } = arrival?;
        // Whoever handed itself on has ended, before this one runs in its slot.
        if let Some(farewell) = farewell {
            farewell.tell();
        }
        if let Some(announced) = announced {
            // Its maker may have died meanwhile.
            announced.send(()).ok();
        }
        Some(self.inherit(handover, estate, opening))
    }

    /// The system slot, then the task and what it opens on, or the window that came along.
    async fn open_window(&mut self, inheritance: Option<Inheritance>) -> ControlFlow<LoopEnd> {
        let system = match self.system_prompt() {
            Ok(system) => system,
            Err(error) => {
                return ControlFlow::Break(LoopEnd::internal(format!(
                    "the system prompt does not render: {error}"
                )));
            }
        };
        let Some(mut inheritance) = inheritance else {
            self.open_on_task(system).await?;
            return self.refresh_blocks(0).await;
        };
        if !self.take_window(&mut inheritance, &system) {
            self.open_on_task(system).await?;
        }
        let turn = self.turn_number();
        self.refresh_blocks(turn).await?;
        // Last, whatever else it opens on: what it is to do now.
        if let Err(error) = self.tell_arrival(&inheritance) {
            return ControlFlow::Break(LoopEnd::internal(format!(
                "a text of gg's own does not render: {error}"
            )));
        }
        ControlFlow::Continue(())
    }

    fn system_prompt(&self) -> Result<Measured, PromptError> {
        let profile = &self.spec.profile;
        let launch = &self.shared.launch;
        let mut context = self.surface.prompt_context(&self.spec);
        self.surface.describe_others(&mut context, launch, profile);
        context.machine = self.surface.machine(self.spec.position.as_ref());
        let tools = &self.surface.tools;
        self.held.describe(&mut context, profile, launch, tools);
        let opens = !launch.spec_files.is_empty();
        let autoload = profile.autoload().filter(|_| opens);
        context.autoload = autoload.map(|policy| AutoloadSection {
            locked: policy.locked,
        });
        self.outfit.system(&self.spec, context)
    }

    /// The system slot, the task, the files it opens on and its profile's desk: turn 0.
    async fn open_on_task(&mut self, system: Measured) -> ControlFlow<LoopEnd> {
        self.window.set_system(system);
        let text: Arc<str> = if self.surface.code.is_some() {
            let text = self.labeled("Task", self.spec.brief.to_string());
            self.rendered(0, text)?.into()
        } else {
            Arc::clone(&self.spec.brief)
        };
        self.put(0, Band::UserPrompt, Retention::Pinned, text);
        self.open_by_program().await?;
        self.open_files().await?;
        self.open_on_desk().await
    }
}
