//! Running a program: its language, engine, host contract, grants, membrane.
//!
//! What a language brings stands behind one trait ([`arms`]). It prepares a program ([`prepare`]).
//! A program runs as a component on a thread of its own ([`program`]). What it calls passes one
//! membrane ([`host`]), which asks `vocab::grant` whether the agent may, and ends in a trait
//! ([`services`]) that whoever runs agents implements. What it says and how it ended comes back as an
//! [`Execution`](program::Execution); nothing of it is worded for a model here.
//!
//! Always true: a guest reaches gg only through functions of the contract, and none of them can trap
//! (a call that brings more than [`program::MAX_CALL_BYTES`] ends its program before it reaches one); a
//! guest never sees gg's standard output, nor a credential.

pub mod arms;
pub mod catalogue;
pub mod components;
pub mod contract;
pub mod diagnostics;
pub mod docs;
pub mod engine;
mod files;
pub mod host;
mod limits;
pub mod locations;
pub mod outcome;
pub mod prepare;
pub mod program;
pub mod services;
mod standby;
mod stderr;
pub mod surroundings;
mod vessel;

#[cfg(test)]
mod argument_tests;
#[cfg(test)]
mod contract_tests;
#[cfg(test)]
mod fakes;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod host_tests;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod hostile_memory;
#[cfg(test)]
mod javascript_tests;
#[cfg(test)]
#[path = "../../../tests/src/lease.rs"]
#[allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    unreachable_pub,
    reason = "of tests, which the suites of the binary share"
)]
mod lease;
#[cfg(test)]
mod least_memory;
#[cfg(test)]
mod python_tests;
#[cfg(test)]
mod trial;
#[cfg(test)]
mod typescript_tests;
