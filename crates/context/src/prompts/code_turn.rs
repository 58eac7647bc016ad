//! What a code agent is told of its programs (04 §6.2, §6.4, §6.8).
//!
//! Three headings. Under `Compiler error` and `Runtime error` stands what a compiler or a runtime
//! wrote; gg adds to it only what nobody else can say, such as which limit ended a program. A
//! `Notice` is a fact about the session.

use std::time::Duration;

use serde::Serialize;

use super::PromptError;
use super::code_surface::{ProgramLanguage, bytes, seconds};
use super::template::templates;
use super::window::{Heading, headed};

templates! {
    STOPPED = "code_stopped",
    STDERR = "code_stderr",
    MORE_FAILURES = "code_more_failures",
    NOTICE = "code_notice",
    NOTHING_SHOWN = "code_nothing_shown",
    NO_PROGRAM = "code_no_program",
    NOT_SUBMITTED = "code_not_submitted",
    COMPACTION = "code_compaction",
    COMPACTION_RESTATED = "code_compaction_restated",
}

const COMPILER_ERROR: &str = "Compiler error";
const RUNTIME_ERROR: &str = "Runtime error";
const NOTICE_HEADING: &str = "Notice";

/// A program that its language's checker or parser refused: the diagnostics as they were written,
/// with what the arm declares beside them.
pub fn compiler_error(diagnostics: &str) -> Result<String, PromptError> {
    headed(&Heading::of(COMPILER_ERROR), diagnostics.trim_end())
}

/// Why a program was ended from outside, or ended itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped<'a> {
    /// Its own time ran out.
    Timeout(Duration),
    /// It waited outside of any call for longer than its time.
    Waited(Duration),
    /// It asked for more memory than these bytes.
    Memory(u64),
    /// It ended itself by its language's way to exit; whether it called that a success.
    Exit(bool),
    /// Its runtime died, of this.
    Trap(&'a str),
}

/// What a failing program is answered with.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeError<'a> {
    /// Failures in the runtime's own rendering, each with its location, in the order they came.
    pub renderings: &'a [String],
    /// What it wrote on standard error.
    pub stderr: &'a str,
    /// What ended it, where it did not end by failing.
    pub stopped: Option<Stopped<'a>>,
    /// Its calls that were carried out.
    pub calls: u64,
}

/// A program that failed while it ran.
pub fn runtime_error(error: &RuntimeError<'_>) -> Result<String, PromptError> {
    let mut parts: Vec<_> = error
        .renderings
        .iter()
        .map(|it| it.trim_end().to_owned())
        .collect();
    if !error.stderr.trim().is_empty() {
        #[derive(Serialize)]
        struct Stderr<'a> {
            text: &'a str,
        }
        let text = error.stderr.trim_end();
        parts.push(STDERR.render(&Stderr { text })?);
    }
    if let Some(stopped) = error.stopped {
        parts.push(stopped_by(stopped, error.calls)?);
    }
    headed(&Heading::of(RUNTIME_ERROR), &parts.join("\n\n"))
}

/// What stands behind the failures of a program that told of more than are kept.
pub fn more_failures(count: u64) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct More {
        count: u64,
    }
    MORE_FAILURES.render(&More { count })
}

fn stopped_by(stopped: Stopped<'_>, calls: u64) -> Result<String, PromptError> {
    #[derive(Default, Serialize)]
    struct Variables<'a> {
        timeout: Option<String>,
        waited: Option<String>,
        memory: Option<String>,
        exit: bool,
        success: bool,
        trap: Option<&'a str>,
        calls: u64,
    }
    let none = Variables {
        calls,
        ..Variables::default()
    };
    STOPPED.render(&match stopped {
        Stopped::Timeout(time) => Variables {
            timeout: Some(seconds(time)),
            ..none
        },
        Stopped::Waited(time) => Variables {
            waited: Some(seconds(time)),
            ..none
        },
        Stopped::Memory(cap) => Variables {
            memory: Some(bytes(cap)),
            ..none
        },
        Stopped::Exit(success) => Variables {
            exit: true,
            success,
            ..none
        },
        Stopped::Trap(reason) => Variables {
            trap: Some(reason),
            ..none
        },
    })
}

/// Why a program that another handed over to was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// The one that handed over failed afterwards.
    Failed,
    /// It also ended the session.
    Ended,
    /// As many as one submission may run had run.
    Full {
        /// How many that is.
        programs: u64,
    },
}

/// What carries code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A skill.
    Skill,
    /// A memory.
    Memory,
}

/// A fact about the session that a code agent is told behind its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeNotice<'a> {
    /// Several programs were submitted at once.
    SeveralPrograms {
        /// How many ran.
        count: u64,
    },
    /// A program that was handed over to did not run.
    HandoverDeclined(Declined),
    /// An ending that a failing program had declared.
    EndingRevoked,
    /// Code that could not be loaded.
    CodeNotLoaded {
        /// What carries it.
        carrier: Carrier,
        /// By which name.
        name: &'a str,
        /// Why, without its source.
        reason: &'a str,
    },
    /// An on-use script that failed.
    OnUseFailed {
        /// What carries it.
        carrier: Carrier,
        /// By which name.
        name: &'a str,
        /// Why, without its source.
        reason: &'a str,
    },
    /// An issue that was waited for has ended.
    IssueEnded {
        /// Its id.
        id: &'a str,
        /// Why it failed, where it did.
        failed: Option<&'a str>,
    },
    /// An issue that was waited for, and has not ended.
    IssueUnsettled {
        /// Its id.
        id: &'a str,
        /// Why it is waited for no more.
        reason: &'a str,
    },
}

