//! Programs in Python through the whole of it: guest, SDK, contract, membrane.
//!
//! They need the guest that `cargo xtask arms` builds, and say so where it is missing.

use std::collections::BTreeSet;

use vocab::failure::FailureClass;
use vocab::grant::Offer;
use vocab::language::ProgramLanguage;
use vocab::operations::{EndingRole, OPERATIONS};
use vocab::outcome::ErrorType;

use crate::contract::CodeModule;
use crate::fakes::{Fake, nothing};
use crate::program::{Execution, Program, bound_operations};
use crate::services::LogLevel;
use crate::surroundings::Surroundings;
use crate::trial::{ended, failure, guest, offers, printed};

/// One call of every operation, named `CALLS`.
const CALLS: &str = include_str!("python_tests.py");

const PYTHON: ProgramLanguage = ProgramLanguage::Python;

fn program(source: &str) -> Program {
    crate::trial::program(PYTHON, source)
}

fn run(source: &str) -> Execution {
    ended(program(source), Fake::default())
}

/// A program that does something with each call an offer holds.
fn each(offer: &Offer, body: &str) -> String {
    let ids: Vec<_> = offer.operations().map(|row| row.id).collect();
    format!("{CALLS}\nfor id, call in CALLS:\n    if id not in {ids:?}: continue\n{body}")
}

#[test]
fn the_guest_binds_every_operation() {
    let offer = nothing(EndingRole::Standard);
    let bound = bound_operations(&guest(PYTHON), offer, Box::new(Fake::default())).unwrap();
    let mut rows: Vec<_> = OPERATIONS.iter().map(|row| row.id).collect();
    rows.sort_unstable();
    let mut sorted = bound.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, rows);
}

#[test]
fn the_guest_imports_the_contract_and_the_whole_of_wasi() {
    let imports = guest(PYTHON).imports();
    let (ours, others): (Vec<_>, Vec<_>) = imports
        .iter()
        .map(|name| name.split('@').next().unwrap_or(name))
        .partition(|name| name.starts_with("test-cabinet:gg/"));
    assert_eq!(ours.len(), 14, "{ours:?}");
    assert_eq!(
        others,
        [
            "wasi:cli/environment",
            "wasi:cli/exit",
            "wasi:cli/stderr",
            "wasi:cli/stdin",
            "wasi:cli/stdout",
            "wasi:cli/terminal-input",
            "wasi:cli/terminal-output",
            "wasi:cli/terminal-stderr",
            "wasi:cli/terminal-stdin",
            "wasi:cli/terminal-stdout",
            "wasi:clocks/monotonic-clock",
            "wasi:clocks/wall-clock",
            "wasi:filesystem/preopens",
            "wasi:filesystem/types",
            "wasi:io/error",
            "wasi:io/poll",
            "wasi:io/streams",
            "wasi:random/random",
            "wasi:sockets/instance-network",
            "wasi:sockets/ip-name-lookup",
            "wasi:sockets/network",
            "wasi:sockets/tcp-create-socket",
            "wasi:sockets/tcp",
            "wasi:sockets/udp-create-socket",
            "wasi:sockets/udp",
        ]
    );
}

