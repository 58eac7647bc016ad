//! Every task a README command runs: `cargo xtask <task>`.
//!
//! A task says what it does as it goes, ends non-zero when anything failed, and needs nothing that
//! it does not check for first.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tasks talk to a person, and wait for one process at a time"
)]

mod arms;
mod bench;
mod decisions;
mod demo;
mod floors;
mod fuzz;
mod schema;
mod setup;
mod step;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Project tasks.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build gg and play its built-in session into target/demo.
    Demo,
    /// Check formatting, lints and floors, then build gg and run every test.
    Test,
    /// Build what program languages need, as far as it changed, into target/arms.
    Arms,
    /// Write what a model can be told of each program language's surface into target/gg-signatures.
    Signatures,
    /// Check that each crate uses only crates on lower floors, and libraries that are argued for.
    Floors,
    /// Measure gg against a bare loop; writes target/bench.json.
    Bench(bench::Arguments),
    /// Write docs/launch.schema.json from the launch document's types.
    Schema,
    /// Run a fuzz target, or say what is missing to run one.
    Fuzz(fuzz::Arguments),
    /// The bare loop a bench holds gg against.
    #[command(hide = true)]
    BareLoop(bench::bare_loop::Arguments),
    /// The bare crowd a bench holds many agents against.
    #[command(hide = true)]
    BareCrowd(bench::crowd::bare::Arguments),
    /// The gateway that serves a crowd.
    #[command(hide = true)]
    CrowdGateway(bench::crowd::served::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Demo => demo::run(),
        Task::Test => test::run(),
        Task::Arms => arms::build(),
        Task::Signatures => arms::signatures(),
        Task::Floors => floors::run(),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Schema => schema::run(),
        Task::Fuzz(arguments) => fuzz::run(&arguments),
        Task::BareLoop(arguments) => bench::bare_loop::run(&arguments),
        Task::BareCrowd(arguments) => bench::crowd::bare::run(&arguments),
        Task::CrowdGateway(arguments) => bench::crowd::served::run(arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
