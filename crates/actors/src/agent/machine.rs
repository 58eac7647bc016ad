//! An agent in a state of a machine: what its record and its model are told of it, and how it
//! leaves (03 §6).

use context::prompts::{ExitLine, MachineSection};
use record::event::{Event, FsmState};
use vocab::tools::ToolName;

use super::delegation_calls::text_answer;
use super::succession::Successor;
use super::surface::Surface;
use super::tool_turn::Answer;
use super::turns::Turns;
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
    /// Declares that the agent leaves its state as the turn closes.
    pub(super) fn transition(&mut self, arguments: &str) -> Answer {
        let Leave { edge, next, note } =
            match machine::leave(arguments, self.spec.position.as_ref()) {
                Ok(leave) => leave,
                Err(failure) => return Answer::failed(failure),
            };
        let successor = Successor {
            target: next.agent().clone(),
            kind: Succession::Fsm(edge),
            note: note.map(Into::into),
        };
        match self.declared.succeed(successor) {
            Ok(()) => text_answer(machine::leaving(&next)),
            Err(refusal) => Answer::failed(refusal),
        }
    }
}
