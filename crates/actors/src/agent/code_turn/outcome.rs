//! What a program came to, in the words its model reads (04 §6.4, §6.8): nothing for one that ran to
//! its end, else one message and one error of the turn.
//!
//! Pure: a fault in, a message out.

use context::prompts::{self, PromptError, RuntimeError, Stopped};
use record::mask::Mask;
use sandbox::host::Report;
use sandbox::outcome::{Clock, Fault};
use sandbox::prepare;
use vocab::band::Band;
use vocab::outcome::ErrorType;

/// A program that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Failed {
    /// The error of the turn, where this is its first.
    pub(in crate::agent) error: ErrorType,
    /// What the message's tokens are spent on.
    pub(in crate::agent) band: Band,
    /// The message.
    pub(in crate::agent) text: String,
}

/// A program that its language refused.
pub(super) fn rejected(
    band: prepare::Band,
    diagnostics: &str,
    mask: &Mask,
) -> Result<Failed, PromptError> {
    Ok(Failed {
        error: band.error_type(),
        band: Band::CompilerError,
        text: mask
            .apply(&prompts::compiler_error(diagnostics)?)
            .into_owned(),
    })
}

/// A program that failed as it ran; `None` for one that the run's stop ended, which is nobody's
/// error. `more` failures are known only by their number; `calls` were carried out before.
pub(super) fn failed(
    fault: &Fault,
    more: u64,
    stderr: &str,
    calls: u64,
    mask: &Mask,
) -> Result<Option<Failed>, PromptError> {
    let Some(error) = fault.error_type() else {
        return Ok(None);
    };
    let reports: &[Report] = match fault {
        Fault::Reported(reports) => reports,
        Fault::Timeout { .. }
        | Fault::OutOfMemory { .. }
        | Fault::Exit { .. }
        | Fault::Trap { .. }
        | Fault::Stopped => &[],
    };
    let mut renderings: Vec<String> = reports
        .iter()
        .map(|report| report.rendering.clone())
        .collect();
    if more > 0 && !renderings.is_empty() {
        renderings.push(prompts::more_failures(more)?);
    }
    let stopped = match fault {
        Fault::Reported(_) | Fault::Stopped => None,
        Fault::Timeout {
            budget,
            clock: Clock::Guest,
        } => Some(Stopped::Timeout(*budget)),
        Fault::Timeout {
            budget,
            clock: Clock::Outer,
        } => Some(Stopped::Waited(*budget)),
        Fault::OutOfMemory { cap } => Some(Stopped::Memory(*cap)),
        Fault::Exit { success } => Some(Stopped::Exit(*success)),
        Fault::Trap { reason } => Some(Stopped::Trap(reason)),
    };
    let text = prompts::runtime_error(&RuntimeError {
        renderings: &renderings,
        stderr,
        stopped,
        calls,
    })?;
    Ok(Some(Failed {
        error,
        band: Band::RuntimeError,
        text: mask.apply(&text).into_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sandbox::contract::feedback::ErrorKind;
    use vocab::failure::FailureClass;

    use super::*;

    fn told(fault: &Fault, stderr: &str) -> Option<Failed> {
        let mask = Mask::new("sk-secret-key");
        failed(fault, 0, stderr, 2, &mask).unwrap()
    }

    #[test]
    fn failures_that_were_not_kept_are_counted() {
        let report = Report {
            kind: ErrorKind::Other,
            code: None,
            operation: None,
            rendering: "Error: one".to_owned(),
        };
        let told = failed(&Fault::Reported(vec![report]), 3, "", 0, &Mask::default());
        let text = told.unwrap().unwrap().text;
        assert_eq!(
            text,
            "Runtime error\n----\nError: one\n\nMore failures, not shown: 3."
        );
    }

    #[test]
    fn a_failure_is_told_in_the_runtime_s_words_without_the_key() {
        let report = |rendering: &str| Report {
            kind: ErrorKind::ApiFailure,
            code: Some(FailureClass::NotFound),
            operation: Some("read_file".to_owned()),
            rendering: rendering.to_owned(),
        };
        let fault = Fault::Reported(vec![
            report("ApiError: no sk-secret-key\n  at 3:1"),
            report("second"),
        ]);
        let failed = told(&fault, "warning").unwrap();
        assert_eq!(failed.error, ErrorType::ProgramApiError);
        assert_eq!(failed.band, Band::RuntimeError);
        assert!(
            failed
                .text
                .starts_with("Runtime error\n----\nApiError: no [credential]\n  at 3:1"),
            "{}",
            failed.text
        );
        assert!(failed.text.contains("second") && failed.text.contains("warning"));
    }

    #[test]
    fn a_ceiling_names_its_limit_and_a_stop_is_no_error() {
        let budget = Duration::from_millis(1500);
        let timeout = |clock| told(&Fault::Timeout { budget, clock }, "").unwrap();
        for clock in [Clock::Guest, Clock::Outer] {
            let failed = timeout(clock);
            assert_eq!(failed.error, ErrorType::SandboxTimeout);
            assert!(failed.text.contains("1.5 seconds"), "{}", failed.text);
        }
        let memory = told(&Fault::OutOfMemory { cap: 1 << 20 }, "").unwrap();
        assert!(memory.text.contains("1 MiB"), "{}", memory.text);
        let exit = told(&Fault::Exit { success: false }, "bye").unwrap();
        assert_eq!(exit.error, ErrorType::SandboxTrap);
        assert!(exit.text.contains("bye"));
        assert_eq!(told(&Fault::Stopped, "bye"), None);
    }

    #[test]
    fn what_a_language_refuses_ran_nothing() {
        let failed = rejected(
            prepare::Band::Syntax,
            "1:3 unexpected `}`",
            &Mask::default(),
        )
        .unwrap();
        assert_eq!(failed.error, ErrorType::TranspileSyntax);
        assert_eq!(failed.band, Band::CompilerError);
        assert_eq!(failed.text, "Compiler error\n----\n1:3 unexpected `}`");
    }
}
