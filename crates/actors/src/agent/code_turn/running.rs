//! One submission from its source to what is kept of it: prepared, run, and run on in what it hands
//! over to (04 §6.2, §6.6, §11).
//!
//! A program runs on a thread of its own; this side lends it the agent's state, carries out what
//! crosses, and ends it where the run stops.
//!
//! Always true: one `code_execution` a submission, whatever became of it; the state is back before
//! anything else is done with the agent, or the agent ends.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use context::library::{Declined, KeptProgram, MAX_PROGRAMS, Next};
use context::prompts::{self, Carrier, CodeNotice};
use record::event::{Event, LogLevel};
use sandbox::contract::CodeModule;
use sandbox::contract::feedback::ErrorKind;
use sandbox::host::ModuleError;
use sandbox::outcome::Fault;
use sandbox::prepare::{PrepareError, Prepared};
use sandbox::program::{self, Execution, Program, Stop};
use tokio::time::Instant;
use tools::Halt;
use tools::shell::GRACE;
use vocab::failure::FailureClass;
use vocab::ids::CallId;
use vocab::tools::SUBMIT_PROGRAM;

use super::account::Account;
use super::outcome::{self, Failed};
use super::submission::Submission;
use super::{Broken, Cut, Said};
use crate::agent::api::Programs;
use crate::agent::loaded::{Due, Owner};
use crate::agent::program::{Counts, Crossing, Serving, Setting};
use crate::agent::turns::Turns;
use crate::panics;
use crate::stop::{StopCause, StopWatch};

/// How long a program may go on once the run's clock is spent: to see its calls refused and to end
/// the session.
const AFTER_DEADLINE: Duration = Duration::from_secs(2);

/// A program that was ended from outside, or lost.
enum Lost {
    /// The operator stopped the run, and the program's thread did not heed it.
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
    /// Runs a submitted program, and those it hands over to; whether it succeeded.
    pub(super) async fn run_submission(
        &mut self,
        turn: u32,
        submission: &Submission,
        said: &mut Said,
    ) -> ControlFlow<Cut, bool> {
        let Some(programs) = self.surface.code.clone() else {
            return broken("an agent that calls tools submitted a program".to_owned());
        };
        self.code.library.begin();
        let counts = Arc::new(Counts::default());
        let run = RunContext {
            turn,
            call: &submission.call,
            programs: &programs,
            counts: &counts,
        };
        let mut chain = Chained {
            account: Account::default(),
            source: Arc::clone(&submission.source),
            finished: None,
        };
        let shown = self.code.views.opened.items.len();
        let mut ran = self.run_chain(&run, &mut chain, said).await;
        if ran.is_ok() {
            let Chained { account, .. } = &mut chain;
            let scripts = self.run_scripts(&run, account, said).await;
            let told = scripts.and_then(|()| self.tell_modules(&chain.account, said));
            if let Err(cut) = told {
                ran = Err(cut);
            }
        }
        let Chained {
            mut account,
            source,
            finished,
        } = chain;
        let cut_short = self.code.session.cut_short;
        let error = match &ran {
            Ok(None) if cut_short => Some("the run's time is spent".to_owned()),
            Ok(failed) => failed.as_ref().map(|failed| failed.text.clone()),
            Err(Cut::Broken(Broken::Defect(why) | Broken::Unjudged(why))) => Some(why.clone()),
            Err(Cut::Canceled) => Some("the run was stopped".to_owned()),
        };
        if let Some(took) = self.code.loaded.take_compiling() {
            *account.compiled.get_or_insert_default() += took;
        }
        account.settle(&counts);
        said.dispatched += account.dispatched;
        said.failed += counts.failed.load(Ordering::Relaxed);
        self.tell_account(&run, &account, error.as_deref(), finished);
        self.tell_chain();
        let failed = match ran {
            Ok(failed) => failed,
            Err(cut) => return ControlFlow::Break(cut),
        };
        if let Some(id) = &submission.id {
            self.code.library.keep(KeptProgram {
                id: Arc::clone(id),
                turn,
                source,
                error: error.as_deref().map(Into::into),
                opening: false,
            });
        }
        let result = self.shown_since(shown, error.as_deref());
        self.upkeep
            .observe(SUBMIT_PROGRAM, &submission.source, &result);
        let ok = failed.is_none() && !cut_short;
        said.failures.extend(failed);
        ControlFlow::Continue(ok)
    }

