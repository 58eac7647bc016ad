//! `gg reference`: everything gg can say to a model, as JSON.

use anyhow::Context as _;
use sandbox::catalogue;

use super::DONE;
use crate::cli::ReferenceArgs;
use crate::{output, reference};

/// Prints the reference, with the surface of one language.
pub(super) fn run(args: &ReferenceArgs) -> anyhow::Result<u8> {
    let catalogue = catalogue::of(args.language)?;
    let mut text = serde_json::to_string_pretty(&reference::of(catalogue))
        .context("the reference cannot be written as JSON")?;
    text.push('\n');
    output::print(&text)?;
    Ok(DONE)
}
