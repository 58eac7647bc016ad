//! What is said of the machine an agent stands in: the section of the system prompt.

use serde::Serialize;
use vocab::tools::Exit;

/// What the system prompt says of an agent's place in a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineSection {
    /// The state it stands in.
    pub state: String,
    /// The call that leaves it.
    pub leave: &'static str,
    /// Where it may go on to, in configured order; never empty.
    pub exits: Vec<ExitLine>,
}

/// One way out of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitLine {
    /// The state it leads to.
    pub state: String,
    /// When to take it; empty where nothing is said.
    pub description: String,
    /// Whether the conversation goes along.
    pub history: bool,
}

impl From<&Exit<'_>> for ExitLine {
    fn from(exit: &Exit<'_>) -> Self {
        Self {
            state: exit.state.to_owned(),
            description: exit.description.trim().to_owned(),
            history: exit.history,
        }
    }
}
