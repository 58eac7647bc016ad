//! The board against a world that answers it, and against a real git.

mod attempts;
mod dice;
mod edits;
mod merging;
mod random;
mod together;
mod waiting;
mod world;
