//! `transition_state`: from the JSON a model wrote to the edge it chose, and what it is answered.

use tools::{Arguments, Faults, quoted};
use vocab::failure::{Failure, FailureClass};
use vocab::tools::ToolName;

use super::Position;
use crate::succession::Edge;

/// A choice to leave a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leave {
    /// Along which edge.
    pub(crate) edge: Edge,
    /// Where it stands who takes the leaver's place.
    pub(crate) next: Position,
    /// What that one has to know, where anything is said.
    pub(crate) note: Option<String>,
}

/// Reads a call of an agent that stands in a state, or in none.
pub(crate) fn leave(arguments: &str, position: Option<&Position>) -> Result<Leave, Failure> {
    let position = leaver(position)?;
    let mut members = Arguments::read(arguments, &["state", "note"])?;
    let state = members.filled("state");
    let note = members.optional_text("note");
    members.faults().optional_bounded("note", note.as_deref());
    let edge = edge(&state, position, members.faults());
    members.finish(ToolName::TransitionState)?;
    along(edge, position, note)
}

/// The same call as a program makes it.
pub(crate) fn leave_for(
    state: &str,
    note: Option<String>,
    position: Option<&Position>,
) -> Result<Leave, Failure> {
    let position = leaver(position)?;
    let mut faults = Faults::default();
    faults.filled("state", state);
    faults.optional_bounded("note", note.as_deref());
    let edge = edge(state, position, &mut faults);
    faults.judge()?;
    along(edge, position, note)
}

fn leaver(position: Option<&Position>) -> Result<&Position, Failure> {
    let leaves = position.filter(|position| !position.exits().is_empty());
    leaves.ok_or_else(|| {
        Failure::new(
            FailureClass::Unavailable,
            "you stand in no state that has a way out",
        )
    })
}

/// The edge to a state; those there are where it is not one of them.
fn edge(state: &str, position: &Position, faults: &mut Faults) -> Option<Edge> {
    let edge = position.edge(state);
    if edge.is_none() && !state.trim().is_empty() {
        let exits = position.exits();
        let states: Vec<_> = exits
            .iter()
            .map(|exit| format!("`{}`", exit.state))
            .collect();
        faults.push(format!(
            "`state` is `{}`; from `{}` you can go to {}",
            quoted(state),
            position.state(),
            states.join(", ")
        ));
    }
    edge
}

fn along(edge: Option<Edge>, position: &Position, note: Option<String>) -> Result<Leave, Failure> {
    let next = edge.as_ref().and_then(|edge| position.follow(edge));
    let (Some(edge), Some(next)) = (edge, next) else {
        // A launch refuses an edge to a state that the machine does not have.
        return Err(Failure::new(FailureClass::Other, "that edge leads nowhere"));
    };
    // A blank note says nothing.
    let note = note.filter(|note| !note.trim().is_empty());
    Ok(Leave { edge, next, note })
}

/// The choice stands.
pub(crate) fn leaving(next: &Position) -> String {
    format!(
        "`{}` takes your place, in the state `{}`, when this turn ends",
        next.agent(),
        next.state()
    )
}
