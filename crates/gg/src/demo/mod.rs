//! The session that `gg demo` plays: a model that is a script, with real files and real commands.
//!
//! [`script`] is what the model says, [`document`] the launch document, [`folder`] what may be
//! written where, [`narrator`] the stream as a person reads it. The game's files stand in `game/`
//! as they end up; the mistake that the session makes and mends is the script's own edit, undone.

pub(crate) mod document;
pub(crate) mod folder;
pub(crate) mod narrator;
pub(crate) mod script;
