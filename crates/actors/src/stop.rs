//! Why a run stops before its agents are done, and how a wait hears of it (03 §10.4, R36).
//!
//! An agent owns one [`StopSwitch`]; whatever it waits on holds a [`StopWatch`] of it. The
//! supervisor's `RunStopping` throws the switch, so that every wait has two wakers.

use std::collections::BTreeSet;

use tokio::sync::watch;

/// Why every agent of the run is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopCause {
    /// `maxRuntimeSecs` was met.
    Deadline,
    /// The operator stopped the run: nothing in flight is finished.
    Canceled,
    /// gg met a defect of its own.
    Defect,
}

impl StopCause {
    /// Whether a model call in flight is dropped rather than awaited. The work of a turn already
    /// answered is interrupted by a cancel alone.
    pub const fn drops_model_calls(self) -> bool {
        match self {
            Self::Deadline | Self::Canceled => true,
            Self::Defect => false,
        }
    }
}

/// The thrower's side.
#[derive(Debug)]
pub struct StopSwitch(watch::Sender<BTreeSet<StopCause>>);

impl StopSwitch {
    /// A switch that nobody has thrown.
    pub fn new() -> Self {
        Self(watch::Sender::new(BTreeSet::new()))
    }

    /// Throws it. Causes add up: a cancel after a defect still interrupts a command.
    pub fn throw(&self, cause: StopCause) {
        self.0.send_if_modified(|standing| standing.insert(cause));
    }

    /// A watch on it.
    pub fn watch(&self) -> StopWatch {
        StopWatch(self.0.subscribe())
    }
}

impl Default for StopSwitch {
    fn default() -> Self {
        Self::new()
    }
}

/// The waiter's side.
#[derive(Clone, Debug)]
pub struct StopWatch(watch::Receiver<BTreeSet<StopCause>>);

impl StopWatch {
    /// The gravest cause thrown so far.
    pub fn cause(&self) -> Option<StopCause> {
        self.0.borrow().last().copied()
    }

    /// Whether a cause has been thrown.
    pub fn has(&self, cause: StopCause) -> bool {
        self.0.borrow().contains(&cause)
    }

    /// Resolves once the switch is thrown for any cause. A switch that is gone counts as a
    /// defect: its agent died.
    pub async fn thrown(&mut self) -> StopCause {
        self.thrown_if(|_| true).await
    }

    /// Resolves once there is a cause that drops a model call in flight.
    pub async fn drops_model_calls(&mut self) -> StopCause {
        self.thrown_if(StopCause::drops_model_calls).await
    }

    /// Resolves once the operator has stopped the run.
    pub async fn canceled(&mut self) {
        self.thrown_if(|cause| cause == StopCause::Canceled).await;
    }

    async fn thrown_if(&mut self, accepts: impl Fn(StopCause) -> bool) -> StopCause {
        let gravest = |causes: &BTreeSet<StopCause>| {
            causes.iter().rev().copied().find(|cause| accepts(*cause))
        };
        match self.0.wait_for(|causes| gravest(causes).is_some()).await {
            Ok(causes) => gravest(&causes).unwrap_or(StopCause::Defect),
            Err(_) => StopCause::Defect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn causes_add_up_and_the_gravest_is_named() {
        let switch = StopSwitch::new();
        let mut watch = switch.watch();
        switch.throw(StopCause::Defect);
        switch.throw(StopCause::Canceled);
        assert_eq!(watch.thrown().await, StopCause::Defect);
        assert_eq!(watch.drops_model_calls().await, StopCause::Canceled);
    }

    #[tokio::test]
    async fn waiters_of_a_dead_agent_are_released() {
        let switch = StopSwitch::new();
        let mut watch = switch.watch();
        drop(switch);
        assert_eq!(watch.thrown().await, StopCause::Defect);
    }
}
