//! Everything gg can offer a model, as data: every tool as a run defines it, and every call of a
//! program as an arm documents it (04 §15, 06 §11).
//!
//! Always true: definitions are those a run sends; only the notes and what a family is about are
//! written here.

mod notes;
mod tools;

use sandbox::catalogue::{Catalogue, Function, LibraryGroup, Module, Type};
use serde::Serialize;

/// The number of this format.
const SCHEMA: u64 = 1;

/// The whole of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reference<'a> {
    schema: u64,
    gg_version: &'static str,
    /// Whose catalogue `api` is.
    language: &'a str,
    families: Vec<Family>,
    api: Api<'a>,
}

/// Calls that belong together.
#[derive(Debug, Serialize)]
struct Family {
    id: &'static str,
    about: &'static str,
    /// The module of programs that holds the same calls.
    module: &'static str,
    tools: Vec<tools::Tool>,
}

/// What programs can call: a catalogue without what it was made for.
#[derive(Debug, Serialize)]
struct Api<'a> {
    modules: &'a [Module],
    #[serde(skip_serializing_if = "Option::is_none")]
    libraries: Option<&'a [LibraryGroup]>,
    functions: &'a [Function],
    types: &'a [Type],
}

/// Families in the order of 04 §15: id, module, what it is about.
const FAMILIES: [(&str, &str, &str); 12] = [
    (
        "filesystem",
        "files",
        "Reading, writing and searching the workspace's files.",
    ),
    ("shell", "shell", "Running commands."),
    (
        "project",
        "board",
        "The board: epics and issues that other agents work on.",
    ),
    ("tasks", "tasks", "An agent's own list of tasks."),
    ("memory", "memories", "Notes that outlast a conversation."),
    ("skills", "skills", "Instructions written beforehand."),
    (
        "context",
        "context",
        "What an agent's own conversation holds.",
    ),
    (
        "delegation",
        "delegation",
        "Other agents, copies and successors.",
    ),
    (
        "docs",
        "docs",
        "The documentation of what programs can call.",
    ),
    (
        "views",
        "views",
        "What a program shows: the only way out of it.",
    ),
    ("programs", "programs", "Programs that ran before."),
    ("session", "session", "How the work is declared done."),
];

/// What gg can offer, with the surface of one language.
pub(crate) fn of(catalogue: &Catalogue) -> Reference<'_> {
    let families = FAMILIES.map(|(id, module, about)| Family {
        id,
        about,
        module,
        tools: tools::of(module),
    });
    Reference {
        schema: SCHEMA,
        gg_version: env!("CARGO_PKG_VERSION"),
        language: &catalogue.language,
        families: families.into(),
        api: Api {
            modules: &catalogue.modules,
            libraries: catalogue.libraries.as_deref(),
            functions: &catalogue.functions,
            types: &catalogue.types,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sandbox::catalogue;
    use vocab::knowledge::MemoryStrategy;
    use vocab::language::ProgramLanguage;
    use vocab::operations::{OPERATIONS, Operation};
    use vocab::tools::{ToolName, Variants, definition};

    use super::*;

    #[test]
    fn every_tool_with_a_definition_stands_in_the_family_of_its_operation_once() {
        let mut told = Vec::new();
        for (_, module, _) in FAMILIES {
            told.extend(tools::of(module).into_iter().map(|tool| tool.name));
        }
        let unique: BTreeSet<_> = told.iter().copied().collect();
        assert_eq!(unique.len(), told.len());
        for tool in ToolName::ALL {
            let defined = [
                MemoryStrategy::Scratchpad,
                MemoryStrategy::Markdown,
                MemoryStrategy::KeywordSearch,
            ]
            .into_iter()
            .any(|strategy| {
                let memories = Some(strategy);
                definition(
                    *tool,
                    Variants {
                        memories,
                        ..tools::ANY
                    },
                )
                .is_some()
            });
            assert_eq!(unique.contains(tool.as_str()), defined, "{tool}");
        }
    }

    #[test]
    fn the_families_are_the_modules_of_the_table_and_the_last_four_have_no_tools() {
        let modules: BTreeSet<_> = OPERATIONS.iter().map(Operation::module).collect();
        let told: BTreeSet<_> = FAMILIES.iter().map(|(_, module, _)| *module).collect();
        assert_eq!(modules, told);
        for (id, module, _) in &FAMILIES[8..] {
            assert!(tools::of(module).is_empty(), "{id}");
        }
    }

    #[test]
    fn it_holds_what_a_run_would_define_and_what_an_arm_documents() {
        let catalogue = catalogue::of(ProgramLanguage::Typescript).unwrap();
        let reference = serde_json::to_value(of(catalogue)).unwrap();
        assert_eq!(reference["language"], "typescript");
        let read = &reference["families"][0]["tools"][0];
        assert_eq!(read["name"], "read_file");
        assert_eq!(read["capability"], "read-file");
        assert_eq!(read["variants"][0]["label"], "default-cap");
        let functions = reference["api"]["functions"].as_array().unwrap();
        assert_eq!(functions.len(), catalogue.functions.len());
        assert!(functions[0]["signatures"][0]["text"].is_string());
    }
}
