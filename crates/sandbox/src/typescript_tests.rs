//! Programs in TypeScript through the whole of it: compiler, guest, SDK, contract, membrane.
//!
//! They need the guest and the compiler that `cargo xtask arms` brings, and say so where one is
//! missing.

use std::collections::BTreeSet;

use vocab::failure::FailureClass;
use vocab::grant::Offer;
use vocab::language::ProgramLanguage;
use vocab::operations::{OPERATIONS, Operation};
use vocab::outcome::ErrorType;

use crate::arms::{self, Lines, Opening};
use crate::contract::CodeModule;
use crate::fakes::Fake;
use crate::prepare::{PrepareContext, Prepared};
use crate::program::{Execution, Program};
use crate::trial::{ended, failure, offers, printed, program};

/// One call of every operation, named `CALLS`, as both arms are given it.
const CALLS: &str = include_str!("javascript_tests.js");

fn prepared(source: &str, modules: &[CodeModule]) -> Prepared {
    let arm = arms::of(ProgramLanguage::Typescript);
    let outcome = arm.prepare_program(source, modules, &PrepareContext::default());
    outcome.unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// A program as it is started once it is prepared.
fn ready(source: &str, modules: &[CodeModule]) -> Program {
    let prepared = prepared(source, modules);
    Program {
        modules: prepared.modules,
        locations: prepared.locations,
        ..emitted(&prepared.source)
    }
}

/// One that runs as it stands.
fn emitted(source: &str) -> Program {
    program(ProgramLanguage::Javascript, source)
}

fn run(source: &str) -> Execution {
    ended(ready(source, &[]), Fake::default())
}

/// A program that does something with each call an offer holds.
fn each(offer: &Offer, body: &str) -> String {
    let ids: Vec<_> = offer.operations().map(|row| row.id).collect();
    let calls = CALLS.replace(
        "const CALLS = [",
        "const CALLS: [string, () => unknown][] = [",
    );
    assert_ne!(calls, CALLS);
    format!(
        "{calls}\nconst OFFERED: string[] = {ids:?};
        for (const [id, call] of CALLS.filter(([id]) => OFFERED.includes(id))) {{ {body} }}
        void ApiError; void core;"
    )
}

#[test]
fn one_program_calls_every_operation_and_sees_what_it_answers() {
    let mut called = BTreeSet::new();
    for offer in offers() {
        let source = each(
            &offer,
            "console.log(id, JSON.stringify(call()) ?? \"nothing\");",
        );
        let rows: Vec<_> = offer.operations().collect();
        let ready = ready(&source, &[]);
        let execution = ended(Program { offer, ..ready }, Fake::default());
        assert_eq!(execution.fault, None, "{}", execution.stderr);
        assert_eq!(execution.calls.made as usize, rows.len());
        assert_eq!(printed(&execution).len(), rows.len());
        called.extend(rows.iter().map(|row| row.id));
    }
    assert_eq!(called.len(), OPERATIONS.len());
}

#[test]
fn every_operation_raises_every_class_as_one_typed_failure() {
    let body = "try {
            call();
            console.log(id, \"did not fail\");
        } catch (error) {
            const right = error instanceof ApiError && error.operation === id.split(\".\")[1]
                && error.code === expected && error.message === \"as the test asked\";
            if (!right) console.log(id, error);
        }";
    for offer in offers() {
        // The class is the one word of a program that differs: it is prepared once.
        let source = format!(
            "declare const expected: core.ErrorCode;\n{}",
            each(&offer, body)
        );
        let prepared = prepared(&source, &[]);
        for class in FailureClass::ALL {
            let fake = Fake {
                all_fail: Some(*class),
                ..Fake::default()
            };
            let started = Program {
                offer: offer.clone(),
                ..emitted(&format!(
                    "const expected = \"{class}\";\n{}",
                    prepared.source
                ))
            };
            let execution = ended(started, fake);
            assert_eq!(execution.fault, None, "{class}");
            assert_eq!(printed(&execution), Vec::<&str>::new(), "{class}");
        }
    }
}

#[test]
fn each_uncaught_failure_has_its_class_and_its_place_in_what_was_sent() {
    let check = |source: &str, error: ErrorType, parts: &[&str]| {
        let fake = Fake {
            fails: Some(("files.read_file", FailureClass::NotFound)),
            ..Fake::default()
        };
        let execution = ended(ready(source, &[]), fake);
        let (found, text) = failure(&execution);
        assert_eq!(found, error, "{source}\n{text}");
        for part in parts {
            assert!(text.contains(part), "{part} of {source} is not in\n{text}");
        }
        assert!(!text.contains("program.js"), "{text}");
    };
    check(
        "import { files } from \"gg\";\ninterface A {\n  a: string;\n}\nenum E { X }\n\nconst read \
         = (a: A): unknown =>\n  files.readFile(a.a + E.X);\nread({ a: \"a\" });",
        ErrorType::ProgramApiError,
        &[
            "ApiError: as the test asked",
            "program.ts:8",
            "program.ts:9",
        ],
    );
    check(
        "type A = { x: string };\n\n\nconst none = null as unknown as A;\nconsole.log(none.x);",
        ErrorType::ProgramThrow,
        &["TypeError", "program.ts:5"],
    );
    check(
        "interface A { a: 1 }\nthrow { a: 1 } satisfies A;",
        ErrorType::ProgramThrow,
        &["Uncaught { a: 1 }"],
    );
    check(
        "function deep(n: number): number { return deep(n + 1) + 1; }\ndeep(0);",
        ErrorType::ProgramThrow,
        &[
            "RangeError: Maximum call stack size exceeded",
            "program.ts:1",
        ],
    );
}

#[test]
fn a_module_runs_as_it_was_emitted_and_fails_where_it_was_written() {
    let context = PrepareContext::default();
    let arm = arms::of(ProgramLanguage::Typescript);
    let source = "export interface Row {\n  cells: string[];\n}\n\nexport function twice(x: number): \
                  number {\n  if (x > 9) throw new RangeError(\"too many\");\n  return 2 * x;\n}\n";
    let module = arm.prepare_module(source, "csvTools", &context).unwrap();
    let modules = [module.module];
    let start = |body: &str| {
        let source = format!("import * as csvTools from \"lib:csvTools\";\n{body}");
        ended(ready(&source, &modules), Fake::default())
    };
    let fine = start("console.log(csvTools.twice(4));");
    assert_eq!(fine.fault, None);
    assert_eq!(printed(&fine), ["8"]);
    let (_, text) = failure(&start("csvTools.twice(10);"));
    for part in ["RangeError: too many", "lib:csvTools:6", "program.ts:2"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn programs_of_ggs_own_check_and_do_what_they_are_for() {
    let rows: Vec<&'static Operation> = OPERATIONS.iter().collect();
    let opening = Opening {
        modules: &["files", "shell"],
        functions: &rows[..3],
        texts: &[("workspace tree", "a\"b\\\n\u{2028}`${x}`")],
    };
    for language in [ProgramLanguage::Typescript, ProgramLanguage::Javascript] {
        let arm = arms::of(language);
        let lines = Lines {
            offset: 3,
            limit: 4,
        };
        let view = arm.file_view_statement("a\"b", Some(lines));
        for (source, calls) in [
            (arm.bootstrap_program(&opening), 5),
            (arm.bootstrap_program(&Opening::default()), 0),
            (
                arm.documentation_program(&["gg.files".to_owned(), "x\"y".to_owned()]),
                2,
            ),
            (format!("{}\n{view}", arm.module_import("views")), 1),
        ] {
            let context = PrepareContext::default();
            let prepared = arm.prepare_program(&source, &[], &context).unwrap();
            let fake = Fake::default();
            let execution = ended(emitted(&prepared.source), fake.clone());
            assert_eq!(execution.fault, None, "{source}");
            assert_eq!(execution.calls.made, calls, "{source}");
            if source.contains("workspace tree") {
                let shown = format!(
                    "views.open_text({:?}, {:?})",
                    opening.texts[0].0, opening.texts[0].1
                );
                assert!(fake.lines().contains(&shown), "{:#?}", fake.lines());
            }
        }
    }
}

#[test]
fn decorators_and_later_syntax_run_on_the_guest() {
    let source = "function logged<T extends (...args: never[]) => unknown>(
  value: T, context: ClassMethodDecoratorContext,
): T {
  console.log(String(context.name));
  return value;
}
class A {
  constructor(private readonly n: number) {}
  @logged get(): number { return this.n; }
  #hidden = 1;
  static { console.log(\"static\"); }
  has(): boolean { return #hidden in this; }
}
namespace N { export const x = 2; }
const a = new A(N.x);
console.log(a.get(), a.has(), [3].at(-1), Object.hasOwn({ b: 1 }, \"b\"));
";
    let execution = run(source);
    assert_eq!(execution.fault, None);
    assert_eq!(printed(&execution), ["get", "static", "2 true 3 true"]);
}
