//! Many agents' calls over one list, in any order, against what the specification says.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use vocab::candidate::CandidateFault;

use super::*;
use crate::degraded::Concession;

/// What happens to an attempt that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Answered,
    AnsweredWithMiss,
    Busy,
    Stalled,
    Impatient,
    Looped,
    Absent,
    NoPictures,
    Refused,
    Unauthorized,
    TimedOut,
    NoToolChoice,
    UnknownField,
}

fn outcome() -> impl Strategy<Value = Outcome> {
    use Outcome::*;
    prop_oneof![
        2 => Just(Answered),
        2 => Just(AnsweredWithMiss),
        6 => Just(Busy),
        2 => Just(Stalled),
        1 => Just(Impatient),
        5 => Just(Looped),
        2 => Just(Absent),
        1 => Just(NoPictures),
        1 => Just(Refused),
        1 => Just(Unauthorized),
        1 => Just(TimedOut),
        1 => Just(NoToolChoice),
        1 => Just(UnknownField),
    ]
}

impl Outcome {
    /// The fault of it; `None` where there is a reply.
    fn fault(self) -> Option<Fault> {
        let status =
            |status, body: &str| Some(Fault::of_status(status, None, body.as_bytes(), None));
        match self {
            Self::Answered | Self::AnsweredWithMiss => None,
            Self::Busy => status(502, "busy"),
            Self::Stalled => Some(Fault::Stall {
                secs: 60,
                provider: None,
            }),
            Self::Impatient => {
                let day = Some(Duration::from_secs(86_400));
                Some(Fault::of_status(429, day, b"later", None))
            }
            Self::Looped => Some(Fault::Looped {
                words: 2,
                chars: 9,
                generation: None,
                provider: None,
            }),
            Self::Absent => status(404, "gone"),
            Self::NoPictures => status(404, "no endpoint takes image input"),
            Self::Refused => status(400, "no"),
            Self::Unauthorized => status(401, "no"),
            Self::TimedOut => Some(Fault::Timeout {
                secs: 900,
                provider: None,
            }),
            Self::NoToolChoice => status(400, "tool_choice is not supported"),
            Self::UnknownField => status(400, "unknown field `session_id`"),
        }
    }
}

/// What one call has met at the candidate it is at, kept without any help of the machine.
#[derive(Debug, Default)]
struct Met {
    at: usize,
    judged: Vec<Outcome>,
    sent_again: u32,
}

#[derive(Debug)]
struct Agent {
    asks: Asks,
    call: Call,
    met: Met,
    out: Option<Attempt>,
    waiting: bool,
    failed: u32,
    looped: u64,
}

#[derive(Debug)]
struct World {
    candidates: Candidates,
    degraded: Degraded,
    keeps_fields: bool,
    max_retries: u32,
    miss_limit: u64,
    agents: Vec<Agent>,
    /// Where the run is, by the moves that were told.
    place: usize,
    last: usize,
    misses: BTreeMap<usize, u64>,
    told_choice: u32,
    told_fields: u32,
}

const MAX_DELAY: Duration = Duration::from_secs(60);

fn name(place: usize) -> String {
    format!("P{place}")
}

fn place(candidate: &Candidate) -> usize {
    candidate.provider.as_str()[1..].parse().unwrap()
}

impl World {
    fn new(
        count: usize,
        max_retries: u32,
        miss_limit: u64,
        keeps_fields: bool,
        asks: &[Asks],
    ) -> Self {
        let list = (0..count).map(|place| Candidate {
            provider: name(place).into(),
            quantization: "fp8".to_owned(),
        });
        Self {
            candidates: Candidates::new(list, miss_limit),
            degraded: Degraded::new(keeps_fields),
            keeps_fields,
            max_retries,
            miss_limit,
            agents: asks
                .iter()
                .map(|asks| Agent::new(*asks, max_retries))
                .collect(),
            place: 0,
            last: count - 1,
            misses: BTreeMap::new(),
            told_choice: 0,
            told_fields: 0,
        }
    }

    /// Takes one agent on by one step: lets its attempt end, or asks what is next.
    fn step(&mut self, agent: usize, outcome: Outcome) -> Result<(), TestCaseError> {
        let before = self.candidates.position();
        if self.agents[agent].out.is_some() {
            self.ends(agent, outcome)?;
        } else {
            self.asks(agent)?;
        }
        prop_assert!(self.candidates.position() >= before);
        // `place` counts the moves told: none is silent, and each is one candidate on.
        prop_assert_eq!(place(self.candidates.current().unwrap()), self.place);
        prop_assert!(self.place <= self.last);
        Ok(())
    }

    fn ends(&mut self, agent: usize, outcome: Outcome) -> Result<(), TestCaseError> {
        let agent = &mut self.agents[agent];
        let sent = agent.out.take().unwrap();
        let Some(fault) = outcome.fault() else {
            prop_assert_eq!(agent.call.retries(), agent.failed);
            prop_assert_eq!(agent.call.loop_aborts().replies, agent.looped);
            if outcome == Outcome::AnsweredWithMiss {
                let place = place(&sent.candidate.unwrap());
                self.candidates.missed(&name(place).into());
                *self.misses.entry(place).or_default() += 1;
            }
            *agent = Agent::new(agent.asks, self.max_retries);
            return Ok(());
        };
        agent.failed += 1;
        agent.looped += u64::from(outcome == Outcome::Looped);
        agent.call.failed(fault, None);
        let auto = sent.concessions.auto || !agent.asks.tool_choice;
        let dropped = sent.concessions.dropped.contains(RoutingField::SessionId);
        let again = match outcome {
            Outcome::NoToolChoice => !auto,
            Outcome::UnknownField => !dropped && !self.keeps_fields,
            _ => false,
        };
        if again {
            agent.met.sent_again += 1;
            prop_assert!(agent.met.sent_again <= 2);
        } else {
            agent.met.judged.push(outcome);
            prop_assert!(agent.met.judged.len() <= self.max_retries as usize + 1);
        }
        Ok(())
    }

