//! What a guest is held to: two clocks, threads, the stack, memory, tables; and what comes of one that
//! ends itself.

use super::*;

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

/// A guest that opens a file.
fn opens(file: &std::path::Path) -> Vec<u8> {
    let path = file.to_str().unwrap().trim_start_matches('/');
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
fn a_file_that_does_not_open_leaves_a_thread_that_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let leased = Leased::at(&file);
    let threads = Threads::default();
    let execution = ended(
        Program {
            budget: Duration::from_millis(50),
            threads: threads.clone(),
            ..program(&opens(&file))
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
    until("the thread is left behind", || threads.abandoned() == 1);
    drop(leased);
    until("the thread has ended", || threads.abandoned() == 0);
}

#[test]
fn past_eight_threads_left_behind_no_program_of_the_same_host_starts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let leased = Leased::at(&file);
    let guest = Guest::load(&opens(&file), None).unwrap();
    let threads = Threads::default();
    let hanging = || Program {
        guest: guest.clone(),
        // Time to come as far as the file, beside other tests.
        budget: Duration::from_millis(500),
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
    until("nine threads are left behind", || {
        threads.abandoned() > MAX_ABANDONED
    });
    let Err(refused) = start(hanging(), fake(), Stop::default()) else {
        panic!("a program started");
    };
    assert!(matches!(refused, StartError::Abandoned(9)));
    let told = refused.to_string();
    assert!(
        told.contains("\nhint: ") && told.contains("network mount"),
        "{told}"
    );
    assert_eq!(
        run(OPEN_TEXT, "", SHOW).fault,
        None,
        "another host's are its own"
    );
    drop(leased);
    until("the threads have ended", || threads.abandoned() == 0);
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
