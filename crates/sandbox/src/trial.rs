//! Programs of any arm against the fake services, for tests.
//!
//! Guests are the ones this binary carries; where one is missing, a test that needs it says so.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::time::Instant;
use vocab::grant::{HeldMemories, Offer};
use vocab::knowledge::MemoryStrategy;
use vocab::language::ProgramLanguage;
use vocab::operations::EndingRole;
use vocab::outcome::ErrorType;

use crate::arms;
use crate::components::{Cache, Guest};
use crate::fakes::{Fake, everything};
use crate::outcome::Fault;
use crate::prepare::PrepareContext;
use crate::program::{Execution, Program, Stop, Threads, start};
use crate::surroundings::Surroundings;

/// How long a test waits for what takes a second or two on a machine with nothing else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// The guest of a language, compiled once a process, and once a machine for as long as its target
/// directory lives.
pub(crate) fn guest(language: ProgramLanguage) -> Guest {
    static ECMASCRIPT: OnceLock<Guest> = OnceLock::new();
    static PYTHON: OnceLock<Guest> = OnceLock::new();
    let slot = match language {
        ProgramLanguage::Typescript | ProgramLanguage::Javascript => &ECMASCRIPT,
        ProgramLanguage::Python => &PYTHON,
    };
    slot.get_or_init(|| guest_of_its_own(language)).clone()
}

/// The same, with nobody else's programs.
pub(crate) fn guest_of_its_own(language: ProgramLanguage) -> Guest {
    match arms::of(language).guest() {
        Ok(bytes) => Guest::load(bytes, Some(&cache())).unwrap(),
        Err(missing) => panic!("{missing}"),
    }
}

fn cache() -> Cache {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        PathBuf::from,
    );
    Cache::open(target.join("compiled-guests")).unwrap()
}

/// A program that its arm accepts, and that may call everything.
pub(crate) fn program(language: ProgramLanguage, source: &str) -> Program {
    let prepared = arms::of(language)
        .prepare_program(source, &[], &PrepareContext::default())
        .unwrap();
    Program {
        guest: guest(language),
        source: prepared.source,
        modules: prepared.modules,
        locations: prepared.locations,
        has_library: true,
        offer: everything(EndingRole::Standard),
        budget: Duration::from_secs(20),
        max_memory_bytes: 256 << 20,
        surroundings: Surroundings {
            cwd: "/".into(),
            environment: Vec::new(),
        },
        threads: Threads::default(),
    }
}

/// Runs a program to its end.
pub(crate) fn ended(program: Program, fake: Fake) -> Execution {
    let execution = start(program, Box::new(fake), Stop::default()).unwrap();
    execution.blocking_recv().unwrap()
}

/// Offers that together hold every operation: no agent has two strategies for its memories, comes
/// out of a machine's state and hands over, or has two roles.
pub(crate) fn offers() -> [Offer; 3] {
    let all = everything(EndingRole::Standard);
    let mut driven = all.clone();
    driven.servicing.driven = true;
    driven.servicing.memories = Some(HeldMemories {
        strategy: MemoryStrategy::Scratchpad,
        writable: true,
    });
    [all, driven, everything(EndingRole::Review)]
}

/// The lines a program printed.
pub(crate) fn printed(execution: &Execution) -> Vec<&str> {
    let lines = execution.logs.lines.iter();
    lines.map(|line| line.text.as_str()).collect()
}

/// The rendering of the one failure a program died of, and the error of its turn.
pub(crate) fn failure(execution: &Execution) -> (ErrorType, String) {
    let fault = execution.fault.as_ref().expect("the program is to fail");
    let text = match fault {
        Fault::Reported(reports) => reports[0].rendering.clone(),
        other => format!("{other:?}"),
    };
    (fault.error_type().unwrap(), text)
}

/// Runs one ignored test in a process of its own, where nothing else runs.
#[expect(
    clippy::disallowed_methods,
    reason = "what the test leaves behind, or measures, is its process's"
)]
pub(crate) fn alone(test: &str) {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--test-threads=1", test])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{errors}");
    assert!(told.contains("1 passed"), "{told}");
}

/// Waits until something is so that no event tells of, and fails where it never comes to be.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "it never came to be: {what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
