//! What a submission did, for the operator: one `code_execution`, and lines of the log where there is
//! something to say (04 §14).
//!
//! Pure: executions in, an event and sentences out. Everything of a chain of programs sums.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use record::event::{CodeExecution, LogLevel, ProgramLog, ProgramLogLevel, UndocumentedCalls};
use record::mask::Mask;
use sandbox::host::{Calls, Logs, ModuleError, Refusal};
use sandbox::services;
use vocab::ids::CallId;

use crate::agent::program::Counts;
use crate::agent::program::views::{Shown, ViewRecord};
use crate::clock::millis;

/// Bytes of a failure that its event holds.
const MAX_ERROR_BYTES: usize = 16 * 1024;

/// Items that one line of the log names.
const NAMED: usize = 20;

/// The sums of a submission.
#[derive(Debug, Default)]
pub(in crate::agent) struct Account {
    /// Calls that were dispatched.
    pub(super) dispatched: u64,
    /// All calls.
    pub(super) made: u64,
    /// Time of the programs' own.
    pub(super) guest_time: Duration,
    /// What they printed.
    pub(super) logs: Logs,
    /// Time until the component was there, where this submission waited for it.
    pub(super) waited: Option<Duration>,
    /// Time that preparing took, where anything is compiled.
    pub(super) compiled: Option<Duration>,
    /// Serviced calls whose documentation was not in view.
    pub(super) undocumented: BTreeMap<&'static str, u64>,
    /// Calls that were not available, by operation.
    refused: BTreeMap<&'static str, u64>,
    /// Code that did not load, each once.
    pub(super) module_errors: Vec<ModuleError>,
    /// Code that did not load and is counted alone.
    pub(super) module_errors_more: u64,
    /// Refusals that are counted and not named.
    refused_more: u64,
}

impl Account {
    /// Takes a program in that has ended.
    pub(super) fn add(&mut self, calls: &Calls, logs: &Logs, guest_time: Duration) {
        self.dispatched += u64::from(calls.dispatched);
        self.made += u64::from(calls.made);
        self.guest_time += guest_time;
        for line in &logs.lines {
            self.logs.push(line.level, &line.text);
        }
        self.logs.suppressed += logs.suppressed;
        for (operation, calls) in &calls.undocumented {
            *self.undocumented.entry(operation).or_default() += u64::from(*calls);
        }
        for Refusal { operation, .. } in &calls.refused.items {
            *self.refused.entry(operation).or_default() += 1;
        }
        self.refused_more += calls.refused.dropped;
    }

    /// Notes code that did not load.
    pub(super) fn note_modules(&mut self, errors: Vec<ModuleError>, more: u64) {
        for error in errors {
            if !self.module_errors.contains(&error) {
                self.module_errors.push(error);
            }
        }
        self.module_errors_more += more;
    }

    /// Takes a script in that ran behind the programs: it is nobody's to read documentation for.
    pub(super) fn add_script(&mut self, script: Self) {
        self.dispatched += script.dispatched;
        self.made += script.made;
        self.guest_time += script.guest_time;
        for line in &script.logs.lines {
            self.logs.push(line.level, &line.text);
        }
        self.logs.suppressed += script.logs.suppressed;
        self.waited = self.waited.or(script.waited);
        for (operation, times) in script.refused {
            *self.refused.entry(operation).or_default() += times;
        }
        self.refused_more += script.refused_more;
        self.note_modules(script.module_errors, script.module_errors_more);
    }

    /// Counts calls of a program that was lost with all it would have told.
    pub(super) fn settle(&mut self, counts: &Counts) {
        self.made = self.made.max(counts.calls.load(Ordering::Relaxed));
        let dispatched = counts.dispatched.load(Ordering::Relaxed);
        self.dispatched = self.dispatched.max(dispatched);
    }

    /// The event of the submission.
    pub(super) fn event(
        &self,
        call: &CallId,
        error: Option<&str>,
        finished: Option<String>,
        mask: &Mask,
    ) -> CodeExecution {
        let line = |line: &sandbox::host::LogLine| ProgramLog {
            level: match line.level {
                services::LogLevel::Debug => ProgramLogLevel::Debug,
                services::LogLevel::Info => ProgramLogLevel::Info,
                services::LogLevel::Warn => ProgramLogLevel::Warn,
                services::LogLevel::Error => ProgramLogLevel::Error,
            },
            text: mask.apply(&line.text).into_owned(),
        };
        let calls = self.undocumented.values().sum();
        CodeExecution {
            call_id: call.clone(),
            ok: error.is_none(),
            tool_calls: self.dispatched,
            api_calls: self.made,
            duration_ms: millis(self.guest_time),
            error: error.map(|text| text[..text.floor_char_boundary(MAX_ERROR_BYTES)].to_owned()),
            finished,
            logs: self.logs.lines.iter().map(line).collect(),
            logs_suppressed: self.logs.suppressed,
            compile_wait_ms: self.waited.map(millis),
            compile_ms: self.compiled.map(millis),
            undocumented_calls: (calls > 0).then(|| UndocumentedCalls {
                calls,
                operations: self.undocumented.clone(),
            }),
        }
    }

