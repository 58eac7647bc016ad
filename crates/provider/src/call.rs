//! One model call, from its first attempt to a reply or to a failure (01 §6.2–6.4).
//!
//! A pure machine over three others: the call's own [`RetrySchedule`], and the run's
//! [`Candidates`] and [`Degraded`], which all calls of a model share. It is told the fault of each
//! attempt and says what comes next: an attempt, a wait, something to tell, or the end. A schedule
//! starts afresh wherever the run moves; a call whose candidate was left by another one follows.
//!
//! ```
//! use provider::call::{Asks, Call, LoopAborts, Next};
//! use provider::candidates::Candidates;
//! use provider::degraded::Degraded;
//! # use std::time::Duration;
//! # use provider::call::{Attempt, CallError};
//! # use provider::{fault::Fault, reply::Reply};
//! # fn attempt(_: &Attempt) -> Result<Reply, Fault> { Ok(Reply::default()) }
//! # fn warn(_: String) {}
//! # fn sleep(_: Duration) {}
//! # fn time_left() -> Option<Duration> { None }
//!
//! fn complete(
//!     candidates: &mut Candidates,
//!     degraded: &mut Degraded,
//! ) -> Result<(Reply, u32, LoopAborts), Box<CallError>> {
//!     let mut call = Call::new(Asks::default(), 10, Duration::from_secs(60));
//!     loop {
//!         match call.next(candidates, degraded) {
//!             Next::Attempt(sent) => match attempt(&sent) {
//!                 Ok(reply) => return Ok((reply, call.retries(), call.into_loop_aborts())),
//!                 Err(fault) => call.failed(fault, time_left()),
//!             },
//!             Next::Wait(wait) => {
//!                 warn(wait.sentence(&"acme/coder-1".into()));
//!                 sleep(wait.delay);
//!             }
//!             Next::Tell(notice) => warn(notice.sentence(&"acme/coder-1".into())),
//!             Next::GiveUp(error) => return Err(error),
//!         }
//!     }
//! }
//! # complete(&mut Candidates::new([], 2), &mut Degraded::new(true)).unwrap();
//! ```
//!
//! Always true: an attempt asks the candidate in force at that moment; at most `1 + max_retries`
//! attempts are judged at one candidate, besides those sent again without what the server does
//! not take; a call that fails stands at the last candidate, met a fault that no attempt can mend,
//! or looped on every attempt of its schedule. Only spent schedules, absence (404) and misses move
//! the run.

mod error;
mod loops;
mod notice;

use std::time::Duration;

pub use error::{CallError, Left};
pub use loops::{Aborted, LoopAborts};
pub use notice::{Followed, Given, Moved, Notice, Wait};
use vocab::candidate::Candidate;

use crate::candidates::{After, Candidates, Move, Position};
use crate::degraded::{Concessions, Degraded, Lesson, RoutingField, Sent};
use crate::fault::Fault;
use crate::request::{ModelRequest, ToolChoice};
use crate::schedule::{Decision, RetrySchedule};

/// What a call asks that decides how its refusals are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asks {
    /// A tool choice other than `auto`.
    pub tool_choice: bool,
    /// Pictures: a refusal of them is the asker's to mend, and no reason to move.
    pub pictures: bool,
}

impl Asks {
    /// What a request asks; its serialized messages no longer tell whether they hold `pictures`.
    pub fn of(request: &ModelRequest, pictures: bool) -> Self {
        Self {
            tool_choice: request.toolset.len > 0 && request.tool_choice != ToolChoice::Auto,
            pictures,
        }
    }
}

/// A model call under way.
#[derive(Debug)]
pub struct Call {
    asks: Asks,
    max_retries: u32,
    max_delay: Duration,
    state: State,
    stay: Option<Stay>,
    left: Vec<Left>,
    failed: u32,
    loops: LoopAborts,
}

/// The call's time at one candidate.
#[derive(Debug)]
struct Stay {
    position: Position,
    candidate: Option<Candidate>,
    schedule: RetrySchedule,
    attempts: u32,
    only_loops: bool,
    last: Option<Box<Fault>>,
}

