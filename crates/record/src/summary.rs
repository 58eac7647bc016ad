//! The run summary (06 §7).
use serde::Serialize;

/// The run summary.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {}
