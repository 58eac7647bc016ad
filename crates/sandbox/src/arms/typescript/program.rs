//! A program, checked and emitted.
//!
//! Always true: what is compiled is what was sent, alone in its file.

use std::path::PathBuf;

use serde_json::json;

use super::check::{self, Project};
use super::{BARE, Toolchain, config, emitted, module, refusal};
use crate::contract::CodeModule;
use crate::locations::Locations;
use crate::prepare::workspace::Workspace;
use crate::prepare::{PrepareContext, PrepareError, Prepared, unusable};

/// What its author knows it as.
const WRITTEN: &str = "program.ts";

/// What the guest knows it as.
const RUNS: &str = "program.js";

/// The project it is checked as.
const CHECK: &str = "check.json";

/// The project it is emitted as.
const EMIT: &str = "emit.json";

pub(super) fn prepare(
    source: &str,
    modules: &[CodeModule],
    context: &PrepareContext,
) -> Result<Prepared, PrepareError> {
    context.preparation(&[], |workspace, shared| {
        let toolchain = Toolchain::of(shared)?;
        let (loaded, mut locations) = built(modules, &toolchain, workspace)?;
        let project = lay_down(source, modules, &toolchain, workspace).map_err(unusable)?;
        let (passes, emission) = std::thread::scope(|scope| {
            let emission = scope.spawn(|| toolchain.run(&["-p", EMIT], &workspace.redirected()));
            let passes = check::passes(&toolchain, shared, &project);
            (passes, emission.join())
        });
        let emission = match emission {
            Ok(emission) => emission?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        if !passes? {
            checked(&toolchain, workspace)?;
        }
        if !emission.success {
            let told = format!("{}: {}", emission.account, emission.stdout.trim());
            return Err(PrepareError::Toolchain(told));
        }
        let (source, map) = emitted(&workspace.output(), "program")?;
        locations.add(RUNS, WRITTEN, map);
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

/// Writes the program and its projects.
fn lay_down(
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
    let checked = workspace.write(CHECK, &config(&[], &files))?;
    let emits = [
        ("noEmit", json!(false)),
        ("noCheck", json!(true)),
        ("sourceMap", json!(true)),
        ("outDir", json!(workspace.output())),
    ];
    let files = [WRITTEN.to_owned(), toolchain.shared(BARE)];
    workspace.write(EMIT, &config(&emits, &files))?;
    let mut changed = vec![program.clone(), checked.clone()];
    changed.extend(declared);
    Ok(Project {
        config: checked,
        program,
        changed,
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