/// What `code_notice` may reference. One of the flags and names is set.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct NoticeVariables<'a> {
    several: Option<u64>,
    handover: bool,
    failed: bool,
    ended: bool,
    full: Option<u64>,
    revoked: bool,
    code: bool,
    script: bool,
    skill: bool,
    name: &'a str,
    reason: &'a str,
    issue: Option<&'a str>,
    unsettled: bool,
}

/// A notice, under its heading.
pub fn code_notice(notice: CodeNotice<'_>) -> Result<String, PromptError> {
    use CodeNotice as N;
    let none = NoticeVariables::default();
    let variables = match notice {
        N::SeveralPrograms { count } => NoticeVariables {
            several: Some(count),
            ..none
        },
        N::HandoverDeclined(declined) => NoticeVariables {
            handover: true,
            failed: declined == Declined::Failed,
            ended: declined == Declined::Ended,
            full: match declined {
                Declined::Full { programs } => Some(programs),
                Declined::Failed | Declined::Ended => None,
            },
            ..none
        },
        N::EndingRevoked => NoticeVariables {
            revoked: true,
            ..none
        },
        N::CodeNotLoaded {
            carrier,
            name,
            reason,
        } => NoticeVariables {
            code: true,
            skill: carrier == Carrier::Skill,
            name,
            reason,
            ..none
        },
        N::OnUseFailed {
            carrier,
            name,
            reason,
        } => NoticeVariables {
            script: true,
            skill: carrier == Carrier::Skill,
            name,
            reason,
            ..none
        },
        N::IssueEnded { id, failed } => NoticeVariables {
            issue: Some(id),
            failed: failed.is_some(),
            reason: failed.unwrap_or_default(),
            ..none
        },
        N::IssueUnsettled { id, reason } => NoticeVariables {
            issue: Some(id),
            unsettled: true,
            reason,
            ..none
        },
    };
    headed(&Heading::of(NOTICE_HEADING), &NOTICE.render(&variables)?)
}

/// What a code agent is told whose programs ran and showed it nothing; `files` is whether it may
/// show itself files.
pub fn nothing_shown(language: &ProgramLanguage, files: bool) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Shown<'a> {
        language: &'a ProgramLanguage,
        files: bool,
    }
    let text = NOTHING_SHOWN.render(&Shown { language, files })?;
    headed(&Heading::of(NOTICE_HEADING), &text)
}

/// What a code agent is told whose reply submitted no program (`missing_completion_no_program`).
pub fn no_program(language: &ProgramLanguage) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Asked<'a> {
        language: &'a ProgramLanguage,
    }
    let text = NO_PROGRAM.render(&Asked { language })?;
    headed(&Heading::of(NOTICE_HEADING), &text)
}

/// Why a call of a code agent's reply brought no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotSubmitted<'a> {
    /// Its arguments have no `program`.
    Missing,
    /// `program` is this instead of a text: `a number`, `null`.
    NotText(&'a str),
    /// It calls another tool than the one there is.
    OtherTool(&'a str),
}

/// The result of such a call.
pub fn not_submitted(why: NotSubmitted<'_>) -> Result<String, PromptError> {
    #[derive(Default, Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Variables<'a> {
        missing: bool,
        found: Option<&'a str>,
        tool: Option<&'a str>,
    }
    let none = Variables::default();
    NOT_SUBMITTED.render(&match why {
        NotSubmitted::Missing => Variables {
            missing: true,
            ..none
        },
        NotSubmitted::NotText(found) => Variables {
            found: Some(found),
            ..none
        },
        NotSubmitted::OtherTool(tool) => Variables {
            tool: Some(tool),
            ..none
        },
    })
}

/// What a code agent has to do at a compaction of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeCompaction<'a> {
    /// The module that holds the function for it: that of the window for a summary, that of
    /// memories where these take its place.
    pub module: &'a str,
    /// Whether memories take the place of a summary.
    pub memories: bool,
    /// Whether the summary may name files that are read again.
    pub files: bool,
}

/// The instruction of a compaction that a code agent does itself.
pub fn code_compaction(compaction: CodeCompaction<'_>) -> Result<String, PromptError> {
    COMPACTION.render(&compaction)
}

/// The instruction again; `ran` where a program was submitted and did nothing of it.
pub fn code_compaction_restated(instruction: &str, ran: bool) -> Result<String, PromptError> {
    #[derive(Serialize)]
    struct Restated<'a> {
        instruction: &'a str,
        ran: bool,
    }
    COMPACTION_RESTATED.render(&Restated { instruction, ran })
}
