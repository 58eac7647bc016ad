//! Every name that a rendered prompt writes under one of gg's modules is one that module publishes
//! (05 §7). What is rendered is read, for every arm: values of the context are covered.

use std::collections::BTreeSet;
use std::time::Duration;

use actors::agent::code_surface::language;
use context::prompts::{
    self, Carrier, CodeCompaction, CodeNotice, Declined, NotSubmitted, RuntimeError, Stopped,
};
use sandbox::arms::{self, Arm};
use sandbox::catalogue;
use vocab::operations::{Binding, EndingRole, OPERATIONS};

use crate::fixtures;

/// Every fact a code agent may be told, in every shape it has.
fn notices() -> Vec<CodeNotice<'static>> {
    let (name, reason) = ("csv-tools", "Error: no");
    let carriers = [Carrier::Skill, Carrier::Memory];
    let mut notices = vec![
        CodeNotice::SeveralPrograms { count: 2 },
        CodeNotice::EndingRevoked,
    ];
    let declined = [
        Declined::Failed,
        Declined::Ended,
        Declined::Full { programs: 4 },
    ];
    notices.extend(declined.map(CodeNotice::HandoverDeclined));
    notices.extend(carriers.map(|carrier| CodeNotice::CodeNotLoaded {
        carrier,
        name,
        reason,
    }));
    notices.extend(carriers.map(|carrier| CodeNotice::OnUseFailed {
        carrier,
        name,
        reason,
    }));
    let failed = [None, Some(reason)];
    notices.extend(failed.map(|failed| CodeNotice::IssueEnded {
        id: "ISSUE-1",
        failed,
    }));
    notices.push(CodeNotice::IssueUnsettled {
        id: "ISSUE-2",
        reason,
    });
    notices
}

/// Which of its kind a notice is: one that is new is to be listed above, and counted here.
const fn kind(notice: &CodeNotice<'_>) -> usize {
    match notice {
        CodeNotice::SeveralPrograms { .. } => 0,
        CodeNotice::HandoverDeclined(_) => 1,
        CodeNotice::EndingRevoked => 2,
        CodeNotice::CodeNotLoaded { .. } => 3,
        CodeNotice::OnUseFailed { .. } => 4,
        CodeNotice::IssueEnded { .. } => 5,
        CodeNotice::IssueUnsettled { .. } => 6,
    }
}

#[test]
fn every_kind_of_notice_is_read() {
    let kinds: BTreeSet<usize> = notices().iter().map(kind).collect();
    assert_eq!(kinds, (0..7).collect());
}

/// Every text that gg words for a code agent of an arm.
fn texts(arm: &dyn Arm) -> Vec<(String, String)> {
    let language = language(arm);
    let mut texts: Vec<_> = fixtures::agents(arm)
        .into_iter()
        .map(|(name, context)| (name, prompts::system(&context, None, None).unwrap()))
        .collect();
    let surface = fixtures::surface(arm, &fixtures::offer(EndingRole::Standard, true));
    let mut turn = vec![
        prompts::nothing_shown(&language, true),
        prompts::no_program(&language),
        prompts::not_submitted(NotSubmitted::Missing),
        prompts::not_submitted(NotSubmitted::NotText("a number")),
        prompts::not_submitted(NotSubmitted::OtherTool("other")),
        prompts::compiler_error("program:1: no"),
        prompts::more_failures(2),
    ];
    turn.extend(notices().into_iter().map(prompts::code_notice));
    for stopped in [
        Stopped::Timeout(Duration::from_secs(1)),
        Stopped::Waited(Duration::from_secs(1)),
        Stopped::Memory(1),
        Stopped::Exit(true),
        Stopped::Exit(false),
        Stopped::Trap("unreachable"),
    ] {
        turn.push(prompts::runtime_error(&RuntimeError {
            renderings: &[],
            stderr: "",
            stopped: Some(stopped),
            calls: 1,
        }));
    }
    for (module, memories) in [("context", false), ("memories", true)] {
        let module = surface.path(module).unwrap();
        let compaction = CodeCompaction {
            module,
            memories,
            files: true,
        };
        let instruction = prompts::code_compaction(compaction).unwrap();
        for ran in [true, false] {
            turn.push(prompts::code_compaction_restated(&instruction, ran));
        }
        turn.push(Ok(instruction));
    }
    let turn = turn.into_iter().map(Result::unwrap);
    texts.extend(turn.map(|text| (format!("{}, in a turn", arm.id()), text)));
    texts
}

/// Complaints about the names a text writes under an arm's modules.
fn judge(arm: &dyn Arm, text: &str) -> Vec<String> {
    let names = arms::names(arm.language());
    let separator = arm.member_separator();
    let catalogue = catalogue::of(arm.language()).ok();
    let mut complaints = Vec::new();
    for module in names.modules() {
        let published = |name: &str| match catalogue {
            Some(catalogue) => {
                let functions = catalogue.functions.iter();
                let of_module = |full: &str| {
                    full.rsplit_once(separator)
                        .is_some_and(|(path, last)| path == module.path && last == name)
                };
                functions.map(|it| it.fqn.as_str()).any(of_module)
                    || catalogue.types.iter().any(|it| of_module(&it.fqn))
            }
            None => OPERATIONS.iter().any(|row| {
                row.module() == module.id
                    && arm.spelling(row).rsplit(separator).next() == Some(name)
            }),
        };
        // As the documentation files it, and as a program writes it behind its import.
        for path in [module.path.as_str(), module.id] {
            for (at, _) in text.match_indices(&format!("{path}{separator}")) {
                if text[..at].ends_with(|c: char| c.is_alphanumeric() || "._:/".contains(c)) {
                    continue;
                }
                let rest = &text[at + path.len() + separator.len()..];
                let name: String = rest
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                if !name.is_empty() && !published(&name) {
                    complaints.push(format!("{path}{separator}{name} is not published"));
                }
                // The one kind of call that a prompt may name at all.
                let ends = OPERATIONS.iter().any(|row| {
                    matches!(row.binding, Binding::Ending(_))
                        && row.module() == module.id
                        && arm.spelling(row).ends_with(&format!("{separator}{name}"))
                });
                if !name.is_empty() && !ends {
                    complaints.push(format!("{path}{separator}{name} is named"));
                }
            }
        }
    }
    complaints
}

#[test]
fn every_name_under_a_module_is_a_call_that_ends_the_agent_and_published() {
    for arm in arms::all() {
        for (what, text) in texts(arm) {
            let complaints = judge(arm, &text);
            assert!(complaints.is_empty(), "{what}: {complaints:?}\n{text}");
        }
    }
}

#[test]
fn a_name_that_is_none_is_caught() {
    for arm in arms::all() {
        for (text, complaint) in [
            ("Show it by gg.views.showText.", "showText is not published"),
            ("End by `session.complete`.", "complete is not published"),
            ("Call gg.docs.search.", "search is named"),
        ] {
            let complaints = judge(arm, text);
            assert!(
                complaints.iter().any(|it| it.contains(complaint)),
                "{text}: {complaints:?}"
            );
        }
        let fine = "my.files.of use `gg.files`. A file's docs. Then views.";
        assert_eq!(judge(arm, fine), [""; 0]);
    }
}
