//! The host held against small guests in text form, which need no toolchain.
//!
//! A guest is a core module of the contract's world; what it does in `run` is the test's.

use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;
use vocab::failure::FailureClass;
use vocab::operations::EndingRole;
use vocab::outcome::ErrorType;
use wasi_preview1_component_adapter_provider::{
    WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::components::{Cache, CacheRefusal, Guest, Origin};
use crate::fakes::{Fake, everything, nothing};
use crate::locations::Locations;
use crate::outcome::{Clock, Fault};
use crate::program::{Execution, GRACE, MAX_ABANDONED, Program, StartError, Stop, Threads, start};
use crate::services::Services;
use crate::surroundings::Surroundings;

/// A component of a core module: its imports, and the body of `run`.
fn component(imports: &str, more: &str, body: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
            {imports}
            (memory (export "memory") 2)
            (global $free (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (global.set $free
                    (i32.and (i32.add (global.get $free) (i32.const 15)) (i32.const -16)))
                (local.set $at (global.get $free))
                (global.set $free (i32.add (global.get $free) (local.get 3)))
                (block $grown
                    (loop $grow
                        (br_if $grown (i32.le_u (global.get $free)
                            (i32.mul (memory.size) (i32.const 65536))))
                        (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
                        unreachable))
                (local.get $at))
            (func (export "bound-operations") (result i32)
                (i32.const 1024))
            (data (i32.const 2048) "hello")
            {more}
            (func (export "run") (param i32 i32 i32 i32 i32 i32 i32 i32)
                {body}))"#
    );
    let mut module = wat::parse_str(text).unwrap();
    let mut resolve = Resolve::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
    let (package, _) = resolve.push_path(folder).unwrap();
    let world = resolve.select_world(&[package], Some("sandbox")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default()
        .module(&module)
        .unwrap()
        .adapter(
            WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME,
            WASI_SNAPSHOT_PREVIEW1_REACTOR_ADAPTER,
        )
        .unwrap()
        .encode()
        .unwrap()
}

fn program(bytes: &[u8]) -> Program {
    Program {
        guest: Guest::load(bytes, None).unwrap(),
        source: "the source".to_owned(),
        modules: Vec::new(),
        locations: Locations::default(),
        has_library: false,
        offer: everything(EndingRole::Standard),
        budget: Duration::from_secs(20),
        max_memory_bytes: 64 << 20,
        surroundings: Surroundings {
            cwd: "/".into(),
            environment: Vec::new(),
        },
        threads: Threads::default(),
    }
}

fn ended(program: Program, services: impl Services + 'static) -> Execution {
    let execution = start(program, Box::new(services), Stop::default()).unwrap();
    execution.blocking_recv().unwrap()
}

fn run(imports: &str, more: &str, body: &str) -> Execution {
    ended(program(&component(imports, more, body)), Fake::default())
}

const OPEN_TEXT: &str = r#"(import "test-cabinet:gg/views" "open-text"
    (func $open (param i32 i32 i32 i32 i32)))"#;

const SHOW: &str = "(call $open (i32.const 2048) (i32.const 5) (i32.const 2048) (i32.const 2)
    (i32.const 4096))";

const REPORT: &str = r#"(import "test-cabinet:gg/feedback" "report-error"
    (func $report (param i32 i32 i32 i32 i32 i32 i32 i32)))"#;

const POLL: &str = r#"(import "wasi_snapshot_preview1" "poll_oneoff"
    (func $poll (param i32 i32 i32 i32) (result i32)))"#;

/// One subscription to the monotonic clock, an hour from now.
const SLEEP: &str = "(i32.store8 (i32.const 3008) (i32.const 0))
    (i32.store (i32.const 3016) (i32.const 1))
    (i64.store (i32.const 3024) (i64.const 3600000000000))
    (drop (call $poll (i32.const 3000) (i32.const 3200) (i32.const 1) (i32.const 3300)))";

#[test]
fn a_call_is_opened_dispatched_and_closed() {
    let fake = Fake::default();
    let execution = ended(program(&component(OPEN_TEXT, "", SHOW)), fake.clone());
    assert_eq!(execution.fault, None);
    assert_eq!(
        fake.lines(),
        [
            "open views.open_text",
            "views.open_text(\"hello\", \"he\")",
            "close views.open_text ok"
        ]
    );
    assert_eq!((execution.calls.made, execution.calls.dispatched), (1, 0));
    assert_eq!(execution.calls.undocumented["views.open_text"], 1);
}

