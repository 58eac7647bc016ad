//! What happened in a gg run: events, stream, journal, summary.

pub mod event;
pub mod summary;
