//! Why a call of an agent came to nothing, whoever made it: a tool call or a program.

use context::prompts::PromptError;
use tools::Done;
use vocab::failure::Failure;

use super::tool_turn::Answer;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undone {
    /// The model is told.
    Refused(Failure),
    /// gg itself could not do it; the agent ends of that.
    Defect(String),
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
