//! `gg completions`: a completion script for a shell, from the command line's own definition.

use super::DONE;
use crate::cli::{CompletionsArgs, command_line};
use crate::output;

/// Prints the script.
pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<u8> {
    // Written to memory first: the generator panics where its stream fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "gg", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(DONE)
}
