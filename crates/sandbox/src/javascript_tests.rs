//! Programs in JavaScript through the whole of it: guest, SDK, contract, membrane.
//!
//! They need the guest that `cargo xtask arms` builds, and say so where it is missing.

use std::collections::BTreeSet;
use std::time::Duration;

use vocab::failure::FailureClass;
use vocab::grant::Offer;
use vocab::language::ProgramLanguage;
use vocab::operations::{EndingRole, OPERATIONS};
use vocab::outcome::ErrorType;

use crate::arms;
use crate::contract::CodeModule;
use crate::fakes::{Fake, nothing};
use crate::program::{Execution, Program, bound_operations};
use crate::trial::{ended, failure, guest, offers, printed};

/// One call of every operation, named `CALLS`.
const CALLS: &str = include_str!("javascript_tests.js");

const JAVASCRIPT: ProgramLanguage = ProgramLanguage::Javascript;

fn program(source: &str) -> Program {
    crate::trial::program(JAVASCRIPT, source)
}

/// A program that does something with each call an offer holds.
fn each(offer: &Offer, body: &str) -> String {
    let ids: Vec<_> = offer.operations().map(|row| row.id).collect();
    format!(
        "{CALLS}\nconst OFFERED = {ids:?};
        for (const [id, call] of CALLS.filter(([id]) => OFFERED.includes(id))) {{ {body} }}"
    )
}

fn run(source: &str) -> Execution {
    ended(program(source), Fake::default())
}

#[test]
fn the_guest_binds_every_operation_and_imports_only_the_contract_and_wasi() {
    let offer = nothing(EndingRole::Standard);
    let bound = bound_operations(&guest(JAVASCRIPT), offer, Box::new(Fake::default())).unwrap();
    let rows: Vec<_> = OPERATIONS.iter().map(|row| row.id).collect();
    assert_eq!(bound, rows);
    let imports = guest(JAVASCRIPT).imports();
    let ours = imports
        .iter()
        .filter(|name| name.starts_with("test-cabinet:gg/"));
    assert_eq!(ours.count(), 14, "{imports:?}");
    let others = imports
        .iter()
        .filter(|name| !name.starts_with("test-cabinet:gg/") && !name.starts_with("wasi:"));
    assert_eq!(others.count(), 0, "{imports:?}");
}

#[test]
fn one_program_calls_every_operation_and_sees_what_it_answers() {
    let fake = Fake::default();
    let mut printed = Vec::new();
    let mut called = BTreeSet::new();
    for offer in offers() {
        let source = each(
            &offer,
            "console.log(id, JSON.stringify(call()) ?? \"nothing\");",
        );
        let rows: Vec<_> = offer.operations().collect();
        let execution = ended(
            Program {
                offer,
                ..program(&source)
            },
            fake.clone(),
        );
        assert_eq!(execution.fault, None, "{}", execution.stderr);
        assert_eq!(execution.calls.made as usize, rows.len());
        let dispatched = rows.iter().filter(|row| row.tool.is_some()).count();
        assert_eq!(execution.calls.dispatched as usize, dispatched);
        called.extend(rows.iter().map(|row| row.id));
        let lines = execution.logs.lines.into_iter();
        printed.extend(lines.map(|line| line.text));
    }
    assert_eq!(called.len(), OPERATIONS.len());
    let lines = fake.lines();
    for expected in [
        "files.read_file(\"a\", Some(2), Some(3))",
        "files.write_file(\"ü\", \"x\u{fffd}y\")",
        "shell.shell(\"true\", Some(1.5))",
        "docs.search(None, Some([\"files\"]), None, Some(DocKind::Type), None, Some(2))",
        "views.open_docs_view(\"gg.files.readFile\")",
        "memories.create_memory(\"n\", None, \"b\", None, Some(\"u\"))",
        "delegation.exec(\"a\", None)",
    ] {
        assert!(
            lines.iter().any(|line| line == expected),
            "{expected}\n{lines:#?}"
        );
    }
    for expected in [
        "files.read_file {\"kind\":\"text\",\"contents\":\"one\\ntwo\",\"firstLine\":1,\"lastLine\":2,\
         \"totalLines\":9,\"truncated\":true}",
        "files.read_text_file \"ü\u{1f600}\"",
        "files.write_file 9007199254740991",
        "files.edit_file nothing",
        "files.list_dir [{\"name\":\"src\",\"kind\":\"directory\"}]",
        "shell.shell {\"exitCode\":-1,\"output\":\"\",\"truncated\":false}",
        "tasks.remove_task {\"count\":1,\"maxTasks\":2}",
        "memories.edit_memory {\"count\":1,\"totalChars\":2,\"maxTotalChars\":3}",
        "views.current [{\"kind\":\"file\",\"selector\":\"a\",\"tokens\":5,\"region\":{\"first\":1,\
         \"last\":2}}]",
        "delegation.wait_for_subagents [{\"id\":\"agent-1\",\"status\":\"timed-out\",\"ending\":\
         {\"kind\":\"request-changes\",\"value\":[\"x\"]}}]",
    ] {
        assert!(
            printed.iter().any(|line| line == expected),
            "{expected}\n{printed:#?}"
        );
    }
}

