//! An agent with every capability that a prompt tells of, for the golden files of both surfaces.

use context::prompts::{
    AutoloadSection, CompactionSection, ExecSection, ForkSection, ManagedSection, MemoriesSection,
    ReadFile, RosterLine, Shell, SkillLine, SkillsSection, SubagentsSection, SystemContext,
    TasksSection,
};

/// What the calls that prompts name are called.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    pub(crate) compact: &'static str,
    pub(crate) evict: &'static str,
    pub(crate) archive: &'static str,
    pub(crate) spawn: &'static str,
    pub(crate) wait: &'static str,
    pub(crate) fork: &'static str,
    pub(crate) exec: &'static str,
}

/// Adds all of them.
pub(crate) fn everything(calls: Calls, base: SystemContext) -> SystemContext {
    SystemContext {
        read_file: Some(ReadFile {
            line_cap: Some(250),
            blind: true,
        }),
        write_file: true,
        edit_file: true,
        list_dir: true,
        search: true,
        shell: Some(Shell {
            offload: true,
            max_lines: 250,
            max_chars: 4096,
        }),
        compaction: Some(CompactionSection {
            compact: Some(calls.compact),
            ..CompactionSection::default()
        }),
        managed: Some(ManagedSection {
            evict: Some(calls.evict),
            archive: Some(calls.archive),
        }),
        autoload: Some(AutoloadSection { locked: true }),
        tasks: Some(TasksSection {
            max_tasks: Some(100),
        }),
        memories: Some(MemoriesSection {
            index: true,
            linked: true,
            max_len_per_memory: Some(8_192),
            max_len_index: Some(16_384),
            max_len_description: Some(256),
            ..MemoriesSection::default()
        }),
        skills: Some(SkillsSection {
            catalogue: vec![SkillLine {
                name: "csv-tools".to_owned(),
                description: "Reading and writing CSV files".to_owned(),
                module: true,
                script: false,
            }],
            any_code: true,
        }),
        subagents: Some(SubagentsSection {
            spawn: calls.spawn,
            wait: Some(calls.wait),
            roster: vec![RosterLine {
                slug: "scout".to_owned(),
                name: "Scout".to_owned(),
                description: "Looks things up, and changes nothing".to_owned(),
            }],
        }),
        fork: Some(ForkSection {
            call: calls.fork,
            wait: Some(calls.wait),
        }),
        exec: Some(ExecSection {
            call: calls.exec,
            roster: vec![RosterLine {
                slug: "mason".to_owned(),
                name: "Mason".to_owned(),
                description: "Builds".to_owned(),
            }],
        }),
        ..base
    }
}