    fn asks(&mut self, agent: usize) -> Result<(), TestCaseError> {
        let agent = &mut self.agents[agent];
        match agent.call.next(&mut self.candidates, &mut self.degraded) {
            Next::Attempt(attempt) => {
                let at = place(attempt.candidate.as_ref().unwrap());
                prop_assert_eq!(at, self.place, "asks the candidate in force");
                prop_assert!(
                    self.misses.get(&at).is_none_or(|it| *it < self.miss_limit) || at == self.last
                );
                if agent.met.at != at {
                    prop_assert!(agent.met.at < at);
                    agent.met = Met {
                        at,
                        ..Met::default()
                    };
                }
                prop_assert!(attempt.concessions.auto || self.told_choice == 0);
                agent.out = Some(attempt);
                agent.waiting = false;
            }
            Next::Wait(wait) => {
                prop_assert!(!agent.waiting, "an attempt follows a wait");
                prop_assert_eq!(place(wait.candidate.as_ref().unwrap()), self.place);
                prop_assert_eq!(wait.retry as usize, agent.met.judged.len());
                agent.waiting = true;
            }
            Next::Tell(Notice::Moved(moved)) => {
                let Move { from, to, fault } = &moved.moved;
                prop_assert_eq!((place(from), place(to)), (self.place, self.place + 1));
                self.place += 1;
                let met = &agent.met;
                let here = met.at == place(from);
                let last = met.judged.last();
                match fault {
                    CandidateFault::CacheMiss => {
                        prop_assert!(self.misses[&place(from)] >= self.miss_limit);
                    }
                    CandidateFault::Unavailable => prop_assert!(
                        here && matches!(last, Some(Outcome::Absent | Outcome::NoPictures))
                    ),
                    CandidateFault::FailedCall => {
                        let full = met.judged.len() == self.max_retries as usize + 1;
                        prop_assert!(here && (full || last == Some(&Outcome::Impatient)));
                        prop_assert!(met.judged.iter().any(|it| *it != Outcome::Looped));
                    }
                }
            }
            Next::Tell(Notice::Followed(followed)) => {
                prop_assert!(place(&followed.from) < place(&followed.to));
                prop_assert_eq!(place(&followed.to), self.place);
            }
            Next::Tell(Notice::Given(given)) => match given.concession {
                Concession::ToolChoice => self.told_choice += 1,
                Concession::Fields(_) => self.told_fields += 1,
            },
            Next::GiveUp(error) => {
                prop_assert_eq!(error.attempts, agent.failed);
                prop_assert_eq!(error.loops.replies, agent.looped);
                let judged = &agent.met.judged;
                let fatal = match judged.last().unwrap() {
                    Outcome::Absent => false,
                    Outcome::NoPictures => agent.asks.pictures,
                    outcome => !matches!(
                        outcome,
                        Outcome::Busy | Outcome::Stalled | Outcome::Impatient | Outcome::Looped
                    ),
                };
                let only_loops = judged.iter().all(|it| *it == Outcome::Looped);
                prop_assert!(fatal || only_loops || agent.met.at == self.last);
                prop_assert!(fatal || agent.met.at == self.place);
                let at = place(error.candidate.as_ref().unwrap());
                prop_assert_eq!(at, agent.met.at);
                let left: Vec<_> = error
                    .left
                    .iter()
                    .map(|left| place(&left.candidate))
                    .collect();
                prop_assert!(
                    left.iter().chain([&at]).is_sorted_by(|a, b| a < b),
                    "{left:?} {at}"
                );
                let text = error.to_string();
                prop_assert!(
                    left.iter()
                        .chain([&at])
                        .all(|place| text.contains(&name(*place)))
                );
                let attempts: u32 = error.left.iter().map(|left| left.attempts).sum();
                prop_assert_eq!(attempts + error.attempts_there, error.attempts);
                *agent = Agent::new(agent.asks, self.max_retries);
            }
        }
        prop_assert!(self.told_choice <= 1 && self.told_fields <= 1);
        Ok(())
    }
}

impl Agent {
    fn new(asks: Asks, max_retries: u32) -> Self {
        Self {
            asks,
            call: Call::new(asks, max_retries, MAX_DELAY),
            met: Met::default(),
            out: None,
            waiting: false,
            failed: 0,
            looped: 0,
        }
    }
}

fn asks() -> impl Strategy<Value = Asks> {
    (any::<bool>(), any::<bool>()).prop_map(|(tool_choice, pictures)| Asks {
        tool_choice,
        pictures,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn every_move_is_justified_and_every_attempt_asks_the_candidate_in_force(
        count in 1_usize..=5,
        max_retries in 0_u32..4,
        miss_limit in 1_u64..4,
        keeps_fields in any::<bool>(),
        asks in proptest::collection::vec(asks(), 1..5),
        steps in proptest::collection::vec((any::<prop::sample::Index>(), outcome()), 0..250),
    ) {
        let mut world = World::new(count, max_retries, miss_limit, keeps_fields, &asks);
        for (agent, outcome) in steps {
            world.step(agent.index(asks.len()), outcome)?;
        }
    }
}
