//! The gg binary: reads the command line, carries the command out, exits with its code.

mod cli;
mod commands;
mod demo;
mod flow;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args_os()) {
        Ok(command) => command,
        Err(error) => {
            // Bad arguments are exit code 1 (01 §1.1), where clap's own is 2. A closed stream
            // changes nothing about the code.
            error.print().ok();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match commands::dispatch(command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("gg: {error:#}");
            ExitCode::FAILURE
        }
    }
}