#[test]
fn one_program_calls_every_operation_and_sees_what_it_answers() {
    let fake = Fake::default();
    let mut printed = Vec::new();
    let mut called = BTreeSet::new();
    for offer in offers() {
        let source = each(&offer, "    print(id, call())\n");
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
        "tasks.set_blocked_by(\"1\", [\"2\", \"3\"])",
        "docs.search(None, Some([\"files\"]), None, Some(DocKind::Type), None, Some(2))",
        "views.open_docs_view(\"gg.files.read_file\")",
        "memories.create_memory(\"n\", None, \"b\", None, Some(\"u\"))",
        "delegation.exec(\"a\", None)",
    ] {
        assert!(
            lines.iter().any(|line| line == expected),
            "{expected}\n{lines:#?}"
        );
    }
    for expected in [
        "files.read_file TextFile(contents='one\\ntwo', first_line=1, last_line=2, total_lines=9, \
         truncated=True)",
        "files.read_text_file ü\u{1f600}",
        "files.write_file 9007199254740991",
        "files.edit_file None",
        "files.list_dir [DirEntry(name='src', kind=<EntryKind.DIRECTORY: 'directory'>)]",
        "shell.shell ShellOutput(exit_code=-1, output='', truncated=False)",
        "tasks.remove_task TaskUsage(count=1, max_tasks=2)",
        "memories.edit_memory MemoryUsage(count=1, max_count=None, total_chars=2, \
         max_total_chars=3, index_chars=None, max_index_chars=None)",
        "views.current [OpenView(kind=<ViewKind.FILE: 'file'>, selector='a', tokens=5, \
         region=LineRegion(first=1, last=2))]",
        "delegation.wait_for_subagents [SubagentOutcome(id='agent-1', text=None, \
         status=<AgentStatus.TIMED_OUT: 'timed-out'>, ending=ChangesRequested(items=['x']))]",
    ] {
        assert!(
            printed.iter().any(|line| line == expected),
            "{expected}\n{printed:#?}"
        );
    }
}

