//! The isolation gate: a preparation answers by its own input, whatever was or is prepared beside it
//! (05 §7).
//!
//! First one agent after another input, in one tree; then sixteen agents at once, each in its own.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Barrier, Mutex};

use vocab::language::ProgramLanguage;

use crate::arms;
use crate::prepare::{PrepareContext, PrepareError};

/// How many inputs, and how many agents.
const WIDTH: usize = 16;

/// What is prepared, and where: the artifact, and the tree it was made in.
trait Prepares: Sync {
    fn prepare(
        &self,
        mark: &str,
        context: &PrepareContext,
    ) -> Result<(String, Option<PathBuf>), PrepareError>;
}

impl<F> Prepares for F
where
    F: Fn(&str, &PrepareContext) -> Result<(String, Option<PathBuf>), PrepareError> + Sync,
{
    fn prepare(
        &self,
        mark: &str,
        context: &PrepareContext,
    ) -> Result<(String, Option<PathBuf>), PrepareError> {
        self(mark, context)
    }
}

fn mark(at: usize) -> String {
    // None is the start of another.
    format!("mark-{at:02}-end")
}

/// Complaints about one artifact: its own mark is in it, and nobody else's.
fn judged(at: usize, prepared: &Result<(String, Option<PathBuf>), PrepareError>) -> Vec<String> {
    let (artifact, _) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return vec![format!("input {at} was not prepared: {error}")],
    };
    let mut found = Vec::new();
    if !artifact.contains(&mark(at)) {
        found.push(format!("artifact {at} lacks its own mark"));
    }
    let others = (0..WIDTH).filter(|other| *other != at);
    for other in others.filter(|other| artifact.contains(&mark(*other))) {
        found.push(format!("artifact {at} carries the mark of {other}"));
    }
    found
}

/// One agent, input after input.
fn sequential(prepares: &impl Prepares) -> Vec<String> {
    let context = PrepareContext::default();
    let mut found = Vec::new();
    let mut trees = BTreeSet::new();
    for at in 0..WIDTH {
        let prepared = prepares.prepare(&mark(at), &context);
        found.extend(judged(at, &prepared));
        trees.extend(prepared.map(|(_, tree)| tree));
    }
    if trees.len() > 1 {
        found.push(format!("one agent was given {} trees", trees.len()));
    }
    found
}

/// Sixteen agents at once.
fn concurrent(prepares: &impl Prepares) -> Vec<String> {
    let start = Barrier::new(WIDTH);
    let contexts: Vec<_> = {
        let first = PrepareContext::default();
        (0..WIDTH).map(|_| first.beside()).collect()
    };
    let prepared: Vec<_> = std::thread::scope(|scope| {
        let agents: Vec<_> = contexts
            .iter()
            .enumerate()
            .map(|(at, context)| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    prepares.prepare(&mark(at), context)
                })
            })
            .collect();
        agents
            .into_iter()
            .map(|agent| agent.join().unwrap())
            .collect()
    });
    let mut found = Vec::new();
    let mut trees = BTreeSet::new();
    for (at, prepared) in prepared.iter().enumerate() {
        found.extend(judged(at, prepared));
        if let Ok((_, Some(tree))) = prepared
            && !trees.insert(tree)
        {
            found.push(format!("agent {at} was given the tree of another"));
        }
    }
    found
}

/// Complaints of both phases; where the first has some, the second would say nothing of its own.
fn complaints(prepares: &impl Prepares) -> Vec<String> {
    let found = sequential(prepares);
    if found.is_empty() {
        concurrent(prepares)
    } else {
        found
    }
}

fn program(language: ProgramLanguage, mark: &str) -> String {
    match language {
        ProgramLanguage::Typescript => {
            format!("const said: string = \"{mark}\";\nconsole.log(said);\n")
        }
        ProgramLanguage::Javascript => format!("console.log(\"{mark}\");\n"),
        ProgramLanguage::Python => format!("print(\"{mark}\")\n"),
    }
}

#[test]
fn every_arm_answers_by_its_input_alone() {
    for language in ProgramLanguage::ALL {
        let prepares = |mark: &str, context: &PrepareContext| {
            let source = program(*language, mark);
            let prepared = arms::of(*language).prepare_program(&source, &[], context)?;
            Ok((prepared.source, context.tree()))
        };
        assert_eq!(complaints(&prepares), Vec::<String>::new(), "{language}");
    }
}

