//! What every arm is held to, one at a time, against gg's own table (05 §7). Tests only.

mod capability;
mod capability_tests;
mod fixture;
mod prose;
mod spelling;

pub(crate) use fixture::fixture;
