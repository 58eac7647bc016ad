//! What an arm calls gg's modules and operations, spelled once a process.
//!
//! Prompts and notices hold these names by reference, for as long as the process runs.

use std::sync::OnceLock;

use vocab::language::ProgramLanguage;
use vocab::operations::{OPERATIONS, Operation};

use super::{Arm, of};

/// One of gg's modules, as an arm spells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleName {
    /// gg's id of it.
    pub id: &'static str,
    /// What it is called.
    pub path: String,
    /// The line that brings it into scope.
    pub import: String,
}

/// Everything an arm spells.
#[derive(Debug)]
pub struct Names {
    modules: Vec<ModuleName>,
    /// In the table's order.
    calls: Vec<String>,
}

/// The names of a language.
pub fn names(language: ProgramLanguage) -> &'static Names {
    static TYPESCRIPT: OnceLock<Names> = OnceLock::new();
    static JAVASCRIPT: OnceLock<Names> = OnceLock::new();
    static PYTHON: OnceLock<Names> = OnceLock::new();
    let slot = match language {
        ProgramLanguage::Typescript => &TYPESCRIPT,
        ProgramLanguage::Javascript => &JAVASCRIPT,
        ProgramLanguage::Python => &PYTHON,
    };
    slot.get_or_init(|| Names::of(of(language)))
}

impl Names {
    fn of(arm: &dyn Arm) -> Self {
        let mut modules: Vec<ModuleName> = Vec::new();
        for id in OPERATIONS.iter().map(Operation::module) {
            if !modules.iter().any(|module| module.id == id) {
                modules.push(ModuleName {
                    id,
                    path: arm.module_path(id),
                    import: arm.module_import(id),
                });
            }
        }
        Self {
            modules,
            calls: OPERATIONS.iter().map(|row| arm.call(row)).collect(),
        }
    }

    /// Every module that has operations, in the order a model meets them.
    pub fn modules(&self) -> &[ModuleName] {
        &self.modules
    }

    /// How a program writes a call, behind the import line of its module.
    pub fn call(&self, operation: &Operation) -> &str {
        let place = OPERATIONS.iter().position(|row| row.id == operation.id);
        // Whoever makes up a row of their own, as tests do, reads gg's name of it.
        place.map_or(operation.id, |place| &self.calls[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_spells_every_module_and_call_once() {
        for language in ProgramLanguage::ALL {
            let names = names(*language);
            assert_eq!(names.modules().len(), 12);
            assert_eq!(names.modules()[0].id, "files");
            assert_eq!(names.modules()[11].id, "session");
            for row in OPERATIONS {
                assert_eq!(names.call(row), of(*language).call(row));
            }
        }
    }
}
