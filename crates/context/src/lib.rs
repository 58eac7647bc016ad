//! What an agent holds: its window, what the window costs, its modules, and the words gg says to
//! it.
//!
//! Knows no actor, no network, no clock and no file, but for the directory of skills that a launch
//! reads once: the agent's loop pushes what happened and takes what a request needs.

pub mod autoload;
pub mod calls;
pub mod compaction;
pub mod desk;
pub mod library;
pub mod managed;
pub mod modules;
pub mod opened;
pub mod opening_turn;
mod path;
pub mod prompts;
pub mod reframe;
pub mod repetition;
pub mod signal;
pub mod tokens;
pub mod views;
pub mod window;
