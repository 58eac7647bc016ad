//! The arms: what gg knows of each language that programs are written in (05 §5).
//!
//! An arm says how its programs and code modules are prepared, how it spells names, and writes the
//! few programs that are gg's own. Everything else (contract, membrane, gates) is the same for all.
//!
//! Always true: every language of [`ProgramLanguage`] has an arm; an arm whose guest or toolchain is
//! missing is still registered, and says what is missing when it is asked ([`Arm::availability`]).

mod ecmascript;
mod guests;
mod javascript;
mod names;
mod python;
mod typescript;

use vocab::language::ProgramLanguage;
use vocab::operations::Operation;

use crate::contract::CodeModule;
use crate::prepare::{Export, Module, PrepareContext, PrepareError, Prepared};

pub use guests::{MOST_MEMORY_BYTES, Missing, ecmascript, python as python_guest};
pub use names::{ModuleName, Names, names};

/// How a language is written: names, lines that import, and the few programs that are gg's own.
pub trait Dialect: Sync {
    /// The name programs import a skill or a memory by; never empty, the same for the same name.
    fn binding_name(&self, authored: &str) -> String;

    /// How a program reaches one export of a code module.
    fn lib_access(&self, key: &str, export: &str) -> String;

    /// The line that reaches a code module.
    fn lib_import(&self, key: &str) -> String;

    /// The line that reaches a module of gg's.
    fn module_import(&self, module: &str) -> String;

    /// How a module of gg's is called: a word that is also the entry to its documentation.
    fn module_path(&self, module: &str) -> String;

    /// The full name of an operation, as the documentation files it: `gg.files.readFile`.
    fn spelling(&self, operation: &Operation) -> String;

    /// The name of an operation behind the import line of its module: `files.readFile`.
    fn call(&self, operation: &Operation) -> String;

    /// One statement that opens a view of a file, whole or a part of it.
    fn file_view_statement(&self, path: &str, lines: Option<Lines>) -> String;

    /// A whole program that opens a page of the documentation for each name.
    fn documentation_program(&self, names: &[String]) -> String;

    /// A whole program that opens what a session starts on.
    fn bootstrap_program(&self, opening: &Opening<'_>) -> String;
}

/// One language: what `sandbox` and whoever runs agents must know of it.
///
/// The catalogue of what it documents is [`crate::catalogue`]'s, found by its language.
pub trait Arm: Dialect {
    /// Which it is.
    fn language(&self) -> ProgramLanguage;

    /// The word that names it in a launch document, in the record and in names of files.
    fn id(&self) -> &'static str {
        self.language().as_str()
    }

    /// What its users call it.
    fn display_name(&self) -> &'static str;

    /// What stands between an object and its function.
    fn member_separator(&self) -> &'static str {
        "."
    }

    /// What judges a program before it runs, by its users' name; `None` where nothing does.
    fn checker(&self) -> Option<&'static str>;

    /// Whether preparing takes a compiler, and so has a time of its own to be told.
    fn prepare_compiles(&self) -> bool {
        self.checker().is_some()
    }

    /// Makes a program ready for the guest. Answers by its input alone; blocks; may be called for
    /// many agents at once, one preparation at a time for each.
    ///
    /// Here a program runs as it was sent; whoever judges it does more.
    fn prepare_program(
        &self,
        source: &str,
        modules: &[CodeModule],
        _context: &PrepareContext,
    ) -> Result<Prepared, PrepareError> {
        Ok(Prepared::verbatim(source, modules))
    }

    /// Makes the code half of a skill or a memory ready, under the name programs import it by; here
    /// too it runs as it was written.
    fn prepare_module(
        &self,
        source: &str,
        key: &str,
        _context: &PrepareContext,
    ) -> Result<Module, PrepareError> {
        Ok(Module {
            exports: self.exports(source),
            ..Module::verbatim(source, key)
        })
    }

    /// What code exports that runs as it was written, by its text alone. Whoever prepares it otherwise
    /// says so there.
    fn exports(&self, _source: &str) -> Vec<Export> {
        Vec::new()
    }

    /// Makes the code half of a skill ready whose file has one of the
    /// [extensions](Self::module_extensions): another than the first may be another language.
    fn prepare_module_file(
        &self,
        _extension: &str,
        source: &str,
        key: &str,
        context: &PrepareContext,
    ) -> Result<Module, PrepareError> {
        self.prepare_module(source, key, context)
    }

    /// The same for a script that runs on use.
    fn prepare_script_file(
        &self,
        _extension: &str,
        source: &str,
        modules: &[CodeModule],
        context: &PrepareContext,
    ) -> Result<Prepared, PrepareError> {
        self.prepare_program(source, modules, context)
    }

    /// The spellings of `skill.<ext>` and `on-use.<ext>`, the preferred one first; never empty.
    fn module_extensions(&self) -> &'static [&'static str];

    /// The component that runs its programs.
    fn guest(&self) -> Result<&'static [u8], Missing>;

    /// Bytes of memory that its guest takes before a program begins, in whole MiB. Less is a cap
    /// under which none can run.
    fn least_memory_bytes(&self) -> u64;

    /// Does once what the first program would have to wait for. Blocks; at best it spares that.
    fn warm_prepare(&self, _context: &PrepareContext) -> Result<(), PrepareError> {
        Ok(())
    }

    /// Whether programs of this language can be prepared and run by this gg on this machine (R17).
    fn availability(&self) -> Result<(), Unavailable> {
        self.guest().map(|_| ()).map_err(Unavailable::from)
    }
}