#[test]
fn a_call_that_is_not_granted_is_closed_and_on_the_roster() {
    let finish =
        r#"(import "test-cabinet:gg/session" "finish" (func $finish (param i32 i32 i32)))"#;
    let bytes = component(
        finish,
        "",
        "(call $finish (i32.const 2048) (i32.const 5) (i32.const 4096))",
    );
    let fake = Fake::default();
    let execution = ended(
        Program {
            offer: nothing(EndingRole::Review),
            ..program(&bytes)
        },
        fake.clone(),
    );
    assert_eq!(execution.fault, None);
    assert_eq!(
        fake.lines(),
        ["open session.finish", "close session.finish unavailable"]
    );
    assert_eq!(execution.calls.refused.items.len(), 1);
    assert_eq!(
        execution.calls.refused.items[0].message,
        "`gg.session.finish` is not available. Use `gg.session.approve` or \
         `gg.session.request_changes` instead."
    );
    let (class, _) = execution.calls.ended.items[0].failure.clone().unwrap();
    assert_eq!(class, FailureClass::Unavailable);
    assert!(execution.calls.undocumented.is_empty());
}

#[test]
fn a_spent_clock_and_a_pending_compaction_refuse_what_would_be_dispatched() {
    let imports = format!(
        r#"{OPEN_TEXT} (import "test-cabinet:gg/skills" "read-skill"
            (func $read (param i32 i32 i32)))"#
    );
    let body = format!("{SHOW} (call $read (i32.const 2048) (i32.const 5) (i32.const 4096))");
    let bytes = component(&imports, "", &body);
    let closed = |fake: Fake| {
        ended(program(&bytes), fake.clone());
        let lines = fake.lines();
        let closed = lines.iter().filter(|line| line.starts_with("close"));
        closed.cloned().collect::<Vec<_>>()
    };
    let spent = closed(Fake {
        clock_spent: true,
        ..Fake::default()
    });
    assert_eq!(
        spent,
        [
            "close views.open_text ok",
            "close skills.read_skill limit-exceeded"
        ]
    );
    let pending = closed(Fake {
        pending: Some("a compaction waits".to_owned()),
        ..Fake::default()
    });
    assert_eq!(
        pending,
        [
            "close views.open_text ok",
            "close skills.read_skill refused"
        ]
    );
}

#[test]
fn an_endless_loop_is_stopped_by_its_own_clock_and_the_next_program_is_fine() {
    let bytes = component("", "", "(loop $on (br $on))");
    let began = Instant::now();
    let execution = ended(
        Program {
            budget: Duration::from_millis(300),
            ..program(&bytes)
        },
        Fake::default(),
    );
    let expected = Fault::Timeout {
        budget: Duration::from_millis(300),
        clock: Clock::Guest,
    };
    assert_eq!(execution.fault, Some(expected));
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(run("", "", "").fault, None);
}

#[test]
fn time_in_a_call_is_not_the_program_s() {
    let execution = ended(
        Program {
            budget: Duration::from_millis(400),
            ..program(&component(OPEN_TEXT, "", SHOW))
        },
        Fake {
            takes: Duration::from_millis(900),
            ..Fake::default()
        },
    );
    assert_eq!(execution.fault, None);
    assert!(execution.guest_time < Duration::from_millis(400));
}

#[test]
fn a_sleep_ends_on_the_outer_clock() {
    let bytes = component(POLL, "", SLEEP);
    let budget = Duration::from_millis(100);
    let began = Instant::now();
    let execution = ended(
        Program {
            budget,
            ..program(&bytes)
        },
        Fake::default(),
    );
    let expected = Fault::Timeout {
        budget,
        clock: Clock::Outer,
    };
    assert_eq!(execution.fault, Some(expected));
    assert!(began.elapsed() >= GRACE);
}

#[test]
fn a_stop_ends_a_program_that_sleeps_and_one_that_loops() {
    for (imports, body) in [(POLL, SLEEP), ("", "(loop $on (br $on))")] {
        let stop = Stop::default();
        let bytes = component(imports, "", body);
        let execution = start(program(&bytes), Box::new(Fake::default()), stop.clone()).unwrap();
        stop.stop();
        assert_eq!(
            execution.blocking_recv().unwrap().fault,
            Some(Fault::Stopped)
        );
    }
}

