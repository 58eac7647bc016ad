//! The SDK of both ECMAScript arms, compiled: what the guest runs, and the declarations that a program
//! is checked against (05 §10.2).
//!
//! The compiler is the one that checks programs when gg runs, so both mean the same language.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::npm;
use crate::step::{root, run, target};

#[path = "../../../crates/sandbox/src/arms/typescript/ambient.rs"]
mod ambient;

/// Modules of the SDK that programs cannot import.
const INTERNAL: [&str; 3] = ["globals", "native", "wire"];

/// What stands beside the modules: names in scope without an import.
const AMBIENT: &str = "ambient";

/// Compiles the SDK into `work`; the folder its modules stand in.
pub(super) fn compile(work: &Path) -> Result<PathBuf> {
    let home = root().join("sdks/ecmascript");
    let compiler = compiler(&home.join("compiler"))?;
    let out = work.join("sdk");
    if out.exists() {
        std::fs::remove_dir_all(&out)
            .with_context(|| format!("{} cannot be removed", out.display()))?;
    }
    println!("    tsc -p sdks/ecmascript/sdk");
    let tsc = || {
        let mut command = Command::new(&compiler);
        command
            .arg("-p")
            .arg(home.join("sdk"))
            .args(["--pretty", "false", "--outDir"])
            .arg(&out);
        command
    };
    // What the guest has to read at every start goes without comments, and they are what makes
    // declarations readable.
    run(tsc().args(["--declaration", "false", "--removeComments", "true"]))?;
    run(tsc().arg("--emitDeclarationOnly"))?;
    Ok(out)
}

/// The compiler that the lock file names, installed where gg looks for it.
fn compiler(pins: &Path) -> Result<PathBuf> {
    let folder = target().join("toolchains/typescript");
    npm::install(pins, &folder)?;
    // The package for the machine at hand is the only one of its scope that is installed.
    let scope = folder.join("node_modules/@typescript");
    let found = std::fs::read_dir(&scope)
        .with_context(|| format!("{} cannot be read", scope.display()))?
        .filter_map(|entry| Some(entry.ok()?.path().join("lib/tsc")))
        .find(|path| path.is_file());
    match found {
        Some(path) => Ok(path),
        None => bail!("npm has no TypeScript compiler for this machine"),
    }
}

/// All declarations as one file: an ambient module for each specifier a program can import.
pub(super) fn declarations(compiled: &Path) -> Result<String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
    };
    let in_scope = root().join(format!("sdks/ecmascript/sdk/{AMBIENT}.d.ts"));
    let mut out = read(&in_scope)?;
    let mut files: Vec<_> = std::fs::read_dir(compiled)
        .with_context(|| format!("{} cannot be read", compiled.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()?;
    files.sort();
    for path in files {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(stem) = name.and_then(|name| name.strip_suffix(".d.ts")) else {
            continue;
        };
        if INTERNAL.contains(&stem) {
            continue;
        }
        let specifier = match stem {
            "gg" => "gg".to_owned(),
            family => format!("gg:{family}"),
        };
        out.push('\n');
        out.push_str(&ambient::ambient(&specifier, &read(&path)?));
    }
    Ok(out)
}

/// What programs are written in, for the checker: the language's own declarations, and no host's.
const LANGUAGE: &str = "es2022";

/// Declarations that stand in the files of the compiler, by name, each behind those it builds on.
///
/// As one file they are the language whatever a program refers to: where a compiler is told of no
/// library, a program's `/// <reference lib="dom" />` brings none in.
pub(super) fn library() -> Result<String> {
    let compiler = compiler(&root().join("sdks/ecmascript/compiler"))?;
    let folder = compiler.parent().context("a file stands in a folder")?;
    let (mut names, mut library) = (Vec::new(), String::new());
    collect(folder, LANGUAGE, &mut names, &mut library)?;
    Ok(library)
}

fn collect(folder: &Path, name: &str, names: &mut Vec<String>, library: &mut String) -> Result<()> {
    if names.iter().any(|known| known == name) {
        return Ok(());
    }
    names.push(name.to_owned());
    let path = folder.join(format!("lib.{name}.d.ts"));
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    for line in text.lines() {
        let named = line.trim().strip_prefix("/// <reference lib=\"");
        if let Some((name, _)) = named.and_then(|rest| rest.split_once('"')) {
            collect(folder, name, names, library)?;
        }
    }
    library.push_str(&text);
    library.push('\n');
    Ok(())
}
