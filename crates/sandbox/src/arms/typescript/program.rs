//! A program, checked and without its types.
//!
//! Always true: what is compiled is what was sent, alone in its file.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::check::{self, Project};
use super::{BARE, Toolchain, config, emitted, erase, module, refusal};
use crate::contract::CodeModule;
use crate::locations::{Locations, SourceMap};
use crate::prepare::workspace::Workspace;
use crate::prepare::{PrepareContext, PrepareError, Prepared, unusable};

/// What its author knows it as.
const WRITTEN: &str = "program.ts";

/// What the guest knows it as.
const RUNS: &str = "program.js";

/// The project it is checked as.
const CHECK: &str = "check.json";

/// The project it is emitted as, where its types cannot be erased.
const EMIT: &str = "emit.json";

/// Bytes of a program whose tree is asked for: up to a hundred times as many, so that they fit into a
/// message of a compiler's.
const PARSED: usize = 64 << 10;

pub(super) fn prepare(
    source: &str,
    modules: &[CodeModule],
    context: &PrepareContext,
) -> Result<Prepared, PrepareError> {
    context.preparation(&[CHECK], |workspace, shared| {
        let toolchain = Toolchain::of(shared)?;
        let (loaded, mut locations) = built(modules, &toolchain, workspace)?;
        let project = lay_down(source, modules, &toolchain, workspace).map_err(unusable)?;
        let judgement = check::judge(&toolchain, shared, &project)?;
        if !judgement.passes {
            checked(&toolchain, workspace)?;
        }
        let erased = judgement.tree.and_then(|tree| erase::erased(&tree, source));
        let source = if let Some(erased) = erased {
            locations.rename(RUNS, WRITTEN);
            erased
        } else {
            let (emitted, map) = emit(&toolchain, workspace)?;
            locations.add(RUNS, WRITTEN, map);
            emitted
        };
        Ok(Prepared {
            source,
            modules: loaded,
            locations,
        })
    })
}

/// A script in JavaScript, which runs as it was written, with modules that may not.
pub(super) fn as_it_is(
    source: &str,
    modules: &[CodeModule],
    context: &PrepareContext,
) -> Result<Prepared, PrepareError> {
    context.preparation(&[], |workspace, shared| {
        let (modules, locations) = built(modules, &Toolchain::of(shared)?, workspace)?;
        Ok(Prepared {
            source: source.to_owned(),
            modules,
            locations,
        })
    })
}

/// Modules as the guest runs them.
fn built(
    modules: &[CodeModule],
    toolchain: &Toolchain,
    workspace: &mut Workspace,
) -> Result<(Vec<CodeModule>, Locations), PrepareError> {
    let mut locations = Locations::default();
    let mut loaded = Vec::new();
    for module in modules {
        let (source, map) = module::built(module, toolchain, workspace)?;
        let name = module::runs_as(&module.key);
        locations.add(&name, &name, map);
        loaded.push(CodeModule {
            key: module.key.clone(),
            source,
        });
    }
    Ok((loaded, locations))
}

/// Writes the program and its project.
pub(super) fn lay_down(
    source: &str,
    modules: &[CodeModule],
    toolchain: &Toolchain,
    workspace: &Workspace,
) -> std::io::Result<Project> {
    let declared = modules.iter().map(|module| workspace.module(&module.key));
    let declared: Vec<PathBuf> = declared
        .map(|folder| folder.join(module::DECLARED))
        .collect();
    let program = workspace.write(WRITTEN, source)?;
    let mut files = vec![WRITTEN.to_owned()];
    files.extend(toolchain.declarations());
    files.extend(declared.iter().map(|path| path.display().to_string()));
    let says = config(&[], &files);
    Ok(Project {
        config: workspace.keep(CHECK, &says)?,
        says,
        program,
        files: declared,
        parsed: source.len() <= PARSED,
    })
}

/// The compiler's own words on a program that does not check; nothing where it does after all.
fn checked(toolchain: &Toolchain, workspace: &Workspace) -> Result<(), PrepareError> {
    let finished = toolchain.run(&["-p", CHECK], &workspace.redirected())?;
    if finished.success {
        return Ok(());
    }
    Err(refusal(finished, WRITTEN))
}

/// The program as the compiler emits it. It has nothing to check, and needs neither types nor library.
fn emit(
    toolchain: &Toolchain,
    workspace: &Workspace,
) -> Result<(String, Arc<SourceMap>), PrepareError> {
    let emits = [
        ("noEmit", json!(false)),
        ("noCheck", json!(true)),
        ("sourceMap", json!(true)),
        ("outDir", json!(workspace.output())),
    ];
    let files = [WRITTEN.to_owned(), toolchain.shared(BARE)];
    let project = config(&emits, &files);
    workspace.write(EMIT, &project).map_err(unusable)?;
    let finished = toolchain.run(&["-p", EMIT], &workspace.redirected())?;
    if !finished.success {
        let told = format!("{}: {}", finished.account, finished.stdout.trim());
        return Err(PrepareError::Toolchain(told));
    }
    emitted(&workspace.output(), "program")
}
