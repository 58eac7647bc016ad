//! Programs that mean harm, or go wrong as if they did, on every arm (field cases F105 to F111).
//!
//! Each ends as the specification says, what it took is given back, and the next program runs as if
//! nothing had been. A clock is not measured here: that a program ends at all, long before the test
//! would, is what is proven.

use std::net::TcpListener;
use std::time::Duration;

use vocab::language::ProgramLanguage;
use vocab::outcome::ErrorType;

use crate::fakes::Fake;
use crate::lease::Leased;
use crate::outcome::{Clock, Fault};
use crate::program::{Execution, GRACE, Program, Threads};
use crate::trial::{ended, failure, printed, program, until};

const TYPESCRIPT: ProgramLanguage = ProgramLanguage::Typescript;
const JAVASCRIPT: ProgramLanguage = ProgramLanguage::Javascript;
const PYTHON: ProgramLanguage = ProgramLanguage::Python;

const SECOND: Duration = Duration::from_secs(1);

fn bounded(language: ProgramLanguage, source: &str, budget: Duration, mebibytes: u64) -> Execution {
    ended(
        Program {
            budget,
            max_memory_bytes: mebibytes << 20,
            ..program(language, source)
        },
        Fake::default(),
    )
}

/// The language still runs programs.
fn goes_on(language: ProgramLanguage) {
    let source = match language {
        ProgramLanguage::Typescript | ProgramLanguage::Javascript => "console.log(1 + 1);",
        ProgramLanguage::Python => "print(1 + 1)",
    };
    let execution = ended(program(language, source), Fake::default());
    assert_eq!(execution.fault, None, "{}", language.as_str());
    assert_eq!(printed(&execution), ["2"]);
}

// --- F105

#[test]
fn a_program_that_goes_on_for_ever_is_stopped_in_any_language() {
    for (language, source) in [
        (JAVASCRIPT, "for (;;) {}"),
        (
            JAVASCRIPT,
            "function f() { while (true) g(); } function g() {} f();",
        ),
        (JAVASCRIPT, "/^(a+)+$/.test(\"a\".repeat(40) + \"b\");"),
        (
            JAVASCRIPT,
            "let flip = 0; for (;;) [3, 1, 2, 5, 4].sort(() => (flip = 1 - flip) - 0.5);",
        ),
        (
            JAVASCRIPT,
            "let n = 3n; for (;;) n = n * n % (2n ** 4000n);",
        ),
        (JAVASCRIPT, "for (;;) { try { for (;;) {} } catch {} }"),
        (PYTHON, "while True: pass"),
        (PYTHON, "def g(): pass\ndef f():\n    while True: g()\nf()"),
        (PYTHON, "import re\nre.match(r'^(a+)+$', 'a' * 40 + 'b')"),
        (
            PYTHON,
            "import functools, itertools\nflip = itertools.cycle([-1, 1])\nwhile True:\n    \
             sorted([3, 1, 2, 5, 4], key=functools.cmp_to_key(lambda a, b: next(flip)))",
        ),
        (PYTHON, "n = 3\nwhile True: n = n * n % 2 ** 4000"),
        (PYTHON, "x = 9 ** 9 ** 7\nprint(x % 10 ** 10 ** 6)"),
        (
            PYTHON,
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        ),
        (PYTHON, "import itertools\nsum(itertools.repeat(1))"),
        (
            PYTHON,
            "class A:\n    def __del__(self):\n        while True: pass\nA()",
        ),
    ] {
        let execution = bounded(language, source, SECOND, 64);
        let (error, text) = failure(&execution);
        assert_eq!(error, ErrorType::SandboxTimeout, "{source}\n{text}");
    }
    goes_on(TYPESCRIPT);
    goes_on(JAVASCRIPT);
    goes_on(PYTHON);
}

