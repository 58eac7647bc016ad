//! `gg show`: a recorded run for a person, its board, or one agent's window at one turn.

use std::fs::File;
use std::io::BufReader;

use anyhow::Context as _;
use record::analysis::Analysis;
use record::lines;

use super::DONE;
use crate::cli::ShowArgs;
use crate::output;
use crate::page::plural;
use crate::show::{board, overview, window};

/// Damaged lines that are told one by one.
const TOLD: usize = 10;

/// Reads the stream once and prints what was asked for. Damage is said on stderr.
pub(super) fn run(args: &ShowArgs) -> anyhow::Result<u8> {
    let stream = lines::stream_of(&args.run);
    let name = stream.display();
    let unreadable = || format!("the run `{name}` cannot be read");
    let file = File::open(&stream).with_context(unreadable)?;
    let analysis = Analysis::read(BufReader::new(file)).with_context(unreadable)?;
    if analysis.session.is_none() {
        let first = analysis.damaged.first();
        let found = first.map_or_else(String::new, |damage| format!(" ({damage})"));
        anyhow::bail!(
            "`{name}` is no stream of a session: it holds no event of one{found}; name a stream \
             file or a run directory"
        );
    }
    for damage in analysis.damaged.iter().take(TOLD) {
        output::complain(format_args!("gg: {name}: {damage}; left out"));
    }
    if analysis.damaged.len() > TOLD {
        let more = plural((analysis.damaged.len() - TOLD) as u64, "more line");
        output::complain(format_args!("gg: {name}: {more} left out"));
    }
    let text = match (&args.agent, args.turn, args.text) {
        _ if args.board => board::render(&analysis)?,
        (None, None, false) => overview::render(&analysis),
        (agent, turn, whole) => window::render(&analysis, agent.as_deref(), turn, whole)?,
    };
    output::print(&text)?;
    Ok(DONE)
}
