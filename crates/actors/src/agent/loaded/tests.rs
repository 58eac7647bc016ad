//! Keys, halves that are refused, what is prepared once, what runs on use.

use std::sync::Mutex;

use proptest::prelude::*;
use sandbox::arms::{Dialect, Lines, Missing, Opening};
use sandbox::prepare::Band;
use vocab::language::ProgramLanguage;
use vocab::operations::Operation;

use super::*;

/// JavaScript with a judge: `refuse` is refused, `crash` kills the compiler, and what was prepared
/// is noted.
#[derive(Default)]
struct Judged(Mutex<Vec<String>>);

impl Judged {
    fn judge(&self, source: &str) -> Result<(), PrepareError> {
        self.0.lock().unwrap().push(source.to_owned());
        if source.contains("refuse") {
            return Err(PrepareError::Rejected {
                band: Band::Compile,
                diagnostics: format!("no: {source}"),
            });
        }
        if source.contains("crash") {
            return Err(PrepareError::Toolchain("killed".to_owned()));
        }
        Ok(())
    }

    fn prepared(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn plain() -> &'static dyn Arm {
    arms::of(ProgramLanguage::Javascript)
}

impl Dialect for Judged {
    fn binding_name(&self, authored: &str) -> String {
        plain().binding_name(authored)
    }

    fn lib_access(&self, key: &str, export: &str) -> String {
        plain().lib_access(key, export)
    }

    fn lib_import(&self, key: &str) -> String {
        plain().lib_import(key)
    }

    fn module_import(&self, module: &str) -> String {
        plain().module_import(module)
    }

    fn module_path(&self, module: &str) -> String {
        plain().module_path(module)
    }

    fn spelling(&self, operation: &Operation) -> String {
        plain().spelling(operation)
    }

    fn call(&self, operation: &Operation) -> String {
        plain().call(operation)
    }

    fn file_view_statement(&self, path: &str, lines: Option<Lines>) -> String {
        plain().file_view_statement(path, lines)
    }

    fn documentation_program(&self, names: &[String]) -> String {
        plain().documentation_program(names)
    }

    fn bootstrap_program(&self, opening: &Opening<'_>) -> String {
        plain().bootstrap_program(opening)
    }
}

impl Arm for Judged {
    fn language(&self) -> ProgramLanguage {
        plain().language()
    }

    fn display_name(&self) -> &'static str {
        "Judged"
    }

    fn checker(&self) -> Option<&'static str> {
        Some("judge")
    }

    fn prepare_program(
        &self,
        source: &str,
        modules: &[CodeModule],
        context: &PrepareContext,
    ) -> Result<Prepared, PrepareError> {
        self.judge(source)?;
        plain().prepare_program(source, modules, context)
    }

    fn prepare_module(
        &self,
        source: &str,
        key: &str,
        context: &PrepareContext,
    ) -> Result<Module, PrepareError> {
        self.judge(source)?;
        plain().prepare_module(source, key, context)
    }

    fn module_extensions(&self) -> &'static [&'static str] {
        plain().module_extensions()
    }

    fn guest(&self) -> Result<&'static [u8], Missing> {
        plain().guest()
    }

    fn least_memory_bytes(&self) -> u64 {
        plain().least_memory_bytes()
    }
}

fn skill(name: &str) -> Owner {
    Owner::Skill(name.into())
}

fn code(module: Option<&str>, script: Option<&str>) -> Authored {
    let half = |text: &str| Source {
        text: text.into(),
        extension: "js".into(),
    };
    Authored {
        module: module.map(half),
        script: script.map(half),
    }
}

fn prepare(loaded: &Loaded, arm: &Judged, owner: Owner, code: &Authored) -> Ready {
    let context = PrepareContext::default();
    loaded.prepare(arm, &context, owner, code).unwrap()
}

/// Uses an owner's code, and answers the key it is imported by.
fn used(loaded: &mut Loaded, arm: &Judged, owner: Owner, code: &Authored) -> String {
    let ready = prepare(loaded, arm, owner, code);
    assert_eq!(ready.rejected, []);
    loaded.hold(ready)
}

fn sources(loaded: &Loaded) -> Vec<(String, String)> {
    let modules = loaded.modules().into_iter();
    modules.map(|module| (module.key, module.source)).collect()
}

#[test]
fn names_of_one_identifier_are_told_apart_and_a_key_stays_its_owner_s() {
    let (mut loaded, arm) = (Loaded::default(), Judged::default());
    let some = code(Some("export const a = 1;"), None);
    let memory = Owner::Memory("csv_tools".into());
    assert_eq!(
        used(&mut loaded, &arm, skill("csv-tools"), &some),
        "csvTools"
    );
    assert_eq!(
        used(&mut loaded, &arm, skill("csv tools"), &some),
        "csvTools2"
    );
    assert_eq!(used(&mut loaded, &arm, memory.clone(), &some), "csv_tools");
    assert_eq!(
        used(&mut loaded, &arm, skill("csv tools"), &some),
        "csvTools2"
    );
    assert_eq!(loaded.owner("csvTools2"), Some(&skill("csv tools")));
    loaded.let_go(&skill("csv-tools"));
    assert_eq!(loaded.modules().len(), 2);
    assert_eq!(
        used(&mut loaded, &arm, skill("csv.tools"), &some),
        "csvTools3"
    );
    assert_eq!(
        used(&mut loaded, &arm, skill("csv-tools"), &some),
        "csvTools"
    );
}

