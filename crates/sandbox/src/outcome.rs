//! How a program ended, and which error of a turn that is (04 §6.4, 05 §3).

use std::time::Duration;

use vocab::failure::FailureClass;
use vocab::outcome::ErrorType;

use crate::contract::feedback::ErrorKind;
use crate::host::Report;

/// Which clock stopped a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The program's own time ran out.
    Guest,
    /// It waited outside of any call for longer than that and a grace.
    Outer,
}

/// Why a program did not end well. Nothing of it is a defect of gg's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its runtime told, in this order; never empty.
    Reported(Vec<Report>),
    /// It ran longer than its profile allows.
    Timeout {
        /// The configured time.
        budget: Duration,
        /// What stopped it.
        clock: Clock,
    },
    /// It asked for more memory than its profile allows, and died of it.
    OutOfMemory {
        /// The configured bytes.
        cap: u64,
    },
    /// It stopped itself.
    Exit {
        /// Whether it said it had succeeded.
        success: bool,
    },
    /// Its runtime died; standard error says more, where anything does.
    Trap {
        /// What the engine calls it.
        reason: String,
    },
    /// The run stopped.
    Stopped,
}

impl Fault {
    /// The error type of the turn; `None` where the run stopped, which is nobody's error.
    pub fn error_type(&self) -> Option<ErrorType> {
        Some(match self {
            Self::Reported(reports) => reports.first().map_or(ErrorType::ProgramThrow, reported),
            Self::Timeout { .. } => ErrorType::SandboxTimeout,
            Self::OutOfMemory { .. } => ErrorType::SandboxOutOfMemory,
            Self::Exit { .. } | Self::Trap { .. } => ErrorType::SandboxTrap,
            Self::Stopped => return None,
        })
    }
}

fn reported(report: &Report) -> ErrorType {
    match report.kind {
        ErrorKind::ApiFailure if report.code == Some(FailureClass::Unavailable) => {
            ErrorType::ProgramUnknownName
        }
        ErrorKind::ApiFailure => ErrorType::ProgramApiError,
        ErrorKind::UnknownName => ErrorType::ProgramUnknownName,
        ErrorKind::Other => ErrorType::ProgramThrow,
    }
}

/// How the engine came back from a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Return {
    /// The function returned.
    Returned,
    /// A clock ran out.
    Clock(Clock),
    /// The guest asked to end.
    Exit(bool),
    /// The guest died.
    Trap(String),
    /// The run stopped.
    Stopped,
}

/// What a program came to, and under what bounds.
pub(crate) struct Evidence {
    pub(crate) returned: Return,
    pub(crate) reports: Vec<Report>,
    pub(crate) denied_memory: bool,
    pub(crate) guest_time: Duration,
    pub(crate) budget: Duration,
    /// The budget the guest was told, by which it may have ended itself.
    pub(crate) stated: Duration,
    pub(crate) cap: u64,
}

/// The one judgement: what counts most of all that is known of an end.
pub(crate) fn judge(evidence: Evidence) -> Option<Fault> {
    let Evidence {
        returned,
        reports,
        denied_memory,
        guest_time,
        budget,
        stated,
        cap,
    } = evidence;
    let out_of_time = |clock| Fault::Timeout { budget, clock };
    // A call or a name that failed is what the program died of, however much memory it had asked
    // for before; a bare throw after a refusal of memory is how an engine says it ran out.
    let telling = reports
        .first()
        .is_some_and(|report| report.kind != ErrorKind::Other);
    match returned {
        Return::Stopped => Some(Fault::Stopped),
        Return::Clock(clock) => Some(out_of_time(clock)),
        Return::Exit(_) | Return::Trap(_) if guest_time >= stated => {
            Some(out_of_time(Clock::Guest))
        }
        Return::Exit(_) | Return::Trap(_) if denied_memory && !telling => {
            Some(Fault::OutOfMemory { cap })
        }
        _ if !reports.is_empty() && denied_memory && !telling => Some(Fault::OutOfMemory { cap }),
        _ if !reports.is_empty() => Some(Fault::Reported(reports)),
        Return::Exit(success) => Some(Fault::Exit { success }),
        Return::Trap(reason) => Some(Fault::Trap { reason }),
        Return::Returned => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(kind: ErrorKind, code: Option<FailureClass>) -> Report {
        Report {
            kind,
            code,
            operation: None,
            rendering: "Error: no".to_owned(),
        }
    }

    fn check(
        returned: Return,
        reports: Vec<Report>,
        denied_memory: bool,
        guest_secs: u64,
    ) -> Option<ErrorType> {
        judge(Evidence {
            returned,
            reports,
            denied_memory,
            guest_time: Duration::from_secs(guest_secs),
            budget: Duration::from_secs(10),
            stated: Duration::from_secs(9),
            cap: 1,
        })
        .and_then(|fault| fault.error_type())
    }

    #[test]
    fn each_way_to_end_is_one_error() {
        use ErrorType as E;
        use FailureClass as F;
        use Return as R;
        let other = || report(ErrorKind::Other, None);
        let api = |code| report(ErrorKind::ApiFailure, Some(code));
        let trap = || R::Trap("unreachable".to_owned());
        let table = [
            (R::Returned, vec![], false, 1, None),
            (R::Returned, vec![], true, 1, None),
            (R::Returned, vec![other()], false, 1, Some(E::ProgramThrow)),
            (
                R::Returned,
                vec![other()],
                true,
                1,
                Some(E::SandboxOutOfMemory),
            ),
            (
                R::Returned,
                vec![api(F::NotFound)],
                true,
                1,
                Some(E::ProgramApiError),
            ),
            (
                R::Returned,
                vec![api(F::Unavailable)],
                false,
                1,
                Some(E::ProgramUnknownName),
            ),
            (
                R::Returned,
                vec![report(ErrorKind::UnknownName, None), other()],
                false,
                1,
                Some(E::ProgramUnknownName),
            ),
            (trap(), vec![], false, 1, Some(E::SandboxTrap)),
            (trap(), vec![], true, 1, Some(E::SandboxOutOfMemory)),
            (trap(), vec![other()], false, 1, Some(E::ProgramThrow)),
            (trap(), vec![], false, 9, Some(E::SandboxTimeout)),
            (R::Exit(false), vec![], false, 1, Some(E::SandboxTrap)),
            (R::Exit(true), vec![], false, 1, Some(E::SandboxTrap)),
            (R::Exit(false), vec![], false, 9, Some(E::SandboxTimeout)),
            (
                R::Clock(Clock::Guest),
                vec![],
                true,
                10,
                Some(E::SandboxTimeout),
            ),
            (
                R::Clock(Clock::Outer),
                vec![other()],
                false,
                2,
                Some(E::SandboxTimeout),
            ),
            (R::Stopped, vec![other()], false, 1, None),
        ];
        for (index, (returned, reports, denied, secs, expected)) in table.into_iter().enumerate() {
            assert_eq!(
                check(returned, reports, denied, secs),
                expected,
                "row {index}"
            );
        }
    }
}