/// A guest that opens a pipe nobody writes to, which only a writer ends.
fn hangs_on(fifo: &std::path::Path) -> Vec<u8> {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let path = fifo.to_str().unwrap().trim_start_matches('/');
    let imports = r#"(import "wasi_snapshot_preview1" "path_open"
        (func $path (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))"#;
    let data = format!(r#"(data (i32.const 5000) "{path}")"#);
    let body = format!(
        "(drop (call $path (i32.const 3) (i32.const 0) (i32.const 5000) (i32.const {})
            (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 6000)))",
        path.len()
    );
    component(imports, &data, &body)
}

#[test]
fn a_read_that_cannot_be_ended_leaves_a_thread_that_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let hanging = hangs_on(&fifo);
    let threads = Threads::default();
    let execution = ended(
        Program {
            budget: Duration::from_millis(50),
            threads: threads.clone(),
            ..program(&hanging)
        },
        Fake::default(),
    );
    assert!(matches!(
        execution.fault,
        Some(Fault::Timeout {
            clock: Clock::Outer,
            ..
        })
    ));
    while threads.abandoned() == 0 {
        std::thread::park_timeout(Duration::from_millis(20));
    }
    // A writer comes, and the thread ends after all.
    let writer = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
    drop(writer);
    while threads.abandoned() > 0 {
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn past_eight_threads_left_behind_no_program_of_the_same_host_starts() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("fifo");
    let guest = Guest::load(&hangs_on(&fifo), None).unwrap();
    let threads = Threads::default();
    let hanging = || Program {
        guest: guest.clone(),
        budget: Duration::from_millis(50),
        threads: threads.clone(),
        ..program(&component(OPEN_TEXT, "", SHOW))
    };
    let fake = || Box::new(Fake::default());
    let started: Vec<_> = (0..=MAX_ABANDONED)
        .map(|_| start(hanging(), fake(), Stop::default()).unwrap())
        .collect();
    for execution in started {
        assert!(execution.blocking_recv().unwrap().fault.is_some());
    }
    while threads.abandoned() <= MAX_ABANDONED {
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let refused = start(hanging(), fake(), Stop::default());
    assert!(matches!(refused, Err(StartError::Abandoned(9))));
    assert_eq!(
        run(OPEN_TEXT, "", SHOW).fault,
        None,
        "another host's are its own"
    );
    // A writer comes, and programs run again.
    drop(std::fs::OpenOptions::new().write(true).open(&fifo).unwrap());
    while threads.abandoned() > 0 {
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let again = Program {
        threads,
        ..program(&component(OPEN_TEXT, "", SHOW))
    };
    assert_eq!(ended(again, Fake::default()).fault, None);
}

#[test]
fn recursion_without_end_is_a_trap() {
    let execution = run(
        "",
        "(func $deep (param i32) (result i32)
            (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))",
        "(drop (call $deep (i32.const 0)))",
    );
    let fault = execution.fault.unwrap();
    assert_eq!(fault.error_type(), Some(ErrorType::SandboxTrap));
    assert!(
        matches!(&fault, Fault::Trap { reason } if reason.contains("stack")),
        "{fault:?}"
    );
    assert_eq!(run("", "", "").fault, None);
}

#[test]
fn memory_past_the_cap_is_denied_and_a_death_after_that_is_of_memory() {
    let hunger = "(block $full (loop $more
        (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))))";
    assert_eq!(run("", "", hunger).fault, None);
    let execution = run("", "", &format!("{hunger} unreachable"));
    assert_eq!(execution.fault, Some(Fault::OutOfMemory { cap: 64 << 20 }));
}

#[test]
fn a_guest_that_needs_more_than_the_cap_to_begin_is_out_of_memory() {
    let bytes = component("", "", "");
    let execution = ended(
        Program {
            max_memory_bytes: 65_536,
            ..program(&bytes)
        },
        Fake::default(),
    );
    assert_eq!(execution.fault, Some(Fault::OutOfMemory { cap: 65_536 }));
}

#[test]
fn a_table_hog_is_denied() {
    let execution = run(
        "",
        "(table $hog 0 funcref)",
        "(block $full (loop $more
            (br_if $more (i32.ne
                (table.grow $hog (ref.null func) (i32.const 65536)) (i32.const -1)))))
         unreachable",
    );
    assert_eq!(
        execution.fault.unwrap().error_type(),
        Some(ErrorType::SandboxOutOfMemory)
    );
}

