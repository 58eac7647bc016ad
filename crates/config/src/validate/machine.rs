//! Machines: profiles driven through a table of states (03 §6.4).

use vocab::capability::CapabilityId as Id;

use super::profile::{Draft, Mode};
use super::references::{declared, find};
use crate::capability::Capability;
use crate::capability::delegation::{ModuleKind, State, Transition};
use crate::capability::knowledge::{MemoryScope, MemoryStrategy};
use crate::document::quoted;
use crate::refusal::{Report, Spot, listed, meant, nearest};

pub(super) fn check(report: &Report, agents: &[Draft]) {
    for agent in agents {
        if agent.running(Id::Fsm).is_some() {
            carries_nothing_else(report, agent);
            table(report, agent, agents);
        }
    }
}

/// The states of a machine; none where the agent is no machine, or has no table that can be read.
fn states(agent: &Draft) -> &[State] {
    match agent.running(Id::Fsm) {
        Some(Capability::Fsm(fsm)) => fsm.params.states.as_deref().unwrap_or_default(),
        _ => &[],
    }
}

/// The first machine that runs a profile as a state, for a sentence.
pub(super) fn running(slug: &str, agents: &[Draft]) -> Option<Spot> {
    let runs = |agent: &&Draft| states(agent).iter().any(|it| it.agent.as_str() == slug);
    agents.iter().find(runs).map(|agent| agent.spot.clone())
}

/// A machine takes no turns: what shapes turns has no place on it.
fn carries_nothing_else(report: &Report, agent: &Draft) {
    const HINT: &str = "leave it to the agents of its states";
    for key in &agent.worker_keys {
        report.refuse_with_hint(
            &agent.spot.key(key),
            "is written, but the agent is a machine and takes no turns",
            HINT,
        );
    }
    for capability in &agent.capabilities {
        if capability.id() != Id::Fsm && capability.enabled() {
            report.refuse_with_hint(
                &agent.capability_spot(capability.id()),
                "is on, but the agent is a machine and takes no turns",
                HINT,
            );
        }
    }
}

// Bad parts read as empty texts; they are refused already and are compared with nothing.
fn table(report: &Report, machine: &Draft, agents: &[Draft]) {
    let states = states(machine);
    let spot = machine.capability_spot(Id::Fsm).key("params").key("states");
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
        let worker = worker(report, &spot.key("agent"), state, agents);
        for (index, transition) in state.transitions.iter().enumerate() {
            let spot = spot.key("transitions").index(index);
            target(
                report,
                &spot.key("to"),
                transition,
                &state.transitions[..index],
                states,
            );
            for kind in &transition.transfer {
                if let Some(worker) = worker
                    && !holds(worker, *kind, agents)
                {
                    report.refuse(
                        &spot.key("transfer"),
                        format!("lists `{kind}`, which {} does not hold", worker.spot),
                    );
                }
            }
        }
    }
    unreachable(report, &spot, states);
}

/// The profile that works in a state, where it is declared and takes turns.
fn worker<'a>(
    report: &Report,
    spot: &Spot,
    state: &State,
    agents: &'a [Draft],
) -> Option<&'a Draft> {
    let slug = state.agent.as_str();
    if slug.is_empty() {
        return None;
    }
    let worker = declared(report, spot, slug, agents)?;
    if worker.mode == Mode::Machine {
        report.refuse(
            spot,
            format!(
                "is {}, a machine itself; expected an agent that takes turns",
                quoted(slug)
            ),
        );
        return None;
    }
    Some(worker)
}

/// Refuses an edge that leads nowhere, or where an earlier one of its state leads.
fn target(
    report: &Report,
    spot: &Spot,
    transition: &Transition,
    earlier: &[Transition],
    states: &[State],
) {
    let to = transition.to.as_str();
    if to.is_empty() {
        return;
    }
    let names = names(states);
    if !names.contains(&to) {
        let known = || names.iter().copied();
        let message = format!(
            "is {}, which no state of the machine is called; expected one of {}",
            quoted(to),
            listed(known())
        );
        match nearest(to, known()) {
            Some(near) => {
                report.refuse_with_hint(spot, message, format!("the nearest is `{near}`"));
            }
            None => report.refuse(spot, message),
        }
    } else if earlier.iter().any(|it| it.to == to) {
        report.refuse(
            spot,
            format!(
                "is {}, where an earlier transition leads; expected one a target",
                quoted(to)
            ),
        );
    }
}

/// What the states are called, each name once, in order.
fn names(states: &[State]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::with_capacity(states.len());
    for name in states.iter().map(|state| state.name.as_str()) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
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
    // Where the entry cannot be read, nothing is known of its ways out.
    if states.first().is_none_or(|entry| entry.name.is_empty()) {
        return;
    }
    let names = names(states);
    let mut reached = vec![false; states.len()];
    let mut next = vec![0];
    while let Some(index) = next.pop() {
        if std::mem::replace(&mut reached[index], true) {
            continue;
        }
        for transition in &states[index].transitions {
            let to = transition.to.as_str();
            // A slip of the pen is one fault: it leads where its own refusal says.
            let to = if names.contains(&to) {
                Some(to)
            } else {
                meant(to, names.iter().copied())
            };
            next.extend(
                states
                    .iter()
                    .position(|state| Some(state.name.as_str()) == to),
            );
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

/// The agents of what is dispatched onto a profile that would come to hold the memories of whoever
/// dispatches it, kept otherwise than those: the profile itself, or any of a machine's that starts
/// without what its predecessor held.
pub(super) fn heirs<'a>(
    child: &'a Draft,
    kept: MemoryStrategy,
    agents: &'a [Draft],
) -> Vec<(&'a Draft, MemoryStrategy)> {
    let inherits = |worker: &&'a Draft| match worker.running(Id::Memories) {
        Some(Capability::Memories(theirs)) => {
            theirs.params.scope.is_some_and(MemoryScope::inherits)
        }
        _ => false,
    };
    let mut heirs: Vec<(&Draft, MemoryStrategy)> = Vec::new();
    let mut add = |worker: Option<&'a Draft>| {
        if let Some(worker) = worker.filter(inherits)
            && let Some(theirs) = strategy(worker).filter(|theirs| *theirs != kept)
            && !heirs.iter().any(|(heir, _)| std::ptr::eq(*heir, worker))
        {
            heirs.push((worker, theirs));
        }
    };
    if child.mode != Mode::Machine {
        add(Some(child));
        return heirs;
    }
    let states = states(child);
    let agent = |state: &State| find(state.agent.as_str(), agents);
    add(states.first().and_then(agent));
    for state in states {
        for transition in &state.transitions {
            let next = states.iter().find(|it| it.name == transition.to);
            let next = next.and_then(agent);
            let handed = transition.transfer.contains(&ModuleKind::Memories)
                && agent(state).and_then(strategy) == next.and_then(strategy);
            add(next.filter(|_| !handed));
        }
    }
    heirs
}

fn strategy(agent: &Draft) -> Option<MemoryStrategy> {
    match agent.running(Id::Memories)? {
        Capability::Memories(memories) => memories.implementation,
        _ => None,
    }
}