#[test]
fn methods_are_second_ways_into_an_operation() {
    let source = "from gg import board, delegation, memories, programs
board.create_issue('t', 'i', 'o', 'c', 'a').wait()
delegation.spawn_subagent('a', 'p').send('m')
for hit in memories.search_memories(['a']): hit.read()
for entry in programs.history(): entry.source()";
    let fake = Fake::default();
    assert_eq!(ended(program(source), fake.clone()).fault, None);
    let lines = fake.lines();
    for expected in [
        "board.wait_for_issue(\"ABC-1\")",
        "delegation.send_message(\"agent-1\", \"m\")",
        "memories.read_memory(\"n\")",
        "programs.get(Some(\"p1\"))",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{lines:#?}");
    }
}

#[test]
fn updates_keep_apart_what_stays_what_goes_and_what_comes() {
    let fake = Fake::default();
    let source = "from gg import tasks
tasks.update_task('1', title='t')
tasks.update_task('1', description=None)
tasks.update_task('1', description='d', status=tasks.TaskStatus.DONE)";
    assert_eq!(ended(program(source), fake.clone()).fault, None);
    let calls = fake.lines();
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
    let body = "    try:
        call()
        print(id, 'did not fail')
    except gg.ApiError as error:
        right = (
            error.operation == id.partition('.')[2]
            and error.code is gg.ErrorCode(expected)
            and error.message == 'as the test asked'
            and error.__cause__ is None and error.__context__ is None
        )
        if not right: print(id, repr(error))
";
    for (class, offer) in FailureClass::ALL
        .iter()
        .flat_map(|class| offers().map(|offer| (class, offer)))
    {
        let fake = Fake {
            all_fail: Some(*class),
            ..Fake::default()
        };
        let source = format!("expected = \"{class}\"\n{}", each(&offer, body));
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
    let source = "from gg import session, files, ApiError
try: files.read_file('a')
except ApiError as error: print(error.code, error.message)
session.finish('done')";
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
        for own in ["/0/", "gg_guest", "wit_world", "importlib._bootstrap"] {
            assert!(!text.contains(own), "{text}");
        }
    };
    check(
        "import gg\ngg.files.read_file('a')",
        ErrorType::ProgramApiError,
        &[
            "Traceback (most recent call last):\n  File \"program.py\", line 2, in <module>\n    \
             gg.files.read_file('a')\n    ~~~~~~~~~~~~~~~~~~^^^^^\n\
             gg.ApiError: `read_file` failed (not-found): as the test asked",
            "of gg's own",
        ],
    );
    check(
        "a = 1\nmissing()",
        ErrorType::ProgramUnknownName,
        &["line 2", "NameError: name 'missing' is not defined"],
    );
    check(
        "def f():\n    x += 1\nf()",
        ErrorType::ProgramThrow,
        &["line 2, in f", "UnboundLocalError"],
    );
    check(
        "None.x",
        ErrorType::ProgramThrow,
        &[
            "line 1",
            "AttributeError: 'NoneType' object has no attribute 'x'",
        ],
    );
    check(
        "raise ValueError('seven') from KeyError('why')",
        ErrorType::ProgramThrow,
        &["KeyError: 'why'", "direct cause", "ValueError: seven"],
    );
    check(
        "try: 1 / 0\nexcept Exception: missing()",
        ErrorType::ProgramUnknownName,
        &["ZeroDivisionError", "During handling", "NameError"],
    );
    check(
        "raise ExceptionGroup('several', [ValueError('a'), TypeError('b')])",
        ErrorType::ProgramThrow,
        &["ExceptionGroup: several", "ValueError: a", "TypeError: b"],
    );
    check(
        "x = (1 +",
        ErrorType::ProgramThrow,
        &["File \"program.py\", line 1\n    x = (1 +\n        ^\nSyntaxError"],
    );
    check(
        "import json\njson.loads('{nope')",
        ErrorType::ProgramThrow,
        &[
            "line 2",
            "json.decoder.JSONDecodeError: Expecting property name",
        ],
    );
    check(
        "def deep(n):\n    return deep(n + 1) + 1\ndeep(0)",
        ErrorType::ProgramThrow,
        &[
            "line 2, in deep",
            "more times]",
            "RecursionError: maximum recursion depth",
        ],
    );
    check(
        "import asyncio",
        ErrorType::ProgramUnknownName,
        &["ModuleNotFoundError: No module named 'asyncio'"],
    );
    check(
        "import gg\ngg.files.readFile('a')",
        ErrorType::ProgramUnknownName,
        &[
            "module 'gg.files' has no 'readFile'; it has",
            "Did you mean: 'read_file'?",
        ],
    );
    check(
        "from gg.files import readFile",
        ErrorType::ProgramUnknownName,
        &["ImportError: cannot import name 'readFile' from 'gg.files'"],
    );
    check(
        "import lib.nothing",
        ErrorType::ProgramUnknownName,
        &["ModuleNotFoundError"],
    );
    check(
        "import gg\ngg.files.read_file(7)",
        ErrorType::ProgramApiError,
        &["(invalid-argument): `path` is int; expected a str"],
    );
    check(
        "import gg\ngg.files.read_file()",
        ErrorType::ProgramThrow,
        &["TypeError: read_file() missing 1 required positional argument: 'path'"],
    );
    check(
        "import gg\ngg.files.read_file('a', offset=-1)",
        ErrorType::ProgramApiError,
        &["`offset` is -1; expected an int, 1 or more"],
    );
    check(
        "import gg\ngg.files.read_file('a', offset=2**70)",
        ErrorType::ProgramApiError,
        &["`offset` is 1180591620717411303424; expected an int, 4294967295 at most"],
    );
    check(
        "import gg\ngg.files.read_file('a', offset=10**5000)",
        ErrorType::ProgramApiError,
        &["`offset` is an int of more than 80 digits; expected an int, 4294967295 at most"],
    );
    check(
        "\u{feff}a = 1\nmissing()",
        ErrorType::ProgramUnknownName,
        &["line 2", "NameError"],
    );
    check(
        "import gg\ngg.tasks.update_task('1', status='gone')",
        ErrorType::ProgramApiError,
        &["`status` is 'gone'; expected TaskStatus.PENDING, TaskStatus.DONE"],
    );
    check(
        "import gg\ngg.tasks.update_task('1', title=None)",
        ErrorType::ProgramApiError,
        &["`title` is None; it can be changed, not taken away"],
    );
    check(
        "import gg\ngg.session.request_changes('one')",
        ErrorType::ProgramApiError,
        &["`items` is str; expected a list of str"],
    );
    check(
        "import gg\ngg.views.open_docs_view(print)",
        ErrorType::ProgramApiError,
        &["`target` is neither a name nor a function, type or module of gg's"],
    );
    check(
        "class Odd(Exception):\n    def __str__(self): raise KeyError\nraise Odd",
        ErrorType::ProgramThrow,
        &["line 3", "Odd: <exception str() failed>"],
    );
    check(
        "raise ValueError('x' * 100_000)",
        ErrorType::ProgramThrow,
        &["line 1", "characters dropped"],
    );
}

#[test]
fn what_a_call_fails_with_names_arguments_as_python_does() {
    let execution = run(
        "from gg import _wire\nfrom wit_world.imports import types\n\
         said = '`oldString` is empty; `blockedBy[3]` is blank; oldString stays'\n\
         code = types.FailureClass.INVALID_ARGUMENT\n\
         print(_wire.error(types.ApiError(operation='x', code=code, message=said)).message)",
    );
    assert_eq!(execution.fault, None, "{}", execution.stderr);
    assert_eq!(
        printed(&execution),
        ["`old_string` is empty; `blocked_by[3]` is blank; oldString stays"]
    );
}

#[test]
fn a_program_that_leaves_says_its_last_word() {
    for (source, said) in [
        ("import sys\nsys.exit('bye')", "bye\n"),
        ("exit(0)", ""),
        ("raise SystemExit(3)", ""),
    ] {
        let execution = run(source);
        assert_eq!(failure(&execution).0, ErrorType::SandboxTrap, "{source}");
        assert_eq!(execution.stderr, said, "{source}");
    }
}

#[test]
fn a_program_finds_the_language_it_was_told_to_write() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "über").unwrap();
    let source = r#"
