//! Memories: what a model chooses to keep, and whoever else holds them (02 §9).
//!
//! A [`MemoryStore`] knows its holders by agent id: who may write, what each has not been told
//! yet. It answers with facts; `answers` words them for a model, `block` is what the window
//! shows, `notices` what one holder is told of the others' writes, `scope` whose store an agent
//! gets. An actor may wrap it as it stands.

mod answers;
mod block;
mod call;
mod code;
mod error;
mod given;
mod limits;
mod notices;
mod scope;
mod search;
mod store;

pub use block::{BlockMemory, MemoryBlock, MemoryNotice, NoticeRow};
pub use call::{MemoryCall, parse};
pub use code::{MAX_CODE_CHARS, MemoryCode};
pub use error::MemoryError;
pub use limits::{MemoryPolicy, MemoryTotals};
pub use notices::{NetChange, News, NoticeLine};
pub use scope::{MemoryBinding, StartedAs, StoreSource, resolve};
pub use search::{EXCERPT_CHARS, Hit};
pub use store::{
    Memory, MemoryAnswer, MemoryRow, MemoryState, MemoryStore, MemoryUsage, Revision, WriteKind,
    Written,
};

#[cfg(test)]
mod tests;
