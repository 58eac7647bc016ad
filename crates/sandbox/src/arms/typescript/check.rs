//! Whether a program checks, by a compiler that is warm (R59).
//!
//! Only the verdict is asked for: what is wrong is told in the compiler's own words by another run.
//!
//! Always true: a project is open in a warm compiler only while it is judged; what two agents name
//! alike is never taken for the other's, since the names are whole paths.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{ANCHOR, Toolchain};
use crate::prepare::PrepareError;
use crate::prepare::compile::COMPILE_TIME;
use crate::prepare::daemon::{Daemon, DaemonError};
use crate::prepare::shared::Shared;

/// The category of a diagnostic that is an error.
const ERROR: u64 = 1;

/// A project to be judged.
pub(super) struct Project {
    pub(super) config: PathBuf,
    pub(super) program: PathBuf,
    /// Files that may have changed since a warm compiler last saw them.
    pub(super) changed: Vec<PathBuf>,
}

/// Whether a project checks.
pub(super) fn passes(
    toolchain: &Toolchain,
    shared: &Shared,
    project: &Project,
) -> Result<bool, PrepareError> {
    match judged(toolchain, shared, project) {
        // It may have been ended from outside since it last answered.
        Err(DaemonError::Ended { .. }) => Ok(judged(toolchain, shared, project)?),
        other => Ok(other?),
    }
}

/// Starts a warm compiler, where none is there.
pub(super) fn warm(toolchain: &Toolchain, shared: &Shared) -> Result<(), PrepareError> {
    let pool = shared.pool(toolchain.compiler);
    pool.checkout(|| start(toolchain, shared))?.give_back();
    Ok(())
}

fn judged(toolchain: &Toolchain, shared: &Shared, project: &Project) -> Result<bool, DaemonError> {
    let pool = shared.pool(toolchain.compiler);
    let mut lent = pool.checkout(|| start(toolchain, shared))?;
    let daemon = lent.daemon();
    let snapshot = update(
        daemon,
        &json!({
            "openProjects": [project.config],
            "fileChanges": { "changed": project.changed },
        }),
    )?;
    let whole = json!({ "snapshot": snapshot, "project": project.config });
    let mut of_program = whole.clone();
    of_program["file"] = json!(project.program);
    let mut passes = true;
    for (method, params) in [
        ("getConfigFileParsingDiagnostics", &whole),
        ("getProgramDiagnostics", &whole),
        ("getSyntacticDiagnostics", &of_program),
        ("getSemanticDiagnostics", &of_program),
        ("getGlobalDiagnostics", &whole),
    ] {
        if errs(&daemon.ask(method, params.clone(), COMPILE_TIME)?) {
            passes = false;
            break;
        }
    }
    let closed = update(daemon, &json!({ "closeProjects": [project.config] }))?;
    for snapshot in [snapshot, closed] {
        daemon.ask("release", json!({ "snapshot": snapshot }), COMPILE_TIME)?;
    }
    lent.give_back();
    Ok(passes)
}

fn start(toolchain: &Toolchain, shared: &Shared) -> Result<Daemon, DaemonError> {
    let arguments = ["--api", "-async"];
    let mut daemon = Daemon::start(toolchain.compiler, &arguments, &shared.redirected())?;
    daemon.ask("initialize", Value::Null, COMPILE_TIME)?;
    let anchor: &Path = &toolchain.folder.join(ANCHOR);
    update(&mut daemon, &json!({ "openProjects": [anchor] }))?;
    Ok(daemon)
}

/// Tells what is open and what changed; the handle of what is then known.
fn update(daemon: &mut Daemon, params: &Value) -> Result<Value, DaemonError> {
    let mut answer = daemon.ask("updateSnapshot", params.clone(), COMPILE_TIME)?;
    Ok(answer["snapshot"].take())
}

fn errs(diagnostics: &Value) -> bool {
    let errs = |one: &Value| one.get("category").and_then(Value::as_u64) == Some(ERROR);
    diagnostics
        .as_array()
        .is_some_and(|all| all.iter().any(errs))
}
