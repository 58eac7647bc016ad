//! How a call fails: one closed set of classes on both surfaces (04 §2).

use crate::words::words;

words! {
    /// Why a tool call or an operation failed.
    FailureClass ("failure class") {
        /// A malformed or empty argument, a bad pattern, a value outside its vocabulary.
        InvalidArgument = "invalid-argument",
        /// The named thing does not exist.
        NotFound = "not-found",
        /// Several matches, a duplicate id, an edge that closes a cycle.
        Conflict = "conflict",
        /// A timeout, a cap, a depth, a spent clock.
        LimitExceeded = "limit-exceeded",
        /// The operating system failed, or a process could not start.
        IoError = "io-error",
        /// Not granted to this agent.
        Unavailable = "unavailable",
        /// Granted, but not now: a hook's block, a pending compaction, a second succession.
        Refused = "refused",
        /// Raised outside an implementation.
        Other = "other",
    }
}

/// A failed call: its class and the sentence a model reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{class}: {message}")]
pub struct Failure {
    /// The class a program branches on.
    pub class: FailureClass,
    /// Where, what was found, what was expected; no class name and no tool name in front.
    pub message: String,
}

impl Failure {
    /// A failure of a class, in words.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            message: message.into(),
        }
    }

    /// [`FailureClass::InvalidArgument`], in words.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(FailureClass::InvalidArgument, message)
    }

    /// [`FailureClass::NotFound`], in words.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(FailureClass::NotFound, message)
    }

    /// [`FailureClass::IoError`], in words.
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(FailureClass::IoError, message)
    }

    /// The text of a failed tool result (04 §2).
    pub fn as_result_text(&self, tool: &str) -> String {
        format!("`{tool}` failed ({}): {}", self.class, self.message)
    }
}
