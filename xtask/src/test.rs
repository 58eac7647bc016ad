//! `cargo xtask test`: everything a change must pass, in the order that fails soonest.

use anyhow::{Context, Result};

use crate::step::{cargo, step, target};
use crate::{arms, floors, setup};

/// Runs every check; the first that fails ends it.
pub(crate) fn run() -> Result<()> {
    setup::check()?;
    floors::run()?;
    arms::run()?;
    step("formatting", cargo().args(["fmt", "--all", "--check"]))?;
    step(
        "lints",
        cargo().args([
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]),
    )?;
    build()?;
    // One run names every test that fails, not those of the first crate alone.
    step(
        "tests",
        cargo().args(["test", "--workspace", "--no-fail-fast"]),
    )
}

/// The binaries that the end-to-end suites run; cargo does not build them for tests.
///
/// The one that panics where it is told to differs in two crates, so it is made in the same target
/// and put beside the other: a target of its own would build every dependency again.
fn build() -> Result<()> {
    let built = target().join("debug").join("gg");
    step(
        "building the gg that panics where a test says",
        cargo().args(["build", "-p", "gg", "--features", "trip"]),
    )?;
    std::fs::copy(&built, built.with_file_name("gg-trip"))
        .with_context(|| format!("{} cannot be copied", built.display()))?;
    step("building gg", cargo().args(["build", "-p", "gg"]))
}