#[derive(Debug)]
enum State {
    /// Nothing is under way; the next step sends.
    Ready,
    /// An attempt is out.
    Sent(Sent),
    /// An attempt failed and was not judged yet.
    Failed {
        fault: Fault,
        sent: Sent,
        time_left: Option<Duration>,
    },
    /// The call has failed.
    Over(Box<CallError>),
}

/// What comes next.
#[derive(Clone, Debug)]
pub enum Next {
    /// Send the request, then say how it failed, or stop.
    Attempt(Attempt),
    /// Wait, then ask for the next step. The wait may be cut short where [`Call::is_behind`].
    Wait(Wait),
    /// Tell whoever follows the run, then ask for the next step at once.
    Tell(Notice),
    /// The call has failed.
    GiveUp(Box<CallError>),
}

/// A request to send now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Whom it asks; `None` sends no routing.
    pub candidate: Option<Candidate>,
    /// What it leaves out.
    pub concessions: Concessions,
}

impl Call {
    /// A call that makes `max_retries` attempts after the first at each candidate, with no backoff
    /// above `max_delay`.
    pub const fn new(asks: Asks, max_retries: u32, max_delay: Duration) -> Self {
        Self {
            asks,
            max_retries,
            max_delay,
            state: State::Ready,
            stay: None,
            left: Vec::new(),
            failed: 0,
            loops: LoopAborts::new(),
        }
    }

    /// The attempt that [`Next::Attempt`] asked for failed. `time_left` is what the run's clock
    /// still allows. Where no attempt is out there is nothing to fail.
    pub fn failed(&mut self, fault: Fault, time_left: Option<Duration>) {
        if let State::Sent(sent) = self.state {
            self.state = State::Failed {
                fault,
                sent,
                time_left,
            };
        }
    }

    /// What comes next. While an attempt is out it is that attempt once more; after the end it is
    /// the end.
    pub fn next(&mut self, candidates: &mut Candidates, degraded: &mut Degraded) -> Next {
        match std::mem::replace(&mut self.state, State::Ready) {
            State::Ready | State::Sent(_) => self.send(candidates, degraded),
            State::Failed {
                fault,
                sent,
                time_left,
            } => self.judge(fault, sent, time_left, candidates, degraded),
            State::Over(error) => self.over(error),
        }
    }

    /// Attempts that failed so far.
    pub const fn retries(&self) -> u32 {
        self.failed
    }

    /// What was discarded of replies that repeated themselves.
    pub const fn loop_aborts(&self) -> &LoopAborts {
        &self.loops
    }

    /// The same, of a call that is over.
    pub fn into_loop_aborts(self) -> LoopAborts {
        self.loops
    }

    /// Whether the run has left the candidate this call was last at: a wait for it is in vain.
    pub fn is_behind(&self, candidates: &Candidates) -> bool {
        self.stay
            .as_ref()
            .is_some_and(|stay| stay.position != candidates.position())
    }

    fn send(&mut self, candidates: &mut Candidates, degraded: &Degraded) -> Next {
        if self.is_behind(candidates)
            && let Some(followed) = self.follow(candidates)
        {
            return Next::Tell(Notice::Followed(followed));
        }
        if let Some(moved) = candidates.begin() {
            let why = match candidates.miss_limit() {
                1 => "it missed its cache once".to_owned(),
                many => format!("it missed its cache {many} times"),
            };
            return self.moved(moved, why, None);
        }
        let stay = self.arrive(candidates);
        let candidate = stay.candidate.clone();
        let concessions = degraded.concessions();
        self.state = State::Sent(Sent {
            tool_choice: self.asks.tool_choice && !concessions.auto,
            fields: RoutingField::ALL
                .into_iter()
                .filter(|field| *field != RoutingField::Provider || candidate.is_some())
                .filter(|field| !concessions.dropped.contains(*field))
                .collect(),
        });
        Next::Attempt(Attempt {
            candidate,
            concessions,
        })
    }

