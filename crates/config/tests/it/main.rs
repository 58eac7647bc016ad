//! The launch document from outside: text in, refusals or a typed document out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod board;
mod common;
mod context;
mod machines;
mod properties;
mod refusals;
mod schema;
