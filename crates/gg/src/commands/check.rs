//! `gg check`: every refusal of a launch document, without running it.

use std::fmt::Write as _;

use super::{DONE, REFUSED, read_document, read_script, surroundings};
use crate::cli::CheckArgs;
use crate::output;

/// Prints the refusals, or that there are none: those of `gg run`, from the same function. A
/// document that cannot be parsed has no values to refuse: one sentence on stderr (R50).
pub(super) fn run(args: &CheckArgs) -> anyhow::Result<u8> {
    let document = read_document(&args.file)?;
    let script = args.mock_script.as_deref().map(read_script).transpose()?;
    match actors::launch::check(&document, &surroundings(script)) {
        Ok(prepared) => {
            let mut text = String::new();
            for warning in &prepared.warnings {
                writeln!(text, "warning: {warning}").expect("a string takes any text");
            }
            writeln!(text, "{}: ok", args.file.display()).expect("a string takes any text");
            output::print(&text)?;
            Ok(DONE)
        }
        Err(refusals) => {
            output::print(&config::refusal::report(&refusals))?;
            Ok(REFUSED)
        }
    }
}