print(__name__, sorted(set(globals()) - {"__builtins__"}))
import sys, os, json, re, datetime, uuid, random, tempfile, threading, dataclasses, typing, pickle
from pathlib import Path
print(sys.argv, sys.version_info[:2], Path("a.txt").read_text(), os.environ["HELLO"])
@dataclasses.dataclass
class Point:
    x: int
print(pickle.loads(pickle.dumps(Point(3))), typing.get_type_hints(Point))
assert abs(datetime.datetime.now().timestamp() - os.stat("a.txt").st_mtime) < 3600
assert uuid.uuid4() != uuid.uuid4()
with tempfile.TemporaryDirectory(dir=".") as made:
    print(Path(made).is_dir())
import yaml, tomli_w, tomllib
print(yaml.safe_load("a: [1, 2]"), tomllib.loads(tomli_w.dumps({"a": {"b": 1}})))
print("to", "stderr", file=sys.stderr)
sys.stdout.buffer.write(b"bytes\n")
try: input()
except EOFError: print("no input")
sys.setrecursionlimit(10**6)
print(sys.getrecursionlimit())
for name in ("asyncio", "subprocess", "multiprocessing", "unittest", "ssl", "ctypes", "csv_tools"):
    try: __import__(name)
    except ModuleNotFoundError: continue
    print(name, "is there")
for name in ("utf-16", "latin-1", "cp1252", "shift_jis", "idna", "hex"):
    __import__("codecs").lookup(name)
import ast, time, email.message, xml.dom.minidom, xml.sax
print(ast.unparse(ast.parse("a+b")), time.strptime("2024", "%Y").tm_year,
      datetime.datetime.strptime("2024 1", "%Y %d").day, xml.dom.minidom.parseString("<a/>").toxml(),
      email.message.EmailMessage().as_string() == "\n", xml.sax.make_parser() is not None)
sys.set_int_max_str_digits(0)
print(len(str(3 ** 100_000)), int("9" * 10_000) % 7)
import atexit
atexit.register(print, "at exit")
print("no end of line", end="")
"#;
    let execution = ended(
        Program {
            surroundings: Surroundings {
                cwd: folder.path().to_owned(),
                environment: vec![("HELLO".to_owned(), "world".to_owned())],
            },
            ..program(source)
        },
        Fake::default(),
    );
    assert_eq!(execution.fault, None, "{}", execution.stderr);
    assert_eq!(
        printed(&execution),
        [
            "__main__ ['__doc__', '__loader__', '__name__', '__package__', '__spec__']",
            "['program.py'] (3, 14) über world",
            "Point(x=3) {'x': <class 'int'>}",
            "True",
            "{'a': [1, 2]} {'a': {'b': 1}}",
            "to stderr",
            "bytes",
            "no input",
            "1000",
            "a + b 2024 1 <?xml version=\"1.0\" ?><a/> True True",
            "47713 3",
            "no end of lineat exit",
        ]
    );
    assert_eq!(execution.logs.lines[5].level, LogLevel::Warn);
}

