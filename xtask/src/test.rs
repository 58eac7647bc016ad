//! `cargo xtask test`: everything a change must pass, in the order that fails soonest.

use anyhow::Result;

use crate::step::{cargo, step};
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
    // The end-to-end suites run this binary; cargo does not build it for them.
    step("building gg", cargo().args(["build", "-p", "gg"]))?;
    // One run names every test that fails, not those of the first crate alone.
    step(
        "tests",
        cargo().args(["test", "--workspace", "--no-fail-fast"]),
    )
}
