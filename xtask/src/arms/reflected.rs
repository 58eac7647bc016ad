//! What a reflector wrote, judged before it is stamped: read as the host will read it, and refused
//! where it is blank or leaves an argument undocumented (05 §6).
//!
//! The two files are the host's own; they know nothing but the format and the operations table.

use std::path::Path;

use anyhow::{Context, Result, bail};
use schema::Catalogue;

#[path = "../../../crates/sandbox/src/catalogue/faults.rs"]
#[expect(unreachable_pub, reason = "it is public where it belongs")]
mod faults;
#[path = "../../../crates/sandbox/src/catalogue/schema.rs"]
#[expect(unreachable_pub, reason = "it is public where it belongs")]
mod schema;

/// The name of an arm's catalogue.
pub(super) fn file_name(language: &str) -> String {
    format!("{language}.signatures.json")
}

/// Reads the catalogue of a language out of a folder, and fails where it is none.
pub(super) fn check(folder: &Path, language: &str) -> Result<()> {
    let path = folder.join(file_name(language));
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("the reflector wrote no {}", path.display()))?;
    let catalogue = Catalogue::read(&text, language)?;
    let faults = faults::faults(&catalogue);
    if !faults.is_empty() {
        bail!(
            "the documentation of `{language}` is not whole:\n  {}",
            faults.join("\n  ")
        );
    }
    println!(
        "    {language}: {} modules, {} functions, {} types",
        catalogue.modules.len(),
        catalogue.functions.len(),
        catalogue.types.len()
    );
    Ok(())
}
