//! Programs that run in an instance made ahead of them.

use std::sync::Arc;

use vocab::language::ProgramLanguage;

use super::*;
use crate::program::stand_by;

/// Programs of one guest, each in an instance that waited for it.
struct Waited(Guest);

impl Waited {
    fn on(bytes: &[u8]) -> Self {
        let guest = Guest::load(bytes, None).unwrap();
        stand_by(guest.clone(), program(bytes).outlook()).unwrap();
        Self(guest)
    }

    fn program(&self) -> Program {
        until("a thread has the place", || self.0.standby.is_taken());
        Program {
            guest: self.0.clone(),
            ..program(&component("", "", ""))
        }
    }
}

#[test]
fn a_program_finds_nothing_of_the_one_before() {
    let waited = Waited::on(&component(
        "",
        "(global $secret (mut i32) (i32.const 0))
        (table $kept 1 funcref) (elem declare func $any) (func $any)",
        "(if (i32.or (i32.or (i32.load (i32.const 9000)) (global.get $secret))
                (i32.eqz (ref.is_null (table.get $kept (i32.const 0)))))
            (then unreachable))
        (if (i32.ne (memory.size) (i32.const 2)) (then unreachable))
        (i32.store (i32.const 9000) (i32.const 7))
        (global.set $secret (i32.const 7))
        (table.set $kept (i32.const 0) (ref.func $any))
        (drop (memory.grow (i32.const 1)))",
    ));
    for _ in 0..3 {
        assert_eq!(ended(waited.program(), Fake::default()).fault, None);
    }
}

#[test]
fn a_waiting_instance_is_as_limited_as_any() {
    let hunger = "(block $full (loop $more
        (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))))
        (if (i32.ne (memory.size) (i32.const 1024)) (then unreachable))";
    let waited = Waited::on(&component("", "", hunger));
    assert_eq!(ended(waited.program(), Fake::default()).fault, None);
    let little = Program {
        max_memory_bytes: 65_536,
        ..waited.program()
    };
    assert_eq!(
        ended(little, Fake::default()).fault,
        Some(Fault::OutOfMemory { cap: 65_536 })
    );
    assert_eq!(ended(waited.program(), Fake::default()).fault, None);
}

#[test]
fn a_waiting_instance_sees_what_is_around_its_program() {
    let imports = r#"(import "wasi_snapshot_preview1" "environ_sizes_get"
        (func $sizes (param i32 i32) (result i32)))"#;
    let four = "(drop (call $sizes (i32.const 3000) (i32.const 3004)))
        (if (i32.ne (i32.load (i32.const 3000)) (i32.const 4)) (then unreachable))";
    let waited = Waited::on(&component(imports, "", four));
    // Its own two, beside the working directory and the budget.
    let environment = ["A", "B"].map(|name| (name.to_owned(), "x".to_owned()));
    let of_two = || Program {
        surroundings: Surroundings {
            cwd: "/".into(),
            environment: environment.to_vec(),
        },
        ..waited.program()
    };
    // In an instance of its own, then in one that was made with it in view.
    assert_eq!(ended(of_two(), Fake::default()).fault, None);
    assert_eq!(ended(of_two(), Fake::default()).fault, None);
    assert!(ended(waited.program(), Fake::default()).fault.is_some());
}

/// Python reads its environment once, which may be before it has a program.
#[test]
fn python_finds_its_environment_and_its_folder_in_an_instance_made_ahead() {
    let guest = crate::trial::guest_of_its_own(ProgramLanguage::Python);
    let source = "import os\nprint(os.environ['WORD'], open('file').read(), os.getcwd())";
    let folders = ["one", "two"].map(|word| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), word).unwrap();
        (folder, word)
    });
    // The last but one finds an instance with the outlook of the one before it.
    for place in [0, 0, 1, 1] {
        let (folder, word) = &folders[place];
        let cwd = folder.path().canonicalize().unwrap();
        let told = format!("{word} {word} {}", cwd.display());
        let program = Program {
            guest: guest.clone(),
            surroundings: Surroundings {
                cwd,
                environment: vec![("WORD".to_owned(), (*word).to_owned())],
            },
            ..crate::trial::program(ProgramLanguage::Python, source)
        };
        stand_by(guest.clone(), program.outlook()).unwrap();
        until("a thread has the place", || guest.standby.is_taken());
        let execution = ended(program, Fake::default());
        assert_eq!(execution.fault, None, "{}", execution.stderr);
        assert_eq!(crate::trial::printed(&execution), [told]);
    }
}

#[test]
fn a_waiting_instance_is_stopped_by_both_clocks_and_from_outside() {
    let waited = Waited::on(&component("", "", "(loop $ever (br $ever))"));
    let brief = || Program {
        budget: Duration::from_millis(50),
        ..waited.program()
    };
    let execution = ended(brief(), Fake::default());
    assert!(matches!(
        execution.fault,
        Some(Fault::Timeout {
            clock: Clock::Guest,
            ..
        })
    ));
    let stop = Stop::default();
    stop.stop();
    let execution = start(waited.program(), Box::new(Fake::default()), stop).unwrap();
    assert_eq!(
        execution.blocking_recv().unwrap().fault,
        Some(Fault::Stopped)
    );
    let asleep = Waited::on(&component(POLL, "", SLEEP));
    let stop = Stop::default();
    let execution = start(asleep.program(), Box::new(Fake::default()), stop.clone());
    stop.stop();
    assert_eq!(
        execution.unwrap().blocking_recv().unwrap().fault,
        Some(Fault::Stopped)
    );
}

#[test]
fn a_guest_that_cannot_wait_says_so_to_each_of_its_programs() {
    let bytes = component("", "(func $begin unreachable) (start $begin)", "");
    let guest = Guest::load(&bytes, None).unwrap();
    stand_by(guest.clone(), program(&bytes).outlook()).unwrap();
    for _ in 0..2 {
        let program = Program {
            guest: guest.clone(),
            ..program(&bytes)
        };
        let fault = ended(program, Fake::default()).fault.unwrap();
        assert_eq!(fault.error_type(), Some(ErrorType::SandboxTrap));
    }
}

#[test]
fn of_many_programs_that_end_at_once_one_thread_waits_and_none_when_the_guest_is_gone() {
    let waited = Waited::on(&component(OPEN_TEXT, "", SHOW));
    let programs: Vec<_> = (0..16)
        .map(|_| {
            let program = Program {
                guest: waited.0.clone(),
                ..program(&component("", "", ""))
            };
            start(program, Box::new(Fake::default()), Stop::default()).unwrap()
        })
        .collect();
    for execution in programs {
        assert_eq!(execution.blocking_recv().unwrap().fault, None);
    }
    until("a thread has the place", || waited.0.standby.is_taken());
    let standby = Arc::downgrade(&waited.0.standby);
    drop(waited);
    until("nobody holds the guest", || standby.strong_count() == 0);
}
