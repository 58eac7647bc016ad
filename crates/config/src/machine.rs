//! Machines, as the launched set has them: who takes the turns of whatever is dispatched onto a
//! profile (03 §6.1).
//!
//! Always true of a document that passed its check: a machine has at least one state, and the agent
//! of each is a declared profile that takes turns.

use vocab::capability::CapabilityId;
use vocab::ids::Slug;

use crate::Launch;
use crate::capability::Capability;
use crate::capability::delegation::State;
use crate::profile::Profile;

/// Who takes the first turns of what is dispatched onto a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worker<'a> {
    /// Their profile: model, client, modules and record are its.
    pub profile: &'a Profile,
    /// The machine that runs it as its entry state, where the profile dispatched onto is one.
    pub machine: Option<Machine<'a>>,
}

/// A machine of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine<'a> {
    /// What it is dispatched by.
    pub slug: &'a Slug,
    /// Its states, the entry first; never empty.
    pub states: &'a [State],
}

impl Profile {
    /// The machine it is, where it takes no turns of its own.
    pub fn machine(&self) -> Option<Machine<'_>> {
        match self.capability(CapabilityId::Fsm)? {
            Capability::Fsm(fsm) if fsm.enabled => Some(Machine {
                slug: &self.slug,
                states: fsm.params.states.as_deref().filter(|all| !all.is_empty())?,
            }),
            _ => None,
        }
    }
}

impl Launch {
    /// Who takes the first turns of what is dispatched onto a profile: the profile itself, or that
    /// of a machine's entry state.
    pub fn worker<'a>(&'a self, profile: &'a Profile) -> Worker<'a> {
        let machine = profile.machine();
        let entry = machine.and_then(|machine| self.profile(&machine.states.first()?.agent));
        Worker {
            profile: entry.unwrap_or(profile),
            machine: machine.filter(|_| entry.is_some()),
        }
    }

    /// Every profile that takes turns of what is dispatched onto one, each once.
    pub fn workers<'a>(&'a self, profile: &'a Profile) -> Vec<&'a Profile> {
        let Some(machine) = profile.machine() else {
            return vec![profile];
        };
        let mut workers: Vec<&Profile> = Vec::new();
        for state in machine.states {
            let known = |one: &&Profile| one.slug == state.agent;
            if !workers.iter().any(known) {
                workers.extend(self.profile(&state.agent));
            }
        }
        workers
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn launch(enabled: bool) -> Launch {
        let worker = |slug: &str| -> Value {
            json!({
                "slug": slug, "name": slug, "modelId": format!("mock/{slug}"),
                "capabilities": [], "tools": [], "operations": [],
            })
        };
        let mut shell = worker("machine");
        shell["capabilities"] = json!([{ "id": "fsm", "enabled": enabled, "params": { "states": [
            { "name": "plan", "agent": "planner", "transitions": [{ "to": "build" }] },
            { "name": "build", "agent": "builder", "transitions": [{ "to": "check" }] },
            { "name": "check", "agent": "planner", "transitions": [] },
        ] } }]);
        if enabled {
            shell.as_object_mut().unwrap().remove("modelId");
        }
        serde_json::from_value(json!({
            "sessionId": "s", "workspaceDir": "/w", "prompt": "p", "modelWindows": {},
            "capabilitySet": {
                "limits": { "maxParallel": 1, "replayMaxBytes": 1 },
                "agents": [shell, worker("planner"), worker("builder")],
            },
        }))
        .unwrap()
    }

    #[test]
    fn what_is_dispatched_onto_a_machine_is_its_entry_state_s_agent() {
        let launch = launch(true);
        assert_eq!(launch.root().slug, "planner".into());
        let machine = &launch.capability_set.agents[0];
        let worker = launch.worker(machine);
        assert_eq!(worker.profile.model_id, "mock/planner".into());
        assert_eq!(worker.machine.unwrap().slug.as_str(), "machine");
        let all: Vec<_> = launch.workers(machine);
        let all: Vec<_> = all.iter().map(|profile| profile.slug.as_str()).collect();
        assert_eq!(all, ["planner", "builder"]);
    }

    #[test]
    fn a_machine_has_no_model_where_it_is_written_again() {
        let launch = launch(true);
        let written = serde_json::to_value(&launch).unwrap();
        assert_eq!(written["capabilitySet"]["agents"][0].get("modelId"), None);
        assert_eq!(
            written["capabilitySet"]["agents"][1]["modelId"],
            "mock/planner"
        );
        let machine = &launch.capability_set.agents[0];
        assert_eq!(machine.models().count(), 0);
    }

    #[test]
    fn a_table_that_is_off_makes_no_machine() {
        let launch = launch(false);
        let root = launch.root();
        assert_eq!((root.slug.as_str(), root.machine()), ("machine", None));
        assert_eq!(launch.worker(root).machine, None);
        assert_eq!(launch.workers(root), [root]);
    }
}
