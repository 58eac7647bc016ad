//! `cargo xtask demo`: the built-in session, from a fresh clone.

use std::process::Command;

use anyhow::Result;

use crate::step::{cargo, step, target};

/// Builds gg and plays its demo; gg itself says where the result lies.
pub(crate) fn run() -> Result<()> {
    // The build without optimisation is ready in half the time, and a demo waits for nothing.
    step("building gg", cargo().args(["build", "-p", "gg"]))?;
    let folder = target().join("demo");
    step(
        &format!("playing the demo into {}", folder.display()),
        Command::new(target().join("debug").join("gg"))
            .arg("demo")
            .arg(&folder),
    )
}
