//! The ECMAScript guest: an engine in C and the compiled SDK, as one component (05 §10.1).
//!
//! The engine's sources come from the registry, checked against a lock file. They are compiled to a
//! preview1 core module; the reactor adapter makes that a component of the contract's world.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use super::{ecmascript_sdk, tables};
use crate::step::{cargo, root, run};

/// The compiler, and the linker it calls.
const CLANG: &str = "clang-19";

/// What both compilations are told.
const FLAGS: [&str; 6] = [
    "--target=wasm32-wasi",
    // A program's turn is mostly the engine's start, which is its size.
    "-Os",
    "-DNDEBUG",
    "-D_GNU_SOURCE",
    "-fvisibility=hidden",
    "-c",
];

/// The engine's own files, but for the largest, which the guest's `engine.c` takes in.
const ENGINE: [&str; 3] = ["libregexp", "libunicode", "dtoa"];

/// The guest's.
const GUEST: [&str; 2] = ["guest", "values"];

/// Room for the stack in linear memory, before everything else in it: what runs over it traps and
/// overwrites nothing.
const STACK: &str = "-Wl,-z,stack-size=1048576,--stack-first";

/// Builds the component into `folder`, with what leads to it in `work`.
pub(super) fn build(folder: &Path, work: &Path) -> Result<()> {
    let home = root().join("sdks/ecmascript");
    let engine = engine(&home.join("engine"))?;
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(root().join("wit"))?;
    let world = resolve.select_world(&[package], Some("sandbox"))?;
    write(&work.join("contract.h"), tables::header(&resolve, world)?)?;
    let sdk = ecmascript_sdk::compile(work)?;
    write(&work.join("sources.h"), sources(&sdk)?)?;
    write(
        &folder.join("typescript.d.ts"),
        ecmascript_sdk::declarations(&sdk)?,
    )?;
    write(
        &folder.join("typescript.lib.d.ts"),
        ecmascript_sdk::library()?,
    )?;

    let guest = home.join("guest");
    let mut objects = Vec::new();
    for name in ENGINE {
        objects.push(compile(&engine, name, work, &[&engine], &["-w"])?);
    }
    objects.push(compile(&guest, "engine", work, &[&engine], &["-w"])?);
    for name in GUEST {
        objects.push(compile(
            &guest,
            name,
            work,
            &[&guest, work, &engine],
            &["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"],
        )?);
    }
    let core = work.join("ecmascript.core.wasm");
    run(Command::new(CLANG)
        .args(["--target=wasm32-wasi", "-mexec-model=reactor", STACK])
        .arg("-Wl,--strip-debug")
        .args(&objects)
        .arg("-o")
        .arg(&core))?;

    let mut module =
        std::fs::read(&core).with_context(|| format!("{} cannot be read", core.display()))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)?;
    let component = ComponentEncoder::default()
        .validate(true)
        .module(&module)?
        .adapter(
            WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
            WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
        )?
        .encode()?;
    write(&folder.join("ecmascript.component.wasm"), component)
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
}

/// Where the registry's client put the engine's sources.
fn engine(pin: &Path) -> Result<PathBuf> {
    println!("    sources of the engine");
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--locked"])
        .arg("--manifest-path")
        .arg(pin.join("Cargo.toml"))
        .stderr(Stdio::inherit())
        .output()
        .context("cargo could not be started")?;
    ensure!(
        output.status.success(),
        "the engine's sources could not be fetched"
    );
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("`cargo metadata` is not readable")?;
    let found = metadata
        .packages
        .iter()
        .find(|package| package.name == "rquickjs-sys")
        .and_then(|package| package.manifest_path.parent());
    match found {
        Some(folder) => Ok(folder.join("quickjs")),
        None => bail!("the pin names no engine"),
    }
}

fn compile(
    folder: &Path,
    name: &str,
    work: &Path,
    include: &[&Path],
    flags: &[&str],
) -> Result<PathBuf> {
    let object = work.join(format!("{name}.o"));
    println!("    {CLANG} {name}.c");
    let mut command = Command::new(CLANG);
    command.args(FLAGS).args(flags);
    for path in include {
        command.arg("-I").arg(path);
    }
    command
        .arg(folder.join(format!("{name}.c")))
        .arg("-o")
        .arg(&object);
    run(&mut command)?;
    Ok(object)
}

/// The SDK's modules as C strings, under the names they are imported by.
fn sources(folder: &Path) -> Result<String> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "js"));
    files.sort();
    let mut out = String::from(
        "// Compiled from sdks/ecmascript/sdk by `cargo xtask arms`.\n#pragma once\n\
         struct source { const char *name, *data; unsigned length; };\n\
         static const struct source sources[] = {\n",
    );
    for path in &files {
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .context("a file of the SDK has no name")?;
        let name = match stem {
            "gg" => "gg".to_owned(),
            "wire" | "globals" => format!("sdk:{stem}"),
            family => format!("gg:{family}"),
        };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        write!(out, "  {{ \"{name}\",")?;
        for line in text.split_inclusive('\n') {
            write!(out, "\n    \"{}\"", escaped(line))?;
        }
        writeln!(out, ", {} }},", text.len())?;
    }
    writeln!(out, "}};\n#define SOURCE_COUNT {}", files.len())?;
    Ok(out)
}

/// A text inside a C string: what is not plain ASCII as octal, which ends by itself.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            b'\n' => out.push_str("\\n"),
            // `??` would begin a trigraph.
            b'?' => out.push_str("\\?"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => write!(out, "\\{byte:03o}").expect("a String takes any text"),
        }
    }
    out
}

fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(path, contents).with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_a_c_string() {
        assert_eq!(
            escaped("a\"\\ ??=\t…\n"),
            "a\\\"\\\\ \\?\\?=\\011\\342\\200\\246\\n"
        );
    }
}