    /// Runs a program, and what it hands over to. `Ok` holds how the last of them failed, where it did.
    async fn run_chain(
        &mut self,
        run: &RunContext<'_>,
        chain: &mut Chained,
        said: &mut Said,
    ) -> Result<Option<Failed>, Cut> {
        loop {
            let Chained {
                account, source, ..
            } = chain;
            let failed = self.run_one(run, source, account).await?;
            chain.finished = self.code.session.told().or(chain.finished.take());
            if failed.is_some() {
                self.revoke_ending(said)?;
            }
            let ends = self.code.session.ending.is_some();
            let stopped = self.code.session.cut_short;
            match self.code.library.ended(failed.is_some() || stopped, ends) {
                Next::Over => return Ok(failed),
                Next::Run(next) => chain.source = next,
                Next::Declined(why) => {
                    add_notice(said, CodeNotice::HandoverDeclined(declined(why)))?;
                    self.warn("handover_declined", declined_text(why));
                    return Ok(failed);
                }
            }
        }
    }

    /// Prepares and runs one program. `Ok` holds how it failed, where it did.
    async fn run_one(
        &mut self,
        run: &RunContext<'_>,
        source: &Arc<str>,
        account: &mut Account,
    ) -> Result<Option<Failed>, Cut> {
        let modules = self.code.modules();
        let began = Instant::now();
        let prepared = self.prepare_program(run.programs, source, modules).await;
        if run.programs.arm.prepare_compiles() {
            *account.compiled.get_or_insert_default() += began.elapsed();
        }
        let Some(prepared) = prepared? else {
            self.code.session.cut_short = true;
            self.code.session.ending = None;
            return Ok(None);
        };
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(PrepareError::Rejected { band, diagnostics }) => {
                let failed = outcome::rejected(band, &diagnostics, &self.shared.mask);
                return failed.map(Some).map_err(no_text);
            }
            Err(error) => return Err(defect(error.to_string())),
        };
        let failed = self.run_prepared(run, prepared, account).await;
        if let Ok(None) = &failed
            && self.code.session.cut_short
        {
            // The clock of the run ended it: nobody's error, and nothing it declared stands.
            self.code.session.ending = None;
        }
        failed
    }

    /// Runs the scripts that came with what the submission used; they end no session, and a failing
    /// one is told and harms nothing else (04 §8.6). None begins once the run's time is spent: each
    /// would have seconds more in which nothing is carried out.
    async fn run_scripts(
        &mut self,
        run: &RunContext<'_>,
        account: &mut Account,
        said: &mut Said,
    ) -> Result<(), Cut> {
        let programs = run.programs.for_script();
        let run = RunContext {
            programs: &programs,
            ..*run
        };
        // A script may use what carries another; each runs once, so that two cannot chase each other.
        let mut due = VecDeque::from(self.code.loaded.take_due());
        let mut ran_of: Vec<Owner> = Vec::new();
        while let Some(Due { owner, program }) = due.pop_front() {
            if self.code.session.cut_short || self.shared.clock.spent() {
                break;
            }
            if ran_of.contains(&owner) {
                continue;
            }
            ran_of.push(owner.clone());
            let mut apart = Account::default();
            let ran = self.run_prepared(&run, program, &mut apart).await;
            account.add_script(apart);
            if let Some(failed) = ran? {
                let (carrier, name) = carrier(&owner);
                self.warn("on_use_failed", format!("the script of {owner} failed"));
                let notice = CodeNotice::OnUseFailed {
                    carrier,
                    name,
                    reason: reason(&failed.text),
                };
                add_notice(said, notice)?;
            }
            due.extend(self.code.loaded.take_due());
        }
        Ok(())
    }

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
            Err(Lost::Abandoned) => return Err(Cut::Canceled),
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

    /// Makes a program ready on a blocking thread; a cancel lets go of it, and so does any other stop
    /// after the time that programs then have: nothing, where it was that.
    async fn prepare_program(
        &mut self,
        programs: &Programs,
        source: &Arc<str>,
        modules: Vec<CodeModule>,
    ) -> Result<Option<Result<Prepared, PrepareError>>, Cut> {
        let (arm, source) = (programs.arm, Arc::clone(source));
        let context = self.code.preparing.clone();
        let prepare = move || arm.prepare_program(&source, &modules, &context);
        // What takes no compiler copies a text.
        if !arm.prepare_compiles() {
            return Ok(Some(prepare()));
        }
        let work = tokio::task::spawn_blocking(prepare);
        let mut stop = self.stop.clone();
        tokio::select! {
            prepared = work => prepared
                .map(Some)
                .map_err(|error| defect(format!("preparing a program died: {error}"))),
            () = self.stop.canceled() => Err(Cut::Canceled),
            () = over(&mut stop) => Ok(None),
        }
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

    /// Runs a program to its end, with the agent's state, and carries out what crosses.
    async fn execute(&mut self, program: Program, setting: Setting) -> Result<Ended, Lost> {
        let leash = Leash {
            stop: Stop::default(),
            halt: setting.halt.clone(),
        };
        let (serving, mut crossings) = Serving::new(self.lend(), setting);
        let started = program::start(program, Box::new(serving), leash.stop.clone());
        let mut ended = started.map_err(|error| Lost::Died(error.to_string()))?;
        let (mut canceled, mut thrown) = (self.stop.clone(), self.stop.clone());
        let mut is_stopping = false;
        // When a program that is to end has had its time to.
        let mut patience: Option<Instant> = None;
        let mut is_canceled = false;
        let execution = loop {
            let until = patience;
            tokio::select! {
                biased;
                execution = &mut ended => {
                    break execution.map_err(|_| {
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
                        return Err(Lost::Abandoned);
                    }
                    leash.pull();
                    // From here on it is as little awaited as after a cancel.
                    is_canceled = true;
                    patience = Some(Instant::now() + GRACE);
                }
            }
        };
        let Execution {
            fault,
            calls,
            logs,
            reports_dropped,
            module_errors,
            module_errors_dropped,
            stderr,
            guest_time,
            services,
        } = execution;
        let services: Box<dyn Any> = services;
        let held = services.downcast::<Serving>().ok();
        let Some(held) = held.and_then(|serving| serving.into_held()) else {
            let why = "what a program's calls touched was lost".to_owned();
            return Err(Lost::Died(why));
        };
        self.take_back(held);
        Ok(Ended {
            fault,
            calls,
            logs,
            reports_dropped,
            module_errors,
            module_errors_dropped,
            stderr,
            guest_time,
        })
    }

    /// An ending that a failing program declared does not stand (04 §6.3).
    fn revoke_ending(&mut self, said: &mut Said) -> Result<(), Cut> {
        if self.code.session.ending.take().is_some() {
            add_notice(said, CodeNotice::EndingRevoked)?;
            self.warn(
                "ending_revoked",
                "an ending does not stand: the program that declared it failed".to_owned(),
            );
        }
        Ok(())
    }

    /// Tells of code that did not load; each once, however many programs met it.
    fn tell_modules(&self, account: &Account, said: &mut Said) -> Result<(), Cut> {
        for error in &account.module_errors {
            let Some(owner) = self.code.loaded.owner(&error.key) else {
                continue;
            };
            let (carrier, name) = carrier(owner);
            let reason = self.shared.mask.apply(&error.message);
            let reason = &*reason;
            self.warn(
                "code_not_loaded",
                format!("the code of {owner} did not load"),
            );
            let notice = CodeNotice::CodeNotLoaded {
                carrier,
                name,
                reason,
            };
            add_notice(said, notice)?;
        }
        if account.module_errors_more > 0 {
            let more = account.module_errors_more;
            self.warn(
                "code_not_loaded",
                format!("more failures of code that did not load, not told: {more}"),
            );
        }
        Ok(())
    }

    fn warn(&self, code: &'static str, text: String) {
        self.links.voice.log(LogLevel::Warn, Some(code), text);
    }

    /// The event of a submission, and the lines it gives cause for.
    fn tell_account(
        &mut self,
        run: &RunContext<'_>,
        account: &Account,
        error: Option<&str>,
        finished: Option<String>,
    ) {
        let mask = &self.shared.mask;
        let event = account.event(run.call, error, finished, mask);
        let voice = self.links.voice.clone();
        if event.undocumented_calls.is_some() && !self.code.warned_undocumented {
            self.code.warned_undocumented = true;
            let text = "a program calls what no page of the documentation in its window told of; \
                        such calls are carried out, and counted as undocumentedCalls";
            voice.log(LogLevel::Warn, Some("undocumented_calls"), text);
        }
        voice.say_in_turn(run.turn, Event::CodeExecution(Box::new(event)));
        if let Some(text) = account.refusals() {
            self.warn("refused_calls", text);
        }
        let replaced = std::mem::take(&mut self.code.session.replaced);
        if replaced > 0 {
            let text = match replaced {
                1 => "an ending was replaced by a later one".to_owned(),
                _ => format!("{replaced} endings were replaced by later ones"),
            };
            self.warn("endings_replaced", text);
        }
    }

    fn tell_chain(&self) {
        let ran = self.code.library.ran();
        if ran > 1 {
            let text =
                format!("a submission ran {ran} programs, each of which handed over to the next");
            self.links.voice.log(LogLevel::Info, Some("handover"), text);
        }
    }

    /// What a program's model gets to see of it, as far as two of them can be told apart.
    fn shown_since(&self, from: usize, error: Option<&str>) -> String {
        let views = self.code.views.opened.items.iter().skip(from);
        let mut result = error.unwrap_or_default().to_owned();
        for view in views {
            result.extend(["\n", &format!("{:?}", view.id)]);
        }
        result
    }
}

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

/// A submission as it goes on.
struct Chained {
    account: Account,
    /// The source that runs, or ran last.
    source: Arc<str>,
    /// The ending that was declared last, also where it does not stand.
    finished: Option<String>,
}

/// What is left of a program's execution once its state is back.
struct Ended {
    fault: Option<Fault>,
    calls: sandbox::host::Calls,
    logs: sandbox::host::Logs,
    reports_dropped: u64,
    module_errors: Vec<ModuleError>,
    module_errors_dropped: u64,
    stderr: String,
    guest_time: Duration,
}

/// The sentence of a failure that says what went wrong: runtimes say it first, or, under a line that
/// announces frames, last.
fn reason(text: &str) -> &str {
    let body = text
        .split_once("----\n")
        .map_or(text, |(_, body)| body)
        .trim();
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    if first.ends_with(':') {
        rest.lines().last().unwrap_or(first).trim()
    } else {
        first
    }
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

/// What carries code, and its name.
fn carrier(owner: &Owner) -> (Carrier, &str) {
    match owner {
        Owner::Skill(name) => (Carrier::Skill, name),
        Owner::Memory(name) => (Carrier::Memory, name),
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

fn defect(cause: String) -> Cut {
    Cut::Broken(Broken::Defect(cause))
}

fn broken<T>(cause: String) -> ControlFlow<Cut, T> {
    ControlFlow::Break(defect(cause))
}

/// A text of gg's own that does not render.
fn no_text(error: prompts::PromptError) -> Cut {
    defect(format!("a text of gg's own does not render: {error}"))
}

const fn declined(why: Declined) -> prompts::Declined {
    match why {
        Declined::Failed => prompts::Declined::Failed,
        Declined::Ended => prompts::Declined::Ended,
        Declined::TooMany => prompts::Declined::Full {
            programs: MAX_PROGRAMS as u64,
        },
    }
}

fn declined_text(why: Declined) -> String {
    let why = match why {
        Declined::Failed => "the one that handed over failed",
        Declined::Ended => "the one that handed over ended the session",
        Declined::TooMany => {
            &format!("no more than {MAX_PROGRAMS} programs may run in one submission")
        }
    };
    format!("a program that was handed over to does not run: {why}")
}

fn add_notice(said: &mut Said, notice: CodeNotice<'_>) -> Result<(), Cut> {
    said.notices
        .push(prompts::code_notice(notice).map_err(no_text)?);
    Ok(())
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

    #[test]
    fn a_failure_comes_down_to_the_line_that_says_what_went_wrong() {
        for (text, line) in [
            ("Runtime error\n----\nError: no\n  at x:1\n", "Error: no"),
            (
                "Runtime error\n----\nTraceback (most recent call last):\n  File \"p\"\nValueError: no\n",
                "ValueError: no",
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(reason(text), line);
        }
    }
}