#[test]
fn a_text_past_the_host_s_bound_ends_the_program_and_is_never_copied() {
    let body = "(drop (memory.grow (i32.const 900)))
        (call $open (i32.const 2048) (i32.const 5) (i32.const 0) (i32.const 58000000)
            (i32.const 4096))";
    let fake = Fake::default();
    let execution = ended(program(&component(OPEN_TEXT, "", body)), fake.clone());
    let fault = execution.fault.unwrap();
    assert_eq!(fault.error_type(), Some(ErrorType::SandboxTrap));
    assert_eq!(fake.lines(), Vec::<String>::new());
    assert_eq!(run("", "", "").fault, None);
}

#[test]
fn what_a_guest_prints_goes_nowhere_and_what_it_writes_on_stderr_is_kept() {
    let imports = r#"(import "wasi_snapshot_preview1" "fd_write"
        (func $write (param i32 i32 i32 i32) (result i32)))"#;
    let body = "(i32.store (i32.const 3000) (i32.const 2048))
        (i32.store (i32.const 3004) (i32.const 5))
        (drop (call $write (i32.const 1) (i32.const 3000) (i32.const 1) (i32.const 3100)))
        (drop (call $write (i32.const 2) (i32.const 3000) (i32.const 1) (i32.const 3100)))";
    let execution = run(imports, "", body);
    assert_eq!(execution.fault, None);
    assert_eq!(execution.stderr, "hello");
}

#[test]
fn an_exit_is_no_success_whatever_it_says() {
    let imports = r#"(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))"#;
    for (code, success) in [(0, true), (3, false)] {
        let execution = run(imports, "", &format!("(call $exit (i32.const {code}))"));
        assert_eq!(execution.fault, Some(Fault::Exit { success }));
    }
}

#[test]
fn each_distinct_report_is_kept_once() {
    let one = "(call $report (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
        (i32.const 0) (i32.const 2048) (i32.const 5))";
    let execution = run(REPORT, "", &one.repeat(3));
    let Some(Fault::Reported(reports)) = &execution.fault else {
        panic!("{:?}", execution.fault);
    };
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].rendering, "hello");
    assert_eq!(
        execution.fault.unwrap().error_type(),
        Some(ErrorType::ProgramUnknownName)
    );
}

#[test]
fn a_panic_behind_a_call_closes_the_channel() {
    let fake = Fake::default();
    // A poisoned lock makes the fake panic at its next call.
    let seen = fake.seen.clone();
    let poisoned = std::thread::spawn(move || {
        let _held = seen.lock().unwrap();
        std::panic::resume_unwind(Box::new("asked for"));
    });
    assert!(poisoned.join().is_err());
    let bytes = component(OPEN_TEXT, "", SHOW);
    let execution = start(program(&bytes), Box::new(fake), Stop::default()).unwrap();
    assert!(execution.blocking_recv().is_err());
}

#[test]
fn a_compiled_guest_is_kept_and_a_damaged_entry_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("guests");
    let cache = Cache::open(place.clone()).unwrap();
    let bytes = component("", "", "");
    let origin = || Guest::load(&bytes, Some(&cache)).unwrap().origin;
    assert_eq!(origin(), Origin::Compiled);
    assert_eq!(origin(), Origin::Kept);
    let entry = std::fs::read_dir(&place).unwrap().next().unwrap().unwrap();
    let mut held = std::fs::read(entry.path()).unwrap();
    let middle = held.len() / 2;
    held[middle] ^= 1;
    std::fs::write(entry.path(), &held).unwrap();
    assert_eq!(origin(), Origin::Compiled);
    std::fs::write(entry.path(), b"short").unwrap();
    assert_eq!(origin(), Origin::Compiled);
    assert_eq!(origin(), Origin::Kept);
}

#[test]
fn a_folder_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("guests");
    Cache::open(place.clone()).unwrap();
    std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(
        Cache::open(place.clone()),
        Err(CacheRefusal::Open { .. })
    ));
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path(), &link).unwrap();
    assert!(matches!(Cache::open(link), Err(CacheRefusal::Open { .. })));
}

#[test]
fn many_programs_at_once_each_meet_their_own_services() {
    let bytes = component(OPEN_TEXT, "", SHOW);
    let guest = Guest::load(&bytes, None).unwrap();
    let fakes: Vec<_> = (0..16).map(|_| Fake::default()).collect();
    let running: Vec<_> = fakes
        .iter()
        .map(|fake| {
            let program = Program {
                guest: guest.clone(),
                ..program(&bytes)
            };
            start(program, Box::new(fake.clone()), Stop::default()).unwrap()
        })
        .collect();
    for execution in running {
        assert_eq!(execution.blocking_recv().unwrap().fault, None);
    }
    for fake in &fakes {
        assert_eq!(fake.lines().len(), 3);
    }
}
