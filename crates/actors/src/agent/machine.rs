//! An agent in a state of a machine: what its record and its model are told of it, and how it
//! leaves (03 §6).

use context::prompts::{ExitLine, MachineSection};
use record::event::{Event, FsmState};
use vocab::failure::Failure;
use vocab::tools::ToolName;

use super::succession::Successor;
use super::surface::Surface;
use super::tool_turn::Answer;
use super::turns::Turns;
use super::undone::Undone;
use crate::machine::{self, Leave, Position};
use crate::succession::Succession;

/// Where an agent stands, for the record.
pub(super) fn fsm_state(position: &Position) -> Event {
    Event::FsmState(FsmState {
        machine: position.machine().clone(),
        state: position.state().to_owned(),
        profile_id: position.agent().clone(),
        from: position.from().map(str::to_owned),
    })
}

impl Surface {
    /// What the system prompt says of the agent's state, where there is a way out of it.
    pub(super) fn machine(&self, position: Option<&Position>) -> Option<MachineSection> {
        let position = position?;
        self.tools
            .contains(&ToolName::TransitionState)
            .then(|| MachineSection {
                state: position.state().to_owned(),
                leave: ToolName::TransitionState.as_str(),
                exits: position.exits().iter().map(ExitLine::from).collect(),
            })
    }
}

impl Turns {
    /// Carries out a call that leaves the agent's state.
    pub(super) fn transition(&mut self, arguments: &str) -> Answer {
        let leave = machine::leave(arguments, self.spec.position.as_ref());
        let told = leave.and_then(|leave| {
            let told = machine::leaving(&leave.next);
            self.leave_state(leave).map(|()| told)
        });
        Answer::of_call(told.map_err(Undone::from))
    }

    /// Declares that the agent leaves its state as the turn closes.
    pub(super) fn leave_state(&mut self, leave: Leave) -> Result<(), Failure> {
        let Leave { edge, next, note } = leave;
        self.declared.succeed(Successor {
            target: next.agent().clone(),
            kind: Succession::Fsm(edge),
            note: note.map(Into::into),
        })
    }
}
