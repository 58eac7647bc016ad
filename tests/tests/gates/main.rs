//! Gates that need every arm and every template: what a code agent's prompts say in each language,
//! and where names of calls stand (05 §7).
//!
//! A gate answers with complaints instead of failing, so that damaged inputs can show it to catch
//! something.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixtures;
mod prompts;
mod rendered;
mod spelling;
