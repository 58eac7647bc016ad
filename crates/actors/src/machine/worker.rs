//! Who takes the turns of what is dispatched, and of who comes next.

use std::collections::HashMap;
use std::sync::Arc;

use config::Launch;
use config::profile::Profile;
use vocab::ids::Slug;

use super::Position;
use crate::succession::Succession;

/// A profile that takes turns, and where its agent stands.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    /// The profile; no machine.
    pub(crate) profile: Arc<Profile>,
    /// Its place in a machine, where it has one.
    pub(crate) position: Option<Position>,
}

/// Whoever may work in a run, by the profile it is dispatched onto: made once, and shared by all
/// agents of a profile.
#[derive(Debug)]
pub(crate) struct Workers(HashMap<Slug, Worker>);

impl Workers {
    /// The workers of a launch.
    pub(crate) fn of(launch: &Launch) -> Self {
        let agents = &launch.capability_set.agents;
        let shared = |profile: &Profile| (profile.slug.clone(), Arc::new(profile.clone()));
        let profiles: HashMap<Slug, Arc<Profile>> = agents.iter().map(shared).collect();
        let workers = agents.iter().filter_map(|profile| {
            let worker = launch.worker(profile);
            let worker = Worker {
                profile: Arc::clone(profiles.get(&worker.profile.slug)?),
                position: worker.machine.and_then(Position::entry),
            };
            Some((profile.slug.clone(), worker))
        });
        Self(workers.collect())
    }

    /// Who takes the first turns of what is dispatched onto a profile: it, or where it is a
    /// machine, its entry state's. `None` where no profile is called so.
    pub(crate) fn get(&self, slug: &Slug) -> Option<Worker> {
        self.0.get(slug).cloned()
    }

    /// Who takes an agent's place, that stood where `before` says: by a call of its own whoever it
    /// becomes, out of a state the agent of the state the edge leads to. `None` where that is
    /// nobody.
    pub(crate) fn heir(
        &self,
        how: &Succession,
        target: &Slug,
        before: Option<&Position>,
    ) -> Option<Worker> {
        match how {
            Succession::Exec => self.get(target),
            Succession::Fsm(edge) => {
                let next = before?.follow(edge)?;
                let Worker { profile, .. } = self.get(next.agent())?;
                let position = Some(next);
                Some(Worker { profile, position })
            }
        }
    }
}
