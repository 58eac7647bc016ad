//! The fake gateway and what the end-to-end suites share.
//!
//! [`gateway`] stands where a model provider stands, on a real socket; [`run`] starts the real
//! binary against it and reads what it leaves. Suites stand in `tests/tests/`.
//!
//! Everything here blocks on plain threads: what is under test lives in another process, so no
//! clock can be paused and no arbiter be held up.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans keep the arbiter free and its clock pausable; what is tested here is another process"
)]

pub mod executable;
pub mod gateway;
pub mod launch;
pub mod lease;
pub mod run;
