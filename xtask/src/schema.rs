//! `cargo xtask schema`: the launch document's JSON Schema, committed for editors and readers.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::step::{cargo, root};

/// Writes `docs/launch.schema.json`.
pub(crate) fn run() -> Result<()> {
    println!("==> writing docs/launch.schema.json");
    let output = cargo()
        .args(["run", "--quiet", "-p", "gg", "--", "schema"])
        .output()
        .context("cargo could not be started")?;
    ensure!(
        output.status.success(),
        "`gg schema` ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    let docs = root().join("docs");
    fs::create_dir_all(&docs)?;
    fs::write(docs.join("launch.schema.json"), output.stdout)?;
    Ok(())
}
