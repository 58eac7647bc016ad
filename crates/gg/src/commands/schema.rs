//! `gg schema`: the JSON Schema of the launch document, from the types that read it.

use anyhow::Context as _;

use super::DONE;
use crate::output;

/// Prints the schema.
pub(super) fn run() -> anyhow::Result<u8> {
    let mut text = serde_json::to_string_pretty(&config::schema())
        .context("the schema cannot be written as JSON")?;
    text.push('\n');
    output::print(&text)?;
    Ok(DONE)
}
