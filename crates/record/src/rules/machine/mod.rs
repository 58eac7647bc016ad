//! What holds of machines: whoever is in one stands in a state of its table, came there by the
//! entry or along an edge that the agent before chose, and was handed what that edge names (03 §6,
//! §9).
//!
//! The table is the one of the stream's first line; a stream that does not have it is not judged.

mod table;

use std::collections::HashMap;

use serde_json::Value;

use super::lean::LEAVING;
use super::line::Line;
use super::{Found, rule};
use table::Tables;

pub(super) fn check(lines: &[Line], found: &mut Found) {
    let start = lines.iter().find(|line| line.kind == "session_started");
    let Some(tables) = start.and_then(|line| Tables::of(line.get("capabilitySet"))) else {
        return;
    };
    let mut walk = Walk {
        tables: &tables,
        agents: HashMap::new(),
        transition: None,
        found,
    };
    for line in lines {
        if let Some(id) = line.agent.as_deref() {
            walk.take(id, line);
        }
    }
}

struct Walk<'a, 'w> {
    tables: &'w Tables<'a>,
    agents: HashMap<&'a str, Agent<'a>>,
    /// The hand-over whose newcomer has not opened yet.
    transition: Option<&'a Line>,
    found: &'w mut Found,
}

/// What is known of an incarnation.
#[derive(Default)]
struct Agent<'a> {
    profile: &'a str,
    /// The hand-over it came by.
    came: Option<&'a Line>,
    /// The machine and the state it stands in.
    stands: Option<(&'a str, &'a str)>,
    /// Calls that would leave the state, by their id: where each leads.
    calls: HashMap<&'a str, &'a str>,
    /// The turn in which a call to leave was accepted last, and where the first of it leads.
    chosen: Option<(u64, &'a str)>,
    /// Its last turn.
    turn: u64,
    /// Whether its calls are tool calls: what a program calls is not seen here.
    calls_tools: bool,
}

