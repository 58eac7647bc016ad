//! The commands, one file each. A command answers with the exit code it ends with, or with an error
//! that becomes one sentence on stderr and exit code 1.

mod check;
mod completions;
mod demo;
mod flow;
mod man;
mod new;
mod run;
mod schema;

use crate::cli::Command;

/// Exit code of a command that did what it was asked to.
const DONE: u8 = 0;
/// Exit code of a refusal.
const REFUSED: u8 = 1;

/// Carries a command out.
pub(crate) fn dispatch(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Schema => schema::run(),
        Command::New(args) => new::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Flow(args) => flow::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