#[test]
fn updates_keep_apart_what_stays_what_goes_and_what_comes() {
    let fake = Fake::default();
    let source = "import { tasks } from \"gg\";
        tasks.updateTask(\"1\", { title: \"t\" });
        tasks.updateTask(\"1\", { description: null });
        tasks.updateTask(\"1\", { description: \"d\", status: tasks.TaskStatus.Done });";
    assert_eq!(ended(program(source), fake.clone()).fault, None);
    let calls: Vec<_> = fake.lines();
    let calls: Vec<_> = calls
        .iter()
        .filter(|line| line.starts_with("tasks."))
        .collect();
    assert!(calls[0].contains("TextEdit::Keep"), "{calls:#?}");
    assert!(calls[1].contains("TextEdit::Clear"), "{calls:#?}");
    assert!(calls[2].contains("TextEdit::Set(\"d\")"), "{calls:#?}");
    assert!(calls[2].contains("TaskStatus::Done"), "{calls:#?}");
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
    for (class, offer) in FailureClass::ALL
        .iter()
        .flat_map(|class| offers().map(|offer| (class, offer)))
    {
        let fake = Fake {
            all_fail: Some(*class),
            ..Fake::default()
        };
        let source = format!("const expected = \"{class}\";\n{}", each(&offer, body));
        let execution = ended(
            Program {
                offer,
                ..program(&source)
            },
            fake,
        );
        assert_eq!(execution.fault, None);
        assert_eq!(printed(&execution), Vec::<&str>::new(), "{class}");
    }
}

#[test]
fn a_refusal_names_the_call_and_what_to_call_instead() {
    let source = "import { session, files } from \"gg\";
        try { files.readFile(\"a\"); } catch (error) { console.log(error.code, error.message); }
        session.finish(\"done\");";
    let execution = ended(
        Program {
            offer: nothing(EndingRole::Review),
            ..program(source)
        },
        Fake::default(),
    );
    let (error, text) = failure(&execution);
    assert_eq!(error, ErrorType::ProgramUnknownName);
    assert!(
        text.contains("Use `gg.session.approve` or `gg.session.request_changes` instead."),
        "{text}"
    );
    assert_eq!(
        printed(&execution),
        ["unavailable `gg.files.read_file` is not available."]
    );
    assert_eq!(execution.calls.refused.items.len(), 2);
}

#[test]
fn each_uncaught_failure_has_its_class_and_its_place() {
    let check = |source: &str, error: ErrorType, parts: &[&str]| {
        let fake = Fake {
            fails: Some(("files.read_file", FailureClass::NotFound)),
            ..Fake::default()
        };
        let execution = ended(program(source), fake);
        let (found, text) = failure(&execution);
        assert_eq!(found, error, "{source}\n{text}");
        for part in parts {
            assert!(text.contains(part), "{part} of {source} is not in\n{text}");
        }
        assert!(!text.contains("(sdk:"), "{text}");
    };
    check(
        "import { files } from \"gg\";\nfiles.readFile(\"a\");",
        ErrorType::ProgramApiError,
        &[
            "ApiError: as the test asked",
            "program.js:2",
            "not-found",
            "read_file",
        ],
    );
    check(
        "const a = 1;\nmissing();",
        ErrorType::ProgramUnknownName,
        &["ReferenceError: missing is not defined", "program.js:2"],
    );
    check(
        "null.x;",
        ErrorType::ProgramThrow,
        &["TypeError", "program.js:1"],
    );
    check(
        "throw { a: 1 };",
        ErrorType::ProgramThrow,
        &["Uncaught { a: 1 }"],
    );
    check("throw 7;", ErrorType::ProgramThrow, &["Uncaught 7"]);
    check(
        "let = ;",
        ErrorType::ProgramThrow,
        &["SyntaxError", "program.js:1"],
    );
    check(
        "function deep(n) { return deep(n + 1) + 1; }\ndeep(0);",
        ErrorType::ProgramThrow,
        &["RangeError: Maximum call stack size exceeded"],
    );
    for recursion in [
        "const deep = (n) => [n].map(deep);",
        "const deep = (n) => [2, 1].sort(() => deep(n));",
        "const deep = (n) => \"a\".replace(/a/, () => deep(n));",
        "class A { constructor() { new A(); } }; const deep = () => new A();",
        "const o = { get x() { return o.x; } }; const deep = () => o.x;",
        "const p = new Proxy({}, { get: (t, k, r) => r[k] }); const deep = () => p.x;",
        "const o = { toString: () => `${o}` }; const deep = () => `${o}`;",
        "const o = { toJSON: () => JSON.stringify(o) }; const deep = () => JSON.stringify(o);",
        "const deep = (n) => Reflect.apply(deep, null, [n]);",
        "const deep = (n) => { const [x] = { *[Symbol.iterator]() { yield deep(n); } }; };",
        "const deep = (n) => eval(\"deep(n)\");",
    ] {
        let execution = run(&format!("{recursion}\ndeep(0);"));
        let (error, text) = failure(&execution);
        assert_eq!(error, ErrorType::ProgramThrow, "{recursion}\n{text}");
        assert!(text.starts_with("RangeError: Maximum call stack"), "{text}");
    }
    check(
        "exit(1);",
        ErrorType::ProgramUnknownName,
        &["exit is not defined"],
    );
    check(
        "setTimeout(() => {}, 1);",
        ErrorType::ProgramUnknownName,
        &["setTimeout"],
    );
    check(
        "import x from \"fs\";",
        ErrorType::ProgramUnknownName,
        &["there is no module \"fs\""],
    );
    check(
        "import \"sdk:wire\";",
        ErrorType::ProgramUnknownName,
        &["import from \"gg\""],
    );
    check(
        "import { nope } from \"gg\";",
        ErrorType::ProgramThrow,
        &["SyntaxError", "nope"],
    );
    check(
        "Promise.reject(new Error(\"late\"));",
        ErrorType::ProgramThrow,
        &["Error: late"],
    );
    check(
        "await new Promise(() => {});",
        ErrorType::ProgramThrow,
        &["nothing settles"],
    );
    check(
        "import { files } from \"gg\";\nfiles.readFile(7);",
        ErrorType::ProgramApiError,
        &["`path` is number; expected a string", "invalid-argument"],
    );
    check(
        "import { files } from \"gg\";\nfiles.readTextFile(\"a\", { offset: -1 });",
        ErrorType::ProgramApiError,
        &["`offset` is -1; expected a whole number, 1 or more"],
    );
}

#[test]
fn a_thrown_value_is_told_whatever_its_own_code_does() {
    let check = |source: &str, parts: &[&str]| {
        let (_, text) = failure(&run(source));
        for part in parts {
            assert!(text.contains(part), "{part} of {source} is not in\n{text}");
        }
        for wrong in ["out of memory", "sdk:"] {
            assert!(!text.contains(wrong), "{text}");
        }
    };
    check(
        "throw new Proxy({}, { getPrototypeOf() { throw 1; }, ownKeys() { throw 2; } });",
        &["its own code throws"],
    );
    check(
        "throw { get a() { throw new Error(\"inside\"); } };",
        &["its own code throws"],
    );
    check(
        "throw new AggregateError([new Error(\"first\"), new TypeError(\"second\")], \"both\");",
        &["AggregateError: both", "Error: first", "TypeError: second"],
    );
    check(
        "Error.prepareStackTrace = () => { throw 1; };\nthrow new Error(\"mine\");",
        &["Error: mine"],
    );
    check(
        "Error.prepareStackTrace = (error, sites) => `${sites.length} sites`;\nthrow new Error(\"a\");",
        &["Error: a", "sites"],
    );
}

#[test]
fn a_graph_is_printed_within_bounds_however_wide_it_is() {
    let execution = run(
        "const wide = []; for (let i = 0; i < 100000; i += 1) wide.push(wide);
        console.log(wide);
        const net = []; for (let i = 0; i < 1000; i += 1) net.push({ net: [] });
        for (const one of net) one.net = net;
        console.log(net);",
    );
    assert_eq!(execution.fault, None, "{}", execution.stderr);
    let told = printed(&execution);
    assert!(
        told[0].contains("[itself]") && told[0].contains("99900 more"),
        "{}",
        told[0]
    );
    assert!(told[1].len() < 20_000, "{}", told[1].len());
}

#[test]
fn what_is_caught_or_handled_is_no_failure() {
    let source = "try { missing(); } catch {}
        const late = Promise.reject(new Error(\"x\"));
        await Promise.resolve();
        late.catch(() => {});
        queueMicrotask(() => console.warn(\"micro\", { a: [1, \"b\"] }));
        export const value = await Promise.resolve(3);
        console.log(value, typeof Intl, crypto.randomUUID().length,
            new TextDecoder().decode(new TextEncoder().encode(\"ü\\u{1f600}\")),
            structuredClone(new Map([[1, [2]]])).get(1)[0]);";
    let execution = run(source);
    assert_eq!(execution.fault, None);
    assert_eq!(
        printed(&execution),
        ["micro { a: [1, \"b\"] }", "3 undefined 36 ü\u{1f600} 2"]
    );
}

#[test]
fn random_bytes_are_the_hosts_and_bounded() {
    let source = "Math.random = () => 0;
        const bytes = crypto.getRandomValues(new Uint8Array(1000));
        const other = crypto.getRandomValues(new Uint32Array(bytes.buffer.slice(0), 4, 2));
        console.log(new Set(bytes).size > 100, other.length);
        console.log(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
            .test(crypto.randomUUID()), crypto.randomUUID() !== crypto.randomUUID());
        for (const wrong of [new Float64Array(1), [1], new Uint8Array(65_537)]) {
            try { crypto.getRandomValues(wrong); } catch (error) { console.log(error.name); }
        }
        console.log(crypto.getRandomValues(new Uint8Array(0)).length,
            crypto.getRandomValues(new Uint8Array(65_536)).length);";
    let execution = run(source);
    assert_eq!(execution.fault, None);
    assert_eq!(
        printed(&execution),
        [
            "true 2",
            "true true",
            "TypeError",
            "TypeError",
            "RangeError",
            "0 65536"
        ]
    );
}

#[test]
fn every_character_a_module_may_be_named_with_names_one() {
    let letters = |starts: bool| -> String {
        let all = (0..=0x0010_FFFF).filter_map(char::from_u32);
        let kept = all.filter(|c| {
            let named = if starts {
                c.to_string()
            } else {
                format!("a{c}")
            };
            arms::of(ProgramLanguage::Javascript).binding_name(&named) == named
        });
        kept.collect()
    };
    for (before, letters) in [("", letters(true)), ("a", letters(false))] {
        assert!(letters.chars().count() > 1000);
        let source = format!(
            "const wrong = [...{letters:?}].filter((letter) => {{
                try {{ new Function(`var {before}${{letter}};`); }} catch {{ return true; }}
                return false;
            }});
            console.log(wrong.map((letter) => letter.codePointAt(0).toString(16)).join(\" \"));",
        );
        let execution = run(&source);
        assert_eq!(execution.fault, None);
        assert_eq!(printed(&execution), [""], "behind `{before}`");
    }
}

#[test]
fn code_modules_are_evaluated_by_whoever_imports_them() {
    let modules = |source: &str| {
        vec![
            CodeModule {
                key: "csvTools".to_owned(),
                source: source.to_owned(),
            },
            CodeModule {
                key: "unused".to_owned(),
                source: "throw new Error(\"nobody imports this\");".to_owned(),
            },
        ]
    };
    let source = "import * as csvTools from \"lib:csvTools\";\nconsole.log(csvTools.twice(4));";
    let with = |module: &str| {
        ended(
            Program {
                modules: modules(module),
                ..program(source)
            },
            Fake::default(),
        )
    };
    let fine = with("export const twice = (x) => 2 * x;");
    assert_eq!(fine.fault, None);
    assert_eq!(printed(&fine), ["8"]);
    let broken = with("export const twice = 1;\nthrow new Error(\"broken\");");
    assert_eq!(failure(&broken).0, ErrorType::ProgramThrow);
    assert_eq!(broken.module_errors.len(), 1);
    assert_eq!(broken.module_errors[0].key, "csvTools");
    assert!(broken.module_errors[0].message.contains("lib:csvTools:2"));
}

/// Runs a program that must not go on for ever, within some time of its own.
fn stopped(source: &str, budget: Duration) -> Execution {
    ended(
        Program {
            budget,
            max_memory_bytes: 64 << 20,
            ..program(source)
        },
        Fake::default(),
    )
}

#[test]
fn what_goes_on_for_ever_is_stopped() {
    for source in [
        "for (;;) {}",
        "function f() { while (true) { g(); } } function g() {} f();",
        "/^(a+)+$/.test(\"a\".repeat(40) + \"b\");",
        "let flip = 0; for (;;) [3, 1, 2, 5, 4].sort(() => (flip = 1 - flip) - 0.5);",
        "let n = 3n; for (;;) n = n * n % (2n ** 4000n);",
        "for (;;) { try { for (;;) {} } catch {} }",
        "await (async () => { for (;;) await null; })();",
    ] {
        let (error, text) = failure(&stopped(source, Duration::from_secs(1)));
        assert_eq!(error, ErrorType::SandboxTimeout, "{source}\n{text}");
    }
    assert_eq!(run("console.log(1);").fault, None);
}

#[test]
fn what_eats_memory_is_stopped() {
    for source in [
        "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length));",
        "new Uint8Array(1 << 30);",
        "let s = \"x\"; for (;;) s += s + \"y\";",
    ] {
        let (error, text) = failure(&stopped(source, Duration::from_mins(1)));
        let expected = [ErrorType::SandboxOutOfMemory, ErrorType::ProgramThrow];
        assert!(expected.contains(&error), "{source}\n{error} {text}");
        // An engine may refuse a size before it asks anyone for memory.
        if error == ErrorType::ProgramThrow {
            assert!(
                text.contains("RangeError") || text.contains("InternalError"),
                "{text}"
            );
        }
    }
    assert_eq!(run("console.log(1);").fault, None);
}

#[test]
fn an_argument_that_is_too_large_fails_before_it_is_copied() {
    let source = "import { views, memories } from \"gg\";
        const told = (call) => {
            try { call(); } catch (error) { console.log(error.code, error.operation); }
        };
        told(() => views.openText(\"x\", \"y\".repeat(40 * 1024 * 1024)));
        told(() => memories.searchMemories(new Array(10_000_000).fill(\"ab\")));
        try { views.openText(\"x\", \"y\".repeat(1.5e9)); } catch (error) { console.log(error.name); }";
    let fake = Fake::default();
    let execution = ended(
        Program {
            // Ten million strings are six seconds of work where nothing else is done.
            budget: Duration::from_mins(2),
            max_memory_bytes: 1 << 30,
            ..program(source)
        },
        fake.clone(),
    );
    assert_eq!(execution.fault, None);
    let printed = printed(&execution);
    assert_eq!(
        printed[..2],
        ["limit-exceeded open_text", "limit-exceeded search_memories"]
    );
    assert_eq!(printed[2], "RangeError");
    assert_eq!(fake.lines(), Vec::<String>::new());
}
