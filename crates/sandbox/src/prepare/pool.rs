//! Warm compilers, as many as can work at once (05 §8, R59).
//!
//! Always true: a process is lent to one preparation at a time; one that did not answer, or broke off,
//! is never lent again.

use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::daemon::{Daemon, DaemonError};

/// How many preparations a process serves before it is replaced, so that what it forgets to let go of
/// does not add up.
const PREPARATIONS: usize = 1000;

/// Warm processes, as many as can work at once.
#[derive(Debug)]
pub(crate) struct CompilerPool {
    state: Mutex<State>,
    freed: Condvar,
    size: usize,
    parses: OnceLock<bool>,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Daemon>,
    lent: usize,
}

/// A process that is lent; dropped without being given back, it is not lent again.
pub(crate) struct Lent<'a> {
    pool: &'a CompilerPool,
    daemon: Option<Daemon>,
}

impl CompilerPool {
    /// A pool of at most that many.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            state: Mutex::default(),
            freed: Condvar::new(),
            size: size.max(1),
            parses: OnceLock::new(),
        }
    }

    /// Lends a process, one that is there or a new one; waits where all are lent.
    pub(crate) fn checkout(
        &self,
        start: impl FnOnce() -> Result<Daemon, DaemonError>,
    ) -> Result<Lent<'_>, DaemonError> {
        let mut state = self.state();
        while state.lent >= self.size {
            state = self
                .freed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.lent += 1;
        let idle = state.idle.pop();
        drop(state);
        let mut lent = Lent {
            pool: self,
            daemon: idle,
        };
        if lent.daemon.is_none() {
            lent.daemon = Some(start()?);
        }
        Ok(lent)
    }

    /// Whether the syntax trees of the compiler are understood: found out by the first that starts.
    pub(crate) const fn parses(&self) -> &OnceLock<bool> {
        &self.parses
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent<'_> {
    /// The process.
    pub(crate) fn daemon(&mut self) -> &mut Daemon {
        self.daemon
            .as_mut()
            .expect("it leaves only when it is given back")
    }

    /// Gives it back, to be lent again.
    pub(crate) fn give_back(mut self) {
        if let Some(daemon) = &mut self.daemon {
            daemon.preparations += 1;
        }
        let daemon = self
            .daemon
            .take_if(|daemon| daemon.preparations < PREPARATIONS);
        self.pool.state().idle.extend(daemon);
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.pool.state().lent -= 1;
        self.pool.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::compile::CompilerError;
    use super::super::daemon::tests::parrot;
    use super::*;

    #[test]
    fn a_pool_lends_each_process_to_one_at_a_time() {
        let pool = CompilerPool::new(2);
        let (started, at_work, most) = (
            AtomicUsize::new(0),
            AtomicUsize::new(0),
            AtomicUsize::new(0),
        );
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let lent = pool.checkout(|| {
                        started.fetch_add(1, Ordering::SeqCst);
                        parrot("read forever")
                    });
                    let lent = lent.unwrap();
                    let now = at_work.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    std::thread::yield_now();
                    at_work.fetch_sub(1, Ordering::SeqCst);
                    lent.give_back();
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert!(started.into_inner() <= 2);
    }

    #[test]
    fn what_was_not_given_back_is_not_lent_again() {
        let pool = CompilerPool::new(1);
        let mut lent = pool.checkout(|| parrot("read forever")).unwrap();
        let first = lent.daemon().child().id();
        drop(lent);
        let mut lent = pool.checkout(|| parrot("read forever")).unwrap();
        let second = lent.daemon().child().id();
        assert_ne!(first, second);
        lent.give_back();
        let mut lent = pool.checkout(|| unreachable!("one is there")).unwrap();
        assert_eq!(lent.daemon().child().id(), second);
        let failing = CompilerPool::new(1);
        for _ in 0..2 {
            let told =
                failing.checkout(|| Err(DaemonError::Start(CompilerError::Lost("x".to_owned()))));
            assert!(told.is_err());
        }
    }
}
