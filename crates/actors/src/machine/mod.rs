//! Machines: where an agent stands in one, where it may go on to, and who takes the turns of what
//! is dispatched onto one (03 §6).
//!
//! A pure state machine over the launched table; what is handed over on the way is
//! [`succession`](crate::succession)'s.
//!
//! Always true: a position is a state of its table, and its agent is that state's; a position leads
//! to another only along an edge of the table; one machine's agents stand in one state at a time.

mod call;
mod worker;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use config::capability::delegation::{ModuleKind as Named, State};
use config::machine::Machine;
use context::modules::ModuleKind;
use vocab::ids::Slug;
use vocab::tools::Exit;

use crate::succession::Edge;
pub(crate) use call::{Leave, leave, leave_for, leaving};
pub(crate) use worker::Workers;

/// Where an agent stands in a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    table: Arc<Table>,
    /// Less than the number of states.
    at: usize,
    /// The state that was left for this one.
    from: Option<usize>,
}

/// A machine's table; never empty.
#[derive(Debug, PartialEq, Eq)]
struct Table {
    machine: Slug,
    states: Vec<State>,
}

impl Position {
    /// The entry of a machine; `None` where it has no state, which a launch refuses.
    pub fn entry(machine: Machine<'_>) -> Option<Self> {
        (!machine.states.is_empty()).then(|| Self {
            table: Arc::new(Table {
                machine: machine.slug.clone(),
                states: machine.states.to_vec(),
            }),
            at: 0,
            from: None,
        })
    }

    /// The machine's profile.
    pub fn machine(&self) -> &Slug {
        &self.table.machine
    }

    /// The state.
    pub fn state(&self) -> &str {
        &self.here().name
    }

    /// The profile that works in it.
    pub fn agent(&self) -> &Slug {
        &self.here().agent
    }

    /// The state that was left for this one; `None` where the machine was entered.
    pub fn from(&self) -> Option<&str> {
        let from = self.from.and_then(|from| self.table.states.get(from));
        from.map(|state| state.name.as_str())
    }

    /// The ways out, in the table's order; none of a terminal state.
    pub fn exits(&self) -> Vec<Exit<'_>> {
        let transitions = self.here().transitions.iter();
        transitions
            .map(|transition| Exit {
                state: &transition.to,
                description: transition.description.as_deref().unwrap_or_default(),
                history: transition.transfer.contains(&Named::History),
            })
            .collect()
    }

    /// The edge to another state; `None` where no edge of this state leads there.
    pub fn edge(&self, to: &str) -> Option<Edge> {
        let transition = self.here().transitions.iter().find(|edge| edge.to == to)?;
        let mut transfer: Vec<ModuleKind> = Vec::with_capacity(transition.transfer.len());
        for kind in transition.transfer.iter().copied().map(kind) {
            if !transfer.contains(&kind) {
                transfer.push(kind);
            }
        }
        Some(Edge {
            machine: self.table.machine.clone(),
            from: self.here().name.clone(),
            to: transition.to.clone(),
            transfer,
        })
    }

    /// Where an edge of this position leads; `None` of any other.
    pub fn follow(&self, edge: &Edge) -> Option<Self> {
        if self.edge(&edge.to).as_ref() != Some(edge) {
            return None;
        }
        let mut states = self.table.states.iter();
        Some(Self {
            table: Arc::clone(&self.table),
            at: states.position(|state| state.name == edge.to)?,
            from: Some(self.at),
        })
    }

    fn here(&self) -> &State {
        &self.table.states[self.at]
    }
}

/// A kind of module as the agents name it.
const fn kind(named: Named) -> ModuleKind {
    match named {
        Named::History => ModuleKind::History,
        Named::Memories => ModuleKind::Memories,
        Named::Tasks => ModuleKind::Tasks,
        Named::Board => ModuleKind::Board,
        Named::Skills => ModuleKind::Skills,
        Named::Archive => ModuleKind::Archive,
    }
}
