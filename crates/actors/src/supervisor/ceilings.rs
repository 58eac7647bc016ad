//! The five execution ceilings, as a pure machine (01 §5).
//!
//! The supervisor feeds it outcomes and costs and asks it at each turn boundary whether an agent
//! may make its next model call. It knows no actor and no clock: the time that matters is an
//! argument.
//!
//! Always true: an error ceiling is judged after every outcome and never before its window is
//! full; a run-wide ceiling never charges an agent that has already ended.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use config::limits::Limits;
use vocab::ids::AgentId;
use vocab::outcome::{Breach, EndStatus, Limit, TurnVerdict};

/// What an agent may do at its boundary.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Make the next model call.
    Go,
    /// Return, with this status; a breach where a ceiling decided it.
    Stop(EndStatus, Option<Breach>),
}

/// The run-wide latches, in the order a boundary reads them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Latches {
    /// gg met a defect of its own.
    pub(super) defect: bool,
    /// The operator stopped the run.
    pub(super) canceled: bool,
}

/// The ceilings of one run and what counts against them.
#[derive(Debug)]
pub(super) struct Ceilings {
    limits: Limits,
    cost: f64,
    agents: HashMap<AgentId, Errors>,
}

#[derive(Debug, Default)]
struct Errors {
    /// Errors since the last turn that did its declared work.
    streak: u64,
    /// The last outcomes, `true` for an error; at most the error rate's window.
    recent: VecDeque<bool>,
    failed_recently: u64,
}

