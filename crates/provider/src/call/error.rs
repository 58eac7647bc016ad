//! A call that failed for good: its last fault, and where it was tried before.

use std::fmt;

use vocab::candidate::Candidate;
use vocab::outcome::ErrorType;

use super::LoopAborts;
use crate::fault::Fault;

/// A model call that failed for good.
#[derive(Clone, Debug)]
pub struct CallError {
    /// The fault of the last attempt.
    pub fault: Fault,
    /// Attempts made, at all candidates.
    pub attempts: u32,
    /// Of a spent schedule: why no other attempt was made.
    pub spent: Option<String>,
    /// Where it ended; `None` where the model has no candidates.
    pub candidate: Option<Candidate>,
    /// Attempts made where it ended.
    pub attempts_there: u32,
    /// Where it was tried before, in order.
    pub left: Vec<Left>,
    /// What was discarded of replies that repeated themselves.
    pub loops: LoopAborts,
}

/// A candidate a call was tried at and that was then left.
#[derive(Clone, Debug)]
pub struct Left {
    /// Who.
    pub candidate: Candidate,
    /// Attempts made there.
    pub attempts: u32,
    /// Why it was left, as a clause.
    pub why: String,
    /// The fault of the last attempt there.
    pub fault: Option<Box<Fault>>,
}

impl CallError {
    /// How the turn that met it is recorded: by its last fault.
    pub const fn error_type(&self) -> ErrorType {
        self.fault.error_type()
    }

    /// Failed attempts before the last one.
    pub const fn retries(&self) -> u32 {
        self.attempts.saturating_sub(1)
    }

    /// Whether the loop asks again, byte for byte, on the same turn instead of ending (01 §6.4).
    pub const fn is_reasked(&self) -> bool {
        matches!(
            self.error_type(),
            ErrorType::ModelTimeout
                | ErrorType::ModelLengthCapped
                | ErrorType::ModelParse
                | ErrorType::ModelResponseLoop
        )
    }

    /// Whether the last fault already says where it was met, or was met nowhere.
    const fn is_placed(&self) -> bool {
        matches!(
            self.fault,
            Fault::ProviderMismatch { .. } | Fault::MissingCredential | Fault::Unusable { .. }
        )
    }
}

/// A candidate in a sentence.
pub(super) struct Named<'a>(pub(super) &'a Candidate);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.0.provider, self.0.quantization)
    }
}

struct Attempts(u32);

impl fmt::Display for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 attempt"),
            many => write!(f, "{many} attempts"),
        }
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, attempts) = (Named(&self.candidate), Attempts(self.attempts));
        write!(f, "{name} was left after {attempts}, {}", self.why)?;
        match &self.fault {
            Some(fault) => write!(f, "; its last: {fault}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.spent, &self.candidate) {
            (Some(why), candidate) => {
                write!(f, "gave up after {}", Attempts(self.attempts_there))?;
                if let Some(candidate) = candidate {
                    write!(f, " at {}", Named(candidate))?;
                }
                write!(f, ", {why}; the last: {}", self.fault)?;
            }
            (None, Some(candidate)) if !self.is_placed() => {
                write!(f, "at {}: {}", Named(candidate), self.fault)?;
            }
            (None, _) => self.fault.fmt(f)?,
        }
        for (place, left) in self.left.iter().enumerate() {
            let word = if place == 0 {
                "; before it "
            } else {
                "; then "
            };
            write!(f, "{word}{left}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CallError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.fault)
    }
}
