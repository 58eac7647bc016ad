//! `gg flow`: a flow log as a table, a diagram or a trace.

use std::fs::File;
use std::io::BufReader;

use anyhow::Context as _;

use super::{DONE, REFUSED};
use crate::cli::{FlowArgs, FlowFormat};
use crate::flow::{log, mermaid, table, trace};
use crate::output;

/// Reads the log and prints what was asked for. Damage to the log is said on stderr where the format
/// has no room for prose. A file without a single message is no flow log: exit code 1.
pub(super) fn run(args: &FlowArgs) -> anyhow::Result<u8> {
    let unreadable = || format!("the flow log `{}` cannot be read", args.file.display());
    let file = File::open(&args.file).with_context(unreadable)?;
    let log = log::read(BufReader::new(file)).with_context(unreadable)?;
    let text = match args.format {
        FlowFormat::Table => table::render(&log, args.top.max(1)),
        FlowFormat::Mermaid => mermaid::render(&log, args.skip, args.limit),
        FlowFormat::Trace => trace::render(&log),
    };
    if args.format != FlowFormat::Table {
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