#[test]
fn two_programs_share_nothing() {
    let source = "import random, sys, json
print(random.random(), json.__dict__.get('left'), 'left' in globals())
left = json.left = 1";
    let (one, other) = (run(source), run(source));
    let (one, other) = (printed(&one), printed(&other));
    assert!(one[0].ends_with(" None False"), "{one:?}");
    assert!(other[0].ends_with(" None False"), "{other:?}");
    assert_ne!(one, other);
}

#[test]
fn code_modules_are_evaluated_by_whoever_imports_them() {
    let with = |line: &str, module: &str| {
        let modules = [
            ("csv_tools", module),
            ("unused", "raise Exception('nobody')"),
        ];
        let modules = modules.map(|(key, source)| CodeModule {
            key: key.to_owned(),
            source: source.to_owned(),
        });
        ended(
            Program {
                modules: modules.to_vec(),
                ..program(&format!("{line}\nprint(lib.csv_tools.twice(4))"))
            },
            Fake::default(),
        )
    };
    for line in [
        "import lib",
        "import lib.csv_tools",
        "from lib import csv_tools\nimport lib",
        "from lib.csv_tools import twice\nimport lib",
    ] {
        let fine = with(line, "def twice(x):\n    return 2 * x\n");
        assert_eq!(fine.fault, None, "{line}");
        assert_eq!(printed(&fine), ["8"], "{line}");
    }
    let broken = with("import lib", "twice = 1\nraise ValueError('broken')");
    let (error, text) = failure(&broken);
    assert_eq!(error, ErrorType::ProgramThrow);
    assert!(text.contains("File \"program.py\", line 2"), "{text}");
    assert_eq!(broken.module_errors.len(), 1);
    assert_eq!(broken.module_errors[0].key, "csv_tools");
    let told = &broken.module_errors[0].message;
    assert!(told.contains("File \"lib/csv_tools.py\", line 2"), "{told}");
    assert!(told.contains("    raise ValueError('broken')"), "{told}");
    assert!(!told.contains("program.py"), "{told}");
    for line in [
        "import lib.csv_tools",
        "from lib.csv_tools import twice\nimport lib",
    ] {
        let broken = with(line, "twice = 1\nraise ValueError('broken')");
        let (_, text) = failure(&broken);
        let told = &broken.module_errors[0].message;
        for said in [&text, told] {
            assert!(!said.contains("importlib"), "{said}");
        }
    }
}

#[test]
fn a_page_is_asked_for_by_whatever_it_is_of() {
    let fake = Fake::default();
    let source = "import gg
from gg.views import open_docs_view
for target in (gg.files, gg.files.read_file, gg.files.TextFile, gg.ApiError, gg.board.IssueCreated.wait,
               'shell'):
    open_docs_view(target)";
    assert_eq!(ended(program(source), fake.clone()).fault, None);
    let calls = fake.lines();
    let names: Vec<_> = calls
        .iter()
        .filter_map(|line| line.strip_prefix("views.open_docs_view("))
        .collect();
    assert_eq!(
        names,
        [
            "\"gg.files\")",
            "\"gg.files.read_file\")",
            "\"gg.files.TextFile\")",
            "\"gg.core.ApiError\")",
            "\"gg.board.IssueCreated.wait\")",
            "\"shell\")",
        ]
    );
}

#[test]
fn what_a_program_takes_lies_side_by_side() {
    // A piece of each size an allocator tells apart: in a hole that modules left, it could lie anywhere
    // in twenty megabytes, and each page it lies on would be copied. What the start itself gave back
    // may serve a few.
    let execution = run("pieces = [bytes(size) for size in range(8, 4000, 16)]\n\
         places = sorted(map(id, pieces))\n\
         middle = places[len(places) // 2]\n\
         print(sum(abs(place - middle) < 1 << 20 for place in places) * 100 // len(places))\n");
    let near: u32 = printed(&execution)[0].parse().unwrap();
    assert!(near >= 90, "{near} % of them lie in two megabytes");
}
