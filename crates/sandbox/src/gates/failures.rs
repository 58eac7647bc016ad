//! The gate of runtime failures: every shape of failure is its own error of the turn, and its report names
//! what went wrong and where (05 §3).

use vocab::failure::FailureClass;
use vocab::language::ProgramLanguage;
use vocab::operations::EndingRole;
use vocab::outcome::ErrorType;

use crate::arms;
use crate::fakes::{Fake, nothing};
use crate::prepare::{Band, PrepareContext, PrepareError};
use crate::trial::{ended, failure, program};

/// A cell of the table: the error of the turn, and what the report names.
type Cell = (&'static str, ErrorType, &'static [&'static str]);

/// Five shapes, in the table's order: an uncaught failed call, a native fault, a failure value, a
/// stack overflow, an explicit exit; then an uncaught refusal. TypeScript's compiler refuses its exit.
fn shapes(language: ProgramLanguage) -> Vec<Cell> {
    use ErrorType as E;
    match language {
        ProgramLanguage::Typescript => vec![
            (
                "import { files } from \"gg\";\nfiles.readFile(\"a\");",
                E::ProgramApiError,
                &["ApiError", "not-found", "program.ts:2"],
            ),
            (
                "interface A { x: number }\nconst a = JSON.parse(\"null\") as A;\na.x;",
                E::ProgramThrow,
                &["TypeError", "program.ts:3"],
            ),
            ("throw { a: 1 };", E::ProgramThrow, &["Uncaught { a: 1 }"]),
            (
                "interface A { x: number }\nfunction deep(n: number): number { return deep(n + 1) + 1; }\n\
                 deep(0);",
                E::ProgramThrow,
                &[
                    "RangeError: Maximum call stack size exceeded",
                    "program.ts:2",
                ],
            ),
            (
                "import { board } from \"gg\";\nboard.readIssue(\"a\");",
                E::ProgramUnknownName,
                &["`gg.board.read_issue` is not available.", "program.ts:2"],
            ),
        ],
        ProgramLanguage::Javascript => vec![
            (
                "import { files } from \"gg\";\nfiles.readFile(\"a\");",
                E::ProgramApiError,
                &["ApiError", "not-found", "program.js:2"],
            ),
            (
                "const a = 1;\nnull.x;",
                E::ProgramThrow,
                &["TypeError", "program.js:2"],
            ),
            ("throw { a: 1 };", E::ProgramThrow, &["Uncaught { a: 1 }"]),
            (
                "function deep(n) { return deep(n + 1) + 1; }\ndeep(0);",
                E::ProgramThrow,
                &[
                    "RangeError: Maximum call stack size exceeded",
                    "program.js:1",
                ],
            ),
            (
                "\nexit(1);",
                E::ProgramUnknownName,
                &["exit is not defined", "program.js:2"],
            ),
            (
                "import { board } from \"gg\";\nboard.readIssue(\"a\");",
                E::ProgramUnknownName,
                &["`gg.board.read_issue` is not available.", "program.js:2"],
            ),
        ],
        ProgramLanguage::Python => vec![
            (
                "import gg\ngg.files.read_file('a')",
                E::ProgramApiError,
                &["ApiError", "not-found", "\"program.py\", line 2"],
            ),
            (
                "a = 1\n1 // 0",
                E::ProgramThrow,
                &["ZeroDivisionError", "\"program.py\", line 2"],
            ),
            (
                "class Mine(Exception): pass\nraise Mine('a', 1)",
                E::ProgramThrow,
                &["Mine: ('a', 1)", "\"program.py\", line 2"],
            ),
            (
                "def deep(n): return deep(n + 1) + 1\ndeep(0)",
                E::ProgramThrow,
                &["RecursionError", "\"program.py\", line 1, in deep"],
            ),
            ("import sys\nsys.exit(1)", E::SandboxTrap, &["Exit"]),
            (
                "import gg\ngg.board.read_issue('a')",
                E::ProgramUnknownName,
                &[
                    "`gg.board.read_issue` is not available.",
                    "\"program.py\", line 2",
                ],
            ),
        ],
    }
}

#[test]
fn each_shape_of_failure_is_its_own_error_and_names_its_place() {
    for language in ProgramLanguage::ALL.iter().copied() {
        for (source, expected, parts) in shapes(language) {
            let refused = parts.iter().any(|part| part.contains("is not available"));
            let mut program = program(language, source);
            if refused {
                program.offer = nothing(EndingRole::Standard);
            }
            let execution = ended(
                program,
                Fake {
                    fails: Some(("files.read_file", FailureClass::NotFound)),
                    ..Fake::default()
                },
            );
            let (error, text) = failure(&execution);
            assert_eq!(error, expected, "{source}\n{text}");
            for part in parts {
                assert!(text.contains(part), "{part} of {source} is not in\n{text}");
            }
            assert_eq!(execution.calls.refused.items.len(), usize::from(refused));
        }
    }
}

#[test]
fn an_exit_of_typescript_is_refused_by_its_compiler() {
    let told = arms::of(ProgramLanguage::Typescript).prepare_program(
        "exit(1);",
        &[],
        &PrepareContext::default(),
    );
    assert!(
        matches!(
            &told,
            Err(PrepareError::Rejected {
                band: Band::Compile,
                diagnostics
            }) if diagnostics.contains("'exit'")
        ),
        "{told:?}"
    );
}
