//! The cast of a gg run: actors, their messages, and the frame that starts and ends them.
//!
//! Actors here are thin: a mailbox, a few handlers, effects. What they decide is decided by pure
//! state machines: [`supervisor`]'s ceilings, [`scheduler`]'s pool, the retry schedule of the
//! provider crate. [`run`] is the entry point; [`launch`] is what comes before it.
//!
//! Always true: no handler waits; a request goes down the ranks of 03 §10.4; no permit is held
//! across a suspension; every stored waiter has two wakers, its condition and the run's stop.

pub mod agent;
pub mod board;
#[cfg(test)]
mod boards;
#[cfg(test)]
mod buffer;
pub mod clock;
pub mod delegation;
#[cfg(test)]
mod families;
pub mod flow;
#[cfg(test)]
mod heard;
pub mod hooks;
#[cfg(test)]
mod issues_filed;
mod late_prices;
pub mod launch;
pub mod link;
pub mod machine;
pub mod memory_store;
pub mod messages;
#[cfg(test)]
mod nets;
pub mod panics;
mod programs;
pub mod provider_client;
mod repository;
pub mod run;
pub mod scheduler;
mod shared;
pub mod signals;
pub mod skills;
pub mod stop;
pub mod succession;
pub mod supervisor;
pub mod telemetry;
#[cfg(test)]
mod trees;
mod workspace;
