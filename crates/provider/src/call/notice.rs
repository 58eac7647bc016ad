//! What a call has to tell besides its end, in words for a log line.

use std::fmt;
use std::time::Duration;

use vocab::candidate::Candidate;
use vocab::ids::ModelId;

use super::error::Named;
use crate::candidates::Move;
use crate::degraded::Concession;
use crate::fault::Fault;
use crate::schedule::seconds;

/// A wait before another attempt at the same candidate.
#[derive(Clone, Debug)]
pub struct Wait {
    /// How long.
    pub delay: Duration,
    /// Which retry follows, from 1.
    pub retry: u32,
    /// How many retries there are in all.
    pub of: u32,
    /// Where; `None` where the model has no candidates.
    pub candidate: Option<Candidate>,
    /// What made it necessary.
    pub fault: Box<Fault>,
}

/// Something the asking agent's stream shall say.
#[derive(Clone, Debug)]
pub enum Notice {
    /// This call moved the run.
    Moved(Box<Moved>),
    /// Another call had moved the run; this one goes on there.
    Followed(Followed),
    /// The server is sent something no more.
    Given(Given),
}

/// A move of the run.
#[derive(Clone, Debug)]
pub struct Moved {
    /// From where, to where, by which fault.
    pub moved: Move,
    /// Why, as the end of a sentence.
    pub why: String,
    /// The fault of the last attempt, where one decided it.
    pub fault: Option<Box<Fault>>,
}

/// A call that follows the run.
#[derive(Clone, Debug)]
pub struct Followed {
    /// Where its last attempt failed.
    pub from: Candidate,
    /// Where it goes on.
    pub to: Candidate,
    /// How its last attempt failed.
    pub fault: Option<Box<Fault>>,
}

/// Something given up for the rest of the run.
#[derive(Clone, Debug)]
pub struct Given {
    /// What.
    pub concession: Concession,
    /// The refusal that taught it.
    pub fault: Box<Fault>,
}

impl Wait {
    /// The warning for a log, about a model.
    pub fn sentence(&self, model: &ModelId) -> String {
        let at = match &self.candidate {
            Some(candidate) => format!(" at {}", Named(candidate)),
            None => String::new(),
        };
        format!(
            "model `{model}`{at}: retry {} of {} in {}, after {}",
            self.retry,
            self.of,
            seconds(self.delay),
            self.fault
        )
    }
}

impl Notice {
    /// The warning for a log, about a model.
    pub fn sentence(&self, model: &ModelId) -> String {
        match self {
            Self::Moved(moved) => format!("model `{model}` {moved}"),
            Self::Followed(followed) => format!("model `{model}` {followed}"),
            Self::Given(Given { concession, fault }) => {
                format!("model `{model}` {concession}: {fault}")
            }
        }
    }

    /// The move, where this call made it: one `provider_switch`.
    pub const fn as_move(&self) -> Option<&Move> {
        match self {
            Self::Moved(moved) => Some(&moved.moved),
            Self::Followed(_) | Self::Given(_) => None,
        }
    }
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Move { from, to, .. } = &self.moved;
        write!(
            f,
            "leaves {} for {}: {}{}",
            Named(from),
            Named(to),
            self.why,
            last(self.fault.as_deref())
        )
    }
}

impl fmt::Display for Followed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "goes on at {}, since the run has left {}{}",
            Named(&self.to),
            Named(&self.from),
            last(self.fault.as_deref())
        )
    }
}

fn last(fault: Option<&Fault>) -> String {
    fault.map_or_else(String::new, |fault| format!("; the last: {fault}"))
}
