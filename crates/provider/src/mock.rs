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
use vocab::looping::Knobs;

use crate::fault::Fault;
use crate::looping::{Detector, Stream};
use crate::reply::Reply;

/// One incarnation's way through a script.
#[derive(Clone, Debug)]
pub struct Player {
    script: Arc<Script>,
    profile: Slug,
    next: usize,
    knobs: Option<Knobs>,
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
            knobs: None,
        }
    }

    /// The same, each reply read by a loop detector where there are knobs for one.
    pub const fn watched(mut self, knobs: Option<Knobs>) -> Self {
        self.knobs = knobs;
        self
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
        let mut step = step.play(place);
        if let Outcome::Reply(reply) = &step.outcome
            && let Some(fault) = self.knobs.and_then(|knobs| looped(knobs, reply))
        {
            step.outcome = Outcome::Fault(fault);
        }
        step
    }
}

/// The fault of a reply that trips a detector when it is read as it would stream: reasoning,
/// text, arguments.
fn looped(knobs: Knobs, reply: &Reply) -> Option<Fault> {
    let mut detector = Detector::new(knobs);
    let spoken = [
        (Stream::Reasoning, reply.reasoning.as_deref()),
        (Stream::Content, reply.text.as_deref()),
    ];
    let arguments = reply.calls.iter().enumerate();
    let pieces = spoken
        .into_iter()
        .filter_map(|(stream, text)| Some((stream, text?)))
        .chain(arguments.map(|(place, call)| (Stream::Arguments(place), &*call.arguments)));
    let mut trip = None;
    for (stream, text) in pieces {
        trip = detector.feed(stream, text.as_bytes());
    }
    trip.map(|trip| Fault::Looped {
        words: trip.words,
        chars: trip.chars,
        generation: reply.generation.clone(),
        provider: reply.provider.clone(),
    })
}

#[cfg(test)]
mod tests;
