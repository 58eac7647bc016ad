//! Machines: profiles driven through a table of states (03 §6).

use vocab::capability::CapabilityId as Id;

use super::profile::{Draft, Mode};
use super::references::declared;
use crate::capability::Capability;
use crate::capability::delegation::{ModuleKind, State};
use crate::document::quoted;
use crate::refusal::{Report, Spot, listed, nearest};

pub(super) fn check(report: &Report, agents: &[Draft]) {
    for agent in agents {
        if let Some(Capability::Fsm(fsm)) = agent.running(Id::Fsm) {
            carries_nothing_else(report, agent);
            if let Some(states) = &fsm.params.states {
                table(report, agent, states, agents);
            }
        }
    }
}

/// The first machine that runs a profile as a state, for a sentence.
pub(super) fn running(slug: &str, agents: &[Draft]) -> Option<Spot> {
    agents
        .iter()
        .find(|agent| match agent.running(Id::Fsm) {
            Some(Capability::Fsm(fsm)) => fsm
                .params
                .states
                .iter()
                .flatten()
                .any(|state| state.agent.as_str() == slug),
            _ => false,
        })
        .map(|agent| agent.spot.clone())
}

/// A machine takes no turns: what shapes turns has no place on it.
fn carries_nothing_else(report: &Report, agent: &Draft) {
    for key in &agent.worker_keys {
        report.refuse_with_hint(
            &agent.spot.key(key),
            "is written, but the agent is a machine and takes no turns",
            "leave it to the agents of its states",
        );
    }
    for capability in &agent.capabilities {
        if capability.id() != Id::Fsm && capability.enabled() {
            report.refuse_with_hint(
                &agent.capability_spot(capability.id()),
                "is on, but the agent is a machine and takes no turns",
                "leave it to the agents of its states",
            );
        }
    }
}

fn table(report: &Report, machine: &Draft, states: &[State], agents: &[Draft]) {
    let spot = machine.capability_spot(Id::Fsm).key("params").key("states");
    let mut names: Vec<&str> = states.iter().map(|state| state.name.as_str()).collect();
    names.retain(|name| !name.is_empty());
    names.dedup();
    let names = || names.iter().copied();
    for (index, state) in states.iter().enumerate() {
        let spot = spot.index(index);
        if !state.name.is_empty() && states[..index].iter().any(|s| s.name == state.name) {
            report.refuse(
                &spot.key("name"),
                format!(
                    "is {}, which an earlier state has; expected a name of its own",
                    quoted(&state.name)
                ),
            );
        }
        // Bad parts read as empty texts; they are refused already.
        let worker = (!state.agent.as_str().is_empty())
            .then(|| declared(report, &spot.key("agent"), state.agent.as_str(), agents))
            .flatten();
        if let Some(worker) = worker
            && worker.mode == Mode::Machine
        {
            report.refuse(
                &spot.key("agent"),
                format!(
                    "is {}, a machine itself; expected an agent that takes turns",
                    quoted(state.agent.as_str())
                ),
            );
        }
        for (index, transition) in state.transitions.iter().enumerate() {
            let spot = spot.key("transitions").index(index);
            let to = transition.to.as_str();
            if to.is_empty() {
                continue;
            }
            if !names().any(|name| name == to) {
                let message = format!(
                    "is {}, which no state of the machine is called; expected one of {}",
                    quoted(to),
                    listed(names())
                );
                match nearest(to, names()) {
                    Some(near) => report.refuse_with_hint(
                        &spot.key("to"),
                        message,
                        format!("the nearest is `{near}`"),
                    ),
                    None => report.refuse(&spot.key("to"), message),
                }
            } else if state.transitions[..index].iter().any(|t| t.to == to) {
                report.refuse(
                    &spot.key("to"),
                    format!(
                        "is {}, where an earlier transition leads; expected one a target",
                        quoted(to)
                    ),
                );
            }
            if let Some(worker) = worker
                && worker.mode != Mode::Machine
            {
                for kind in &transition.transfer {
                    if !holds(worker, *kind, agents) {
                        report.refuse(
                            &spot.key("transfer"),
                            format!("lists `{kind}`, which {} does not hold", worker.spot),
                        );
                    }
                }
            }
        }
    }
    unreachable(report, &spot, states);
}

fn holds(agent: &Draft, kind: ModuleKind, agents: &[Draft]) -> bool {
    match kind {
        ModuleKind::History => true,
        ModuleKind::Memories => agent.enabled(Id::Memories),
        ModuleKind::Tasks => agent.enabled(Id::Tasks),
        ModuleKind::Skills => agent.enabled(Id::Skills),
        ModuleKind::Archive => agent.enabled(Id::AgentManagedContext),
        // Every agent of a run with a board holds it.
        ModuleKind::Board => agents.iter().any(|a| a.enabled(Id::ProjectManagement)),
    }
}

/// Refuses states that no path from the entry leads to.
fn unreachable(report: &Report, spot: &Spot, states: &[State]) {
    let mut reached = vec![false; states.len()];
    let mut next: Vec<usize> = if states.is_empty() { vec![] } else { vec![0] };
    while let Some(index) = next.pop() {
        if std::mem::replace(&mut reached[index], true) {
            continue;
        }
        for transition in &states[index].transitions {
            next.extend(states.iter().position(|state| state.name == transition.to));
        }
    }
    for (index, state) in states.iter().enumerate() {
        let repeated = states[..index].iter().any(|s| s.name == state.name);
        if !reached[index] && !state.name.is_empty() && !repeated {
            report.refuse(
                &spot.index(index),
                format!(
                    "is the state {}, which no path from the first state leads to",
                    quoted(&state.name)
                ),
            );
        }
    }
}
