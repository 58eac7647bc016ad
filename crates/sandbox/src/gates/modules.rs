//! The gates on code modules: a loaded one is built once, and one that has to be built again and is
//! refused is no fault of the program's (05 §7).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use vocab::language::ProgramLanguage;

use crate::arms::{self, Arm};
use crate::contract::CodeModule;
use crate::prepare::{Band, PrepareContext, PrepareError, Prepared};

/// Programs prepared after the modules were loaded.
const PROGRAMS: usize = 5;

/// A module of a language that is fine, and one that its compiler refuses.
fn modules(language: ProgramLanguage) -> [&'static str; 2] {
    match language {
        ProgramLanguage::Typescript => [
            "export const a: number = 1;\n",
            "export const a: number = \"\";\n",
        ],
        ProgramLanguage::Javascript => ["export const a = 1;\n", "export const = 1;\n"],
        ProgramLanguage::Python => ["a = 1\n", "a = =\n"],
    }
}

/// When each file of a module's build was written.
fn written(folder: &Path, files: &mut BTreeMap<PathBuf, SystemTime>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            written(&entry.path(), files);
        } else {
            files.insert(entry.path(), entry.metadata().unwrap().modified().unwrap());
        }
    }
}

/// How a program is prepared, with modules that were loaded before.
type Prepares<'a> = dyn Fn(&[CodeModule], &PrepareContext) -> Result<Prepared, PrepareError> + 'a;

/// Complaints about programs that follow the loading of two modules.
fn rebuilds(arm: &dyn Arm, prepares: &Prepares<'_>) -> Vec<String> {
    let context = PrepareContext::default();
    let [fine, _] = modules(arm.language());
    let loaded: Vec<_> = ["one", "two"]
        .map(|key| arm.prepare_module(fine, key, &context).unwrap().module)
        .to_vec();
    let band = |files: &mut BTreeMap<_, _>| {
        if let Some(tree) = context.tree() {
            written(&tree.join("work/modules"), files);
        }
    };
    let (builds, mut before, mut after) =
        (context.module_builds(), BTreeMap::new(), BTreeMap::new());
    band(&mut before);
    let mut found = Vec::new();
    if arm.prepare_compiles() && (builds != 2 || before.is_empty()) {
        found.push(format!(
            "two modules left {builds} builds, {} files",
            before.len()
        ));
    }
    for _ in 0..PROGRAMS {
        if let Err(error) = prepares(&loaded, &context) {
            found.push(format!("a program was not prepared: {error}"));
        }
    }
    band(&mut after);
    let again = context.module_builds() - builds;
    if again > 0 {
        found.push(format!("{PROGRAMS} programs built modules {again} times"));
    }
    if before != after {
        found.push("files of loaded modules were written again".to_owned());
    }
    found
}

/// Whether a refusal of a module that had to be built again is told as gg's.
fn told_as_lowering(outcome: &Result<Prepared, PrepareError>) -> Result<(), String> {
    match outcome {
        Err(PrepareError::Lowering { binding, .. }) if binding == "k" => Ok(()),
        other => Err(format!(
            "expected a lowering failure of `k`, found {other:?}"
        )),
    }
}

#[test]
fn programs_after_the_load_build_no_module() {
    for arm in arms::all() {
        let prepares = |loaded: &[CodeModule], context: &PrepareContext| {
            arm.prepare_program("", loaded, context)
        };
        assert_eq!(
            rebuilds(arm, &prepares),
            Vec::<String>::new(),
            "{}",
            arm.id()
        );
    }
}

#[test]
fn a_preparation_that_builds_modules_again_is_caught() {
    let arm = arms::of(ProgramLanguage::Typescript);
    let rewrites = |loaded: &[CodeModule], context: &PrepareContext| {
        let tree = context.tree().unwrap().join("work/modules/one/one.ts");
        std::fs::write(tree, &loaded[0].source).unwrap();
        arm.prepare_program("", loaded, context)
    };
    assert_eq!(
        rebuilds(arm, &rewrites),
        ["files of loaded modules were written again"]
    );
    let builds = |loaded: &[CodeModule], context: &PrepareContext| {
        let mut other = loaded.to_vec();
        other[0].source.push('\n');
        arm.prepare_program("", &other, context)?;
        arm.prepare_program("", loaded, context)
    };
    assert_eq!(
        rebuilds(arm, &builds),
        [
            format!("{PROGRAMS} programs built modules {} times", 2 * PROGRAMS),
            "files of loaded modules were written again".to_owned()
        ]
    );
}

#[test]
fn a_module_that_is_refused_when_it_is_built_again_is_ggs_to_answer_for() {
    for arm in arms::all().filter(|arm| arm.prepare_compiles()) {
        let [_, broken] = modules(arm.language());
        let module = CodeModule {
            key: "k".to_owned(),
            source: broken.to_owned(),
        };
        let outcome = arm.prepare_program("", &[module], &PrepareContext::default());
        assert_eq!(told_as_lowering(&outcome), Ok(()), "{}", arm.id());
        let told = arm.prepare_module(broken, "k", &PrepareContext::default());
        let rejected = matches!(
            told,
            Err(PrepareError::Rejected {
                band: Band::Compile | Band::Syntax,
                ..
            })
        );
        assert!(rejected, "{}: {told:?}", arm.id());
    }
    let blamed = Err(PrepareError::Rejected {
        band: Band::Compile,
        diagnostics: "k.ts(1,1): error".to_owned(),
    });
    assert!(told_as_lowering(&blamed).is_err());
    assert!(told_as_lowering(&Ok(Prepared::default())).is_err());
}
