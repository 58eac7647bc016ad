//! What every arm is held to, one at a time, against gg's own table (05 §7). Tests only.

mod fixture;

pub(crate) use fixture::{FIXTURE, fixture};
