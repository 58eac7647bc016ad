//! How turns, agents and runs end (01 §1, §5; 06 §4).

use serde::{Deserialize, Serialize};

use crate::ids::AgentId;
use crate::words::words;

words! {
    /// The five families of turn errors. Their ids never change.
    ErrorBase ("error base") {
        /// The model call failed or its reply could not be used.
        ModelApi = "model_api",
        /// A program did not compile.
        Transpile = "transpile",
        /// A program threw.
        ProgramFault = "program_fault",
        /// A program hit a ceiling of the sandbox.
        SandboxLimit = "sandbox_limit",
        /// A reply declared no work.
        MissingCompletion = "missing_completion",
    }
}

words! {
    /// What exactly went wrong in an error turn.
    ErrorType ("error type") {
        /// The credential was refused.
        ModelAuth = "model_auth",
        /// Another final 4xx.
        ModelRejected = "model_rejected",
        /// The retry schedule was spent.
        ModelRetryExhausted = "model_retry_exhausted",
        /// Every attempt repeated itself without end.
        ModelResponseLoop = "model_response_loop",
        /// The model refuses pictures.
        ModelVisionUnsupported = "model_vision_unsupported",
        /// A 2xx that cannot be read.
        ModelParse = "model_parse",
        /// A provider outside the candidate answered.
        ModelProviderMismatch = "model_provider_mismatch",
        /// One attempt outlived its whole-call timeout.
        ModelTimeout = "model_timeout",
        /// The reply was cut at the output cap.
        ModelLengthCapped = "model_length_capped",
        /// A program does not parse.
        TranspileSyntax = "transpile_syntax",
        /// A program does not compile.
        TranspileCompile = "transpile_compile",
        /// A program uses what the arm does not support.
        TranspileUnsupported = "transpile_unsupported",
        /// An uncaught failed call.
        ProgramApiError = "program_api_error",
        /// A name that is not in scope or not available.
        ProgramUnknownName = "program_unknown_name",
        /// Any other throw.
        ProgramThrow = "program_throw",
        /// Guest time ran out.
        SandboxTimeout = "sandbox_timeout",
        /// Guest memory ran out.
        SandboxOutOfMemory = "sandbox_out_of_memory",
        /// The guest trapped.
        SandboxTrap = "sandbox_trap",
        /// A tool-calling reply without a call.
        MissingCompletionNoCall = "missing_completion_no_call",
        /// No call while a compaction was pending.
        MissingCompletionCompaction = "missing_completion_compaction",
        /// A code reply without a program.
        MissingCompletionNoProgram = "missing_completion_no_program",
        /// The same call with the same result, over and over (R39).
        RepeatedCall = "repeated_call",
    }
}

impl ErrorType {
    /// The family it belongs to.
    pub const fn base(self) -> ErrorBase {
        match self {
            Self::ModelAuth
            | Self::ModelRejected
            | Self::ModelRetryExhausted
            | Self::ModelResponseLoop
            | Self::ModelVisionUnsupported
            | Self::ModelParse
            | Self::ModelProviderMismatch
            | Self::ModelTimeout
            | Self::ModelLengthCapped => ErrorBase::ModelApi,
            Self::TranspileSyntax | Self::TranspileCompile | Self::TranspileUnsupported => {
                ErrorBase::Transpile
            }
            Self::ProgramApiError | Self::ProgramUnknownName | Self::ProgramThrow => {
                ErrorBase::ProgramFault
            }
            Self::SandboxTimeout | Self::SandboxOutOfMemory | Self::SandboxTrap => {
                ErrorBase::SandboxLimit
            }
            Self::MissingCompletionNoCall
            | Self::MissingCompletionCompaction
            | Self::MissingCompletionNoProgram
            | Self::RepeatedCall => ErrorBase::MissingCompletion,
        }
    }

    /// The words shared by logs and viewers.
    pub const fn label(self) -> &'static str {
        match self {
            Self::ModelAuth => "the credential was refused",
            Self::ModelRejected => "the request was refused",
            Self::ModelRetryExhausted => "every attempt of the retry schedule failed",
            Self::ModelResponseLoop => "every attempt repeated itself without end",
            Self::ModelVisionUnsupported => "the model refuses pictures",
            Self::ModelParse => "the reply could not be read",
            Self::ModelProviderMismatch => "another provider answered than the one asked",
            Self::ModelTimeout => "the call outlived its timeout",
            Self::ModelLengthCapped => "the reply was cut at the output cap",
            Self::TranspileSyntax => "the program does not parse",
            Self::TranspileCompile => "the program does not compile",
            Self::TranspileUnsupported => "the program uses what the language arm does not support",
            Self::ProgramApiError => "a failed call was not caught",
            Self::ProgramUnknownName => "a name is not in scope or not available",
            Self::ProgramThrow => "the program threw",
            Self::SandboxTimeout => "the program ran out of time",
            Self::SandboxOutOfMemory => "the program ran out of memory",
            Self::SandboxTrap => "the program trapped",
            Self::MissingCompletionNoCall => "the reply called no tool",
            Self::MissingCompletionCompaction => "the reply ignored a pending compaction",
            Self::MissingCompletionNoProgram => "the reply submitted no program",
            Self::RepeatedCall => "the same call was repeated without effect",
        }
    }
}

