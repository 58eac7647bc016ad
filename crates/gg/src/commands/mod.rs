//! The commands, one file each. A command answers with the exit code it ends with, or with an error
//! that becomes one sentence on stderr and exit code 1.

mod candidates;
mod check;
mod completions;
mod demo;
mod flow;
mod man;
mod new;
mod reference;
mod run;
mod schema;
mod selfcheck;
mod show;
mod study;
mod verify;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use actors::launch::{Build, Surroundings};
use anyhow::Context as _;
use config::Document;
use provider::mock::Script;
use provider::openrouter::base_url_from_env;

use crate::cli::Command;
use crate::credential::Handed;
use crate::output;

/// Exit code of a command that did what it was asked to.
const DONE: u8 = 0;
/// Exit code of a refusal.
const REFUSED: u8 = 1;

/// Carries a command out.
pub(crate) fn dispatch(command: Command, handed: Handed) -> anyhow::Result<u8> {
    let credential = handed.credential;
    match command {
        Command::Run(args) => run::run(args, credential, handed.run),
        Command::Check(args) => check::run(&args),
        Command::Schema => schema::run(),
        Command::Reference(args) => reference::run(&args),
        Command::New(args) => new::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Candidates(args) => candidates::run(&args, credential),
        Command::Show(args) => show::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Study(args) => study::run(&args, credential),
        Command::Flow(args) => flow::run(&args),
        Command::Selfcheck(args) => selfcheck::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// Lets a session hold as many files open as the system allows. Where that is refused, the session
/// runs with what there is, and says so.
fn raise_open_files() {
    if let Err(error) = tools::raise_limit() {
        output::complain(format_args!(
            "gg: the limit on open files cannot be raised: {error}"
        ));
    }
}

/// Bytes of a document or a script; no honest one comes near it, and a device has no end.
const LARGEST: u64 = 512 << 20;

/// Reads a file that a person named, up to a bound.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let why = format!("it is larger than {} MiB", LARGEST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// A launch document whose syntax holds.
fn read_document(file: &Path) -> anyhow::Result<Document> {
    let name = file.display();
    let bytes =
        read(file).with_context(|| format!("the launch document `{name}` cannot be read"))?;
    config::parse_bytes(&bytes).with_context(|| format!("`{name}`"))
}

/// What a record says of this binary. Its build script finds the commit, where there is one.
const BUILD: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    commit: option_env!("GG_COMMIT"),
};

/// What a launch meets beside its document: the mock script of the command line, and the gateway
/// the environment names.
fn surroundings(mock_script: Option<Arc<Script>>) -> Surroundings {
    let base_url = base_url_from_env();
    Surroundings {
        mock_script,
        base_url,
    }
}

/// The script that stands for mock models.
fn read_script(file: &Path) -> anyhow::Result<Arc<Script>> {
    let name = file.display();
    let text = read(file)
        .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
        .with_context(|| format!("the mock script `{name}` cannot be read"))?;
    match Script::from_json(&text) {
        Ok(script) => Ok(Arc::new(script)),
        Err(fault) => anyhow::bail!("the mock script `{name}`: {fault}"),
    }
}
