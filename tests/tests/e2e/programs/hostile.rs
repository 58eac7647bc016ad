//! Programs that mean harm, or go wrong as if they did, through the binary and on every arm (F105, F107,
//! F109, F111): each comes to its own outcome, the host's memory is bounded, and the next program runs as
//! if nothing had been.
//!
//! That a program is stopped at all, long before the test would be, is what is proven here of clocks.

use tests::gateway::{Answer, Reply, script};
use tests::run::Run;

use super::launch;
use crate::arms::{Arm, Texts, both, each, exactly, finish, on_each, submit};

/// What programs may have.
const CAP: u64 = 32 << 20;

/// What gg may take beside it.
const BESIDE: u64 = 32 << 20;

/// A hostile program, the error of its turn, and what its model is told.
struct Hostile {
    text: Texts,
    error: &'static str,
    told: Vec<&'static str>,
}

fn hostile(error: &'static str, told: &[&'static str], text: Texts) -> Hostile {
    Hostile {
        text,
        error,
        told: told.to_vec(),
    }
}

/// How long a program may run that is to be stopped by that: long enough for one that is not, also on a
/// machine with much else to do.
const BRIEF: f64 = 1.0;

/// How long a program may run that is to come to something else.
const LONG: f64 = 120.0;

/// A program that does a little honest work.
fn honest() -> Texts {
    both(
        r#"views.openText("fine", ["b", "a"].sort().join());"#,
        r#"views.open_text("fine", ",".join(sorted(["b", "a"])))"#,
    )
}

/// Runs programs one after another, an honest one behind each.
#[track_caller]
fn run(arm: Arm, secs: f64, bytes: u64, programs: &[Hostile]) -> Run {
    let mut answers: Vec<Answer> = Vec::new();
    for hostile in programs {
        answers.push(exactly(hostile.text.of(arm)));
        answers.push(submit(arm, &honest()));
    }
    answers.push(finish(arm, "Done."));
    let launch = launch(arm)
        .in_capability("responses-as-code", "/params/timeoutSecs", secs)
        .in_capability("responses-as-code", "/params/maxMemoryBytes", bytes);
    let run = Run::builder()
        .launch(launch)
        .answers(script(answers.into_iter().map(Reply::from)))
        .run();
    run.ended(0, "completed");
    let expected: Vec<&str> = programs
        .iter()
        .flat_map(|hostile| [hostile.error, "progressed"])
        .chain(["finished"])
        .collect();
    assert_eq!(run.outcomes(), expected, "{}", run.describe());
    let errors = all_told(&run, "Runtime error\n----\n");
    let failing = programs
        .iter()
        .filter(|hostile| hostile.error != "progressed");
    for (hostile, error) in failing.zip(&errors) {
        for text in &hostile.told {
            assert!(error.contains(text), "{text:?} is not in {error:?}");
        }
    }
    run
}

/// Every message of the last request that begins so, in order; what says the same twice is there twice.
fn all_told(run: &Run, head: &str) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let messages = requests.last().unwrap().messages();
    let texts = messages
        .iter()
        .map(|it| tests::gateway::content_text(&it["content"]));
    texts.filter(|text| text.starts_with(head)).collect()
}

#[test]
fn a_program_that_goes_on_for_ever_is_stopped_by_its_own_clock() {
    let stopped = |ecmascript: &str, python: &str| {
        let words = [
            "it had run for 1 second",
            "time in calls left out",
            "Calls carried out before: 0.",
        ];
        hostile("sandbox_timeout", &words, both(ecmascript, python))
    };
    let programs = [
        stopped("for (;;) {}", "while True: pass"),
        stopped(
            "function g() {} function f() { while (true) g(); } f();",
            "def g(): pass\ndef f():\n    while True: g()\nf()",
        ),
        stopped(
            "for (;;) { try { for (;;) {} } catch {} }",
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        ),
        stopped(
            "/^(a+)+$/.test(\"a\".repeat(40) + \"b\");",
            "import re\nre.match(r'^(a+)+$', 'a' * 40 + 'b')",
        ),
        stopped(
            "let flip = 0; for (;;) [3, 1, 2, 5, 4].sort(() => (flip = 1 - flip) - 0.5);",
            "import functools, itertools\nflip = itertools.cycle([-1, 1])\nwhile True:\n    \
             sorted([3, 1, 2, 5, 4], key=functools.cmp_to_key(lambda a, b: next(flip)))",
        ),
        stopped(
            "let n = 3n; for (;;) n = n * n % (2n ** 4000n);",
            "x = 9 ** 9 ** 7\nprint(x % 10 ** 10 ** 6)",
        ),
    ];
    on_each(|arm| {
        run(arm, BRIEF, 64 << 20, &programs);
    });
}

