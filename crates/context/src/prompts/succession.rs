//! What is said of taking another's place and of copies: sections of the system prompt, and the
//! notes that a successor and a copy open on (03 §5.3, §5.4).

use serde::Serialize;

use super::PromptError;
use super::delegation::RosterLine;
use super::template::templates;
use crate::modules::ModuleKind;
use crate::modules::handover::{Disposition, DropReason, Handover};

templates! {
    SUCCESSION_NOTE = "succession_note",
    FORK_NOTE = "fork_note",
}

/// What the system prompt says of copying oneself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkSection {
    /// The call that does it.
    pub call: &'static str,
    /// The call that waits for copies; `null` where the agent does not have it.
    pub wait: Option<&'static str>,
}

/// What the system prompt says of becoming another agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecSection {
    /// The call that does it.
    pub call: &'static str,
    /// Who it may become, in configured order; empty where the agents it can put to work are the
    /// same.
    pub roster: Vec<RosterLine>,
}

/// What a successor opens on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuccessionNote<'a> {
    /// Whose place it takes.
    pub predecessor: &'a str,
    /// That one's profile.
    pub profile: &'a str,
    /// Whether the conversation came along.
    pub history: bool,
    /// The machine it stands in, where it entered a state of one.
    pub machine: Option<MachineLine<'a>>,
    /// The other modules that either holds.
    pub modules: Vec<ModuleLine>,
    /// Agents that were put to work and that no wait has brought.
    pub children: Vec<ChildLine<'a>>,
    /// The call that waits for them; `null` where it has none.
    pub wait: Option<&'a str>,
    /// What it is left to do.
    pub prompt: Option<&'a str>,
}

/// A state of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineLine<'a> {
    /// The machine.
    pub name: &'a str,
    /// The state.
    pub state: &'a str,
}

/// An agent that was put to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildLine<'a> {
    /// Its handle.
    pub id: &'a str,
    /// Its profile.
    pub agent: &'a str,
    /// Whether it has ended.
    pub ended: bool,
}

/// What became of one module. Exactly one of the flags is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleLine {
    /// Its kind.
    pub kind: &'static str,
    /// It moved as it stood.
    pub carried: bool,
    /// The receiver shares a store of its profile's or of whoever started its lineage.
    pub linked: bool,
    /// It was dropped, since the receiver has none.
    pub off: bool,
    /// It was dropped, since the edge does not hand it over; the receiver starts an empty one.
    pub left: bool,
    /// It was dropped, since the receiver keeps it in another way, and starts an empty one.
    pub unreadable: bool,
    /// The other had none.
    pub fresh: bool,
}

impl ModuleLine {
    /// The lines of a hand-over, without the conversation, the board, and what neither holds.
    pub fn of(handover: &Handover) -> Vec<Self> {
        let told = |kind| !matches!(kind, ModuleKind::History | ModuleKind::Board);
        let rows = handover.rows.iter().filter(|row| told(row.kind));
        rows.filter_map(|row| {
            let line = Self {
                kind: row.kind.as_str(),
                ..Self::default()
            };
            Some(match (row.disposition, row.reason) {
                (Disposition::Absent, _) => return None,
                (Disposition::Carried | Disposition::Copied, _) => Self {
                    carried: true,
                    ..line
                },
                (Disposition::Linked, _) => Self {
                    linked: true,
                    ..line
                },
                (Disposition::Dropped, Some(DropReason::Strategy { .. })) => Self {
                    unreadable: true,
                    ..line
                },
                (Disposition::Dropped, _) if row.to.is_some() => Self { left: true, ..line },
                (Disposition::Dropped, _) => Self { off: true, ..line },
                (Disposition::Initialized, _) => Self {
                    fresh: true,
                    ..line
                },
            })
        })
        .collect()
    }
}

/// What a copy opens on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkNote<'a> {
    /// Of whom it is a copy.
    pub source: &'a str,
    /// The turn at whose end it was made.
    pub turn: u32,
    /// What it is to do.
    pub prompt: &'a str,
}

/// The note that a successor opens on, as it stands in the window.
pub fn succession_note(note: &SuccessionNote<'_>) -> Result<String, PromptError> {
    SUCCESSION_NOTE.render(note)
}

/// The note that a copy opens on, as it stands in the window.
pub fn fork_note(note: &ForkNote<'_>) -> Result<String, PromptError> {
    FORK_NOTE.render(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: SuccessionNote<'static> = SuccessionNote {
        predecessor: "root",
        profile: "planner",
        history: true,
        machine: None,
        modules: Vec::new(),
        children: Vec::new(),
        wait: None,
        prompt: None,
    };

    #[test]
    fn a_successor_is_told_whose_place_it_takes_and_what_came_along() {
        let line = |kind| ModuleLine {
            kind,
            ..ModuleLine::default()
        };
        let note = SuccessionNote {
            modules: vec![
                ModuleLine {
                    unreadable: true,
                    ..line("memories")
                },
                ModuleLine {
                    carried: true,
                    ..line("tasks")
                },
                ModuleLine {
                    off: true,
                    ..line("skills")
                },
                ModuleLine {
                    fresh: true,
                    ..line("archive")
                },
            ],
            children: vec![
                ChildLine {
                    id: "agent-1",
                    agent: "scout",
                    ended: true,
                },
                ChildLine {
                    id: "agent-2",
                    agent: "scout",
                    ended: false,
                },
            ],
            wait: Some("wait_for_subagents"),
            prompt: Some("Build {{it}} & test it."),
            ..NOTE
        };
        insta::assert_snapshot!(succession_note(&note).unwrap());
    }

    #[test]
    fn a_machine_s_next_agent_without_the_conversation_is_told_so() {
        let note = SuccessionNote {
            history: false,
            machine: Some(MachineLine {
                name: "flow",
                state: "verify",
            }),
            modules: vec![
                ModuleLine {
                    kind: "memories",
                    linked: true,
                    ..ModuleLine::default()
                },
                ModuleLine {
                    kind: "tasks",
                    left: true,
                    ..ModuleLine::default()
                },
            ],
            children: vec![ChildLine {
                id: "agent-1",
                agent: "scout",
                ended: false,
            }],
            ..NOTE
        };
        insta::assert_snapshot!(succession_note(&note).unwrap());
    }

    #[test]
    fn a_copy_is_told_that_its_original_goes_on() {
        let note = ForkNote {
            source: "root",
            turn: 3,
            prompt: "Try <the> other {{way}}.",
        };
        insta::assert_snapshot!(fork_note(&note).unwrap());
    }
}
