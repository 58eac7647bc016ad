//! What happened in a gg run: events, the stream they are written to, the capture journal beside
//! it, the summary folded from them, and the rules every stream keeps.
//!
//! [`event`] is the catalogue; [`stream`] turns emissions into lines on a thread of its own;
//! [`journal`] keeps what the stream lacks, so that a run can be read back exactly; [`summary`]
//! folds the emissions into scalars; [`rules`] reads a finished stream and names every line that
//! breaks an ordering rule, a pairing or a sum.
//!
//! Always true: nothing here decides how a turn runs, and no fault here ends one.

pub mod analysis;
pub mod event;
pub mod faults;
pub mod journal;
mod json;
pub mod lines;
pub mod mask;
pub mod rules;
#[cfg(test)]
mod sample;
pub mod stream;
pub mod summary;
pub mod text;