    fn judge(
        &mut self,
        fault: Fault,
        sent: Sent,
        time_left: Option<Duration>,
        candidates: &mut Candidates,
        degraded: &mut Degraded,
    ) -> Next {
        self.failed = self.failed.saturating_add(1);
        if let Fault::Looped {
            words,
            chars,
            generation,
            provider,
        } = &fault
        {
            self.loops
                .add(*words, *chars, generation.clone(), provider.clone());
        }
        let behind = self.is_behind(candidates);
        let refuses_pictures = self.asks.pictures && fault.refuses_pictures();
        let stay = self.arrive(candidates);
        stay.attempts = stay.attempts.saturating_add(1);
        match degraded.learn(&fault, sent) {
            Lesson::New(concession) => {
                let fault = Box::new(fault);
                return Next::Tell(Notice::Given(Given { concession, fault }));
            }
            Lesson::Known => return self.send(candidates, degraded),
            Lesson::None => {}
        }
        let absent = matches!(fault, Fault::NotFound { .. }) && !refuses_pictures;
        stay.only_loops &= matches!(fault, Fault::Looped { .. });
        let position = stay.position;
        let (after, why) = if absent {
            (candidates.unavailable(position), None)
        } else {
            match stay.schedule.failed(&fault, time_left) {
                Decision::Fatal => return self.give_up(fault, None),
                _ if behind => (After::Behind, None),
                Decision::Retry { delay, attempt, of } => {
                    let candidate = stay.candidate.clone();
                    let fault = Box::new(fault);
                    stay.last = Some(fault.clone());
                    return Next::Wait(Wait {
                        delay,
                        retry: attempt,
                        of,
                        candidate,
                        fault,
                    });
                }
                // The model's failure and not the provider's: another one would hear the same.
                Decision::Spent(why) if stay.only_loops => return self.give_up(fault, Some(why)),
                Decision::Spent(why) => (candidates.spent(position), Some(why)),
            }
        };
        match after {
            After::Moved(moved) => {
                let why = why.unwrap_or_else(|| "nothing serves the model there".to_owned());
                self.moved(moved, why, Some(Box::new(fault)))
            }
            After::Behind => {
                stay.last = Some(Box::new(fault));
                match self.follow(candidates) {
                    Some(followed) => Next::Tell(Notice::Followed(followed)),
                    None => self.send(candidates, degraded),
                }
            }
            After::Last => self.give_up(fault, why),
        }
    }

    /// The stay at the candidate this call is at, or begins at.
    fn arrive(&mut self, candidates: &Candidates) -> &mut Stay {
        self.stay.get_or_insert_with(|| Stay {
            position: candidates.position(),
            candidate: candidates.current().cloned(),
            schedule: RetrySchedule::new(self.max_retries, self.max_delay),
            attempts: 0,
            only_loops: true,
            last: None,
        })
    }

    /// Leaves the candidate where the call is; the next stay starts a fresh schedule. `None` where
    /// no attempt was made there.
    fn leave(&mut self, why: String, fault: Option<Box<Fault>>) -> Option<&Left> {
        let stay = self.stay.take()?;
        let candidate = stay.candidate.filter(|_| stay.attempts > 0)?;
        self.left.push(Left {
            candidate,
            attempts: stay.attempts,
            why,
            fault: fault.or(stay.last),
        });
        self.left.last()
    }

    /// The run moved by this call, which stood where it left.
    fn moved(&mut self, moved: Move, why: String, fault: Option<Box<Fault>>) -> Next {
        self.leave(why.clone(), fault.clone());
        Next::Tell(Notice::Moved(Box::new(Moved { moved, why, fault })))
    }

    /// Goes where the run has gone.
    fn follow(&mut self, candidates: &Candidates) -> Option<Followed> {
        let left = self.leave("the run had moved on".to_owned(), None)?;
        Some(Followed {
            from: left.candidate.clone(),
            to: candidates.current()?.clone(),
            fault: left.fault.clone(),
        })
    }

    fn give_up(&mut self, fault: Fault, spent: Option<String>) -> Next {
        let stay = self.stay.take();
        let error = CallError {
            fault,
            attempts: self.failed,
            spent,
            attempts_there: stay.as_ref().map_or(self.failed, |stay| stay.attempts),
            candidate: stay.and_then(|stay| stay.candidate),
            left: std::mem::take(&mut self.left),
            loops: std::mem::take(&mut self.loops),
        };
        self.over(Box::new(error))
    }

    fn over(&mut self, error: Box<CallError>) -> Next {
        self.state = State::Over(error.clone());
        Next::GiveUp(error)
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
