//! Packages of the npm registry, exactly those of a lock file.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::step::run;

/// What says which packages, and what pins them.
const FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// Installs what the lock file in `pins` names into `folder/node_modules`; does nothing where that
/// was done from the same lock file before.
pub(super) fn install(pins: &Path, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    let read = |path: &Path| {
        std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
    };
    // Written last, so that an install that was cut short is not taken for one.
    let installed = folder.join("installed-lock.json");
    let lock = read(&pins.join("package-lock.json"))?;
    if std::fs::read(&installed).is_ok_and(|found| found == lock) {
        return Ok(());
    }
    for name in FILES {
        let (from, to) = (pins.join(name), folder.join(name));
        std::fs::copy(&from, &to)
            .with_context(|| format!("{} cannot be copied", from.display()))?;
    }
    println!("    npm ci in {}", folder.display());
    // No package may run a script of its own here.
    run(Command::new("npm")
        .args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ])
        .current_dir(folder))?;
    std::fs::write(&installed, lock)
        .with_context(|| format!("{} cannot be written", installed.display()))
}
