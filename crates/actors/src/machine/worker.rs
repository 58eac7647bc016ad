//! Who takes the turns of what is dispatched, and of who comes next.

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

/// Who takes the first turns of what is dispatched onto a profile: it, or where it is a machine,
/// its entry state's. `None` where no profile is called so.
pub(crate) fn worker(launch: &Launch, slug: &Slug) -> Option<Worker> {
    let worker = launch.worker(launch.profile(slug)?);
    Some(Worker {
        profile: Arc::new(worker.profile.clone()),
        position: worker.machine.and_then(Position::entry),
    })
}

/// Who takes an agent's place, that stood where `before` says: by a call of its own whoever it
/// becomes, out of a state the agent of the state the edge leads to. `None` where that is nobody.
pub(crate) fn heir(
    launch: &Launch,
    how: &Succession,
    target: &Slug,
    before: Option<&Position>,
) -> Option<Worker> {
    match how {
        Succession::Exec => worker(launch, target),
        Succession::Fsm(edge) => {
            let next = before?.follow(edge)?;
            let profile = launch.profile(next.agent())?;
            Some(Worker {
                profile: Arc::new(profile.clone()),
                position: Some(next),
            })
        }
    }
}