#[test]
fn what_says_the_same_is_prepared_once_and_a_revision_anew() {
    let (mut loaded, arm) = (Loaded::default(), Judged::default());
    let first = code(Some("module 1"), Some("script 1"));
    used(&mut loaded, &arm, skill("x"), &first);
    assert_eq!(arm.prepared(), ["module 1", "script 1"]);
    assert!(loaded.take_compiling().is_some());
    used(&mut loaded, &arm, skill("x"), &first);
    assert_eq!(arm.prepared(), [""; 0]);
    assert_eq!(loaded.take_compiling(), None);
    // A script sees its module, so that another module makes it another program.
    used(
        &mut loaded,
        &arm,
        skill("x"),
        &code(Some("module 2"), Some("script 1")),
    );
    assert_eq!(arm.prepared(), ["module 2", "script 1"]);
    // So is what says the same in another language.
    let mut other = code(Some("module 2"), Some("script 1"));
    for half in [&mut other.module, &mut other.script] {
        half.as_mut().unwrap().extension = "ts".into();
    }
    used(&mut loaded, &arm, skill("x"), &other);
    assert_eq!(arm.prepared(), ["module 2", "script 1"]);
    assert_eq!(sources(&loaded), [("x".to_owned(), "module 2".to_owned())]);
}

#[test]
fn a_script_is_due_once_after_each_program_that_used_it_and_sees_its_own_module_alone() {
    let (mut loaded, arm) = (Loaded::default(), Judged::default());
    used(&mut loaded, &arm, skill("other"), &code(Some("m"), None));
    let both = code(Some("own"), Some("run"));
    used(&mut loaded, &arm, skill("x"), &both);
    used(&mut loaded, &arm, skill("y"), &code(None, Some("alone")));
    used(&mut loaded, &arm, skill("x"), &both);
    let due = loaded.take_due();
    let owners: Vec<_> = due.iter().map(|due| due.owner.clone()).collect();
    assert_eq!(owners, [skill("y"), skill("x")]);
    assert!(due[0].program.modules.is_empty());
    assert_eq!(due[1].program.modules.len(), 1);
    assert_eq!(due[1].program.modules[0].source, "own");
    assert!(loaded.take_due().is_empty());
    used(&mut loaded, &arm, skill("x"), &both);
    assert_eq!(loaded.take_due().len(), 1, "every use");
}

#[test]
fn a_refused_half_is_told_and_the_other_is_loaded() {
    let (mut loaded, arm) = (Loaded::default(), Judged::default());
    let ready = prepare(
        &loaded,
        &arm,
        skill("x"),
        &code(Some("refuse"), Some("run")),
    );
    assert_eq!(
        ready
            .rejected
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        ["the code does not compile, so it cannot be imported:\nno: refuse"]
    );
    loaded.hold(ready);
    assert!(loaded.modules().is_empty());
    assert_eq!(loaded.take_due().len(), 1);
    let ready = prepare(&loaded, &arm, skill("x"), &code(Some("m"), Some("refuse")));
    assert_eq!(ready.rejected, [Rejected::Script("no: refuse".to_owned())]);
    loaded.hold(ready);
    assert_eq!(loaded.modules().len(), 1);
    assert!(loaded.take_due().is_empty());
}

#[test]
fn preparing_changes_nothing_and_its_time_counts_all_the_same() {
    let (mut loaded, arm) = (Loaded::default(), Judged::default());
    used(&mut loaded, &arm, skill("x"), &code(Some("m 1"), None));
    loaded.take_compiling();
    let ready = prepare(&loaded, &arm, skill("x"), &code(Some("refuse"), None));
    assert_eq!(ready.rejected.len(), 1);
    loaded.discard(&ready);
    assert_eq!(sources(&loaded), [("x".to_owned(), "m 1".to_owned())]);
    assert!(loaded.take_compiling().is_some());
}

#[test]
fn a_compiler_that_could_not_finish_is_no_refusal() {
    let (loaded, arm) = (Loaded::default(), Judged::default());
    let context = PrepareContext::default();
    let crash = code(Some("crash"), None);
    let failed = loaded.prepare(&arm, &context, skill("x"), &crash);
    assert!(matches!(failed, Err(PrepareError::Toolchain(_))));
}

#[test]
fn what_is_let_go_is_neither_imported_nor_run() {
    let (mut loaded, arm) = (Loaded::default(), Judged::default());
    let memory = Owner::Memory("note".into());
    used(
        &mut loaded,
        &arm,
        memory.clone(),
        &code(Some("m"), Some("s")),
    );
    loaded.let_go(&memory);
    assert!(loaded.modules().is_empty());
    assert!(loaded.take_due().is_empty());
    assert!(loaded.documented().is_empty());
}

proptest! {
    #[test]
    fn no_two_owners_share_a_key(names in prop::collection::vec("[a-c_ .-]{1,4}", 1..14)) {
        let (mut loaded, arm) = (Loaded::default(), Judged::default());
        for (place, name) in names.iter().enumerate() {
            let owner = if place % 2 == 0 {
                skill(name)
            } else {
                Owner::Memory(name.as_str().into())
            };
            used(&mut loaded, &arm, owner, &code(Some(name), None));
        }
        let keys: Vec<_> = loaded.modules().into_iter().map(|module| module.key).collect();
        let mut distinct = keys.clone();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), keys.len());
        for key in &keys {
            prop_assert!(loaded.owner(key).is_some());
        }
    }
}
