//! The catalogues of TypeScript and JavaScript: one SDK, read by `TypeDoc`, written under two names
//! (05 §10.2, §10.3).

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::npm;
use super::reflected;
use crate::step::{root, run};

/// The arms that the SDK serves.
pub(super) const LANGUAGES: [&str; 2] = ["javascript", "typescript"];

/// Writes both catalogues into `folder`; what the reflector needs is put into `work`.
pub(super) fn reflect(folder: &Path, work: &Path) -> Result<()> {
    let home = root().join("sdks/ecmascript");
    npm::install(&home.join("reflector"), work)?;
    // Its imports are resolved from where it stands.
    let script = work.join("reflect.mjs");
    std::fs::copy(home.join("reflector/reflect.mjs"), &script)
        .with_context(|| format!("{} cannot be written", script.display()))?;
    println!("    reflecting sdks/ecmascript/sdk");
    run(Command::new("node")
        .arg(&script)
        .arg(home.join("sdk"))
        .arg(folder)
        .args(LANGUAGES)
        .current_dir(work))?;
    LANGUAGES
        .into_iter()
        .try_for_each(|language| reflected::check(folder, language))
}
