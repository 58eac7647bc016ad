//! What an arm is built from, as one digest: how a build tells that a guest is older than its
//! sources. `crates/sandbox/build.rs` reads this file too, and both must come to the same.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Where the guest of an arm is put, below the target directory.
pub(crate) fn built(target: &Path, arm: &str) -> PathBuf {
    target.join("arms").join(arm)
}

/// The file beside a guest that tells what it was built from.
pub(crate) const GUEST: &str = "sources.sha256";

/// The file beside catalogues that tells what they were reflected from.
pub(crate) const CATALOGUE: &str = "catalogue.sha256";

/// Files and folders, from the workspace's root, that the ECMAScript guest is made of. What makes
/// it counts too: another way to build it is another guest.
pub(crate) const ECMASCRIPT: [&str; 10] = [
    "wit",
    "sdks/ecmascript/compiler",
    "sdks/ecmascript/engine",
    "sdks/ecmascript/guest",
    "sdks/ecmascript/sdk",
    "xtask/src/arms/ecmascript.rs",
    "xtask/src/arms/ecmascript_sdk.rs",
    "xtask/src/arms/npm.rs",
    "crates/sandbox/src/arms/typescript/ambient.rs",
    "xtask/src/arms/tables.rs",
];

/// What the catalogues of TypeScript and JavaScript are reflected from, and by.
pub(crate) const ECMASCRIPT_CATALOGUES: [&str; 8] = [
    "sdks/ecmascript/sdk",
    "sdks/ecmascript/reflector",
    "xtask/src/arms/ecmascript_catalogues.rs",
    "xtask/src/arms/npm.rs",
    "xtask/src/arms/reflected.rs",
    "crates/sandbox/src/catalogue/faults.rs",
    "crates/sandbox/src/catalogue/schema.rs",
    "crates/vocab/src/operations.rs",
];

/// What the Python guest is made of, and by.
pub(crate) const PYTHON: [&str; 6] = [
    "wit",
    "sdks/python/guest",
    "sdks/python/sdk",
    "sdks/python/libraries.lock",
    "sdks/python/tools.lock",
    "xtask/src/arms/python.rs",
];

/// What the catalogue of Python is reflected from, and by.
pub(crate) const PYTHON_CATALOGUE: [&str; 9] = [
    "sdks/python/guest/gg_guest/library.py",
    "sdks/python/reflector",
    "sdks/python/sdk",
    "sdks/python/tools.lock",
    "xtask/src/arms/python.rs",
    "xtask/src/arms/reflected.rs",
    "crates/sandbox/src/catalogue/faults.rs",
    "crates/sandbox/src/catalogue/schema.rs",
    "crates/vocab/src/operations.rs",
];

/// A digest over the names and contents of all files below some paths.
pub(crate) fn digest(root: &Path, paths: &[&str]) -> io::Result<String> {
    let mut files = Vec::new();
    for path in paths {
        collect(&root.join(path), &mut files)?;
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy();
        let contents = std::fs::read(&file)?;
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(name.as_bytes());
        digest.update((contents.len() as u64).to_le_bytes());
        digest.update(&contents);
    }
    let digest = digest.finalize();
    let mut hex = String::with_capacity(64);
    for byte in digest {
        write!(hex, "{byte:02x}").expect("a String takes any text");
    }
    Ok(hex)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        // What a build leaves beside its sources is none of them.
        if path
            .file_name()
            .is_some_and(|name| name != "target" && name != "__pycache__")
        {
            collect(&path, files)?;
        }
    }
    Ok(())
}