impl Ceilings {
    /// The ceilings of a launch, nothing counted yet.
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            cost: 0.0,
            agents: HashMap::new(),
        }
    }

    /// Adds a reported price, in USD. Errors and rejected replies count too.
    pub(super) fn add_cost(&mut self, usd: f64) {
        self.cost += usd;
    }

    /// Whether the run's money is spent.
    pub(super) fn cost_met(&self) -> bool {
        self.limits
            .max_cost
            .is_some_and(|ceiling| self.cost >= ceiling)
    }

    /// An agent has ended: nothing counts against it any more.
    pub(super) fn forget(&mut self, agent: &AgentId) {
        self.agents.remove(agent);
    }

    /// Records the judgement of one model call and returns the agent's streak after it.
    ///
    /// A `fatal` outcome is gg's own fault and is charged to no ceiling.
    pub(super) fn record(&mut self, agent: &AgentId, verdict: TurnVerdict) -> u64 {
        let errors = self.agents.entry(agent.clone()).or_default();
        let error = match verdict {
            TurnVerdict::Fatal => return errors.streak,
            TurnVerdict::Error => true,
            TurnVerdict::Progressed | TurnVerdict::Finished => false,
        };
        errors.streak = if error { errors.streak + 1 } else { 0 };
        if let Some(window) = self.limits.error_rate_window {
            errors.recent.push_back(error);
            errors.failed_recently += u64::from(error);
            if errors.recent.len() as u64 > window {
                let gone = errors.recent.pop_front().unwrap_or_default();
                errors.failed_recently -= u64::from(gone);
            }
        }
        errors.streak
    }

    /// Judges an agent that has answered `turns` turns, `elapsed` after the run began.
    ///
    /// In order: defect latch, cancel, the agent's own error ceilings (met at its last outcome),
    /// runtime, cost, turns.
    pub(super) fn boundary(
        &self,
        agent: &AgentId,
        turns: u64,
        elapsed: Duration,
        latches: Latches,
    ) -> Verdict {
        if latches.defect {
            return Verdict::Stop(EndStatus::InternalError, None);
        }
        if latches.canceled {
            return Verdict::Stop(EndStatus::Canceled, None);
        }
        let met = self
            .errors_met(agent)
            .or_else(|| self.runtime_met(elapsed))
            .or_else(|| {
                let ceiling = self.limits.max_cost?;
                (self.cost >= ceiling).then_some((Limit::Cost, ceiling, self.cost, None))
            })
            .or_else(|| {
                let ceiling = self.limits.max_turns?;
                (turns >= ceiling).then_some((Limit::Turns, ceiling as f64, turns as f64, None))
            });
        match met {
            None => Verdict::Go,
            Some((limit, threshold, observed, window)) => Verdict::Stop(
                limit.status(),
                Some(Breach {
                    limit,
                    threshold,
                    observed,
                    window,
                    turns: turns as f64,
                    agent_id: agent.clone(),
                }),
            ),
        }
    }

    fn errors_met(&self, agent: &AgentId) -> Option<(Limit, f64, f64, Option<f64>)> {
        let errors = self.agents.get(agent)?;
        if let Some(ceiling) = self.limits.max_consecutive_errors
            && errors.streak >= ceiling
        {
            return Some((
                Limit::ConsecutiveErrors,
                ceiling as f64,
                errors.streak as f64,
                None,
            ));
        }
        let (rate, window) = (self.limits.max_error_rate?, self.limits.error_rate_window?);
        let observed = errors.failed_recently as f64 / window as f64;
        (errors.recent.len() as u64 == window && observed > rate).then_some((
            Limit::ErrorRate,
            rate,
            observed,
            Some(window as f64),
        ))
    }

    fn runtime_met(&self, elapsed: Duration) -> Option<(Limit, f64, f64, Option<f64>)> {
        let ceiling = self.limits.max_runtime_secs?;
        let observed = elapsed.as_secs_f64();
        (observed >= ceiling as f64).then_some((Limit::Runtime, ceiling as f64, observed, None))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const SOON: Duration = Duration::from_secs(1);

    fn ceilings(mut limits: Value) -> Ceilings {
        limits["maxParallel"] = json!(1);
        limits["replayMaxBytes"] = json!(1);
        Ceilings::new(serde_json::from_value(limits).unwrap())
    }

    fn met(verdict: Verdict) -> Option<Limit> {
        match verdict {
            Verdict::Stop(_, Some(breach)) => Some(breach.limit),
            Verdict::Go | Verdict::Stop(..) => None,
        }
    }

    fn at(ceilings: &Ceilings, turns: u64) -> Verdict {
        ceilings.boundary(&"root".into(), turns, SOON, Latches::default())
    }

    #[test]
    fn without_ceilings_nothing_stops_an_agent() {
        let mut open = ceilings(json!({}));
        for _ in 0..100 {
            open.record(&"root".into(), TurnVerdict::Error);
        }
        open.add_cost(1e9);
        assert_eq!(at(&open, u64::MAX), Verdict::Go);
    }

    #[test]
    fn turns_stop_an_agent_that_has_answered_as_many() {
        let turns = ceilings(json!({ "maxTurns": 3 }));
        assert_eq!(at(&turns, 2), Verdict::Go);
        let Verdict::Stop(EndStatus::Exhausted, Some(breach)) = at(&turns, 3) else {
            panic!("three answered turns of three are all");
        };
        assert_eq!(
            (breach.threshold, breach.observed, breach.turns),
            (3.0, 3.0, 3.0)
        );
    }

    #[test]
    fn consecutive_errors_are_cleared_by_a_turn_that_did_its_work() {
        let mut errors = ceilings(json!({ "maxConsecutiveErrors": 2 }));
        let root = AgentId::from("root");
        errors.record(&root, TurnVerdict::Error);
        errors.record(&root, TurnVerdict::Progressed);
        errors.record(&root, TurnVerdict::Error);
        assert_eq!(at(&errors, 3), Verdict::Go);
        assert_eq!(errors.record(&root, TurnVerdict::Error), 2);
        assert_eq!(met(at(&errors, 4)), Some(Limit::ConsecutiveErrors));
    }

    #[test]
    fn a_fatal_outcome_is_charged_to_no_ceiling() {
        let mut errors = ceilings(json!({ "maxConsecutiveErrors": 1 }));
        errors.record(&"root".into(), TurnVerdict::Fatal);
        assert_eq!(at(&errors, 1), Verdict::Go);
    }

    #[test]
    fn half_over_ten_is_not_met_by_five_errors_but_by_six() {
        let root = AgentId::from("root");
        for (count, expected) in [(5, None), (6, Some(Limit::ErrorRate))] {
            let mut rate = ceilings(json!({ "maxErrorRate": 0.5, "errorRateWindow": 10 }));
            for turn in 0..10 {
                let verdict = if turn < count {
                    TurnVerdict::Error
                } else {
                    TurnVerdict::Progressed
                };
                rate.record(&root, verdict);
                assert!(
                    turn == 9 || at(&rate, turn + 1) == Verdict::Go,
                    "before the window is full"
                );
            }
            assert_eq!(met(at(&rate, 10)), expected);
        }
    }

    #[test]
    fn cost_stops_at_the_boundary_after_the_turn_that_crossed_it() {
        let mut cost = ceilings(json!({ "maxCost": 0.5 }));
        cost.add_cost(0.4);
        assert_eq!(at(&cost, 1), Verdict::Go);
        cost.add_cost(0.4);
        let Verdict::Stop(EndStatus::LimitExceeded, Some(breach)) = at(&cost, 2) else {
            panic!("0.8 of 0.5 is over");
        };
        assert!((breach.observed - 0.8).abs() < 1e-9);
    }

    #[test]
    fn a_defect_goes_before_a_cancel_and_a_cancel_before_every_ceiling() {
        let all = ceilings(json!({ "maxTurns": 1, "maxRuntimeSecs": 1, "maxCost": 0.1 }));
        let ask =
            |defect, canceled| all.boundary(&"root".into(), 5, SOON, Latches { defect, canceled });
        assert_eq!(
            ask(true, true),
            Verdict::Stop(EndStatus::InternalError, None)
        );
        assert_eq!(ask(false, true), Verdict::Stop(EndStatus::Canceled, None));
        assert_eq!(met(ask(false, false)), Some(Limit::Runtime));
    }

    proptest! {
        /// The counted rate equals a plain count over the last outcomes, whatever they were.
        #[test]
        fn the_rate_is_that_of_the_last_outcomes(
            outcomes in prop::collection::vec(any::<bool>(), 1..200),
            window in 1_u64..20,
            rate in 0.0_f64..1.0,
        ) {
            let mut machine =
                ceilings(json!({ "maxErrorRate": rate, "errorRateWindow": window }));
            for (index, error) in outcomes.iter().enumerate() {
                let verdict = if *error { TurnVerdict::Error } else { TurnVerdict::Progressed };
                machine.record(&"root".into(), verdict);
                let seen = &outcomes[..=index];
                let expected = seen.len() as u64 >= window && {
                    let recent = &seen[seen.len() - window as usize..];
                    recent.iter().filter(|error| **error).count() as f64 / window as f64 > rate
                };
                let stopped = at(&machine, index as u64 + 1) != Verdict::Go;
                prop_assert_eq!(stopped, expected);
            }
        }
    }
}
