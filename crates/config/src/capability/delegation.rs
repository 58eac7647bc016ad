//! Delegation: subagents and machines (03 §3, §6). Persistence, `exec` and `fork` have nothing to
//! configure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocab::ids::Slug;

use super::Params;
use crate::number;
use crate::validate::{Count, Fields, Shape};
use crate::words::words;

/// How deep the tree of agents may grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubagentsParams {
    /// Generations below the root; 0 means the root may not spawn. The run's: every profile writes the same.
    #[serde(
        default,
        deserialize_with = "number::read_optional_whole",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "u64")]
    pub max_depth: Option<u64>,
}

impl Params for SubagentsParams {
    const SHAPE: Shape = Shape {
        name: "SubagentsParams",
        keys: &["maxDepth"],
        required: &["maxDepth"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            max_depth: fields.whole("maxDepth", Count::from(0)),
        }
    }
}

words! {
    /// A module an agent holds, as a transition hands it on.
    ModuleKind {
        /// The window.
        History = "history",
        /// The memory store.
        Memories = "memories",
        /// The task list.
        Tasks = "tasks",
        /// The run's board.
        Board = "board",
        /// The skills and which were read.
        Skills = "skills",
        /// The archive.
        Archive = "archive",
    }
}

/// A machine: agents in a fixed order of states. The first state is entered first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FsmParams {
    /// The states, entry first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<State>", length(min = 1))]
    pub states: Option<Vec<State>>,
}

impl Params for FsmParams {
    const SHAPE: Shape = Shape {
        name: "FsmParams",
        keys: &["states"],
        required: &["states"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        let states = fields.list("states", "at least one state");
        if states.as_ref().is_some_and(Vec::is_empty) {
            fields.report.refuse(
                &fields.at("states"),
                "is empty; expected at least one state",
            );
        }
        Self {
            states: states.map(|states| {
                // One that is none keeps its place, so that the others are named by theirs.
                let read = |(spot, node)| match fields.child(spot, node, State::SHAPE) {
                    Some(state) => State::read(&state.whole_or_absent()),
                    None => State::unreadable(),
                };
                states.into_iter().map(read).collect()
            }),
        }
    }
}

/// One state of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct State {
    /// Unique in the machine.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The profile that works in it; no machine itself.
    pub agent: Slug,
    /// Where it may go on to; none is a terminal state.
    pub transitions: Vec<Transition>,
}

impl State {
    pub(crate) const SHAPE: Shape = Shape {
        name: "State",
        keys: &["name", "agent", "transitions"],
        required: &["name", "agent", "transitions"],
    };

    /// Bad parts read as empty texts; those are refused already and compared with nothing.
    fn read(fields: &Fields<'_>) -> Self {
        Self {
            name: fields.some_text("name").unwrap_or_default().to_owned(),
            agent: fields.word_text("agent").unwrap_or_default().into(),
            transitions: fields
                .list("transitions", "transitions")
                .unwrap_or_default()
                .into_iter()
                .map(
                    |(spot, node)| match fields.child(spot, node, Transition::SHAPE) {
                        Some(transition) => Transition::read(&transition),
                        None => Transition::unreadable(),
                    },
                )
                .collect(),
        }
    }

    /// What stands where no state could be read.
    fn unreadable() -> Self {
        Self {
            name: String::new(),
            agent: "".into(),
            transitions: Vec::new(),
        }
    }
}

/// One way out of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Transition {
    /// The state it leads to.
    #[schemars(length(min = 1))]
    pub to: String,
    /// Modules handed over. Absent or empty: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfer: Vec<ModuleKind>,
    /// When to take it, as the model is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub description: Option<String>,
}

impl Transition {
    pub(crate) const SHAPE: Shape = Shape {
        name: "Transition",
        keys: &["to", "transfer", "description"],
        required: &["to"],
    };

    fn read(fields: &Fields<'_>) -> Self {
        Self {
            to: fields.some_text("to").unwrap_or_default().to_owned(),
            transfer: fields
                .words("transfer", ModuleKind::ALL, ModuleKind::as_str)
                .unwrap_or_default(),
            description: fields.text("description").map(str::to_owned),
        }
    }

    /// What stands where no transition could be read.
    const fn unreadable() -> Self {
        Self {
            to: String::new(),
            transfer: Vec::new(),
            description: None,
        }
    }
}
