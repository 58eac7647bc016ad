//! What agents are given alike, made once a run: the tools they are offered, serialized, and the
//! system prompt, rendered and counted (architecture §6).
//!
//! Agents of one station differ in nothing that their surface or prompt is made of. So a run that
//! starts a thousand of them renders, serializes and counts as much as one that starts one.
//!
//! Always true: an outfit is what its agent would have made for itself; nothing of it changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use context::modules::{ModuleKind, RosterRow};
use context::prompts::{self, PromptError, SystemContext};
use context::tokens::Measured;
use vocab::capability::CapabilityId;
use vocab::ids::Slug;
use vocab::operations::EndingRole;
use vocab::tools::{BoardRoster, Definition, ToolName};

use super::AgentSpec;
use super::api::Programs;
use super::offer::{Holds, offer};
use super::surface::{Others, Surface, granted};
use crate::machine::Position;
use crate::shared::Shared;

/// What decides what an agent is offered. Whatever the offer comes to depend on belongs here.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Station {
    profile: Slug,
    role: EndingRole,
    /// Whether it may write to the memories it holds.
    writes: bool,
    /// Whether its model is sent pictures.
    sees: bool,
    /// The machine it stands in and the state, where it stands in one.
    position: Option<(Slug, String)>,
}

/// The outfits of a run, by station.
///
/// Agents take its lock one after another, on their one thread. A panic while an outfit is made
/// leaves none of it in the map, so a poisoned lock is as good as any.
#[derive(Debug, Default)]
pub(crate) struct Outfits(Mutex<HashMap<Station, Arc<Outfit>>>);

/// What the agents of one station are given.
#[derive(Debug)]
pub(crate) struct Outfit {
    /// The tools of its profile that its modules service, `read_skill` in any case.
    pub(crate) offered: Vec<(ToolName, Definition)>,
    /// What its programs may call, where it answers with programs; `read_skill` in any case.
    pub(crate) code: Option<Programs>,
    role: EndingRole,
    sees: bool,
    /// Without skills to read, and with some.
    surfaces: [OnceLock<Surface>; 2],
    /// What was rendered so far, by what it was rendered of.
    prompts: Mutex<Vec<(SystemContext, Measured)>>,
}

impl Outfits {
    /// An agent's outfit; `roster` says what it holds.
    pub(crate) fn of(
        &self,
        spec: &AgentSpec,
        shared: &Shared,
        roster: &[RosterRow],
    ) -> Arc<Outfit> {
        let writes = |row: &RosterRow| row.kind != ModuleKind::Memories || row.writable;
        let station = Station {
            profile: spec.profile.slug.clone(),
            role: spec.role,
            writes: roster.iter().all(writes),
            sees: shared.shows_images(&spec.profile.model_id),
            position: spec
                .position
                .as_ref()
                .map(|position| (position.machine().clone(), position.state().to_owned())),
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outfit = known.entry(station).or_insert_with_key(|station| {
            let targets = shared.launch.targets(&spec.profile);
            let exits = spec.position.as_ref().map(Position::exits);
            // Whoever stands in a state leaves it by the machine alone.
            let successors = match exits {
                Some(_) => Vec::new(),
                None => shared.launch.successors(&spec.profile),
            };
            let holds = Holds {
                roster,
                // Whether there are any is asked of each agent.
                skills: true,
                leaves_state: exits.as_ref().map(|exits| !exits.is_empty()),
            };
            let exits = exits.unwrap_or_default();
            let implementers = shared.launch.implementers(&spec.profile);
            let reviewers = shared.launch.reviewers(&spec.profile);
            let works_on_board = spec.profile.enabled(CapabilityId::ProjectManagement);
            let board = works_on_board.then_some(BoardRoster {
                implementers: &implementers,
                reviewers: &reviewers,
                reviewers_required: spec.profile.requires_reviewers(),
            });
            let code = spec.profile.programs().map(|policy| {
                let offer = offer(&spec.profile, spec.role, holds);
                Programs::new(policy, offer)
            });
            let offered = match code {
                Some(_) => Vec::new(),
                None => granted(
                    &spec.profile,
                    holds,
                    Others {
                        targets: &targets,
                        successors: &successors,
                        exits: &exits,
                        board,
                    },
                ),
            };
            Arc::new(Outfit {
                offered,
                code,
                role: station.role,
                sees: station.sees,
                surfaces: Default::default(),
                prompts: Mutex::default(),
            })
        });
        Arc::clone(outfit)
    }
}

impl Outfit {
    /// The surface of an agent that has skills to read, or has none.
    pub(crate) fn surface(&self, spec: &AgentSpec, has_skills: bool) -> Surface {
        let made = self.surfaces[usize::from(has_skills)].get_or_init(|| {
            if let Some(programs) = &self.code {
                let programs = programs.with_skills(has_skills);
                return Surface::of_programs(&spec.profile, self.role, self.sees, programs);
            }
            let offered = self.offered.iter();
            let offered = offered.filter(|(tool, _)| *tool != ToolName::ReadSkill || has_skills);
            Surface::resolve(
                &spec.profile,
                self.role,
                self.sees,
                offered.cloned().collect(),
            )
        });
        made.clone()
    }

    /// The system prompt of an agent of this station.
    pub(crate) fn system(
        &self,
        spec: &AgentSpec,
        context: SystemContext,
    ) -> Result<Measured, PromptError> {
        let mut known = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = known.iter().find(|(of, _)| *of == context) {
            return Ok(text.clone());
        }
        let text = prompts::system(
            &context,
            spec.profile.custom_instructions.as_deref(),
            spec.profile.system_prompt.as_deref(),
        )?;
        let text = Measured::from(text);
        known.push((context, text.clone()));
        Ok(text)
    }
}