/// A part of a file, by lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first line, from 1.
    pub offset: u32,
    /// How many.
    pub limit: u32,
}

/// What a session opens on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening<'a> {
    /// Modules listed by one search, by gg's names.
    pub modules: &'a [&'a str],
    /// Operations whose documentation is opened.
    pub functions: &'a [&'static Operation],
    /// Texts that are shown: label and body.
    pub texts: &'a [(&'a str, &'a str)],
}

/// Why a language cannot be used here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// Its guest was not built in.
    #[error(transparent)]
    Guest(#[from] Missing),
    /// A tool that programs are prepared with is not there.
    #[error(transparent)]
    Tool(#[from] MissingTool),
}

/// A tool that was looked for and not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` was not found (looked at {}); {install}", looked.join(", "))]
pub struct MissingTool {
    /// What is missing.
    pub tool: &'static str,
    /// Where it was looked for, in order.
    pub looked: Vec<String>,
    /// How to get it.
    pub install: &'static str,
}

/// An operation that a program of gg's own calls.
fn own(id: &str) -> &'static Operation {
    Operation::find(id).expect("the calls of gg's own programs are in the table; tests render each")
}

/// A text as JSON, which is a literal of every language here.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The arm of a language.
pub fn of(language: ProgramLanguage) -> &'static dyn Arm {
    match language {
        ProgramLanguage::Typescript => &typescript::Typescript,
        ProgramLanguage::Javascript => &javascript::Javascript,
        ProgramLanguage::Python => &python::Python,
    }
}

/// Every arm, in the order of its languages.
pub fn all() -> impl Iterator<Item = &'static dyn Arm> {
    ProgramLanguage::ALL.iter().map(|language| of(*language))
}

/// The name programs import a skill or a memory by, where others are taken: from the second on with
/// a number.
pub fn free_binding_name<'a>(
    arm: &dyn Arm,
    authored: &str,
    taken: impl IntoIterator<Item = &'a str>,
) -> String {
    let taken: std::collections::BTreeSet<_> = taken.into_iter().collect();
    let name = arm.binding_name(authored);
    if !taken.contains(name.as_str()) {
        return name;
    }
    // One more than there are names to avoid.
    (2..taken.len() + 3)
        .map(|number| arm.binding_name(&format!("{name}{number}")))
        .find(|numbered| !taken.contains(numbered.as_str()))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use vocab::operations::OPERATIONS;

    use super::*;

    #[test]
    fn each_language_has_its_own_arm() {
        let ids: Vec<_> = all().map(Arm::id).collect();
        let words: Vec<_> = ProgramLanguage::ALL
            .iter()
            .map(|word| word.as_str())
            .collect();
        assert_eq!(ids, words);
        for arm in all() {
            assert!(!arm.module_extensions().is_empty(), "{}", arm.id());
            let names: BTreeSet<_> = OPERATIONS.iter().map(|row| arm.spelling(row)).collect();
            assert_eq!(names.len(), OPERATIONS.len(), "{}", arm.id());
        }
    }

    proptest! {
        #[test]
        fn names_are_identifiers_that_stay_what_they_are(authored in ".{0,12}") {
            for arm in all() {
                let name = arm.binding_name(&authored);
                prop_assert!(!name.is_empty());
                prop_assert_eq!(&arm.binding_name(&name), &name, "{}", arm.id());
                let first = name.chars().next().unwrap_or_default();
                prop_assert!(first.is_alphabetic() || first == '_', "{}", name);
                let rest = |c: char| c.is_alphanumeric() || c == '_';
                prop_assert!(name.chars().all(rest), "{}", name);
            }
        }

        #[test]
        fn names_that_collide_are_told_apart(authored in prop::collection::vec("[a-c -]{0,3}", 1..12)) {
            for arm in all() {
                let mut names: Vec<String> = Vec::new();
                for name in &authored {
                    let free = free_binding_name(arm, name, names.iter().map(String::as_str));
                    prop_assert!(!names.contains(&free), "{:?} {}", names, free);
                    names.push(free);
                }
            }
        }
    }
}
