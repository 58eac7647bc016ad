//! The board against a world that answers it.

mod attempts;
mod edits;
mod merging;
mod random;
mod waiting;
mod world;
