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
pub struct Latches {
    /// gg met a defect of its own.
    pub defect: bool,
    /// The operator stopped the run.
    pub canceled: bool,
}

/// The ceilings of one run and what counts against them.
#[derive(Debug)]
pub struct Ceilings {
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
    errors_in_recent: u64,
}

impl Ceilings {
    /// The ceilings of a launch, nothing counted yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, cost: 0.0, agents: HashMap::new() }
    }

    /// Adds a reported price, in USD. Errors and rejected replies count too.
    pub fn add_cost(&mut self, usd: f64) {
        self.cost += usd;
    }

    /// Records the judgement of one model call and returns the agent's streak after it.
    ///
    /// A `fatal` outcome is gg's own fault and is charged to no ceiling.
    pub fn record(&mut self, agent: &AgentId, verdict: TurnVerdict) -> u64 {
        let errors = self.agents.entry(agent.clone()).or_default();
        let error = match verdict {
            TurnVerdict::Fatal => return errors.streak,
            TurnVerdict::Error => true,
            TurnVerdict::Progressed | TurnVerdict::Finished => false,
        };
        errors.streak = if error { errors.streak + 1 } else { 0 };
        if let Some(window) = self.limits.error_rate_window {
            errors.recent.push_back(error);
            errors.errors_in_recent += u64::from(error);
            if errors.recent.len() as u64 > window {
                let gone = errors.recent.pop_front().unwrap_or_default();
                errors.errors_in_recent -= u64::from(gone);
            }
        }
        errors.streak
    }

    /// Judges an agent that has answered `turns` turns, `elapsed` after the run began.
    ///
    /// In order: defect latch, cancel, the agent's own error ceilings (met at its last outcome),
    /// runtime, cost, turns.
    pub fn boundary(
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
            return Some((Limit::ConsecutiveErrors, ceiling as f64, errors.streak as f64, None));
        }
        let (rate, window) = (self.limits.max_error_rate?, self.limits.error_rate_window?);
        let observed = errors.errors_in_recent as f64 / window as f64;
        (errors.recent.len() as u64 == window && observed > rate)
            .then_some((Limit::ErrorRate, rate, observed, Some(window as f64)))
    }

    fn runtime_met(&self, elapsed: Duration) -> Option<(Limit, f64, f64, Option<f64>)> {
        let ceiling = self.limits.max_runtime_secs?;
        let observed = elapsed.as_secs_f64();
        (observed >= ceiling as f64).then_some((Limit::Runtime, ceiling as f64, observed, None))
    }
}