#[test]
fn a_call_that_takes_ten_times_as_long_trips_no_clock() {
    let long = both(
        "import { shell } from \"gg\"; shell.shell(\"sleep 10\");",
        "import gg\ngg.shell.shell('sleep 10')",
    );
    on_each(|arm| {
        run(
            arm,
            0.3,
            64 << 20,
            &[hostile("progressed", &[], long.clone())],
        );
    });
}

#[test]
fn what_was_carried_out_before_a_program_was_stopped_is_counted() {
    let stopped = |count: &'static str, ecmascript: &str, python: &str| {
        hostile("sandbox_timeout", &[count], both(ecmascript, python))
    };
    let programs = [
        stopped(
            "Calls carried out before: 0.",
            "for (;;) {}",
            "while True: pass",
        ),
        stopped(
            "Calls carried out before: 2.",
            "import { files } from \"gg\"; files.writeFile(\"a\", \"b\"); files.listDir(); for (;;) {}",
            "import gg\ngg.files.write_file('a', 'b')\ngg.files.list_dir()\nwhile True: pass",
        ),
    ];
    on_each(|arm| {
        let run = run(arm, BRIEF, 64 << 20, &programs);
        assert_eq!(run.file("a"), "b");
    });
}

#[test]
fn a_recursion_without_end_is_an_exception_and_a_killed_stack_the_guest_s_end() {
    let deep = each(
        "const deep = (n: number): number => deep(n + 1) + 1; deep(0);",
        "const deep = (n) => deep(n + 1) + 1; deep(0);",
        "def deep(n): return deep(n + 1) + 1\ndeep(0)",
    );
    let programs = |arm: Arm| {
        let overflow: &[&'static str] = match arm {
            Arm::Typescript | Arm::Javascript => &["Maximum call stack size exceeded"],
            Arm::Python => &["RecursionError"],
        };
        let nested = both(
            "JSON.parse(\"[\".repeat(100000));",
            "import json\njson.loads('[' * 100_000)",
        );
        [
            hostile("program_throw", overflow, deep.clone()),
            match arm {
                Arm::Typescript | Arm::Javascript => hostile("program_throw", overflow, nested),
                // What recurses in C alone meets no limit of the language's.
                Arm::Python => hostile(
                    "sandbox_trap",
                    &["call stack exhausted", "Calls carried out before: 0."],
                    nested,
                ),
            },
        ]
    };
    on_each(|arm| {
        run(arm, LONG, 128 << 20, &programs(arm));
    });
}

