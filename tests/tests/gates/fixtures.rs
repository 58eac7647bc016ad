//! The agents that prompts are rendered for: every arm, with everything on, with everything off, as
//! a reviewer, and in a machine.

use std::time::Duration;

use actors::agent::code_surface::code_surface;
use context::prompts::{
    AutoloadSection, CodeSurface, CompactionSection, ExecSection, ExitLine, ForkSection,
    MachineSection, ManagedSection, MemoriesSection, ProgramLibrary, ReadFile, RosterLine, Shell,
    SkillLine, SkillsSection, SubagentsSection, SystemContext, TasksSection,
};
use sandbox::arms::{self, Arm};
use vocab::grant::Offer;
use vocab::operations::{EndingRole, Operation};

/// The figures of a run, none of them one that a template would hold by chance.
pub(crate) const FIGURES: [&str; 9] = [
    "123457", "17.5", "48 MiB", "23", "251", "4097", "101", "8193", "263",
];

/// Whoever is on a roster: slug, name and description.
pub(crate) const ROSTER: [(&str, &str, &str); 2] = [
    ("scout", "The Scout", "Looks things up, and changes nothing"),
    ("mason", "The Mason", "Lays one stone upon another"),
];

/// A skill of the catalogue.
pub(crate) const SKILL: (&str, &str) = ("csv-tools", "Reading and writing CSV files");

/// A state of the machine and the way out of it.
pub(crate) const STATES: [&str; 3] = ["drafting", "reworking", "When the draft is through."];

/// What an agent with every capability, or with none, may call.
pub(crate) fn offer(role: EndingRole, everything: bool) -> Offer {
    if everything {
        Offer::everything(role)
    } else {
        Offer::nothing(role)
    }
}

/// What such an agent has of an arm, as agents are told it.
pub(crate) fn surface(arm: &dyn Arm, offer: &Offer) -> CodeSurface {
    code_surface(arm, offer, Duration::from_millis(17_500), 48 << 20)
}

/// An agent that has nothing but what every agent has.
pub(crate) fn off(arm: &dyn Arm, role: EndingRole) -> SystemContext {
    SystemContext::of_code(role, 123_457, surface(arm, &offer(role, false)))
}

/// An agent that has everything at once.
pub(crate) fn on(arm: &dyn Arm, role: EndingRole) -> SystemContext {
    let mut surface = surface(arm, &offer(role, true));
    surface.library = Some(ProgramLibrary { keep: Some(23) });
    let names = arms::names(arm.language());
    let call = |id: &str| names.call(Operation::find(id).unwrap());
    let line = |(slug, name, description): (&str, &str, &str)| RosterLine {
        slug: slug.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
    };
    let wait = Some(call("delegation.wait_for_subagents"));
    SystemContext {
        read_file: Some(ReadFile {
            line_cap: Some(251),
            blind: true,
        }),
        write_file: true,
        edit_file: true,
        list_dir: true,
        search: true,
        shell: Some(Shell {
            offload: true,
            max_lines: 251,
            max_chars: 4097,
        }),
        compaction: Some(CompactionSection {
            compact: Some(call("context.compact")),
            ..CompactionSection::default()
        }),
        managed: Some(ManagedSection {
            evict: Some(call("context.evict_file_view")),
            archive: Some(call("context.archive_thread")),
        }),
        autoload: Some(AutoloadSection { locked: true }),
        tasks: Some(TasksSection {
            max_tasks: Some(101),
        }),
        memories: Some(MemoriesSection {
            search: true,
            linked: true,
            max_len_per_memory: Some(8_193),
            max_len_description: Some(263),
            ..MemoriesSection::default()
        }),
        skills: Some(SkillsSection {
            catalogue: vec![SkillLine {
                name: SKILL.0.to_owned(),
                description: SKILL.1.to_owned(),
                module: true,
                script: true,
            }],
            any_code: true,
        }),
        subagents: Some(SubagentsSection {
            spawn: call("delegation.spawn_subagent"),
            wait,
            roster: vec![line(ROSTER[0])],
        }),
        machine: Some(MachineSection {
            state: STATES[0].to_owned(),
            leave: call("delegation.transition_state"),
            exits: vec![ExitLine {
                state: STATES[1].to_owned(),
                description: STATES[2].to_owned(),
                history: false,
            }],
        }),
        fork: Some(ForkSection {
            call: call("delegation.fork"),
            wait,
        }),
        exec: Some(ExecSection {
            call: call("delegation.exec"),
            roster: vec![line(ROSTER[1])],
        }),
        ..SystemContext::of_code(role, 123_457, surface)
    }
}

/// Every arm's agents: what they are called in a complaint, and what they are.
pub(crate) fn agents(arm: &dyn Arm) -> Vec<(String, SystemContext)> {
    let roles = [
        ("ends", EndingRole::Standard),
        ("reviews", EndingRole::Review),
    ];
    let of = |(role_name, role): (&str, EndingRole)| {
        [
            (
                format!("{}, {role_name}, everything", arm.id()),
                on(arm, role),
            ),
            (
                format!("{}, {role_name}, nothing", arm.id()),
                off(arm, role),
            ),
        ]
    };
    roles.into_iter().flat_map(of).collect()
}
