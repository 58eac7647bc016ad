//! The compilers of a run that are alive, so that none outlives it (R36, R38).
//!
//! Always true: once they were ended none is started any more; a group is signalled only while its
//! leader is not reaped, since its number may then be somebody else's.

use std::io;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The process groups of compilers at work; clones are the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alive(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    over: bool,
    groups: Vec<Pid>,
}

/// One compiler among those alive, until this is dropped: before it is reaped.
#[derive(Debug)]
pub(super) struct Mark {
    alive: Alive,
    group: Pid,
}

impl Alive {
    /// Starts a compiler, in a group of its own; none where they were ended.
    pub(super) fn start(&self, command: &mut Command) -> io::Result<(Child, Mark)> {
        // Held meanwhile, so that no compiler starts behind an end.
        let mut state = self.state();
        if state.over {
            return Err(io::Error::other("the run is over"));
        }
        let child = command.spawn()?;
        let group = Pid::from_child(&child);
        state.groups.push(group);
        drop(state);
        let alive = self.clone();
        Ok((child, Mark { alive, group }))
    }

    /// Kills all that are at work, with all they started, and lets none start any more.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.over = true;
        for group in &state.groups {
            // It may have ended just now.
            kill_process_group(*group, Signal::KILL).ok();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mark {
    /// Waits until the compiler has ended, and leaves it to be reaped.
    pub(super) fn ended(self) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        // Anything but an interruption means that there is nothing to wait for.
        while let Err(Errno::INTR) = waitid(WaitId::Pid(self.group), options) {}
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.alive.state().groups.retain(|it| *it != self.group);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::super::compile::{CompilerError, Redirected, run};

    #[test]
    fn those_at_work_are_killed_and_none_is_started_behind_that() {
        let at = Redirected::anywhere();
        let hangs = |mark: &str| {
            let script = format!("echo $$ > {mark}; exec sleep 600");
            run(
                Path::new("/bin/sh"),
                &["-c", &script],
                &at,
                Duration::from_mins(10),
            )
        };
        let folder = tempfile::tempdir().unwrap();
        let began = folder.path().join("began");
        std::thread::scope(|scope| {
            let compiler = scope.spawn(|| hangs(began.to_str().unwrap()));
            while !began.exists() {
                std::thread::yield_now();
            }
            at.alive.end();
            let finished = compiler.join().unwrap().unwrap();
            assert!(!finished.success, "{finished:?}");
        });
        assert!(at.alive.state().groups.is_empty());
        let late = hangs("/dev/null");
        assert!(matches!(late, Err(CompilerError::Start(..))), "{late:?}");
    }

    #[test]
    fn what_has_ended_is_not_among_those_alive() {
        let at = Redirected::anywhere();
        for _ in 0..8 {
            run(
                Path::new("/bin/true"),
                &[""; 0],
                &at,
                Duration::from_mins(1),
            )
            .unwrap();
        }
        assert!(at.alive.state().groups.is_empty());
    }
}
