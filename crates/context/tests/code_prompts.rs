//! What a code agent reads, kept as golden files. That every arm states its rules and no template
//! names a function is for the gates in `tests/`, which know the arms.

mod everything;

use std::time::Duration;

use context::prompts::{
    self, Carrier, CodeCompaction, CodeNotice, CodeSurface, Declined, ExitLine, MachineSection,
    ModuleImport, NotSubmitted, ProgramBounds, ProgramLanguage, ProgramLibrary, RuntimeError,
    Stopped, SystemContext,
};
use everything::{Calls, everything};
use vocab::operations::EndingRole;

const LANGUAGES: [ProgramLanguage; 3] = [
    ProgramLanguage {
        id: "typescript",
        name: "TypeScript",
        checker: Some("tsc"),
    },
    ProgramLanguage {
        id: "javascript",
        name: "JavaScript",
        checker: None,
    },
    ProgramLanguage {
        id: "python",
        name: "Python",
        checker: None,
    },
];

/// The modules of an arm that a test context grants something in.
fn modules(language: ProgramLanguage, ids: &[&'static str]) -> Vec<ModuleImport> {
    let of = |id: &'static str| match (language.id, id) {
        ("python", "files") => ("gg.files", "import gg"),
        ("python", "docs") => ("gg.docs", "import gg"),
        ("python", "views") => ("gg.views", "import gg"),
        ("python", _) => ("gg.session", "import gg"),
        (_, "files") => ("gg.files", "import { files } from \"gg\";"),
        (_, "docs") => ("gg.docs", "import { docs } from \"gg\";"),
        (_, "views") => ("gg.views", "import { views } from \"gg\";"),
        (_, _) => ("gg.session", "import { session } from \"gg\";"),
    };
    let import = |id: &&'static str| {
        let (path, import) = of(id);
        ModuleImport { id, path, import }
    };
    ids.iter().map(import).collect()
}

