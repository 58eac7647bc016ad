//! A gate: something waits at it until a test opens it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shared by whoever waits and whoever opens. Once open it stays open.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    open: bool,
    reached: usize,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets through whoever waits and whoever comes.
    pub fn open(&self) {
        self.with(|state| state.open = true);
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.with(|state| state.open)
    }

    /// Notes that someone stands at it.
    pub fn reach(&self) {
        self.with(|state| state.reached += 1);
    }

    /// Waits until it is open, at most `ceiling`; true if it is.
    pub fn wait(&self, ceiling: Duration) -> bool {
        self.until(ceiling, |state| state.open)
    }

    /// Waits until `count` have stood at it, at most `ceiling`; true if they have.
    pub fn wait_reached(&self, count: usize, ceiling: Duration) -> bool {
        self.until(ceiling, |state| state.reached >= count)
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let (state, changed) = &*self.0;
        let out = change(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
        out
    }

    fn until(&self, ceiling: Duration, holds: impl Fn(&State) -> bool) -> bool {
        let (state, changed) = &*self.0;
        let end = Instant::now() + ceiling;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        while !holds(&state) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }
}
