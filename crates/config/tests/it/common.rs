//! Documents and shorthands the suites share.

use std::path::PathBuf;

/// A sound document that uses every key there is.
pub(crate) const EVERYTHING: &str = include_str!("documents/everything.json");
/// The example of 01 §3.
pub(crate) const SPECIFICATION: &str = include_str!("documents/specification.json");
/// The example that needs no network.
pub(crate) const MOCK: &str = include_str!("../../../../examples/mock-session.json");
/// The example with hooks, which needs no network either.
pub(crate) const HOOKED: &str = include_str!("../../../../examples/hooked-session.json");
/// The example of a machine.
pub(crate) const MACHINE: &str = include_str!("../../../../examples/plan-then-implement.json");
/// The example on a live model.
pub(crate) const LIVE: &str = include_str!("../../../../examples/live-session.json");
/// The example of a family, on a mock model.
pub(crate) const FAN_OUT: &str = include_str!("../../../../examples/fan-out.json");

/// The repository's folder.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every refusal of a document that parses, as text.
pub(crate) fn refusals(text: &str) -> Vec<String> {
    config::parse(text)
        .unwrap()
        .check()
        .refusals
        .iter()
        .map(ToString::to_string)
        .collect()
}
