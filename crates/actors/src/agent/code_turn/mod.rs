//! The work of a code agent's turn: the programs its reply submits, in order (04 §6).
//!
//! Every call is answered before anything runs ([`submission`]). The programs then run one after
//! another against the same live window, all of them, also behind one that failed; each with those
//! that it hands over to ([`running`]), and each on a thread of its own ([`execution`]). What they came
//! to is worded in [`outcome`], summed in [`account`] and told to the operator in [`telling`]. Notices
//! stand before errors, and both behind what the turn's close does to the window.
//!
//! Always true: a turn has at most one error, the first program's that failed; what a program did
//! before it failed stands, but for its ending and what it hands over to.

mod account;
mod execution;
mod opening;
mod openings;
mod outcome;
mod running;
pub(super) mod submission;
mod telling;

use std::ops::ControlFlow;
use std::sync::Arc;

use context::prompts::{self, CodeNotice, PromptError};
use context::window::Retention;
use vocab::band::Band;
use vocab::message::{Role, ToolCall};
use vocab::outcome::{EndStatus, ErrorType, TurnVerdict};

use super::LoopEnd;
use super::closing::Worked;
use super::hooked::Broken;
use super::turns::{ReplySize, Turns};
use crate::stop::StopCause;
pub(crate) use openings::Openings;
use outcome::Failed;

/// What a turn's programs leave to be said, behind all that its close does.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Facts about the session, under their headings.
    pub(super) notices: Vec<String>,
    /// Failures, in the order of their submissions.
    failures: Vec<Failed>,
    /// Calls of tools that were made.
    dispatched: u64,
    /// Those of them that failed.
    failed: u64,
}

impl Said {
    /// Whether calls of tools were made, and every one succeeded.
    pub(super) const fn all_succeeded(&self) -> bool {
        self.dispatched > 0 && self.failed == 0
    }

    /// Adds a fact about the session.
    fn notify(&mut self, notice: CodeNotice<'_>) -> Result<(), Cut> {
        self.notices
            .push(prompts::code_notice(notice).map_err(no_text)?);
        Ok(())
    }

    /// The error of the turn.
    pub(super) fn error(&self) -> Option<ErrorType> {
        self.failures.first().map(|failed| failed.error)
    }
}

/// Why no more programs of a turn run.
enum Cut {
    /// The operator stopped the run.
    Canceled,
    /// What gg itself could not do, or a hook did not judge.
    Broken(Broken),
}

/// What gg itself could not do.
fn defect(cause: String) -> Cut {
    Cut::Broken(Broken::Defect(cause))
}

/// A text of gg's own that does not render.
fn no_text(error: PromptError) -> Cut {
    defect(format!("a text of gg's own does not render: {error}"))
}

impl Turns {
    /// Runs the programs of a reply and closes the turn.
    pub(super) async fn work_programs(
        &mut self,
        turn: u32,
        calls: &[ToolCall],
        size: ReplySize,
    ) -> ControlFlow<LoopEnd> {
        self.code.begin_turn();
        self.code.docs.begin(&mut self.window, false);
        let submissions = self.acknowledge(turn, calls)?;
        let mut said = Said::default();
        let mut succeeded = Vec::with_capacity(submissions.len());
        let mut cut: Option<Cut> = None;
        for (place, submission) in submissions.iter().enumerate() {
            if self.stop.has(StopCause::Canceled) {
                cut = Some(Cut::Canceled);
                break;
            }
            if self.code.session.ending.is_some() {
                self.tell_unrun(submissions.len() - place);
                break;
            }
            if self.code.session.cut_short {
                break;
            }
            let ran = self.run_submission(turn, submission, &mut said).await;
            match ran {
                ControlFlow::Continue(ok) => succeeded.push(ok),
                ControlFlow::Break(why) => {
                    cut = Some(why);
                    break;
                }
            }
        }
        self.tell_changes(turn).await;
        self.tell_views();
        match cut {
            None => {}
            Some(Cut::Broken(Broken::Defect(cause))) => return self.close_fatal(turn, cause, size),
            Some(Cut::Broken(Broken::Unjudged(why))) => {
                return self.close_unjudged(turn, why, size);
            }
            Some(Cut::Canceled) => {
                // Cut short by the operator, not by the agent: no error of its.
                self.answered += 1;
                self.judge(turn, TurnVerdict::Progressed, None, size);
                return ControlFlow::Break(LoopEnd::of(EndStatus::Canceled));
            }
        }
        if succeeded.len() > 1 {
            let count = succeeded.len() as u64;
            let notice = prompts::code_notice(CodeNotice::SeveralPrograms { count });
            let notice = self.rendered(turn, notice)?;
            said.notices.insert(0, notice);
        }
        let ending = self.code.session.ending.take();
        let worked = Worked {
            text: None,
            calls: &succeeded,
            ending,
            size,
            said,
        };
        self.close_turn(turn, worked).await
    }

    /// A reply that submitted no program.
    pub(super) fn no_program(&mut self, turn: u32, size: ReplySize) -> ControlFlow<LoopEnd> {
        if let Some(programs) = &self.surface.code {
            let text = prompts::no_program(&programs.language());
            let text = self.rendered(turn, text)?;
            self.put(turn, Band::System, Retention::Ephemeral, text);
        }
        self.close_error(turn, ErrorType::MissingCompletionNoProgram, size)
    }

    /// Puts what a turn's programs left to be said at the window's end: notices first.
    pub(super) fn show_said(&mut self, turn: u32, said: &Said) {
        for notice in &said.notices {
            self.put(turn, Band::System, Retention::Ephemeral, notice.as_str());
        }
        for failed in &said.failures {
            let text: Arc<str> = failed.text.as_str().into();
            self.put(turn, failed.band, Retention::Ephemeral, text);
        }
    }

    /// Tells a model whose programs showed it nothing: where the window would end on its own call
    /// and the receipt of that.
    pub(super) fn tell_nothing_shown(&mut self, turn: u32) -> ControlFlow<LoopEnd> {
        let Some(programs) = self.surface.code.clone() else {
            return ControlFlow::Continue(());
        };
        if !self.declared.waits.is_empty() {
            // How those ended is what it sees next.
            return ControlFlow::Continue(());
        }
        let last = self.window.items().last();
        let bare = last.is_some_and(|item| {
            item.turn == turn && matches!(item.message.role(), Role::Tool | Role::Assistant)
        });
        if !bare {
            return ControlFlow::Continue(());
        }
        let mut offered = programs.offer.operations();
        let files = offered.any(|row| row.id == "views.open_file");
        let text = prompts::nothing_shown(&programs.language(), files);
        let text = self.rendered(turn, text)?;
        self.put(turn, Band::System, Retention::Ephemeral, text);
        ControlFlow::Continue(())
    }
}