#[test]
fn a_recursion_without_end_is_an_exception_in_any_language() {
    for (language, source) in [
        (JAVASCRIPT, "const deep = (n) => deep(n + 1) + 1; deep(0);"),
        (JAVASCRIPT, "const deep = (n) => [n].map(deep); deep(0);"),
        (
            TYPESCRIPT,
            "const deep = (n: number): number => deep(n + 1) + 1; deep(0);",
        ),
        (PYTHON, "def deep(n): return deep(n + 1) + 1\ndeep(0)"),
        (PYTHON, "deep = lambda n: list(map(deep, [n]))\ndeep(0)"),
        (PYTHON, "deep = lambda n: max([2, 1], key=deep)\ndeep(0)"),
        (PYTHON, "deep = lambda n: sorted([2, 1], key=deep)\ndeep(0)"),
        (
            PYTHON,
            "import re\ndeep = lambda m: re.sub('a', deep, 'a')\ndeep(0)",
        ),
        (
            PYTHON,
            "deep = lambda n: eval('deep(n)', {'deep': deep, 'n': n})\ndeep(0)",
        ),
        (
            PYTHON,
            "class A:\n    def __getattr__(self, name): return getattr(self, name + 'x')\nA().y",
        ),
        (
            PYTHON,
            "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        ),
        (
            PYTHON,
            "class A:\n    def __eq__(self, other): return self == other\nA() == A()",
        ),
        (
            PYTHON,
            "class M(type):\n    def __call__(cls): return cls()\nclass A(metaclass=M): pass\nA()",
        ),
        (PYTHON, "import re\nre.compile('(' * 50_000 + ')' * 50_000)"),
    ] {
        let execution = bounded(language, source, 20 * SECOND, 128);
        let (error, text) = failure(&execution);
        assert_eq!(error, ErrorType::ProgramThrow, "{source}\n{text}");
    }
    goes_on(PYTHON);
}

#[test]
fn a_text_nested_past_the_stack_is_an_exception_in_any_language() {
    let nested = [
        "JSON.parse(\"[\".repeat(1000000));",
        "JSON.parse(\"{\\\"a\\\":\".repeat(1000000));",
        "let x = []; for (let i = 0; i < 100000; i += 1) x = [x]; JSON.stringify(x);",
        "JSON.parse(\"[\".repeat(1000) + \"]\".repeat(1000), (_, x) => x); \
         JSON.parse(\"[\".repeat(1000000), (_, x) => x);",
        "eval(\"(\".repeat(100000));",
        "eval(\"[\".repeat(100000));",
        "eval(\"-\".repeat(100000) + \"1\");",
        "new RegExp(\"(\".repeat(100000));",
    ];
    let python = ["x = []\nfor _ in range(100_000): x = [x]\nrepr(x)"];
    let all = nested.iter().map(|source| (JAVASCRIPT, *source));
    let all = all.chain([(TYPESCRIPT, nested[0])]);
    for (language, source) in all.chain(python.map(|source| (PYTHON, source))) {
        let execution = bounded(language, source, 20 * SECOND, 128);
        let (error, text) = failure(&execution);
        assert_eq!(error, ErrorType::ProgramThrow, "{source}\n{text}");
    }
}

#[test]
fn what_recurses_in_c_alone_kills_python_s_guest_and_nothing_else() {
    for source in [
        "x, y = [], []\nx.append(x)\ny.append(y)\nx == y",
        "import json\njson.loads('[' * 100_000)",
    ] {
        let execution = bounded(PYTHON, source, 20 * SECOND, 128);
        let (error, text) = failure(&execution);
        assert_eq!(error, ErrorType::SandboxTrap, "{source}\n{text}");
        assert!(text.contains("call stack exhausted"), "{text}");
        goes_on(PYTHON);
    }
}

#[test]
fn a_call_that_takes_ten_times_as_long_trips_no_clock() {
    for (language, source) in [
        (
            JAVASCRIPT,
            "import { shell } from \"gg\"; shell.shell(\"true\");",
        ),
        (PYTHON, "import gg\ngg.shell.shell('true')"),
    ] {
        let execution = ended(
            Program {
                budget: SECOND / 5,
                ..program(language, source)
            },
            Fake {
                takes: 2 * SECOND,
                ..Fake::default()
            },
        );
        assert_eq!(execution.fault, None, "{}", language.as_str());
    }
}

// --- F106

#[test]
fn a_program_that_waits_for_nothing_of_ggs_is_ended_by_the_outer_clock() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let check = |source: &str| {
        let execution = bounded(PYTHON, source, SECOND, 64);
        assert_eq!(
            execution.fault,
            Some(Fault::Timeout {
                budget: SECOND,
                clock: Clock::Outer
            }),
            "{source}\n{}",
            execution.stderr
        );
        assert!(execution.guest_time >= GRACE, "{source}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check("import time\ntime.sleep(100_000)"));
        scope.spawn(|| {
            check(&format!(
                "import socket, select\ns = socket.create_connection(('127.0.0.1', {port}))\n\
                 select.select([s], [], [])"
            ));
        });
        scope.spawn(|| {
            check(&format!(
                "import socket\nsocket.create_connection(('127.0.0.1', {port})).recv(1)"
            ));
        });
    });
    goes_on(PYTHON);
}