    /// What there is to say of calls that were refused.
    pub(super) fn refusals(&self) -> Option<String> {
        if self.refused.is_empty() {
            return None;
        }
        let named = self.refused.iter().map(|(operation, times)| match times {
            1 => format!("`{operation}`"),
            times => format!("`{operation}` {times} times"),
        });
        let more = match self.refused_more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "calls that are not available: {}{more}",
            listed(named)
        ))
    }
}

/// What there is to say of the views of a turn: level, code, sentence.
pub(super) fn views(shown: &Shown) -> Vec<(LogLevel, &'static str, String)> {
    let named = |view: &ViewRecord| {
        let how = if view.replaced { ", replaced" } else { "" };
        format!(
            "{} `{}` ({} tokens{how})",
            view.band, view.selector, view.tokens
        )
    };
    let counted = |dropped: u64| match dropped {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let mut lines = Vec::new();
    for (what, views) in [("opened", &shown.opened), ("closed", &shown.closed)] {
        if views.items.is_empty() {
            continue;
        }
        let all = listed(views.items.iter().map(named));
        let text = format!("views {what}: {all}{}", counted(views.dropped));
        lines.push((LogLevel::Info, "views", text));
    }
    if !shown.refused.items.is_empty() {
        let refused = shown.refused.items.iter();
        let all = listed(refused.map(|(selector, why)| format!("`{selector}`: {why}")));
        let text = format!("views refused: {all}{}", counted(shown.refused.dropped));
        lines.push((LogLevel::Warn, "views_refused", text));
    }
    lines
}

fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(NAMED);
    let mut named: Vec<_> = items.take(NAMED).collect();
    if more > 0 {
        named.push(format!("{more} more"));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use sandbox::host::Capped;

    use super::*;

    fn calls(dispatched: u32, made: u32) -> Calls {
        Calls {
            dispatched,
            made,
            ..Calls::default()
        }
    }

    #[test]
    fn programs_of_a_chain_are_one_execution() {
        let mut account = Account::default();
        let mut first = calls(2, 3);
        first.undocumented.insert("files.read_file", 2);
        first.refused.push(Refusal {
            operation: "delegation.fork",
            message: "no".to_owned(),
        });
        let mut logs = Logs::default();
        logs.push(services::LogLevel::Debug, "the key is sk-secret-key");
        account.add(&first, &logs, Duration::from_millis(30));
        account.add(&calls(1, 1), &Logs::default(), Duration::from_millis(12));
        account.compiled = Some(Duration::from_millis(7));
        let mask = Mask::new("sk-secret-key");
        let event = account.event(&"c".into(), None, Some("done".to_owned()), &mask);
        assert!(event.ok);
        assert_eq!((event.tool_calls, event.api_calls), (3, 4));
        assert_eq!((event.duration_ms, event.compile_ms), (42, Some(7)));
        assert_eq!(event.logs[0].text, "the key is [credential]");
        assert_eq!(event.undocumented_calls.map(|it| it.calls), Some(2));
        assert_eq!(
            account.refusals().as_deref(),
            Some("calls that are not available: `delegation.fork`")
        );
        let failed = account.event(&"c".into(), Some("no"), None, &mask);
        assert_eq!((failed.ok, failed.error.as_deref()), (false, Some("no")));
    }

    #[test]
    fn a_turn_that_showed_nothing_has_nothing_to_say() {
        assert_eq!(views(&Shown::default()), []);
        assert_eq!(Account::default().refusals(), None);
    }

    #[test]
    fn views_are_named_up_to_a_bound_and_counted_beyond() {
        let mut shown = Shown::default();
        for number in 0..130 {
            shown.opened.push(ViewRecord {
                band: vocab::band::Band::TextView,
                selector: format!("v{number}").into(),
                tokens: 3,
                replaced: number == 0,
                id: None,
            });
        }
        shown.refused = Capped::new(1);
        shown
            .refused
            .push(("big".into(), "limit-exceeded: no".to_owned()));
        let lines = views(&shown);
        assert!(
            lines[0]
                .2
                .starts_with("views opened: text_view `v0` (3 tokens, replaced), ")
        );
        assert!(
            lines[0].2.ends_with("80 more, and 30 more"),
            "{}",
            lines[0].2
        );
        assert_eq!(lines[1].1, "views_refused");
    }
}
