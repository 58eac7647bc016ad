//! Why a call on memories is refused.

use vocab::failure::{Failure, FailureClass};
use vocab::knowledge::MemoryStrategy;
use vocab::listed::Listed;
use vocab::tools::ToolName;

use super::MAX_CODE_CHARS;

/// A refused call; the store is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// The agent does not hold this store.
    #[error("you hold no memories")]
    NotHeld,
    /// A write of a holder that may not.
    #[error("these memories are another agent's, and yours to read only; {}", calls_held(*.0))]
    ReadOnly(MemoryStrategy),
    /// A new memory's name is in use.
    #[error("there is a memory `{0}` already; choose another name, or change that one")]
    Taken(String),
    /// A name no memory has.
    #[error("there is no memory `{name}`; {}", there_are(.held))]
    Unknown {
        /// The name.
        name: String,
        /// The memories there are.
        held: Vec<String>,
    },
    /// A description over `maxLenDescription`.
    #[error("the description has {would} characters; it may have {limit}")]
    DescriptionTooLong {
        /// Characters it has.
        would: u64,
        /// Characters it may have.
        limit: u64,
    },
    /// A body over `maxLenPerMemory`.
    #[error("the body would have {would} characters; a memory's may have {limit}")]
    BodyTooLong {
        /// Characters it would have.
        would: u64,
        /// Characters it may have.
        limit: u64,
    },
    /// A half of a memory's code over what one may have.
    #[error(
        "`{half}` has {would} characters; the code of a memory may have {MAX_CODE_CHARS} a half"
    )]
    CodeTooLong {
        /// The argument that gave it.
        half: &'static str,
        /// Characters it has.
        would: u64,
    },
    /// More memories than `maxCount`.
    #[error("{held} memories are kept, of {limit} that may be; delete one first")]
    TooMany {
        /// Memories there are.
        held: u64,
        /// Memories there may be.
        limit: u64,
    },
    /// Bodies over `maxTotalLen` together.
    #[error(
        "all bodies together would have {would} characters; they may have {limit}: shorten this \
         one, or delete one first"
    )]
    TotalTooLong {
        /// Characters they would have.
        would: u64,
        /// Characters they may have.
        limit: u64,
    },
    /// An index over `maxLenIndex`: nothing about the new memory is at fault.
    #[error("the index would have {would} characters; it may have {limit}: delete a memory first")]
    IndexTooLong {
        /// Characters it would have.
        would: u64,
        /// Characters it may have.
        limit: u64,
    },
    /// The text an edit replaces does not occur.
    #[error("`oldString` does not occur in memory `{0}`")]
    Absent(String),
    /// The text an edit replaces occurs more than once.
    #[error(
        "`oldString` occurs {times} times in memory `{name}`; give more of the text around the \
         place you mean"
    )]
    Several {
        /// The memory.
        name: String,
        /// How often.
        times: usize,
    },
    /// An edit that would leave nothing.
    #[error("that would leave memory `{0}` blank; delete it instead")]
    Emptied(String),
}

fn calls_held(strategy: MemoryStrategy) -> String {
    #[derive(thiserror::Error, Debug)]
    enum Held<'a> {
        #[error("they stand in your window")]
        Shown,
        #[error("you have {}", Listed(.0))]
        Calls(&'a [ToolName]),
    }
    let calls = strategy.calls().iter().copied();
    let calls: Vec<_> = calls.filter(|tool| strategy.serves(*tool, false)).collect();
    match calls.as_slice() {
        [] => Held::Shown.to_string(),
        calls => Held::Calls(calls).to_string(),
    }
}

fn there_are(held: &[String]) -> String {
    #[derive(thiserror::Error, Debug)]
    enum Names<'a> {
        #[error("none is kept")]
        None,
        #[error("there are {}", Listed(.0))]
        Kept(&'a [String]),
    }
    match held {
        [] => Names::None.to_string(),
        held => Names::Kept(held).to_string(),
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        use MemoryError as E;
        let class = match &error {
            E::NotHeld => FailureClass::Unavailable,
            E::ReadOnly(_) => FailureClass::Refused,
            E::Taken(_) | E::Several { .. } => FailureClass::Conflict,
            E::Unknown { .. } | E::Absent(_) => FailureClass::NotFound,
            E::DescriptionTooLong { .. }
            | E::BodyTooLong { .. }
            | E::CodeTooLong { .. }
            | E::TooMany { .. }
            | E::TotalTooLong { .. }
            | E::IndexTooLong { .. } => FailureClass::LimitExceeded,
            E::Emptied(_) => FailureClass::InvalidArgument,
        };
        Self::new(class, error.to_string())
    }
}
