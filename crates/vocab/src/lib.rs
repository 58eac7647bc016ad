//! The words every gg crate shares, as data.
//!
//! Nothing here decides, waits, reads or writes: a type stands here when two crates on higher
//! floors must mean the same thing by it. Wire spellings (JSON names of bands, failure classes,
//! error types, statuses) are fixed here once and read everywhere else.
//!
//! Always true: this crate depends on no other crate of the workspace.

pub mod band;
pub mod board;
pub mod candidate;
pub mod capability;
pub mod credential;
pub mod failure;
pub mod figures;
pub mod grant;
pub mod ids;
pub mod knowledge;
pub mod language;
pub mod line;
pub mod listed;
pub mod looping;
pub mod message;
pub mod operations;
pub mod outcome;
pub mod rewrite;
pub mod tools;
pub mod usage;
mod words;

pub use words::UnknownWord;
