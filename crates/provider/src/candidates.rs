//! Which candidate of a model a run is at, and what makes it move to the next (01 §6.2).
//!
//! A pure machine, one a model and run. Every call of every agent asks the candidate in force, so
//! a move is the whole run's. A call tells which position it speaks of: of many calls that fail
//! at one provider, the first moves the run and the others learn that it has moved.
//!
//! Always true: the position only grows, one candidate at a time; it never passes the last; a
//! list without candidates never moves.

use vocab::candidate::{Candidate, CandidateFault};
use vocab::ids::ProviderName;

/// The candidates of one model, in the order a run tries them.
#[derive(Clone, Debug)]
pub struct Candidates {
    list: Vec<Listed>,
    position: Position,
    miss_limit: u64,
}

#[derive(Clone, Debug)]
struct Listed {
    candidate: Candidate,
    misses: u64,
}

/// A place in the list, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(usize);

/// A run's step to its next candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Who is left.
    pub from: Candidate,
    /// Who is taken.
    pub to: Candidate,
    /// What decided it.
    pub fault: CandidateFault,
}

/// What follows a fault that leaves a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// The run has moved, by this fault.
    Moved(Move),
    /// The run had moved already: the fault was met at a candidate left before.
    Behind,
    /// There is no candidate to move to.
    Last,
}

impl Candidates {
    /// The start of a run, at the first of the list. `miss_limit` is how many cache misses leave a
    /// provider; it is 1 or more, and 0 counts as 1.
    pub fn new(list: impl IntoIterator<Item = Candidate>, miss_limit: u64) -> Self {
        let listed = |candidate| Listed {
            candidate,
            misses: 0,
        };
        Self {
            list: list.into_iter().map(listed).collect(),
            position: Position(0),
            miss_limit: miss_limit.max(1),
        }
    }

    /// Whom a request asks now; `None` where the list is empty and no routing is sent.
    pub fn current(&self) -> Option<&Candidate> {
        self.list
            .get(self.position.0)
            .map(|listed| &listed.candidate)
    }

    /// Where the run stands.
    pub const fn position(&self) -> Position {
        self.position
    }

    /// Before each request: leaves a provider that has reached the miss limit. On the last
    /// candidate the run stays.
    pub fn begin(&mut self) -> Option<Move> {
        let missed = self.list.get(self.position.0)?.misses >= self.miss_limit;
        if !missed {
            return None;
        }
        match self.leave(self.position, CandidateFault::CacheMiss) {
            After::Moved(moved) => Some(moved),
            After::Behind | After::Last => None,
        }
    }

    /// A call's schedule was spent at `position`.
    pub fn spent(&mut self, position: Position) -> After {
        self.leave(position, CandidateFault::FailedCall)
    }

    /// The gateway answered 404 at `position`.
    pub fn unavailable(&mut self, position: Position) -> After {
        self.leave(position, CandidateFault::Unavailable)
    }

    /// Counts a cache miss of a provider, wherever the run stands by now; how many it has.
    pub fn missed(&mut self, provider: &ProviderName) -> u64 {
        let mut misses = 0;
        for listed in &mut self.list {
            if listed.candidate.provider.same_as(provider) {
                listed.misses += 1;
                misses = listed.misses;
            }
        }
        misses
    }

    /// How many cache misses leave a provider.
    pub const fn miss_limit(&self) -> u64 {
        self.miss_limit
    }

    fn leave(&mut self, position: Position, fault: CandidateFault) -> After {
        if position != self.position {
            return After::Behind;
        }
        let next = Position(position.0 + 1);
        let (Some(from), Some(to)) = (self.list.get(position.0), self.list.get(next.0)) else {
            return After::Last;
        };
        let moved = Move {
            from: from.candidate.clone(),
            to: to.candidate.clone(),
            fault,
        };
        self.position = next;
        After::Moved(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(provider: &str) -> Candidate {
        Candidate {
            provider: provider.into(),
            quantization: "fp8".to_owned(),
        }
    }

    fn three() -> Candidates {
        Candidates::new(["Acme", "Beta", "Gamma"].map(candidate), 2)
    }

    fn moved(from: &str, to: &str, fault: CandidateFault) -> Move {
        Move {
            from: candidate(from),
            to: candidate(to),
            fault,
        }
    }

    #[test]
    fn many_calls_that_fail_at_one_candidate_move_the_run_once() {
        let mut candidates = three();
        let position = candidates.position();
        let first = candidates.spent(position);
        assert_eq!(
            first,
            After::Moved(moved("Acme", "Beta", CandidateFault::FailedCall))
        );
        assert_eq!(candidates.spent(position), After::Behind);
        assert_eq!(candidates.unavailable(position), After::Behind);
        assert_eq!(candidates.current(), Some(&candidate("Beta")));
    }

    #[test]
    fn the_last_candidate_is_never_left() {
        let mut candidates = Candidates::new([candidate("Acme")], 1);
        let position = candidates.position();
        assert_eq!(candidates.spent(position), After::Last);
        assert_eq!(candidates.unavailable(position), After::Last);
        assert_eq!(candidates.missed(&"Acme".into()), 1);
        assert_eq!(candidates.begin(), None);
        assert_eq!(candidates.current(), Some(&candidate("Acme")));
    }

    #[test]
    fn a_model_without_candidates_never_moves() {
        let mut candidates = Candidates::new([], 1);
        assert_eq!(candidates.missed(&"Acme".into()), 0);
        assert_eq!(candidates.begin(), None);
        assert_eq!(candidates.spent(candidates.position()), After::Last);
        assert_eq!(candidates.current(), None);
    }

    #[test]
    fn a_provider_is_left_at_the_request_after_its_last_allowed_miss() {
        let mut candidates = three();
        candidates.missed(&"ACME".into());
        assert_eq!(candidates.begin(), None);
        assert_eq!(candidates.missed(&"acme".into()), 2);
        assert_eq!(candidates.current(), Some(&candidate("Acme")));
        assert_eq!(
            candidates.begin(),
            Some(moved("Acme", "Beta", CandidateFault::CacheMiss))
        );
        assert_eq!(candidates.begin(), None);
    }

    #[test]
    fn a_miss_belongs_to_its_provider_though_the_run_has_moved() {
        let mut candidates = three();
        candidates.missed(&"Acme".into());
        candidates.unavailable(candidates.position());
        // A call that was under way at Acme when the run left it.
        candidates.missed(&"Acme".into());
        assert_eq!(candidates.missed(&"Beta".into()), 1);
        assert_eq!(candidates.begin(), None);
        candidates.missed(&"Beta".into());
        assert_eq!(
            candidates.begin(),
            Some(moved("Beta", "Gamma", CandidateFault::CacheMiss))
        );
    }
}
