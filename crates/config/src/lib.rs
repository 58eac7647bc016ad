//! The launch document: what one run is given, as types, and everything that can be told of it
//! without a disk, a network or a clock.
//!
//! A text becomes a [`Document`] (only its syntax is judged), which
//! [`check`](document::Document::check)s into a typed [`Launch`] or into every
//! refusal at once. What only a disk, a template or a toolchain can tell is added to the same list
//! by `actors::launch`, from [`Loose`].
//!
//! Always true: nothing is filled in, clamped or substituted, but for the figures that 01 §5 and
//! R48 name; and a value that this build cannot honour refuses the launch.
//!
//! `docs/launch-document.md` documents every key, `docs/launch.schema.json` is generated from the
//! types here, and tests hold the three in step.

pub mod authoring;
pub mod capability;
pub mod document;
pub mod grants;
pub mod hooks;
pub mod launch;
pub mod limits;
pub mod machine;
mod number;
pub mod policies;
pub mod profile;
pub mod refusal;
mod roster;
pub mod schema;
pub mod validate;
mod words;

pub use document::{Document, Unreadable, parse, parse_bytes};
pub use launch::Launch;
pub use refusal::Refusal;
pub use schema::schema;
pub use validate::{Checked, Loose, ProgramMemory, SkillDir};
