//! What the operator is told of a turn's programs: the event of each submission, and lines of the log
//! where there is something to say (04 §14).

use context::library::{Declined, MAX_PROGRAMS};
use context::prompts::{Carrier, CodeNotice};
use record::event::{Event, LogLevel};

use super::account::{self, Account};
use super::execution::RunContext;
use super::{Cut, Said};
use crate::agent::loaded::Owner;
use crate::agent::turns::Turns;

impl Turns {
    /// The event of a submission, and the lines it gives cause for.
    pub(super) fn tell_account(
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

    pub(super) fn tell_chain(&self) {
        let ran = self.code.library.ran();
        if ran > 1 {
            let text =
                format!("a submission ran {ran} programs, each of which handed over to the next");
            self.links.voice.log(LogLevel::Info, Some("handover"), text);
        }
    }

    /// Tells of code that did not load; each once, however many programs met it.
    pub(super) fn tell_modules(&self, account: &Account, said: &mut Said) -> Result<(), Cut> {
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
            said.notify(notice)?;
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

    /// The operator is told of programs that an ending kept from running.
    pub(super) fn tell_unrun(&self, count: usize) {
        let text = match count {
            1 => "a submitted program does not run: the session ends before it".to_owned(),
            _ => format!("{count} submitted programs do not run: the session ends before them"),
        };
        let voice = &self.links.voice;
        voice.log(LogLevel::Warn, Some("programs_unrun"), text);
    }

    /// Lines about views, where there were any.
    pub(super) fn tell_views(&self) {
        let voice = &self.links.voice;
        for (level, code, text) in account::views(&self.code.views) {
            let text = self.shared.mask.apply(&text).into_owned();
            voice.log(level, Some(code), text);
        }
    }

    pub(super) fn warn(&self, code: &'static str, text: String) {
        self.links.voice.log(LogLevel::Warn, Some(code), text);
    }
}

pub(super) fn declined_text(why: Declined) -> String {
    let why = match why {
        Declined::Failed => "the one that handed over failed",
        Declined::Ended => "the one that handed over ended the session",
        Declined::TooMany => {
            &format!("no more than {MAX_PROGRAMS} programs may run in one submission")
        }
    };
    format!("a program that was handed over to does not run: {why}")
}

/// What carries code, and its name.
pub(super) fn carrier(owner: &Owner) -> (Carrier, &str) {
    match owner {
        Owner::Skill(name) => (Carrier::Skill, name),
        Owner::Memory(name) => (Carrier::Memory, name),
    }
}
