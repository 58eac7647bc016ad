//! Whether a program checks, by a compiler that is warm (R59), and how it parsed it.
//!
//! Only the verdict is asked for: what is wrong is told in the compiler's own words by another run.
//!
//! The project of a program stays open behind it: the next program of the same agent is a changed file
//! in it, which costs less than another project. Questions are put together, and nobody waits for what
//! is let go of.
//!
//! Always true: a warm compiler holds one program's project, and is told before each judgement which
//! of its files may have changed; what two agents name alike is never taken for the other's, since the
//! names are whole paths; one that let go of nothing when it was told to is not asked again.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{ANCHOR, SAMPLE, Toolchain, erase};
use crate::prepare::PrepareError;
use crate::prepare::compile::COMPILE_TIME;
use crate::prepare::daemon::{Asked, Daemon, DaemonError};
use crate::prepare::pool::{CompilerPool, Lent};
use crate::prepare::shared::Shared;

/// The category of a diagnostic that is an error.
const ERROR: u64 = 1;

/// A project to be judged.
pub(super) struct Project {
    pub(super) config: PathBuf,
    /// What that file says.
    pub(super) says: String,
    pub(super) program: PathBuf,
    /// Its other files, which may have changed since a warm compiler last saw them.
    pub(super) files: Vec<PathBuf>,
    /// Whether the tree of the program is of use.
    pub(super) parsed: bool,
}

/// What a compiler says of a project.
pub(super) struct Judgement {
    pub(super) passes: bool,
    /// The tree of the program, where it was wanted and is understood.
    pub(super) tree: Option<Vec<u8>>,
}

/// Has a project judged.
pub(super) fn judge(
    toolchain: &Toolchain,
    shared: &Shared,
    project: &Project,
) -> Result<Judgement, PrepareError> {
    match judged(toolchain, shared, project) {
        // It may have been ended from outside since it last answered.
        Err(DaemonError::Ended { .. }) => Ok(judged(toolchain, shared, project)?),
        other => Ok(other?),
    }
}

/// Starts a warm compiler, where none is there.
pub(super) fn warm(toolchain: &Toolchain, shared: &Shared) -> Result<(), PrepareError> {
    let pool = shared.pool(toolchain.compiler);
    pool.checkout(|| start(toolchain, shared, &pool))?
        .give_back();
    Ok(())
}

fn judged(
    toolchain: &Toolchain,
    shared: &Shared,
    project: &Project,
) -> Result<Judgement, DaemonError> {
    let pool = shared.pool(toolchain.compiler);
    let mut lent = settled(&pool, || start(toolchain, shared, &pool))?;
    let daemon = lent.daemon();
    let update = update(daemon.holds(), project);
    daemon.hold(&project.config, &project.says);
    let mut answer = daemon.ask("updateSnapshot", update, COMPILE_TIME)?;
    let snapshot = answer["snapshot"].take();
    let whole = json!({ "snapshot": snapshot, "project": project.config });
    let mut of_program = whole.clone();
    of_program["file"] = json!(project.program);
    let tree = if project.parsed && pool.parses().get() == Some(&true) {
        Some(daemon.put("getSourceFile", of_program.clone())?)
    } else {
        None
    };
    let verdicts: Vec<Asked> = [
        ("getConfigFileParsingDiagnostics", &whole),
        ("getProgramDiagnostics", &whole),
        ("getSyntacticDiagnostics", &of_program),
        ("getSemanticDiagnostics", &of_program),
    ]
    .into_iter()
    .map(|(method, params)| daemon.put(method, params.clone()))
    .collect::<Result<_, _>>()?;
    let tree = match tree {
        Some(asked) => parsed(daemon, asked)?,
        None => None,
    };
    let mut passes = true;
    for asked in verdicts {
        passes &= !errs(&daemon.answer(asked, COMPILE_TIME)?);
    }
    // What checking found that is in no file is whole only behind it.
    passes &= !errs(&daemon.ask("getGlobalDiagnostics", whole, COMPILE_TIME)?);
    match daemon.owe("release", json!({ "snapshot": snapshot })) {
        Ok(()) => lent.give_back(),
        // It has judged, and is not lent again.
        Err(error) => tracing::debug!("a compiler ended behind its verdict: {error}"),
    }
    Ok(Judgement { passes, tree })
}

