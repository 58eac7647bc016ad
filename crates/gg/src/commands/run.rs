//! `gg run`: one session from a launch document to an exit code.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use actors::launch;
use actors::run::{self, RunOptions};
use actors::telemetry::Outputs;
use anyhow::Context as _;
use provider::openrouter::{Credential, Endpoint};
use record::lines::STREAM_FILE;
use vocab::ids::RoutingKey;
use vocab::outcome::EndStatus;

use super::{BUILD, REFUSED, raise_open_files, read_document, read_script, surroundings};
use crate::cli::RunArgs;
use crate::{guests, output};

/// Runs the session and answers the exit code.
pub(crate) fn run(
    arguments: RunArgs,
    credential: Option<Credential>,
    routing_key: Option<RoutingKey>,
) -> anyhow::Result<u8> {
    let RunArgs { file, options } = arguments;
    let document = read_document(&file)?;
    let script = options
        .mock_script
        .as_deref()
        .map(read_script)
        .transpose()?;
    let tee = options.run_dir.as_deref().map(tee_into).transpose()?;
    let outputs = Outputs {
        stdout: Box::new(io::stdout()),
        tee,
    };
    let surroundings = surroundings(script);

    let prepared = match launch::check(&document, &surroundings) {
        Ok(prepared) => prepared,
        Err(refusals) => {
            output::complain(config::refusal::report(&refusals));
            launch::refuse(&document, &refusals, BUILD, outputs)
                .context("the refusal's stream cannot be written")?;
            return Ok(REFUSED);
        }
    };
    let endpoint = if prepared.needs_gateway() {
        let endpoint = Endpoint::new(&surroundings.base_url, credential.clone());
        Some(endpoint.map_err(|fault| anyhow::anyhow!(fault))?)
    } else {
        None
    };
    raise_open_files();
    let report = run::run(RunOptions {
        prepared,
        build: BUILD,
        outputs,
        flow: options.flow,
        endpoint,
        credential,
        guests: guests::folder(),
        routing_key,
    })
    .context("the session failed")?;
    match &report.error {
        Some(error) => output::complain(format_args!("gg: {}: {error}", report.status)),
        None if report.status != EndStatus::Completed => {
            output::complain(format_args!("gg: the run ended as {}", report.status));
        }
        None => {}
    }
    if let Some(error) = &report.stream.tee_error {
        output::complain(format_args!(
            "gg: the copy of the stream is incomplete: {error}"
        ));
    }
    Ok(report.exit_code)
}

fn tee_into(dir: &Path) -> anyhow::Result<Box<dyn io::Write + Send>> {
    fs::create_dir_all(dir)
        .with_context(|| format!("the run directory {} cannot be made", dir.display()))?;
    let path = dir.join(STREAM_FILE);
    let file = File::create(&path).with_context(|| format!("{} cannot be made", path.display()))?;
    Ok(Box::new(file))
}