#[test]
fn a_named_pipe_is_not_opened_and_holds_no_thread() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, mode).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("fifo", &link).unwrap();
    let source = format!(
        r"
for path in [{fifo:?}, {link:?}]:
    for mode in ['r', 'w', 'a', 'r+b']:
        try:
            open(path, mode)
            print('opened')
        except OSError as error:
            print(error.strerror)
"
    );
    let execution = ended(program(PYTHON, &source), Fake::default());
    assert_eq!(execution.fault, None);
    assert_eq!(printed(&execution), ["Not supported"; 8]);
}

#[test]
fn a_file_that_does_not_open_holds_a_thread_and_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let leased = Leased::at(&file);
    let threads = Threads::default();
    let source = format!("print(open({file:?}).read())");
    let execution = ended(
        Program {
            budget: SECOND,
            max_memory_bytes: 64 << 20,
            threads: threads.clone(),
            ..program(PYTHON, &source)
        },
        Fake::default(),
    );
    assert!(
        matches!(execution.fault, Some(Fault::Timeout { .. })),
        "{:?}",
        execution.fault
    );
    goes_on(PYTHON);
    until("the thread is left behind", || threads.abandoned() == 1);
    drop(leased);
    until("the thread has ended", || threads.abandoned() == 0);
}

// --- R23

#[test]
fn no_program_opens_what_belongs_to_a_process_by_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::process::id();
    let up = "../".repeat(folder.path().components().count() - 1);
    for (name, target) in [
        ("memory", "/proc/self/mem".to_owned()),
        ("relative", format!("{up}proc/self/mem")),
        ("process", format!("{up}proc/self")),
        ("all", format!("{up}proc")),
    ] {
        std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
    }
    let source = format!(
        r"
import os
os.chdir({folder:?})
proc = os.open('/proc', os.O_RDONLY)
opened = []
for path in [
    '/proc/self/mem', '/proc/self/environ', '/proc/self/maps', '/proc/thread-self/mem',
    '/proc/{own}/mem', '/proc/{own}/task/{own}/mem', '/proc/1/environ', '/proc/self',
    '/proc/self/task', '/proc/self/fd', '/proc/self/fd/1', '/proc/self/root/etc/passwd',
    '/proc/self/cwd', '/dev/fd/1', '/dev/stdin', '/dev/stdout', '/dev/stderr', '../../proc/self/mem',
    '/proc/../proc/self/./mem', '{up}proc/self/mem', 'memory', 'relative', 'process/mem',
    'all/self/mem', 'all/{own}/environ',
]:
    for flags in [os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_TRUNC]:
        try:
            os.open(path, flags)
            opened.append(path)
        except OSError:
            pass
try:
    os.open('self/mem', os.O_RDONLY, dir_fd=proc)
    opened.append('by folder')
except (OSError, NotImplementedError):
    pass
print(opened)
print(len(open('/proc/cpuinfo').read()) > 0, len(open('/proc/mounts').read()) > 0)
",
        folder = folder.path(),
    );
    let execution = ended(program(PYTHON, &source), Fake::default());
    assert_eq!(execution.fault, None, "{}", execution.stderr);
    assert_eq!(printed(&execution), ["[]", "True True"]);
}

// --- F107