/// What a compiler that holds a project is told before it judges one.
fn update(holds: Option<(&Path, &str)>, project: &Project) -> Value {
    let held = holds.filter(|(path, _)| *path == project.config);
    let mut changed: Vec<&Path> = vec![&project.program];
    changed.extend(project.files.iter().map(PathBuf::as_path));
    // To read it again makes another project of it.
    if held.is_none_or(|(_, said)| said != project.says) {
        changed.push(&project.config);
    }
    let mut update = json!({ "fileChanges": { "changed": changed } });
    if held.is_none() {
        update["openProjects"] = json!([project.config]);
        let closed: Vec<&Path> = holds.iter().map(|(path, _)| *path).collect();
        update["closeProjects"] = json!(closed);
    }
    update
}

/// A compiler that has done all that nobody waited for. One that has not is let go of, and one that is
/// started anew owes nothing.
fn settled(
    pool: &CompilerPool,
    start: impl Fn() -> Result<Daemon, DaemonError>,
) -> Result<Lent<'_>, DaemonError> {
    loop {
        let mut lent = pool.checkout(&start)?;
        match lent.daemon().settle(COMPILE_TIME) {
            Ok(()) => return Ok(lent),
            Err(error) => tracing::warn!("a warm compiler is replaced: {error}"),
        }
    }
}

fn start(
    toolchain: &Toolchain,
    shared: &Shared,
    pool: &CompilerPool,
) -> Result<Daemon, DaemonError> {
    let arguments = ["--api", "-async"];
    let mut daemon = Daemon::start(toolchain.compiler, &arguments, &shared.redirected())?;
    daemon.ask("initialize", Value::Null, COMPILE_TIME)?;
    let anchor: &Path = &toolchain.folder.join(ANCHOR);
    let open = json!({ "openProjects": [anchor] });
    let mut answer = daemon.ask("updateSnapshot", open, COMPILE_TIME)?;
    let snapshot = answer["snapshot"].take();
    if pool.parses().get().is_none() {
        let sample = toolchain.folder.join(SAMPLE);
        let file = json!({ "snapshot": snapshot, "project": anchor, "file": sample });
        let asked = daemon.put("getSourceFile", file)?;
        let tree = parsed(&mut daemon, asked)?;
        let understood = tree.is_some_and(|tree| erase::understood(&tree));
        if !*pool.parses().get_or_init(|| understood) {
            let program = toolchain.compiler.display();
            tracing::info!("programs are emitted by {program}, whose trees are not understood");
        }
    }
    Ok(daemon)
}

/// The tree of a text; none where the compiler does not give it.
fn parsed(daemon: &mut Daemon, asked: Asked) -> Result<Option<Vec<u8>>, DaemonError> {
    match daemon.answer(asked, COMPILE_TIME) {
        Ok(answer) => {
            let data = answer.get("data").and_then(Value::as_str);
            Ok(data.and_then(|data| STANDARD.decode(data).ok()))
        }
        // The program is judged all the same, and emitted.
        Err(DaemonError::Refused { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn errs(diagnostics: &Value) -> bool {
    let errs = |one: &Value| one.get("category").and_then(Value::as_u64) == Some(ERROR);
    diagnostics
        .as_array()
        .is_some_and(|all| all.iter().any(errs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_is_told_what_it_does_not_know_of_a_project() {
        let project = |name: &str, says: &str| Project {
            config: PathBuf::from(name),
            says: says.to_owned(),
            program: PathBuf::from("p"),
            files: vec![PathBuf::from("m")],
            parsed: true,
        };
        let told = |holds: Option<(&str, &str)>, project: &Project| {
            update(holds.map(|(path, said)| (Path::new(path), said)), project)
        };
        let one = project("one", "1");
        let opened = |closed: &[&str]| {
            json!({
                "fileChanges": { "changed": ["p", "m", "one"] },
                "openProjects": ["one"], "closeProjects": closed,
            })
        };
        assert_eq!(told(None, &one), opened(&[]));
        assert_eq!(told(Some(("other", "1")), &one), opened(&["other"]));
        assert_eq!(
            told(Some(("one", "1")), &one),
            json!({ "fileChanges": { "changed": ["p", "m"] } })
        );
        assert_eq!(
            told(Some(("one", "0")), &one),
            json!({ "fileChanges": { "changed": ["p", "m", "one"] } })
        );
    }
}
