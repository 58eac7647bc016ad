//! `gg verify`: every rule that streams keep, asked of a recorded one, and whether the journal
//! beside it tells of the same run.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use record::rules::{self, Ending, Report};
use record::{journal, lines};

use super::{DONE, REFUSED};
use crate::cli::VerifyArgs;
use crate::output;
use crate::page::{one_line, plural};

/// Where a run keeps its journal in its workspace.
const JOURNAL: &str = ".gg/replay.ndjson";

/// Checks the stream, then the journal where there is one, and prints what was checked and what was
/// found. Anything found is exit code 1.
pub(super) fn run(args: &VerifyArgs) -> anyhow::Result<u8> {
    let stream = lines::stream_of(&args.run);
    let name = stream.display();
    let unreadable = || format!("the run `{name}` cannot be read");
    let file = File::open(&stream).with_context(unreadable)?;
    let report = rules::read(BufReader::with_capacity(1 << 16, file)).with_context(unreadable)?;
    if report.run.session.is_none() {
        let first = report.violations.first();
        let found = first.map_or_else(String::new, |it| {
            format!(" ({})", one_line(&it.to_string()))
        });
        anyhow::bail!(
            "`{name}` is no stream of a session: it holds no event of one{found}; name a stream \
             file or a run directory"
        );
    }
    let mut text = heading(&stream, &report);
    let mut found = report.broken();
    for violation in &report.violations {
        say(&mut text, &one_line(&violation.to_string()));
    }
    if report.left_out > 0 {
        let more = plural(report.left_out, "more line");
        say(&mut text, &format!("and {more} that break a rule"));
    }
    match compare(&report, &stream, args.journal.as_deref())? {
        Journal::None => {}
        Journal::Foreign(why) => say(&mut text, &why),
        Journal::Read { said, differences } => {
            found += differences.len() as u64;
            say(&mut text, &said);
            for difference in &differences {
                say(&mut text, &format!("journal: {}", one_line(difference)));
            }
        }
    }
    let verdict = match found {
        0 => "ok: nothing breaks a rule".to_owned(),
        found => plural(found, "finding"),
    };
    say(&mut text, &verdict);
    output::print(&text)?;
    Ok(if found == 0 { DONE } else { REFUSED })
}

fn say(text: &mut String, sentence: &str) {
    writeln!(text, "{sentence}").expect("a string takes any text");
}

/// What was checked.
fn heading(stream: &Path, report: &Report) -> String {
    let counts = &report.counts;
    let mut text = format!(
        "{}: session {}, {}: {}, {}, {}\n",
        stream.display(),
        one_line(report.run.session.as_deref().unwrap_or_default()),
        plural(counts.lines, "line"),
        plural(counts.agents, "agent"),
        plural(counts.exchanges, "exchange"),
        plural(counts.calls, "call"),
    );
    match (&report.ending, &report.run.ended) {
        (Ending::Finished, Some((status, code))) => {
            let status = one_line(status);
            say(
                &mut text,
                &format!("it ended as {status} with exit code {code}"),
            );
        }
        _ => say(
            &mut text,
            "it has no `session_ended`: its process was killed, or is not at its end yet; \
             checked as far as it goes",
        ),
    }
    if counts.unknown > 0 {
        let unknown = plural(counts.unknown, "line");
        say(
            &mut text,
            &format!("{unknown} of types this gg does not know: of those the envelope alone"),
        );
    }
    let names = rules::names();
    let rules = names.join(", ");
    say(
        &mut text,
        &format!("checked {} rules: {rules}", names.len()),
    );
    text
}

/// What comes of the journal.
enum Journal {
    /// There is none, and none was named.
    None,
    /// It is another run's.
    Foreign(String),
    /// It was compared.
    Read {
        said: String,
        differences: Vec<String>,
    },
}

/// Compares the stream with the journal named, or with the one in the run's workspace.
fn compare(report: &Report, stream: &Path, named: Option<&Path>) -> anyhow::Result<Journal> {
    let place = match (named, &report.run.workspace) {
        (Some(named), _) => named.to_owned(),
        (None, Some(workspace)) => PathBuf::from(workspace).join(JOURNAL),
        (None, None) => return Ok(Journal::None),
    };
    let name = place.display();
    let bytes = match fs::read(&place) {
        Ok(bytes) => bytes,
        Err(error) if named.is_none() && is_absent(&error) => return Ok(Journal::None),
        Err(error) => {
            return Err(error).with_context(|| format!("the journal `{name}` cannot be read"));
        }
    };
    let replay = match journal::read(&bytes) {
        Ok(replay) => replay,
        Err(refused) => {
            return Ok(Journal::Read {
                said: format!("journal {name}: cannot be used"),
                differences: vec![refused.to_string()],
            });
        }
    };
    drop(bytes);
    let key = |key: &Option<String>| key.clone().unwrap_or_default();
    let held = replay
        .header
        .as_ref()
        .map(|header| header.routing_key.to_string());
    if held != report.run.routing_key {
        let sentence = format!(
            "journal {name}: it is of another run (routing key {:?}, the stream's is {:?})",
            key(&held),
            key(&report.run.routing_key),
        );
        // The next run in a workspace begins a new one, so that of an older run has no journal.
        return Ok(match named {
            None => Journal::Foreign(format!("{sentence}; not compared")),
            Some(_) => Journal::Read {
                said: format!(
                    "journal {name}: {}",
                    plural(replay.entries.len() as u64, "input")
                ),
                differences: vec![sentence],
            },
        });
    }
    let text = fs::read(stream)
        .with_context(|| format!("the run `{}` cannot be read again", stream.display()))?;
    let differences = journal::agree(&replay, &String::from_utf8_lossy(&text));
    let whole = match &replay.stopped {
        None => "whole".to_owned(),
        Some(stopped) => stopped.to_string(),
    };
    Ok(Journal::Read {
        said: format!(
            "journal {name}: {}, {whole}",
            plural(replay.entries.len() as u64, "input")
        ),
        differences: differences.iter().map(ToString::to_string).collect(),
    })
}

/// Whether an error says that a file is not there, or not for us to see.
fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};

    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}
