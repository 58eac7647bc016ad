//! How much of the host's memory a program that eats memory takes (F107).
//!
//! The peak of a process is measured where nothing else runs: the test starts itself once more, for
//! one probe.

use std::time::Duration;

use vocab::language::ProgramLanguage;
use vocab::outcome::ErrorType;

use crate::fakes::Fake;
use crate::program::Program;
use crate::trial::{alone, ended, failure, program};

/// The programs' cap.
const CAP: u64 = 32 << 20;

/// What the host may take beyond it.
const BESIDE: u64 = 32 << 20;

/// Bytes of a line of `/proc/self/status`.
fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .unwrap();
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").trim().parse().unwrap();
    kibibytes << 10
}

fn hog(language: ProgramLanguage, source: &str) {
    let execution = ended(
        Program {
            budget: Duration::from_mins(1),
            max_memory_bytes: CAP,
            ..program(language, source)
        },
        Fake::default(),
    );
    let (error, text) = failure(&execution);
    assert_eq!(error, ErrorType::SandboxOutOfMemory, "{source}\n{text}");
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn probe_of_the_hosts_memory() {
    let python = ProgramLanguage::Python;
    let javascript = ProgramLanguage::Javascript;
    // The code of the guests is mapped once and belongs to no program.
    let warm = "import gg\nprint(sorted(str(n) for n in range(1000)))";
    assert_eq!(ended(program(python, warm), Fake::default()).fault, None);
    let warm = "console.log([3, 1, 2].sort().map(String).join());";
    assert_eq!(
        ended(program(javascript, warm), Fake::default()).fault,
        None
    );
    // The peak so far is forgotten.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS");
    for (language, source) in [
        (
            python,
            "kept = []\nwhile True: kept.append(bytearray(b'x' * (1 << 18)))",
        ),
        (python, "kept = []\nwhile True: kept.append([0] * 1000)"),
        (python, "bytearray(1 << 30)"),
        (
            javascript,
            "const kept = []; for (;;) kept.push(new Uint8Array(1 << 18).fill(1));",
        ),
        (
            javascript,
            "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length));",
        ),
    ] {
        hog(language, source);
        let rose = status("VmHWM").saturating_sub(before);
        assert!(rose < CAP + BESIDE, "{source}: {rose} bytes");
    }
}

#[test]
fn the_host_takes_little_more_than_a_program_may() {
    alone("hostile_memory::probe_of_the_hosts_memory");
}