words! {
    /// The one judgement of a turn (06 §4).
    TurnVerdict ("turn outcome") {
        /// The declared work was carried out.
        Progressed = "progressed",
        /// The declared work was carried out and ended the agent.
        Finished = "finished",
        /// The declared work could not be carried out as declared.
        Error = "error",
        /// gg's own machinery failed: counted, charged to no ceiling.
        Fatal = "fatal",
    }
}

words! {
    /// How an agent's loop, or a whole run, ended (01 §1.2).
    EndStatus ("status") {
        /// An accepted ending call.
        Completed = "completed",
        /// `maxTurns` was reached.
        Exhausted = "exhausted",
        /// `maxRuntimeSecs` was reached.
        TimedOut = "timed_out",
        /// An error ceiling or `maxCost` was reached.
        LimitExceeded = "limit_exceeded",
        /// The operator stopped the run.
        Canceled = "canceled",
        /// A model call failed for good.
        ModelError = "model_error",
        /// The credential is missing or was refused.
        AuthError = "auth_error",
        /// A hook judged nothing.
        HookError = "hook_error",
        /// A compaction could not relieve the window.
        CompactionFailed = "compaction_failed",
        /// A defect of gg's own.
        InternalError = "internal_error",
        /// An incarnation that handed itself on.
        Transitioned = "transitioned",
        /// A session that never began.
        LaunchRefused = "launch_refused",
    }
}

impl EndStatus {
    /// Whether it counts as a failure to a spawner. While the defect latch is up every failure
    /// reads [`EndStatus::InternalError`].
    pub const fn is_failure(self) -> bool {
        matches!(
            self,
            Self::ModelError
                | Self::AuthError
                | Self::HookError
                | Self::CompactionFailed
                | Self::InternalError
        )
    }
}

words! {
    /// The five execution ceilings, as a breach names them.
    Limit ("limit") {
        /// `maxTurns`
        Turns = "turns",
        /// `maxRuntimeSecs`
        Runtime = "runtime",
        /// `maxConsecutiveErrors`
        ConsecutiveErrors = "consecutive_errors",
        /// `maxErrorRate` over `errorRateWindow`
        ErrorRate = "error_rate",
        /// `maxCost`
        Cost = "cost",
    }
}

impl Limit {
    /// The status of the agent that met it.
    pub const fn status(self) -> EndStatus {
        match self {
            Self::Turns => EndStatus::Exhausted,
            Self::Runtime => EndStatus::TimedOut,
            Self::ConsecutiveErrors | Self::ErrorRate | Self::Cost => EndStatus::LimitExceeded,
        }
    }
}

/// A ceiling that was met, as recorded (01 §5). All figures are `f64`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Breach {
    /// Which ceiling.
    pub limit: Limit,
    /// Its configured value.
    pub threshold: f64,
    /// The value met.
    pub observed: f64,
    /// The window of an error rate; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window: Option<f64>,
    /// Turns the observing agent had answered.
    pub turns: f64,
    /// Who observed it: for a run-wide ceiling the first agent at its boundary.
    pub agent_id: AgentId,
}

/// The exit code of a run (01 §1.1).
///
/// A defect of gg's own, or a reply of another provider, beats a breach anywhere in the tree; a
/// breach beats a natural end and every other failure of the root.
pub const fn exit_code(root: EndStatus, defect: bool, mismatch: bool, any_breach: bool) -> u8 {
    if defect || mismatch {
        return 1;
    }
    if any_breach {
        return 3;
    }
    match root {
        EndStatus::Completed | EndStatus::Canceled | EndStatus::Transitioned => 0,
        EndStatus::Exhausted | EndStatus::TimedOut | EndStatus::LimitExceeded => 3,
        EndStatus::ModelError
        | EndStatus::AuthError
        | EndStatus::HookError
        | EndStatus::CompactionFailed
        | EndStatus::InternalError
        | EndStatus::LaunchRefused => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_two_error_types_in_five_bases() {
        assert_eq!(ErrorType::ALL.len(), 22);
        assert_eq!(ErrorBase::ALL.len(), 5);
        for error in ErrorType::ALL {
            let base = error.base().as_str();
            let stem = match error.base() {
                ErrorBase::ModelApi => "model",
                ErrorBase::ProgramFault => "program",
                ErrorBase::SandboxLimit => "sandbox",
                _ => base,
            };
            assert!(
                error.as_str().starts_with(stem) || *error == ErrorType::RepeatedCall,
                "{error} is named for {base}"
            );
        }
    }

    #[test]
    fn defects_beat_breaches_and_breaches_beat_the_rest() {
        use EndStatus::*;
        assert_eq!(exit_code(Completed, false, false, false), 0);
        assert_eq!(exit_code(Completed, false, false, true), 3);
        assert_eq!(exit_code(Completed, true, false, true), 1);
        assert_eq!(exit_code(ModelError, false, true, true), 1);
        assert_eq!(exit_code(ModelError, false, false, true), 3);
        assert_eq!(exit_code(ModelError, false, false, false), 1);
        assert_eq!(exit_code(Canceled, false, false, false), 0);
        assert_eq!(exit_code(Exhausted, false, false, true), 3);
        assert_eq!(exit_code(LaunchRefused, false, false, false), 1);
    }
}