impl<'a> Walk<'a, '_> {
    fn take(&mut self, id: &'a str, line: &'a Line) {
        let agent = self.agents.entry(id).or_default();
        agent.turn = agent.turn.max(line.turn.unwrap_or_default());
        match line.kind.as_str() {
            "agent_transition" => self.transition = Some(line),
            "agent_spawned" => self.spawned(id, line),
            "fsm_state" => self.state(id, line),
            "agent_modules" => self.modules(id, line),
            "agent_surface" => self.surface(id, line),
            "tool_call" if line.text("tool") == LEAVING => {
                agent.calls.insert(line.text("callId"), line.text("state"));
            }
            "tool_result" if line.text("tool") == LEAVING && line.get("ok") == true => {
                self.accepted(id, line);
            }
            _ => {}
        }
    }

    fn wrong(&mut self, line: &Line, message: impl Into<String>) {
        self.found.add(line.number, rule::MACHINE, message);
    }

    fn spawned(&mut self, id: &'a str, line: &'a Line) {
        let came = self.transition.take();
        let came = came.filter(|transition| transition.text("toAgentId") == id);
        let profile = line.text("profileId");
        if let Some(agent) = self.agents.get_mut(id) {
            agent.profile = profile;
            agent.came = came;
        }
        if !self.tables.states(profile).is_empty() {
            let message = format!("`{id}` runs `{profile}`, a machine, which takes no turns");
            self.wrong(line, message);
        }
    }

    fn state(&mut self, id: &'a str, line: &'a Line) {
        let (machine, name) = (line.text("machine"), line.text("state"));
        let (profile, came) = match self.agents.get_mut(id) {
            Some(agent) => {
                agent.stands = Some((machine, name));
                (agent.profile, agent.came)
            }
            None => ("", None),
        };
        let Some(state) = self.tables.state(machine, name) else {
            self.wrong(line, format!("`{machine}` has no state `{name}`"));
            return;
        };
        let works = line.text("profileId");
        if works != state.agent || works != profile {
            let message = format!(
                "`{id}` of `{profile}` works as `{works}` in `{name}`, which is `{}`'s",
                state.agent
            );
            self.wrong(line, message);
        }
        let kind = came.map_or("", |transition| transition.text("kind"));
        match (line.get("from").as_str(), came) {
            (Some(from), Some(transition)) if kind == "fsm" => {
                self.step(line, transition, (machine, from, name));
            }
            (Some(from), _) => {
                self.wrong(line, format!("`{id}` comes from `{from}` by no transition"));
            }
            (None, _) if kind == "fsm" => {
                self.wrong(line, format!("`{id}` does not say where it comes from"));
            }
            // A copy works beside the machine.
            (None, _) if kind == "fork" => {
                self.wrong(line, format!("`{id}` is a copy, and stands in `{name}`"));
            }
            (None, _) => {
                let entry = self.tables.states(machine).first();
                if entry.is_none_or(|entry| entry.name != name) {
                    self.wrong(line, format!("`{machine}` is entered in `{name}`"));
                }
            }
        }
    }

    /// One step from a state to another.
    fn step(
        &mut self,
        line: &'a Line,
        transition: &'a Line,
        (machine, from, to): (&'a str, &'a str, &'a str),
    ) {
        let left = transition.agent.as_deref().unwrap_or_default();
        let before = self.agents.get(left);
        let stood = before.and_then(|agent| agent.stands);
        if stood != Some((machine, from)) {
            let message = format!("`{left}` did not stand in `{from}` of `{machine}`");
            self.wrong(line, message);
            return;
        }
        let chosen = before.and_then(|agent| match agent.chosen {
            Some((turn, state)) if turn == agent.turn => Some(state),
            _ => None,
        });
        if before.is_some_and(|agent| agent.calls_tools) && chosen != Some(to) {
            let message = match chosen {
                Some(chosen) => format!("`{left}` chose `{chosen}`, not `{to}`"),
                None => format!("`{left}` did not choose to leave `{from}`"),
            };
            self.wrong(line, message);
        }
        let exit = self.tables.state(machine, from);
        let Some(edge) = exit.and_then(|state| state.exit(to)) else {
            self.wrong(line, format!("no edge leads from `{from}` to `{to}`"));
            return;
        };
        let named = edge.transfer.clone();
        let rows = transition.get("modules").as_array().into_iter().flatten();
        for row in rows {
            let kind = row["kind"].as_str().unwrap_or_default();
            // The board is the run's, whatever an edge says.
            if kind == "board" {
                continue;
            }
            let carried = row["disposition"] == "carried";
            let listed = named.contains(&kind);
            // What it names may be off where it arrives; a window cannot.
            if carried && !listed || kind == "history" && carried != listed {
                let disposition = &row["disposition"];
                let message = format!("{kind} is {disposition}, the edge hands over {named:?}");
                self.wrong(transition, message);
            }
        }
    }

    fn modules(&mut self, id: &'a str, line: &'a Line) {
        let agent = self.agents.get(id);
        let stepped = agent.and_then(|agent| agent.came);
        let stepped = stepped.is_some_and(|transition| transition.text("kind") == "fsm");
        if stepped && agent.is_none_or(|agent| agent.stands.is_none()) {
            self.wrong(
                line,
                format!("`{id}` went on in a machine, and stands nowhere"),
            );
        }
    }

    fn surface(&mut self, id: &'a str, line: &'a Line) {
        let Some(agent) = self.agents.get_mut(id) else {
            return;
        };
        agent.calls_tools = line.text("executionMode") == "tool_calling";
        if !agent.calls_tools {
            return;
        }
        let tools = line.get("tools").as_array().into_iter().flatten();
        let offered = tools.filter_map(Value::as_str).any(|tool| tool == LEAVING);
        let state = agent
            .stands
            .and_then(|(machine, name)| self.tables.state(machine, name));
        let leaves = state.is_some_and(|state| !state.exits.is_empty());
        if offered != leaves {
            let message = if offered {
                format!("`{id}` is offered {LEAVING} and has nowhere to go")
            } else {
                format!("`{id}` is not offered {LEAVING}, and its state has a way out")
            };
            self.wrong(line, message);
        }
    }

    /// A call to leave was accepted: it names a way out.
    fn accepted(&mut self, id: &'a str, line: &'a Line) {
        let Some(agent) = self.agents.get_mut(id) else {
            return;
        };
        let to = agent.calls.remove(line.text("callId")).unwrap_or_default();
        let stands = agent.stands;
        let turn = line.turn.unwrap_or_default();
        if agent
            .chosen
            .as_ref()
            .is_some_and(|(before, _)| *before == turn)
        {
            self.wrong(line, format!("`{id}` leaves its state twice in one turn"));
            return;
        }
        agent.chosen = Some((turn, to));
        let state = stands.and_then(|(machine, name)| self.tables.state(machine, name));
        if state.and_then(|state| state.exit(to)).is_none() {
            self.wrong(line, format!("`{id}` may not go to `{to}`"));
        }
    }
}
