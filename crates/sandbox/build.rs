//! Embeds the guests and catalogues that `cargo xtask arms` built. One that is older than its sources
//! fails the build; one that is missing does not, and its arm says so when it is asked for.

use std::path::{Path, PathBuf};

#[path = "../../xtask/src/arms/sources.rs"]
mod sources;

fn main() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = home
        .join("../..")
        .canonicalize()
        .expect("the workspace is there");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    println!("cargo::rerun-if-env-changed=CARGO_TARGET_DIR");
    embed(
        &root,
        &sources::built(&target, "ecmascript"),
        &Part {
            what: "the ECMAScript guest is",
            stamp: sources::GUEST,
            paths: &sources::ECMASCRIPT,
            cfg: "ecmascript_guest",
            files: &[
                ("GG_ECMASCRIPT_GUEST", "ecmascript.component.wasm"),
                ("GG_TYPESCRIPT_DECLARATIONS", "typescript.d.ts"),
                ("GG_TYPESCRIPT_LIBRARY", "typescript.lib.d.ts"),
            ],
        },
    );
    embed(
        &root,
        &sources::built(&target, "ecmascript"),
        &Part {
            what: "the catalogues of TypeScript and JavaScript are",
            stamp: sources::CATALOGUE,
            paths: &sources::ECMASCRIPT_CATALOGUES,
            cfg: "ecmascript_catalogues",
            files: &[
                ("GG_JAVASCRIPT_SIGNATURES", "javascript.signatures.json"),
                ("GG_TYPESCRIPT_SIGNATURES", "typescript.signatures.json"),
            ],
        },
    );
    embed(
        &root,
        &sources::built(&target, "python"),
        &Part {
            what: "the Python guest is",
            stamp: sources::GUEST,
            paths: &sources::PYTHON,
            cfg: "python_guest",
            files: &[("GG_PYTHON_GUEST", "python.component.wasm")],
        },
    );
    embed(
        &root,
        &sources::built(&target, "python"),
        &Part {
            what: "the catalogue of Python is",
            stamp: sources::CATALOGUE,
            paths: &sources::PYTHON_CATALOGUE,
            cfg: "python_catalogue",
            files: &[("GG_PYTHON_SIGNATURES", "python.signatures.json")],
        },
    );
}

/// What is embedded together, because it was built together.
struct Part {
    what: &'static str,
    stamp: &'static str,
    paths: &'static [&'static str],
    cfg: &'static str,
    /// The variable a source file reads each by, and its name.
    files: &'static [(&'static str, &'static str)],
}

fn embed(root: &Path, folder: &Path, part: &Part) {
    for path in part.paths {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    println!("cargo::rustc-check-cfg=cfg({})", part.cfg);
    let stamp = folder.join(part.stamp);
    println!("cargo::rerun-if-changed={}", stamp.display());
    let Ok(built_from) = std::fs::read_to_string(&stamp) else {
        return;
    };
    let digest = sources::digest(root, part.paths).expect("the sources can be read");
    assert!(
        built_from == digest,
        "{} older than what it is made of; run `cargo xtask arms`",
        part.what
    );
    println!("cargo::rustc-cfg={}", part.cfg);
    for (variable, name) in part.files {
        println!(
            "cargo::rustc-env={variable}={}",
            folder.join(name).display()
        );
    }
}
