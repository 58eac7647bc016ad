//! The Python guest and its catalogue: an interpreter with the SDK loaded, as one component, and what
//! the SDK's documentation says (05 §10.4).
//!
//! Both are made by tools of `PyPI`, pinned by hash, in an environment of their own below the target
//! directory. Running programs takes neither.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::reflected;
use crate::step::{root, run};

/// The name of the arm, and of its catalogue.
pub(super) const LANGUAGE: &str = "python";

/// Whether this machine has a Python that can make what the arm needs.
pub(crate) fn usable() -> bool {
    let asked = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";
    Command::new("python3")
        .args(["-c", asked])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Builds the component into `folder`, with what leads to it in `work`.
pub(super) fn build(folder: &Path, work: &Path) -> Result<()> {
    let home = root().join("sdks/python");
    let tools = tools(folder, &home)?;
    let libraries = libraries(&tools, work, &home)?;
    // The guest's Python writes what it compiled beside the sources it reads.
    let sources = work.join("sources");
    if sources.exists() {
        std::fs::remove_dir_all(&sources)
            .with_context(|| format!("{} cannot be removed", sources.display()))?;
    }
    for part in ["sdk", "guest"] {
        copy(&home.join(part), &sources)?;
    }
    let component = work.join("python.component.wasm");
    println!("    componentize-py");
    run(quiet(&tools, "componentize-py")
        .arg("--quiet")
        .arg("--wit-path")
        .arg(root().join("wit"))
        .args(["--world", "sandbox", "componentize", "gg_guest"])
        .arg("--python-path")
        .arg(&sources)
        .arg("--python-path")
        .arg(&libraries)
        .arg("--output")
        .arg(&component))?;
    move_to(&component, &folder.join("python.component.wasm"))
}

/// Writes the catalogue into `folder`.
pub(super) fn reflect(folder: &Path, work: &Path) -> Result<()> {
    let home = root().join("sdks/python");
    let tools = tools(folder, &home)?;
    println!("    reflecting sdks/python/sdk");
    run(quiet(&tools, "python")
        .arg(home.join("reflector/reflect.py"))
        .arg(home.join("sdk"))
        .arg(home.join("guest/gg_guest/library.py"))
        .arg(folder.join(reflected::file_name(LANGUAGE)))
        .current_dir(work))?;
    reflected::check(folder, LANGUAGE)
}

/// The environment with the tools of the lock file; made where it is not there.
fn tools(folder: &Path, home: &Path) -> Result<PathBuf> {
    let environment = folder.join("venv");
    let lock = home.join("tools.lock");
    if is_from(&environment, &lock)? {
        return Ok(environment);
    }
    println!("    python3 -m venv {}", environment.display());
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&environment))?;
    run(pip(&environment)
        .args(["--require-hashes", "--only-binary=:all:", "--requirement"])
        .arg(&lock))?;
    mark(&environment, &lock)?;
    Ok(environment)
}

/// A folder with the sources of the packages that programs can import.
fn libraries(tools: &Path, work: &Path, home: &Path) -> Result<PathBuf> {
    let folder = work.join("libraries");
    let lock = home.join("libraries.lock");
    if is_from(&folder, &lock)? {
        return Ok(folder);
    }
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("{} cannot be removed", folder.display()))?;
    }
    println!("    packages that programs can import");
    run(pip(tools)
        .args(["--no-deps", "--no-compile", "--only-binary=:all:"])
        // The guest's Python on some platform: what is compiled for it is left out again.
        .args(["--implementation=cp", "--python-version=3.14"])
        .args(["--platform=manylinux2014_x86_64", "--target"])
        .arg(&folder)
        .args(["--require-hashes", "--requirement"])
        .arg(&lock))?;
    only_sources(&folder)?;
    mark(&folder, &lock)?;
    Ok(folder)
}

/// Copies the Python sources below a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let unreadable = || format!("{} cannot be read", from.display());
    std::fs::create_dir_all(to).with_context(|| format!("{} cannot be made", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        let target = to.join(name);
        if path.is_dir() {
            copy(&path, &target)?;
        } else if is_source(&path) {
            std::fs::copy(&path, &target)
                .with_context(|| format!("{} cannot be copied", path.display()))?;
        }
    }
    Ok(())
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py")
}

/// Takes everything out of a folder that is no Python source.
fn only_sources(folder: &Path) -> Result<()> {
    let unreadable = || format!("{} cannot be read", folder.display());
    for entry in std::fs::read_dir(folder).with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        if path.is_dir() {
            only_sources(&path)?;
        } else if !is_source(&path) {
            std::fs::remove_file(&path)
                .with_context(|| format!("{} cannot be removed", path.display()))?;
        }
    }
    Ok(())
}

/// A program of an environment, that finds no other environment's packages.
fn quiet(environment: &Path, program: &str) -> Command {
    let mut command = Command::new(environment.join("bin").join(program));
    command
        .env("VIRTUAL_ENV", environment)
        .env_remove("PYTHONPATH")
        .env_remove("PYTHONHOME");
    command
}

fn pip(environment: &Path) -> Command {
    let mut command = quiet(environment, "python");
    command.args(["-m", "pip", "--disable-pip-version-check", "--quiet"]);
    command.args(["install", "--no-input", "--no-warn-script-location"]);
    command
}

/// Whether a folder was made from a lock file as it is now; told last, so that what was cut short
/// does not count.
fn is_from(folder: &Path, lock: &Path) -> Result<bool> {
    let wanted =
        std::fs::read(lock).with_context(|| format!("{} cannot be read", lock.display()))?;
    Ok(std::fs::read(made_from(folder)).is_ok_and(|found| found == wanted))
}

fn mark(folder: &Path, lock: &Path) -> Result<()> {
    let mark = made_from(folder);
    std::fs::copy(lock, &mark).with_context(|| format!("{} cannot be written", mark.display()))?;
    Ok(())
}

fn made_from(folder: &Path) -> PathBuf {
    folder.join("made-from.lock")
}

/// Puts a file where it is wanted once it is whole.
fn move_to(from: &Path, to: &Path) -> Result<()> {
    let made = std::fs::metadata(from)
        .with_context(|| format!("{} was not written", from.display()))?
        .len();
    ensure!(made > 0, "{} is empty", from.display());
    std::fs::rename(from, to).with_context(|| format!("{} cannot be written", to.display()))
}
