//! `cargo xtask arms`: builds what each program language needs, from source, and only what changed.
//!
//! What is built stands in `target/arms/<arm>/` and is committed nowhere; the binary embeds it.

mod ecmascript;
mod sources;
mod tables;

use std::path::Path;

use anyhow::{Context, Result};

use crate::setup;
use crate::step::{root, target};

/// The file beside a guest that tells what it was built from.
const BUILT_FROM: &str = "sources.sha256";

/// Checks what is needed, then builds every arm that is missing or older than its sources.
pub(crate) fn build() -> Result<()> {
    setup::check()?;
    run()
}

/// Builds every arm that is missing or older than its sources.
pub(crate) fn run() -> Result<()> {
    arm("ecmascript", &sources::ECMASCRIPT, ecmascript::build)
}

fn arm(name: &str, paths: &[&str], build: fn(&Path, &Path) -> Result<()>) -> Result<()> {
    println!("==> arm {name}");
    let folder = sources::built(&target(), name);
    let digest = sources::digest(root(), paths)
        .with_context(|| format!("the sources of `{name}` cannot be read"))?;
    let stamp = folder.join(BUILT_FROM);
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == digest) {
        println!("    unchanged");
        return Ok(());
    }
    // A build that fails half-way must not pass for the one before.
    match std::fs::remove_file(&stamp) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("{} cannot be removed", stamp.display()));
        }
        _ => {}
    }
    let work = folder.join("build");
    std::fs::create_dir_all(&work).with_context(|| format!("{} cannot be made", work.display()))?;
    build(&folder, &work).with_context(|| format!("arm `{name}`"))?;
    std::fs::write(&stamp, digest).with_context(|| format!("{} cannot be written", stamp.display()))
}