#[test]
fn a_program_that_eats_memory_is_stopped_and_the_host_takes_little_more_than_its_cap() {
    let hungry = |ecmascript: &str, typescript: &str, python: &str| {
        let words = ["32 MiB of memory"];
        hostile(
            "sandbox_out_of_memory",
            &words,
            each(typescript, ecmascript, python),
        )
    };
    let programs = [
        hungry(
            "const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1));",
            "const kept: unknown[] = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1));",
            "kept = []\nwhile True: kept.append(bytearray(b'x' * (1 << 18)))",
        ),
        hungry(
            "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length));",
            "const kept: unknown[] = []; for (;;) kept.push(new Array(1000).fill(kept.length));",
            "kept = []\nwhile True: kept.append([0] * 1000)",
        ),
        // Everything at once.
        hungry(
            "new Uint8Array(1 << 30);",
            "new Uint8Array(1 << 30);",
            "bytearray(1 << 30)",
        ),
        hungry(
            "let s = \"x\"; for (;;) s = s.repeat(2);",
            "let s = \"x\"; for (;;) s = s.repeat(2);",
            "s = 'x'\nwhile True: s = s * 2",
        ),
        // Entries of a table instead of bytes.
        hungry(
            "const table = {}; for (let n = 0; ; n += 1) table[`key${n}`] = n;",
            "const table: Record<string, number> = {}; for (let n = 0; ; n += 1) table[`key${n}`] = n;",
            "table = {}\nfor n in range(10**9): table[str(n)] = n",
        ),
    ];
    on_each(|arm| {
        let quiet = run(arm, LONG, CAP, &[hostile("progressed", &[], both("", ""))]);
        let hungry = run(arm, LONG, CAP, &programs);
        let rose = hungry.peak.memory.saturating_sub(quiet.peak.memory);
        assert!(
            rose < CAP + BESIDE,
            "{rose} bytes more than {}",
            quiet.peak.memory
        );
    });
}

#[test]
fn a_string_of_a_gigabyte_and_a_half_is_refused_by_the_cap_or_by_the_call() {
    let small = hostile(
        "sandbox_out_of_memory",
        &["32 MiB of memory"],
        both("\"x\".repeat(1 << 20).repeat(1000);", "'x' * 1_500_000_000"),
    );
    // A guest that may hold it: the call is refused before anything is copied.
    let large = hostile(
        "progressed",
        &[],
        both(
            r#"
            import { files, views } from "gg";
            const told = [];
            const attempt = (call) => {
              try { call(); } catch (error) { told.push(error.code); }
            };
            const text = "x".repeat(1 << 20).repeat(1000);
            attempt(() => views.openText("x", text));
            attempt(() => files.writeFile("x", text));
            files.writeFile("told", told.join());
            "#,
            r#"
            import gg
            told = []
            def attempt(call, *given):
                try:
                    call(*given)
                except gg.ApiError as error:
                    told.append(error.code)
            text = 'x' * 1_500_000_000
            attempt(gg.views.open_text, 'x', text)
            attempt(gg.files.write_file, 'x', text)
            gg.files.write_file('told', ','.join(told))
            "#,
        ),
    );
    let large = |arm: Arm| {
        let mut text = large.text.clone();
        if arm == Arm::Typescript {
            text = text
                .replacing("told = []", "told: string[] = []")
                .replacing("(call) =>", "(call: () => unknown) =>")
                .replacing("(error)", "(error: any)");
        }
        [hostile("progressed", &[], text)]
    };
    on_each(|arm| {
        run(arm, LONG, CAP, std::slice::from_ref(&small));
        let quiet = run(
            arm,
            60.0,
            2 << 30,
            &[hostile("progressed", &[], both("", ""))],
        );
        let run = run(arm, LONG, 2 << 30, &large(arm));
        assert_eq!(run.file("told"), "limit-exceeded,limit-exceeded");
        assert!(!run.workspace().join("x").exists());
        // What the guest holds of it, and nothing beside.
        let rose = run.peak.memory.saturating_sub(quiet.peak.memory);
        assert!(rose < 1_500_000_000 + BESIDE, "{rose} bytes");
    });
}

#[test]
fn a_program_that_hoards_handles_meets_a_bound_and_leaves_none_open() {
    // The guest of ECMAScript opens nothing but what its calls do.
    let body = both(
        "",
        r#"
        import os
        import gg
        kept = []
        try:
            while len(kept) < 100_000:
                kept.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            gg.files.write_file("held", str(len(kept)))
        "#,
    );
    let hoard = hostile(
        "sandbox_trap",
        &["table", "Calls carried out before: 0."],
        body,
    );
    let run = run(Arm::Python, LONG, 256 << 20, &[hoard]);
    assert!(run.peak.files < 4_200, "{:?}", run.peak);
}
