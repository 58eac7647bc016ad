//! See the crate description.

pub mod flow;
