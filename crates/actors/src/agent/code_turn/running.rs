//! One submission from its source to what is kept of it: prepared, run, and run on in what it hands
//! over to (04 §6.2, §6.6, §11).
//!
//! How one program runs is [`execution`](super::execution)'s; what the operator hears of it,
//! [`telling`](super::telling)'s.
//!
//! Always true: one `code_execution` a submission, whatever became of it.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use context::library::{Declined, KeptProgram, MAX_PROGRAMS, Next};
use context::prompts::{self, CodeNotice};
use sandbox::contract::CodeModule;
use sandbox::prepare::{PrepareError, Prepared};
use tokio::time::Instant;
use vocab::tools::SUBMIT_PROGRAM;

use super::account::Account;
use super::execution::{RunContext, over};
use super::outcome::{self, Failed};
use super::submission::Submission;
use super::telling::{carrier, declined_text};
use super::{Broken, Cut, Said, defect, no_text};
use crate::agent::api::Programs;
use crate::agent::loaded::{Due, Owner};
use crate::agent::program::Counts;
use crate::agent::turns::Turns;
use crate::stop::StopCause;

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
            Err(Cut::Stopped(StopCause::Deadline)) => Some("the run's time is spent".to_owned()),
            Err(Cut::Canceled | Cut::Stopped(_)) => Some("the run was stopped".to_owned()),
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
                    said.notify(CodeNotice::HandoverDeclined(declined(why)))?;
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
                said.notify(notice)?;
            }
            due.extend(self.code.loaded.take_due());
        }
        Ok(())
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

    /// An ending that a failing program declared does not stand (04 §6.3).
    fn revoke_ending(&mut self, said: &mut Said) -> Result<(), Cut> {
        if self.code.session.ending.take().is_some() {
            said.notify(CodeNotice::EndingRevoked)?;
            self.warn(
                "ending_revoked",
                "an ending does not stand: the program that declared it failed".to_owned(),
            );
        }
        Ok(())
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

/// A submission as it goes on.
struct Chained {
    account: Account,
    /// The source that runs, or ran last.
    source: Arc<str>,
    /// The ending that was declared last, also where it does not stand.
    finished: Option<String>,
}

/// The sentence of a failure that says what went wrong: runtimes say it first, or, under a line that
/// announces frames, last.
fn reason(text: &str) -> &str {
    let body = text
        .split_once("----\n")
        .map_or(text, |(_, body)| body)
        .trim();
    let lines: Vec<&str> = body.lines().collect();
    let first = lines.first().copied().unwrap_or(body);
    if !first.ends_with(':') {
        return first;
    }
    // What stands in columns is a frame or the source of one; what the count of gg's own frames
    // begins with, no runtime's sentence does. A sentence of several lines is known by its first:
    // the one behind the last frame.
    let said = |line: &&str| {
        let counts = line.starts_with('…') && line.ends_with("gg's own");
        !line.trim().is_empty() && !line.starts_with(char::is_whitespace) && !counts
    };
    let behind = lines
        .iter()
        .rposition(|line| line.trim_start().starts_with("File \"") && line.starts_with("  "))
        .map_or(1, |place| place + 1);
    let mut behind = lines.iter().copied().skip(behind);
    behind.find(said).unwrap_or(first).trim()
}

fn broken<T>(cause: String) -> ControlFlow<Cut, T> {
    ControlFlow::Break(defect(cause))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_comes_down_to_the_line_that_says_what_went_wrong() {
        for (text, line) in [
            ("Runtime error\n----\nError: no\n  at x:1\n", "Error: no"),
            (
                "Runtime error\n----\nTraceback (most recent call last):\n  File \"p\"\nValueError: no\n",
                "ValueError: no",
            ),
            (
                "Runtime error\n----\nTraceback (most recent call last):\n  File \"p\", line 1\n    \
                 no()\nRuntimeError: no\nand more of it\n… 1 frame of gg's own\n",
                "RuntimeError: no",
            ),
            (
                "Traceback (most recent call last):\n  File \"p\"\nA: a\n\nDuring handling of the \
                 above exception, another exception occurred:\n\nTraceback (most recent call \
                 last):\n  File \"p\"\nB: b\n… 2 frames of gg's own",
                "B: b",
            ),
            ("plain", "plain"),
        ] {
            assert_eq!(reason(text), line);
        }
    }
}