/// A preparation through the tree: the input is written, and what was written is handed over.
fn through_the_tree(
    mark: &str,
    context: &PrepareContext,
) -> Result<(String, Option<PathBuf>), PrepareError> {
    let artifact = context.preparation(&[], |workspace, _| {
        let path = workspace.output().join("artifact");
        append(&path, mark);
        Ok(std::fs::read_to_string(path).unwrap())
    })?;
    Ok((artifact, context.tree()))
}

/// Whether a damage brings the complaint it has to.
fn told(found: &[String], complaint: &str) {
    let brought = found.iter().any(|one| one.contains(complaint));
    assert!(brought, "{complaint} is not in {found:?}");
}

fn append(path: &std::path::Path, mark: &str) {
    use std::io::Write;
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path);
    file.unwrap().write_all(mark.as_bytes()).unwrap();
}

#[test]
fn two_good_preparations_pass() {
    let verbatim = |mark: &str, _: &PrepareContext| Ok((mark.to_owned(), None));
    assert_eq!(complaints(&verbatim), Vec::<String>::new());
    assert_eq!(complaints(&through_the_tree), Vec::<String>::new());
}

#[test]
fn an_output_that_agents_share_is_caught() {
    let shared = tempfile::tempdir().unwrap();
    let all_wrote = Barrier::new(WIDTH);
    let at_once = std::sync::atomic::AtomicBool::new(false);
    let prepares = |mark: &str, context: &PrepareContext| {
        let path = shared.path().join("artifact");
        std::fs::write(&path, mark).unwrap();
        if at_once.load(std::sync::atomic::Ordering::SeqCst) {
            // The unlucky moment, made certain.
            all_wrote.wait();
        }
        let (_, tree) = through_the_tree(mark, context)?;
        Ok((std::fs::read_to_string(path).unwrap(), tree))
    };
    assert_eq!(sequential(&prepares), Vec::<String>::new());
    at_once.store(true, std::sync::atomic::Ordering::SeqCst);
    told(&concurrent(&prepares), "carries the mark of");
}

#[test]
fn a_strategy_that_builds_share_is_caught() {
    let sources = Mutex::new(Vec::new());
    let prepares = |mark: &str, context: &PrepareContext| {
        let mut sources = sources.lock().unwrap();
        sources.push(mark.to_owned());
        Ok((sources.join("\n"), context.tree()))
    };
    told(&complaints(&prepares), "artifact 1 carries the mark of 0");
}

#[test]
fn a_compile_that_is_remembered_is_caught() {
    let first = std::sync::OnceLock::new();
    let prepares = |mark: &str, context: &PrepareContext| {
        let artifact: &String = first.get_or_init(|| mark.to_owned());
        Ok((artifact.clone(), context.tree()))
    };
    told(&complaints(&prepares), "artifact 1 lacks its own mark");
}

#[test]
fn a_cache_keyed_on_something_else_is_caught() {
    let cache = Mutex::new(std::collections::BTreeMap::new());
    let prepares = |mark: &str, context: &PrepareContext| {
        let mut cache = cache.lock().unwrap();
        let artifact = cache.entry(mark.len()).or_insert_with(|| mark.to_owned());
        Ok((artifact.clone(), context.tree()))
    };
    told(&complaints(&prepares), "artifact 1 lacks its own mark");
}

#[test]
fn an_output_that_no_reset_reaches_is_caught() {
    let prepares = |mark: &str, context: &PrepareContext| {
        let artifact = context.preparation(&[], |workspace, _| {
            let path = workspace.redirected().home.join("artifact");
            append(&path, mark);
            Ok(std::fs::read_to_string(path).unwrap())
        })?;
        Ok((artifact, context.tree()))
    };
    told(&complaints(&prepares), "artifact 1 carries the mark of 0");
}

#[test]
fn one_tree_for_two_agents_is_caught() {
    let only = PrepareContext::default();
    let prepares = |mark: &str, _: &PrepareContext| through_the_tree(mark, &only);
    assert_eq!(sequential(&prepares), Vec::<String>::new());
    told(&concurrent(&prepares), "was given the tree of another");
}
