//! One program on its thread: lent the agent's state, its crossings carried out, ended where the run
//! stops (04 §11, §13).
//!
//! Always true: the state is back before anything else is done with the agent, or the agent ends; a
//! program that nobody waits for any more is stopped.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use sandbox::contract::feedback::ErrorKind;
use sandbox::outcome::Fault;
use sandbox::prepare::Prepared;
use sandbox::program::{self, Execution, Program, Stop};
use tokio::time::Instant;
use tools::Halt;
use tools::shell::GRACE;
use vocab::failure::FailureClass;
use vocab::ids::CallId;

use super::account::Account;
use super::outcome::{self, Failed};
use super::{Cut, defect, no_text};
use crate::agent::api::Programs;
use crate::agent::program::{Counts, Crossing, Serving, Setting};
use crate::agent::turns::Turns;
use crate::panics;
use crate::stop::{StopCause, StopWatch};

/// How long a program may go on once the run's clock is spent: to see its calls refused and to end
/// the session.
const AFTER_DEADLINE: Duration = Duration::from_secs(2);

/// What the programs of a submission run under.
#[derive(Clone, Copy)]
pub(super) struct RunContext<'a> {
    /// The turn.
    pub(super) turn: u32,
    /// The call that submitted them.
    pub(super) call: &'a CallId,
    /// How they run, and what they may call.
    pub(super) programs: &'a Programs,
    /// Their calls.
    pub(super) counts: &'a Arc<Counts>,
}

/// A program that was ended from outside, or lost.
enum Lost {
    /// The run stops, and the program's thread did not heed it.
    Abandoned,
    /// Its thread died, or there was none.
    Died(String),
}

/// Ends a program that nobody waits for any more.
struct Leash {
    stop: Stop,
    halt: Halt,
}

impl Leash {
    fn pull(&self) {
        self.halt.raise();
        self.stop.stop();
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        self.pull();
    }
}

impl Turns {
    /// Runs a program that is ready. `Ok` holds how it failed, where it did.
    pub(super) async fn run_prepared(
        &mut self,
        run: &RunContext<'_>,
        prepared: Prepared,
        account: &mut Account,
    ) -> Result<Option<Failed>, Cut> {
        let programs = run.programs;
        let guest = self.shared.programs.guest(programs.arm).await;
        let guest = guest.map_err(|why| defect(format!("a program could not be run: {why}")))?;
        account.waited = guest.took.or(account.waited);
        let program = Program {
            guest: guest.guest,
            source: prepared.source,
            modules: prepared.modules,
            has_library: self.code.library.kept.is_some(),
            offer: (*programs.offer).clone(),
            budget: programs.policy.timeout,
            max_memory_bytes: programs.policy.max_memory_bytes,
            surroundings: self.shared.programs.surroundings(&self.spec.cwd),
            threads: self.shared.programs.threads(),
            locations: prepared.locations,
        };
        let setting = self.setting(run);
        let execution = match self.execute(program, setting).await {
            Ok(execution) => execution,
            Err(Lost::Abandoned) => return Err(self.cut()),
            Err(Lost::Died(why)) => return Err(defect(why)),
        };
        account.add(&execution.calls, &execution.logs, execution.guest_time);
        account.note_modules(execution.module_errors, execution.module_errors_dropped);
        if let Some(broken) = self.code.broken.take() {
            return Err(Cut::Broken(broken));
        }
        let Some(fault) = execution.fault else {
            return Ok(None);
        };
        // The operator's doing and not the program's, also where it failed of a command or a wait that
        // the cancel cut before it stopped the program itself.
        if self.stop.has(StopCause::Canceled) {
            return Err(Cut::Canceled);
        }
        let is_stopping = self.shared.clock.spent() || self.stop.cause().is_some();
        if fault == Fault::Stopped || is_stopping && of_a_call_cut_short(&fault) {
            self.code.session.cut_short = true;
            return Ok(None);
        }
        let calls = account.dispatched;
        let mask = &self.shared.mask;
        let more = execution.reports_dropped;
        outcome::failed(&fault, more, &execution.stderr, calls, mask).map_err(no_text)
    }

    fn setting(&self, run: &RunContext<'_>) -> Setting {
        let RunContext {
            turn,
            call,
            programs,
            counts,
        } = *run;
        Setting {
            shared: Arc::clone(&self.shared),
            voice: self.links.voice.clone(),
            turn,
            submission: call.clone(),
            place: self.place(),
            files: self.surface.files,
            halt: Halt::default(),
            offer: Arc::clone(&programs.offer),
            arm: programs.arm,
            watches_writes: self.watches_writes(),
            // Before the first turn there is only gg's own program.
            quiet: turn == 0,
            counts: Arc::clone(counts),
        }
    }