#[test]
fn a_program_that_eats_memory_in_pieces_or_at_once_is_stopped_in_any_language() {
    for (language, source) in [
        (
            JAVASCRIPT,
            "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length));",
        ),
        (
            JAVASCRIPT,
            "const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1));",
        ),
        (
            JAVASCRIPT,
            "const kept = {}; for (let n = 0;; n++) kept[`key${n}`] = n;",
        ),
        (
            PYTHON,
            "kept = []\nwhile True: kept.append(bytearray(1 << 18))",
        ),
        (PYTHON, "kept = []\nwhile True: kept.append([0] * 1000)"),
        (PYTHON, "kept = {}\nfor n in range(10**9): kept[str(n)] = n"),
        (PYTHON, "bytearray(1 << 30)"),
        (PYTHON, "'x' * (1 << 30)"),
        (PYTHON, "s = 'x'\nwhile True: s += s"),
    ] {
        let execution = bounded(language, source, 60 * SECOND, 32);
        let (error, text) = failure(&execution);
        assert_eq!(error, ErrorType::SandboxOutOfMemory, "{source}\n{text}");
        goes_on(language);
    }
}

#[test]
fn a_program_that_lives_with_less_than_it_asked_for_goes_on() {
    let source = "kept = []
try:
    while True: kept.append(bytearray(1 << 18))
except MemoryError:
    kept = None
print('went on')";
    let execution = bounded(PYTHON, source, 20 * SECOND, 32);
    assert_eq!(execution.fault, None);
    assert_eq!(printed(&execution), ["went on"]);
}

// --- F109

#[test]
fn an_argument_that_is_too_large_fails_before_it_is_copied() {
    let source = "import gg
from gg import views, files, memories, session
def told(call, *given):
    try: call(*given)
    except gg.ApiError as error: print(error.code, error.operation)
told(views.open_text, 'x', 'y' * 1_500_000_000)
told(files.write_file, 'x', 'ü' * 20_000_000)
told(files.write_file, 'x', '\\ud800' * 20_000_000)
told(memories.search_memories, ['ab'] * 10_000_000)
told(session.request_changes, ['y' * 1_000_000] * 40)
told(views.open_text, 'x', 'y' * 33_000_000)";
    let fake = Fake::default();
    let execution = ended(
        Program {
            max_memory_bytes: 2 << 30,
            // Making such texts takes its time; passing them on must not.
            budget: 120 * SECOND,
            ..program(PYTHON, source)
        },
        fake.clone(),
    );
    assert_eq!(execution.fault, None);
    assert_eq!(
        printed(&execution),
        [
            "limit-exceeded open_text",
            "limit-exceeded write_file",
            "limit-exceeded write_file",
            "limit-exceeded search_memories",
            "limit-exceeded request_changes",
        ]
    );
    let lines = fake.lines();
    assert_eq!(lines.len(), 3, "the last text fits, and is the only call");
}

#[test]
fn what_is_printed_is_bounded_line_by_line_and_in_all() {
    let source = "print('x' * 50_000_000)\nfor n in range(5000): print(n)\nprint('end')";
    let execution = bounded(PYTHON, source, 20 * SECOND, 256);
    assert_eq!(execution.fault, None, "{}", execution.stderr);
    assert_eq!(printed(&execution).last(), Some(&"end"));
    let kept: usize = printed(&execution).iter().map(|line| line.len()).sum();
    assert!(kept <= 64 * 1024, "{kept}");
}

// --- F111

#[test]
fn calls_that_landed_before_a_program_was_stopped_are_counted() {
    for (language, source) in [
        (
            JAVASCRIPT,
            "import { files } from \"gg\"; files.writeFile(\"a\", \"b\"); for (;;) {}",
        ),
        (
            PYTHON,
            "import gg\ngg.files.write_file('a', 'b')\nwhile True: pass",
        ),
    ] {
        let execution = bounded(language, source, SECOND, 64);
        assert_eq!(failure(&execution).0, ErrorType::SandboxTimeout);
        assert_eq!((execution.calls.made, execution.calls.dispatched), (1, 1));
    }
    for (language, source) in [(JAVASCRIPT, "for (;;) {}"), (PYTHON, "while True: pass")] {
        let execution = bounded(language, source, SECOND, 64);
        assert_eq!(execution.calls.made, 0, "{source}");
    }
}
