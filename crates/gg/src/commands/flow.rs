//! `gg flow`: how a run flowed, from its flow log or from its stream.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::Context as _;
use record::analysis::Analysis;
use record::lines;

use super::{DONE, REFUSED};
use crate::cli::{FlowArgs, FlowFormat};
use crate::flow::{gantt, log, mermaid, table, trace, waits};
use crate::output;

/// Reads the file and prints what was asked for. Damage is said on stderr where the format has no
/// room for prose. A file that holds nothing of the kind ends with exit code 1.
pub(super) fn run(args: &FlowArgs) -> anyhow::Result<u8> {
    let of_run = is_run(&args.file)?;
    let default = if of_run {
        FlowFormat::Waits
    } else {
        FlowFormat::Table
    };
    let format = args.format.unwrap_or(default);
    match (format, of_run) {
        (FlowFormat::Waits | FlowFormat::Gantt, true) => of_stream(args, format),
        (FlowFormat::Table | FlowFormat::Mermaid | FlowFormat::Trace, false) => {
            of_log(args, format)
        }
        (FlowFormat::Waits | FlowFormat::Gantt, false) => anyhow::bail!(
            "`{}` is no run: its agents' times stand in the stream, not in the flow log\n\
             hint: name the stream file or the run directory",
            args.file.display()
        ),
        (FlowFormat::Table | FlowFormat::Mermaid | FlowFormat::Trace, true) => anyhow::bail!(
            "`{}` is a run's stream: its messages stand in the log that `gg run --flow FILE` \
             writes\nhint: name that file, or take --format waits or gantt",
            args.file.display()
        ),
    }
}

/// Whether a path names a run: a directory, or a file whose first line is an event.
fn is_run(path: &Path) -> anyhow::Result<bool> {
    if path.is_dir() {
        return Ok(true);
    }
    let unreadable = || format!("`{}` cannot be read", path.display());
    let file = File::open(path).with_context(unreadable)?;
    let mut first = Vec::new();
    // A stream's first line holds the whole capability set; a device has no lines at all.
    std::io::Read::take(BufReader::new(file), 64 << 20)
        .read_until(b'\n', &mut first)
        .with_context(unreadable)?;
    let line: Result<serde_json::Value, _> = serde_json::from_slice(&first);
    Ok(line.is_ok_and(|line| line["type"].is_string()))
}

fn of_log(args: &FlowArgs, format: FlowFormat) -> anyhow::Result<u8> {
    let unreadable = || format!("the flow log `{}` cannot be read", args.file.display());
    let file = File::open(&args.file).with_context(unreadable)?;
    let log = log::read(BufReader::new(file)).with_context(unreadable)?;
    let text = match format {
        FlowFormat::Mermaid => mermaid::render(&log, args.skip, args.limit),
        FlowFormat::Trace => trace::render(&log),
        FlowFormat::Table | FlowFormat::Waits | FlowFormat::Gantt => {
            table::render(&log, args.top.max(1))
        }
    };
    if format != FlowFormat::Table {
        for remark in &log.remarks {
            output::complain(format_args!("gg: {}: {remark}", args.file.display()));
        }
    }
    output::deliver(&text, args.output.as_deref())?;
    Ok(if log.messages.is_empty() {
        REFUSED
    } else {
        DONE
    })
}

fn of_stream(args: &FlowArgs, format: FlowFormat) -> anyhow::Result<u8> {
    let stream = lines::stream_of(&args.file);
    let name = stream.display();
    let unreadable = || format!("the run `{name}` cannot be read");
    let file = File::open(&stream).with_context(unreadable)?;
    let analysis = Analysis::read(BufReader::new(file)).with_context(unreadable)?;
    for damage in analysis.damaged.iter().take(10) {
        output::complain(format_args!("gg: {name}: {damage}; left out"));
    }
    let text = if format == FlowFormat::Gantt {
        let session = analysis.session.as_ref().map_or("", |id| id.as_str());
        gantt::render(session, &analysis.lives)
    } else {
        waits::render(&analysis, args.top.max(1))
    };
    output::deliver(&text, args.output.as_deref())?;
    Ok(if analysis.lives.agents().next().is_none() {
        REFUSED
    } else {
        DONE
    })
}
