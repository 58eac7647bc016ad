//! The authorship gate: what reaches a compiler or a guest is what its author wrote (05 §2, §7).
//!
//! It prepares a whole program, and looks at every text the preparation left that holds a mark of the
//! program's; where it left none, at what it handed over.

use std::path::{Path, PathBuf};

use vocab::language::ProgramLanguage;

use crate::arms;
use crate::prepare::{PrepareContext, PrepareError};

/// How faithful a preparation is, the least faithful last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    /// The text is the author's.
    Kept,
    /// The author's text stands in it, whole.
    Wrapped,
    /// It was changed.
    Rewrote,
}

/// A text that no preparation makes up.
const MARK: &str = "authorship-mark-7f3a";

/// What a step handed over, and the folder it worked in.
struct Step {
    handed: String,
    tree: Option<PathBuf>,
    /// Whose folder it is, which goes with it.
    _context: PrepareContext,
}

/// What a compiler made of a text is no text of its author's.
const MADE: [&str; 2] = ["output", "built"];

fn relation(source: &str, step: &Step) -> Relation {
    let mut texts = Vec::new();
    if let Some(tree) = &step.tree {
        marked(tree, &mut texts);
    }
    if texts.is_empty() {
        texts.push(step.handed.clone());
    }
    texts
        .iter()
        .map(|text| match text {
            text if text == source => Relation::Kept,
            text if text.contains(source) => Relation::Wrapped,
            _ => Relation::Rewrote,
        })
        .max()
        .unwrap_or(Relation::Rewrote)
}

fn marked(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if MADE.iter().all(|made| name != *made) {
                marked(&path, texts);
            }
        } else if let Ok(text) = std::fs::read_to_string(&path)
            && text.contains(MARK)
        {
            texts.push(text);
        }
    }
}

/// Complaints about an arm's two steps, against what is expected of it.
fn complaints(
    expected: (Relation, Relation),
    program: (&str, &Step),
    module: (&str, &Step),
) -> Vec<String> {
    [
        ("program", expected.0, program),
        ("module", expected.1, module),
    ]
    .into_iter()
    .filter_map(|(what, expected, (source, step))| {
        let found = relation(source, step);
        (found != expected).then(|| format!("the {what} step {found:?}; expected {expected:?}"))
    })
    .collect()
}

/// What each arm does with a program and with a module. A row changes with what the arm does, for
/// the better too.
fn rows(language: ProgramLanguage) -> (Relation, Relation) {
    match language {
        ProgramLanguage::Typescript | ProgramLanguage::Javascript | ProgramLanguage::Python => {
            (Relation::Kept, Relation::Kept)
        }
    }
}

/// A program and a module of a language, with all that a preparation might be tempted to touch.
fn sources(language: ProgramLanguage) -> (String, String) {
    match language {
        ProgramLanguage::Typescript | ProgramLanguage::Javascript => (
            format!(
                "#!/usr/bin/env gg\n// {MARK}\r\nimport {{ views }} from \"gg\";\n\nexport \
                 const a = 1;\n\tviews.openText(\"{MARK}\", String(a))"
            ),
            format!("export function f() {{\n  return \"{MARK}\";\n}}"),
        ),
        ProgramLanguage::Python => (
            format!(
                "# -*- coding: utf-8 -*-\r\n# {MARK}\nimport gg\n\ngg.views.open_text(\"{MARK}\", \"a\")"
            ),
            format!("def f():\n    return \"{MARK}\""),
        ),
    }
}

fn steps(language: ProgramLanguage) -> Result<(Step, Step), PrepareError> {
    let (program, module) = sources(language);
    let arm = arms::of(language);
    let context = PrepareContext::default();
    let prepared = arm.prepare_program(&program, &[], &context)?;
    let program = step(prepared.source, context);
    // What the first step left is not the second's.
    let context = PrepareContext::default();
    let loaded = [arm.prepare_module(&module, "k", &context)?.module];
    let again = arm.prepare_program("", &loaded, &context)?;
    Ok((program, step(again.modules[0].source.clone(), context)))
}

fn step(handed: String, context: PrepareContext) -> Step {
    Step {
        handed,
        tree: context.tree(),
        _context: context,
    }
}

#[test]
fn every_arm_keeps_what_its_author_wrote() {
    for language in ProgramLanguage::ALL {
        let (program, module) = sources(*language);
        let (first, second) = steps(*language).unwrap();
        let found = complaints(rows(*language), (&program, &first), (&module, &second));
        assert_eq!(found, Vec::<String>::new(), "{language}");
    }
}

#[test]
fn an_arm_that_wraps_or_rewrites_is_caught_and_so_is_one_that_no_longer_does() {
    use Relation::{Kept, Rewrote, Wrapped};

    let source = format!("say(\"{MARK}\")");
    let handed = |handed: String| step(handed, PrepareContext::default());
    let kept = handed(source.clone());
    let wrapped = handed(format!("main {{ {source} }}"));
    let rewrote = handed(source.replace("say", "shout"));
    let check = |program: &Step, module: &Step, expected, complaints_expected: usize| {
        let found = complaints(expected, (&source, program), (&source, module));
        assert_eq!(found.len(), complaints_expected, "{found:?}");
    };
    check(&kept, &kept, (Kept, Kept), 0);
    check(&wrapped, &kept, (Kept, Kept), 1);
    check(&rewrote, &wrapped, (Kept, Kept), 2);
    check(&kept, &kept, (Kept, Wrapped), 1);
    check(&kept, &rewrote, (Kept, Rewrote), 0);
    // The least faithful of several texts counts, and what a compiler made does not.
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("output")).unwrap();
    std::fs::write(folder.path().join("output/a.js"), format!("x {MARK}")).unwrap();
    std::fs::write(folder.path().join("a"), &source).unwrap();
    let mut step = handed(String::new());
    step.tree = Some(folder.path().to_owned());
    assert_eq!(relation(&source, &step), Kept);
    std::fs::write(folder.path().join("b"), format!("{source};")).unwrap();
    assert_eq!(relation(&source, &step), Wrapped);
    std::fs::write(folder.path().join("c"), format!("other {MARK}")).unwrap();
    assert_eq!(relation(&source, &step), Rewrote);
}
