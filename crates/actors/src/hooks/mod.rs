//! Hooks: the operator's commands and scripts at ten points of a run (01 §8).
//!
//! What an answer means is decided in pure parts: how it is read ([`answer`]), what a chain of
//! hooks comes to ([`chain`]), what gg's own scripts say ([`built_in`]), what a script is told
//! ([`payload`]). Around them, scripts are laid down in the workspace ([`scripts`]) and the hooks
//! of an event are run one after another ([`firing`]). Agents ask the supervisor for it by
//! [`RunHook`](crate::messages::RunHook), and so does the frame of the session for its end.
//!
//! Always true: a hook that did not judge has not approved; what is told of a hook to the model, to
//! the stream and to the journal is one answer.

mod answer;
mod built_in;
mod chain;
mod firing;
mod payload;
mod scripts;

pub use chain::{Fired, Passage, Told};
pub(crate) use firing::{fire, has_any};
pub(crate) use payload::plain;
pub use payload::{Facts, Who};
pub(crate) use scripts::Scripts;
