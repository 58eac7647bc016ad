//! `cargo xtask fuzz`: runs a fuzz target of `fuzz/`, where the tools for it are there.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::step::{root, step};

/// Which target, and for how long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The target; without one, the targets are listed.
    target: Option<String>,
    /// Seconds to run.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Runs the target.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let ready = Command::new("cargo")
        .args(["+nightly", "fuzz", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !ready {
        bail!(
            "fuzzing needs a nightly toolchain and cargo-fuzz: `rustup toolchain install nightly`, \
             then `cargo install cargo-fuzz`"
        );
    }
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(["+nightly", "fuzz"]);
    match &arguments.target {
        Some(target) => step(
            &format!("fuzzing {target} for {} s", arguments.seconds),
            command
                .args(["run", target, "--"])
                .arg(format!("-max_total_time={}", arguments.seconds)),
        ),
        None => step("fuzz targets", command.arg("list")),
    }
}