fn surface(language: ProgramLanguage, granted: &[&'static str]) -> CodeSurface {
    let finish = match language.id {
        "python" => "gg.session.finish",
        _ => "session.finish",
    };
    let bounds = ProgramBounds::new(Duration::from_secs(30), 268_435_456);
    CodeSurface::new(language, modules(language, granted), vec![finish], bounds)
}

const ALWAYS: [&str; 3] = ["docs", "views", "session"];

fn off(language: ProgramLanguage) -> SystemContext {
    SystemContext::of_code(EndingRole::Standard, 200_000, surface(language, &ALWAYS))
}

/// What a program calls by which name.
const CALLS: Calls = Calls {
    compact: "context.compact",
    evict: "context.evictFileView",
    archive: "context.archiveThread",
    spawn: "delegation.spawnSubagent",
    wait: "delegation.waitForSubagents",
    fork: "delegation.fork",
    exec: "delegation.exec",
};

fn on(language: ProgramLanguage) -> SystemContext {
    let mut surface = surface(language, &["files", "docs", "views", "session"]);
    surface.library = Some(ProgramLibrary { keep: Some(20) });
    SystemContext {
        machine: Some(MachineSection {
            state: "plan".to_owned(),
            leave: "delegation.transitionState",
            exits: vec![ExitLine {
                state: "build".to_owned(),
                description: "When the plan stands.".to_owned(),
                history: false,
            }],
        }),
        ..everything(
            CALLS,
            SystemContext::of_code(EndingRole::Standard, 200_000, surface),
        )
    }
}

fn render(context: &SystemContext) -> String {
    prompts::system(context, None, None).expect("gg's own template renders")
}

#[test]
fn system_prompt_of_each_arm_with_everything_on() {
    for language in LANGUAGES {
        insta::assert_snapshot!(format!("on_{}", language.id), render(&on(language)));
    }
}

#[test]
fn system_prompt_of_each_arm_with_everything_off() {
    for language in LANGUAGES {
        insta::assert_snapshot!(format!("off_{}", language.id), render(&off(language)));
    }
}

#[test]
fn a_reviewer_is_told_how_it_ends() {
    let mut surface = surface(LANGUAGES[2], &ALWAYS);
    surface.endings = vec!["gg.session.approve", "gg.session.request_changes"];
    let context = SystemContext::of_code(EndingRole::Review, 8_000, surface);
    let text = render(&context);
    let line = text.lines().last().unwrap();
    assert_eq!(
        line,
        "Your session ends only by `gg.session.approve` or `gg.session.request_changes`, in a program \
         that does not fail. Judge the work as it stands in the files, not as it is described, \
         before you call one."
    );
}

#[test]
fn an_arm_s_words_are_all_that_differs_between_two_arms() {
    let typescript = render(&off(LANGUAGES[0]));
    let javascript = render(&off(LANGUAGES[1]));
    let differing = typescript
        .lines()
        .filter(|line| !javascript.lines().any(|other| other == *line));
    // The line that says what a reply is, and the paragraph that is not the other's.
    assert_eq!(differing.count(), 2, "{typescript}\n\n{javascript}");
}

#[test]
fn an_override_of_a_code_agent_may_say_what_gg_s_own_template_does() {
    let (_, source) = prompts::templates()
        .find(|(name, _)| *name == "system_code")
        .expect("the template is listed");
    for context in [on(LANGUAGES[0]), off(LANGUAGES[2])] {
        let text = prompts::system(&context, None, Some(source)).unwrap();
        assert_eq!(text, render(&context));
    }
}

#[test]
fn the_prompt_of_a_code_agent_stays_small() {
    for language in LANGUAGES {
        let (off, on) = (render(&off(language)), render(&on(language)));
        assert!(off.len() < 2_700, "{}: {}", language.id, off.len());
        assert!(on.len() < 7_500, "{}: {}", language.id, on.len());
    }
}

#[test]
fn what_a_failing_program_is_answered_with() {
    let thrown = ["Error: no such thing\n    at program.js:3:7\n".to_owned()];
    let texts = [
        prompts::compiler_error(
            "program.ts(1,5): error TS2322: Type 'string' is not assignable.\n",
        ),
        prompts::runtime_error(&RuntimeError {
            renderings: &thrown,
            stderr: "warning: {{old}}\n",
            stopped: None,
            calls: 2,
        }),
        prompts::runtime_error(&RuntimeError {
            renderings: &[],
            stderr: " \n",
            stopped: Some(Stopped::Timeout(Duration::from_millis(30_500))),
            calls: 3,
        }),
        prompts::runtime_error(&RuntimeError {
            renderings: &["InternalError: interrupted".to_owned()],
            stderr: "",
            stopped: Some(Stopped::Waited(Duration::from_secs(30))),
            calls: 0,
        }),
        prompts::runtime_error(&RuntimeError {
            renderings: &[],
            stderr: "",
            stopped: Some(Stopped::Memory(32 * 1024 * 1024)),
            calls: 1,
        }),
        prompts::runtime_error(&RuntimeError {
            renderings: &[],
            stderr: "",
            stopped: Some(Stopped::Exit(true)),
            calls: 1,
        }),
        prompts::runtime_error(&RuntimeError {
            renderings: &[],
            stderr: "",
            stopped: Some(Stopped::Exit(false)),
            calls: 1,
        }),
        prompts::runtime_error(&RuntimeError {
            renderings: &[],
            stderr: "Fatal Python error: Segmentation fault",
            stopped: Some(Stopped::Trap("wasm trap: out of bounds memory access")),
            calls: 0,
        }),
    ];
    let texts: Vec<_> = texts.into_iter().map(Result::unwrap).collect();
    insta::assert_snapshot!(texts.join("\n\n====\n\n"));
}

#[test]
fn notices_of_a_code_agent() {
    let notices = [
        CodeNotice::SeveralPrograms { count: 3 },
        CodeNotice::HandoverDeclined(Declined::Failed),
        CodeNotice::HandoverDeclined(Declined::Ended),
        CodeNotice::HandoverDeclined(Declined::Full { programs: 4 }),
        CodeNotice::EndingRevoked,
        CodeNotice::CodeNotLoaded {
            carrier: Carrier::Skill,
            name: "csv-tools",
            reason: "SyntaxError: no\n    at csv.js:1:1",
        },
        CodeNotice::OnUseFailed {
            carrier: Carrier::Memory,
            name: "ports",
            reason: "NotFound: `a` does not exist",
        },
        CodeNotice::IssueEnded {
            id: "ISSUE-1",
            failed: None,
        },
        CodeNotice::IssueEnded {
            id: "GG-2",
            failed: Some("the branch could not be merged"),
        },
        CodeNotice::IssueUnsettled {
            id: "GG-3",
            reason: "`GG-3` no longer exists; it was removed from the board",
        },
    ];
    let texts: Vec<_> = notices
        .into_iter()
        .map(|notice| prompts::code_notice(notice).unwrap())
        .collect();
    insta::assert_snapshot!(texts.join("\n\n====\n\n"));
}

#[test]
fn what_a_reply_without_a_program_is_answered_with() {
    let mut texts = Vec::new();
    for language in LANGUAGES {
        texts.push(prompts::no_program(&language));
        texts.push(prompts::nothing_shown(&language, language.id == "python"));
    }
    for why in [
        NotSubmitted::Missing,
        NotSubmitted::NotText("a list"),
        NotSubmitted::OtherTool("read_file"),
    ] {
        texts.push(prompts::not_submitted(why));
    }
    let texts: Vec<_> = texts.into_iter().map(Result::unwrap).collect();
    insta::assert_snapshot!(texts.join("\n\n====\n\n"));
}

#[test]
fn a_compaction_that_a_code_agent_does_itself() {
    let mut texts = Vec::new();
    for (module, memories, files) in [
        ("gg.context", false, true),
        ("gg.context", false, false),
        ("gg.memories", true, false),
    ] {
        let compaction = CodeCompaction {
            module,
            memories,
            files,
        };
        texts.push(prompts::code_compaction(compaction));
    }
    texts.push(prompts::code_compaction_restated("Do it.", true));
    texts.push(prompts::code_compaction_restated("Do it.", false));
    let texts: Vec<_> = texts.into_iter().map(Result::unwrap).collect();
    insta::assert_snapshot!(texts.join("\n\n====\n\n"));
}
