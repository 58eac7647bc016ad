//! Models that answer from a script, in the process, without network or key (R13).
//!
//! A [`Script`] is data: per profile an ordered list of replies, each with its delay, its usage or
//! the fault to raise. A [`Player`] walks one profile's list, one step an attempt; whoever holds
//! it carries out the delays.
//!
//! ```json
//! { "profiles": {
//!     "root": [
//!       { "text": "I look around.", "calls": [{ "tool": "list_dir", "arguments": {} }] },
//!       { "fault": { "status": 503, "body": "busy", "retryAfter": "1" } },
//!       { "finish": "Nothing to do.", "delayMs": 40, "usage": { "prompt_tokens": 90, "cost": 0 } }
//!     ],
//!     "*": [{ "finish": "Done.", "repeat": 3 }]
//! } }
//! ```
//!
//! Always true: every incarnation walks its list from the start, and what is past its end is a
//! fault that says so (R47).

mod script;

use std::sync::Arc;
use std::time::Duration;

pub use script::Script;
use vocab::ids::Slug;

use crate::fault::Fault;
use crate::reply::Reply;

/// One incarnation's way through a script.
#[derive(Clone, Debug)]
pub struct Player {
    script: Arc<Script>,
    profile: Slug,
    next: usize,
}

/// What one attempt meets.
#[derive(Clone, Debug)]
pub struct Step {
    /// How long the answer takes.
    pub delay: Duration,
    /// The answer.
    pub outcome: Outcome,
}

/// How a mock's attempt ends.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// With a reply.
    Reply(Box<Reply>),
    /// With a fault, to be treated as if a gateway had caused it.
    Fault(Fault),
    /// With a panic of whoever asked: for tests of what catches it.
    Panic,
}

impl Player {
    /// The start of a profile's list, or of the list `*` where the profile has none.
    pub fn new(script: Arc<Script>, profile: &Slug) -> Self {
        Self {
            script,
            profile: profile.clone(),
            next: 0,
        }
    }

    /// What the next attempt meets.
    pub fn step(&mut self) -> Step {
        let place = self.next;
        self.next += 1;
        let steps = self.script.steps(&self.profile);
        let Some(step) = steps.and_then(|steps| steps.get(place)) else {
            let why = match steps {
                Some(steps) => format!(
                    "the mock script has {} replies for profile `{}` and was asked for one more",
                    steps.len(),
                    self.profile
                ),
                None => format!(
                    "the mock script has no replies for profile `{}`",
                    self.profile
                ),
            };
            return Step {
                delay: Duration::ZERO,
                outcome: Outcome::Fault(Fault::Unusable { why }),
            };
        };
        step.play(place)
    }
}

#[cfg(test)]
mod tests;
