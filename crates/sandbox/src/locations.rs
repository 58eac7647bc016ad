//! From places in what a guest runs to places in what was written (05 §2).
//!
//! A runtime tells places of the text it ran. Where a compiler made that text, the map it emitted
//! beside it leads back; nothing is computed from line counts.

/// The maps of a program and of its modules; without any, texts stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {}

impl Locations {
    /// A runtime's words with the places of what was written.
    pub fn original(&self, text: &str) -> String {
        text.to_owned()
    }
}
