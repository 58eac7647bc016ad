//! The machines of a recorded capability set, as far as their paths are judged by it.

use std::collections::HashMap;

use serde_json::Value;

/// Every profile of a set by its slug; one that is no machine has no states.
pub(super) struct Tables<'a>(HashMap<&'a str, Vec<State<'a>>>);

/// One state of a machine.
pub(super) struct State<'a> {
    pub(super) name: &'a str,
    /// The profile that works in it.
    pub(super) agent: &'a str,
    pub(super) exits: Vec<Edge<'a>>,
}

/// One way out of a state.
pub(super) struct Edge<'a> {
    pub(super) to: &'a str,
    /// The kinds of module it hands over.
    pub(super) transfer: Vec<&'a str>,
}

impl<'a> Tables<'a> {
    /// The machines of a set; `None` where it cannot be read, and then says nothing of any path.
    pub(super) fn of(set: &'a Value) -> Option<Self> {
        let agents = set["agents"].as_array()?.iter();
        let rows = agents.map(|agent| Some((agent["slug"].as_str()?, states(agent)?)));
        rows.collect::<Option<_>>().map(Self)
    }

    /// The states of a machine, the entry's first; none where a profile is no machine, or unknown.
    pub(super) fn states(&self, machine: &str) -> &[State<'a>] {
        self.0.get(machine).map_or(&[], Vec::as_slice)
    }

    /// A state of a machine.
    pub(super) fn state(&self, machine: &str, name: &str) -> Option<&State<'a>> {
        self.states(machine).iter().find(|state| state.name == name)
    }
}

impl<'a> State<'a> {
    /// The way from here to another state.
    pub(super) fn exit(&self, to: &str) -> Option<&Edge<'a>> {
        self.exits.iter().find(|exit| exit.to == to)
    }
}

fn states(agent: &Value) -> Option<Vec<State<'_>>> {
    let mut capabilities = agent["capabilities"].as_array()?.iter();
    let fsm = capabilities.find(|one| one["id"] == "fsm" && one["enabled"] == true);
    let Some(fsm) = fsm else {
        return Some(Vec::new());
    };
    let states = fsm["params"]["states"].as_array()?;
    states.iter().map(state).collect()
}

fn state(state: &Value) -> Option<State<'_>> {
    let exits = state["transitions"].as_array()?.iter();
    Some(State {
        name: state["name"].as_str()?,
        agent: state["agent"].as_str()?,
        exits: exits.map(edge).collect::<Option<_>>()?,
    })
}

fn edge(edge: &Value) -> Option<Edge<'_>> {
    let transfer = edge["transfer"].as_array().into_iter().flatten();
    Some(Edge {
        to: edge["to"].as_str()?,
        transfer: transfer.filter_map(Value::as_str).collect(),
    })
}
