//! The gg binary: reads the command line, carries the command out, exits with its code.

// `eprintln!` panics where stderr cannot be written, and a lost sentence may not change how a
// command ends: sentences go through `output::complain`.
#![deny(clippy::print_stderr)]

mod candidates;
mod cli;
mod commands;
mod credential;
mod demo;
mod flow;
mod guests;
mod human_log;
mod output;
mod page;
mod reference;
mod selfcheck;
mod show;
mod study;
mod svg;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

fn main() -> ExitCode {
    // First of all, so that nothing that follows has the key in its environment.
    let (handed, arguments) = match credential::take(std::env::args_os().collect()) {
        Ok(taken) => taken,
        Err(error) => {
            output::complain(format_args!(
                "gg: the credential cannot be taken out of the environment: {error}"
            ));
            return ExitCode::FAILURE;
        }
    };
    human_log::open();
    let command = match cli::parse(arguments) {
        Ok(command) => command,
        Err(error) => {
            // Bad arguments are exit code 1 (01 §1.1), where clap's own is 2. A closed stream
            // changes nothing about the code.
            error.print().ok();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match catch_unwind(AssertUnwindSafe(|| commands::dispatch(command, handed))) {
        Ok(Ok(code)) => ExitCode::from(code),
        // The panic hook has said what happened and where; a defect is exit code 1 (01 §1.1).
        Err(_) => ExitCode::FAILURE,
        Ok(Err(error)) => {
            output::complain(format_args!("gg: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
