//! What passes between an agent and those it puts to work: calls, messages, return values
//! (03 §3).
//!
//! Data and words alone. Who may be started and who is told what is decided by
//! [`supervisor`](crate::supervisor)'s lineages.
//!
//! Always true: a return value is written from the status its agent really ended under; one of
//! gg's own defects brings neither a word nor an ending.

mod answers;
mod call;
mod value;

use std::sync::Arc;

use vocab::ids::AgentId;

pub(crate) use answers::Delegated;
pub(crate) use call::{DelegationCall, parse};
pub use value::ReturnValue;

/// A message from an agent to one it put to work, not read yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Who wrote it.
    pub from: AgentId,
    /// What it says; not blank.
    pub text: Arc<str>,
}
