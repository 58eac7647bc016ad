//! What every arm is held to, one at a time, against gg's own table (05 §7). Tests only.

mod authorship;
mod capability;
mod capability_tests;
mod documented;
mod failures;
mod fixture;
mod isolation;
mod modules;
mod prose;
mod source;
mod spelling;

pub(crate) use fixture::fixture;
