//! Why a call of an agent came to nothing, whoever made it: a tool call or a program; and what its
//! maker is told of it where the reason is not the call's.

use context::prompts::PromptError;
use tools::Done;
use vocab::failure::{Failure, FailureClass};

use super::tool_turn::Answer;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undone {
    /// The model is told.
    Refused(Failure),
    /// gg itself could not do it; the agent ends of that.
    Defect(String),
}

/// What is told of a call that a defect of gg's kept from coming to anything. The agent ends of it.
pub(super) fn defective() -> Failure {
    Failure::new(FailureClass::Other, "gg could not carry the call out")
}

/// What is told of a call behind which nobody stands any more.
pub(super) fn stopping() -> Failure {
    Failure::new(
        FailureClass::Refused,
        "the run is stopping; nothing more is carried out",
    )
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<PromptError> for Undone {
    fn from(error: PromptError) -> Self {
        Self::Defect(format!("a text of gg's own does not render: {error}"))
    }
}

impl Answer {
    /// What a call came to, as the text of its result.
    pub(super) fn of_call(outcome: Result<String, Undone>) -> Self {
        match outcome {
            Ok(text) => Self::of(Ok(Done {
                text,
                ..Done::default()
            })),
            Err(Undone::Refused(failure)) => Self::failed(failure),
            Err(Undone::Defect(cause)) => Self::defect(cause),
        }
    }
}
