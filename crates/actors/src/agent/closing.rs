//! A turn's close: all results are recorded, then what the turn declared is applied (R19).
//!
//! Always true: one outcome a turn; nothing of gg's own stands between a call and its result.

use std::ops::ControlFlow;

use context::compaction::{Close, Relief};
use context::prompts;
use vocab::outcome::{EndStatus, ErrorType, TurnVerdict};

use super::code_turn::Said;
use super::compacting::{Summarized, failed};
use super::turns::{ReplySize, Turns};
use super::{Ending, LoopEnd};

/// What a reply came to.
pub(super) struct Worked<'a> {
    /// Its text.
    pub(super) text: Option<&'a str>,
    /// Of each of its calls, whether it succeeded.
    pub(super) calls: &'a [bool],
    /// The ending it declared.
    pub(super) ending: Option<Ending>,
    /// Its size.
    pub(super) size: ReplySize,
    /// What its programs left to be said.
    pub(super) said: Said,
}

impl Turns {
    /// Closes a turn that was answered and worked off: compaction, then copies, each of the window
    /// as it stands then, then the ending, else the succession, which follows the turn, else the
    /// next turn (03 §5.1).
    pub(super) async fn close_turn(
        &mut self,
        turn: u32,
        worked: Worked<'_>,
    ) -> ControlFlow<LoopEnd> {
        let Worked {
            text,
            calls,
            ending,
            size,
            said,
        } = worked;
        let closing = (turn, self.answered, size);
        let ends = ending.is_some();
        let repeats = if ends {
            false
        } else {
            self.tell_repeats(turn)?
        };
        let closed = match &mut self.upkeep.compaction {
            Some(compaction) if ending.is_some() => compaction.close_ending(),
            Some(compaction) if self.surface.code.is_some() => {
                compaction.close_programs((!calls.is_empty()).then(|| said.all_succeeded()))
            }
            Some(compaction) => compaction.close(text, calls),
            None => Close::Nothing,
        };
        let mut relief = Relief::Relieved;
        let mut restated = false;
        match closed {
            Close::Apply(answer) => {
                let summarized = Summarized {
                    answer,
                    model: self.spec.profile.model_id.clone(),
                    tokens: None,
                    cost: None,
                };
                let compacted = self.compact_on(turn, summarized).await;
                relief = self.judged(closing, compacted)?;
            }
            // A session can end whatever is asked of it.
            Close::Restate(missing) if !ends => {
                let again = self
                    .upkeep
                    .compaction
                    .as_ref()
                    .map_or(Ok(String::new()), |it| it.restatement(missing));
                let again = self.rendered(turn, again)?;
                self.notice(turn, again)?;
                restated = missing.is_error();
            }
            Close::Nothing if calls.is_empty() && !ends => return self.no_call(turn, size),
            Close::Nothing | Close::Restate(_) => {}
        }
        let copied = self.make_copies(turn).await;
        self.judged(closing, copied)?;
        self.show_told(turn)?;
        self.show_said(turn, &said);
        if let Some(ending) = ending {
            // An ending that stands beats a succession, and one that is blocked drops it.
            let dropped = self.declared.succession.take();
            let dropped = dropped.map(|successor| successor.call());
            let stands = self.gate_ending(turn, ending, dropped, size).await?;
            if stands.is_some() {
                return self.close(turn, stands, size);
            }
        }
        if restated {
            return self.close_error(turn, ErrorType::MissingCompletionCompaction, size);
        }
        if let Relief::Failed(why) = relief {
            self.answered += 1;
            self.judge(turn, TurnVerdict::Progressed, None, size);
            return ControlFlow::Break(failed(why.to_string()));
        }
        if repeats {
            return self.close_error(turn, ErrorType::RepeatedCall, size);
        }
        if let Some(error) = said.error() {
            return self.close_error(turn, error, size);
        }
        self.tell_nothing_shown(turn)?;
        self.close(turn, None, size)
    }

    /// An answered turn is judged, also where closing it ends the agent; `before` are the turns
    /// answered until then. A text of gg's own that does not render has judged it.
    fn judged<T>(
        &mut self,
        (turn, before, size): (u32, u64, ReplySize),
        closing: ControlFlow<LoopEnd, T>,
    ) -> ControlFlow<LoopEnd, T> {
        if let ControlFlow::Break(end) = &closing
            && self.answered == before
        {
            self.answered += 1;
            let verdict = match end.status {
                // Cut short by the operator, not by the agent: no error of its.
                EndStatus::Canceled => TurnVerdict::Progressed,
                _ => TurnVerdict::Fatal,
            };
            self.judge(turn, verdict, None, size);
        }
        closing
    }

    /// Tells the model of calls that it repeated; whether one of them makes the turn an error.
    fn tell_repeats(&mut self, turn: u32) -> ControlFlow<LoopEnd, bool> {
        let repeated = std::mem::take(&mut self.upkeep.repeated);
        let mut error = false;
        for call in repeated {
            let text = prompts::repetition_notice(&call.tool, call.count, call.again);
            let text = self.rendered(turn, text)?;
            self.notice(turn, text)?;
            error |= call.again;
        }
        ControlFlow::Continue(error)
    }

    /// Closes a turn that was answered, and that failed of what its reply is.
    pub(super) fn close_error(
        &mut self,
        turn: u32,
        error: ErrorType,
        size: ReplySize,
    ) -> ControlFlow<LoopEnd> {
        self.answered += 1;
        self.judge(turn, TurnVerdict::Error, Some(error), size);
        self.tell_error(turn, error, None);
        ControlFlow::Continue(())
    }
}