    /// How a turn is cut short by a run that stops: nothing of it can be gone on with.
    fn cut(&self) -> Cut {
        if self.stop.has(StopCause::Canceled) {
            return Cut::Canceled;
        }
        // A switch that is gone counts as a defect, as it does where it is waited for.
        Cut::Stopped(self.stop.cause().unwrap_or(StopCause::Defect))
    }

    /// Runs a program to its end, with the agent's state, and carries out what crosses. The state is
    /// taken out of what comes of it.
    async fn execute(&mut self, program: Program, setting: Setting) -> Result<Execution, Lost> {
        let leash = Leash {
            stop: Stop::default(),
            halt: setting.halt.clone(),
        };
        let (counts, turn) = (Arc::clone(&setting.counts), setting.turn);
        let voice = self.links.voice.clone();
        let (serving, mut crossings) = Serving::new(self.lend(), setting);
        let started = program::start(program, Box::new(serving), leash.stop.clone());
        let mut ended = started.map_err(|error| Lost::Died(error.to_string()))?;
        let (mut canceled, mut thrown) = (self.stop.clone(), self.stop.clone());
        let mut is_stopping = false;
        // When a program that is to end has had its time to.
        let mut patience: Option<Instant> = None;
        let mut is_canceled = false;
        let mut execution = loop {
            let until = patience;
            tokio::select! {
                biased;
                execution = &mut ended => {
                    break execution.map_err(|_| {
                        counts.leave(&voice, turn, FailureClass::Other);
                        Lost::Died(format!("a program's thread died: {}", panics::last()))
                    })?;
                }
                Some(Crossing { held, request }) = crossings.recv() => {
                    self.take_back(held);
                    let answer = request(self).await;
                    // A wait that the run's stop ended left no slot to work in.
                    if self.code.broken.is_some() || !self.seat.is_taken() {
                        leash.pull();
                    }
                    answer(self.lend());
                }
                () = canceled.canceled(), if !is_canceled => {
                    is_canceled = true;
                    leash.pull();
                    patience = Some(Instant::now() + GRACE);
                }
                _ = thrown.thrown(), if !is_stopping => {
                    is_stopping = true;
                    patience = patience.or_else(|| Some(Instant::now() + AFTER_DEADLINE));
                }
                () = passed(until), if until.is_some() => {
                    if is_canceled {
                        counts.leave(&voice, turn, FailureClass::LimitExceeded);
                        return Err(Lost::Abandoned);
                    }
                    leash.pull();
                    // From here on it is as little awaited as after a cancel.
                    is_canceled = true;
                    patience = Some(Instant::now() + GRACE);
                }
            }
        };
        let services = execution.services.take().map(|it| it as Box<dyn Any>);
        let serving = services.and_then(|services| services.downcast::<Serving>().ok());
        let Some(held) = serving.and_then(|serving| serving.into_held()) else {
            let why = "what a program's calls touched was lost".to_owned();
            return Err(Lost::Died(why));
        };
        self.take_back(held);
        Ok(execution)
    }
}

/// Resolves at a moment; never without one.
async fn passed(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Resolves once the run has stopped and its programs have had their time since.
pub(super) async fn over(stop: &mut StopWatch) {
    stop.thrown().await;
    tokio::time::sleep(AFTER_DEADLINE).await;
}

/// Whether what a program died of may be what a run that stops does to its calls: it ends commands
/// and waits, and carries nothing out any more.
fn of_a_call_cut_short(fault: &Fault) -> bool {
    let Fault::Reported(reports) = fault else {
        return false;
    };
    reports.first().is_some_and(|report| {
        report.kind == ErrorKind::ApiFailure
            && matches!(
                report.code,
                Some(FailureClass::LimitExceeded | FailureClass::Refused)
            )
    })
}

#[cfg(test)]
mod tests {
    use sandbox::host::Report;

    use super::*;

    #[test]
    fn a_call_that_a_stopping_run_cuts_is_told_from_a_failure_of_the_program_s_own() {
        let died = |kind, code| {
            let rendering = "Error".to_owned();
            of_a_call_cut_short(&Fault::Reported(vec![Report {
                kind,
                code,
                operation: None,
                rendering,
            }]))
        };
        let call = |code| died(ErrorKind::ApiFailure, Some(code));
        assert!(call(FailureClass::LimitExceeded) && call(FailureClass::Refused));
        assert!(!call(FailureClass::NotFound) && !died(ErrorKind::Other, None));
        assert!(!of_a_call_cut_short(&Fault::Exit { success: false }));
    }
}
