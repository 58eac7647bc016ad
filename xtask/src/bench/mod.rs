//! `cargo xtask bench`: what gg costs, each figure beside its floor measured in the same run.
//!
//! The floor is [`bare_loop`]: plain Rust that sends requests of the same sizes over one
//! connection, runs the same commands and does with their output what the policy asks. Both
//! contestants are processes of their own, optimised, started the same way, served by the same
//! lean gateway. Goals are printed, never asserted.

pub(crate) mod bare_loop;
mod board;
mod bookkeeping;
mod contestant;
pub(crate) mod crowd;
mod events;
mod flow;
mod looping;
mod programs;
mod request;
mod session;
mod start;
mod table;

use std::process::Command;

use anyhow::{Context, Result};

use crate::step::{cargo, run as run_command, step, target};

use contestant::Output;
use table::Row;

/// What to measure, and how often.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fewer repetitions, for a look.
    #[arg(long)]
    quick: bool,
    /// The rows of many agents alone.
    #[arg(long)]
    crowd: bool,
    /// The rows of programs alone.
    #[arg(long, conflicts_with = "crowd")]
    programs: bool,
    /// The rows of a board alone.
    #[arg(long, conflicts_with_all = ["crowd", "programs"])]
    board: bool,
    /// The rows of one agent's turns alone.
    #[arg(long, conflicts_with_all = ["crowd", "programs", "board"])]
    turns: bool,
    /// Set once the optimised builds are there.
    #[arg(long, hide = true)]
    built: bool,
}

/// How often each figure is taken.
#[derive(Clone, Copy)]
struct Repeats {
    starts: usize,
    short: usize,
    long: usize,
    events: usize,
    crowds: usize,
    programs: usize,
}

/// Builds, measures, prints, writes.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !arguments.built {
        step(
            "building gg and what it is measured against, optimised",
            cargo()
                .args(["build", "--release", "-p", "gg", "-p", "xtask"])
                .args(["-p", "sandbox", "--bins", "--example", "bare_guest"]),
        )?;
        // Measured from an optimised build, so that the gateway does not stand in the way.
        let mut again = Command::new(target().join("release").join("xtask"));
        again.args(["bench", "--built"]);
        if arguments.quick {
            again.arg("--quick");
        }
        if arguments.crowd {
            again.arg("--crowd");
        }
        if arguments.programs {
            again.arg("--programs");
        }
        if arguments.board {
            again.arg("--board");
        }
        if arguments.turns {
            again.arg("--turns");
        }
        return run_command(&mut again);
    }
    let repeats = if arguments.quick {
        Repeats {
            starts: 5,
            short: 2,
            long: 1,
            events: 1,
            crowds: 1,
            programs: 1,
        }
    } else {
        Repeats {
            starts: 20,
            short: 5,
            long: 5,
            events: 5,
            crowds: 3,
            programs: 5,
        }
    };
    let mut rows: Vec<Row> = Vec::new();
    // Each of the four flags asks for its own rows and no others.
    let all = !(arguments.crowd || arguments.programs || arguments.board || arguments.turns);
    if all {
        rows.extend(alone(repeats)?);
    }
    if arguments.turns {
        rows.extend(turns(repeats)?);
    }
    if all || arguments.programs {
        println!("==> programs");
        rows.extend(programs::measure(repeats.programs)?);
    }
    if all || arguments.crowd {
        println!("==> many agents");
        rows.extend(crowd::measure(repeats.crowds)?);
    }
    if all || arguments.board {
        println!("==> a board");
        rows.extend(board::measure(repeats.crowds)?);
    }
    println!();
    print!("{}", table::render(&rows));
    let path = target().join("bench.json");
    std::fs::write(&path, serde_json::to_string_pretty(&rows)?)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    println!("\nwritten to {}", path.display());
    Ok(())
}

/// The rows of one agent.
fn alone(repeats: Repeats) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    println!("==> start of the process to its first request");
    rows.extend(start::measure(repeats.starts)?);
    println!("==> first request");
    rows.extend(request::measure()?);
    rows.extend(turns(repeats)?);
    println!("==> memory over 1,000 turns");
    rows.extend(session::memory(1_000)?);
    println!("==> events into a file");
    rows.extend(events::measure(repeats.events)?);
    println!("==> loop detector");
    rows.extend(looping::measure(repeats.events));
    println!("==> a turn's bookkeeping");
    rows.extend(bookkeeping::measure(repeats.events)?);
    Ok(rows)
}

/// What its turns take.
fn turns(repeats: Repeats) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for output in [Output::Inline, Output::Kept] {
        println!("==> 100 turns, {}", output.words());
        rows.extend(session::time(100, repeats.short, output)?);
        println!("==> 1,000 turns, {}", output.words());
        rows.extend(session::time(1_000, repeats.long, output)?);
    }
    Ok(rows)
}

/// The middle value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[count / 2],
        count => f64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_the_middle() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
    }
}
