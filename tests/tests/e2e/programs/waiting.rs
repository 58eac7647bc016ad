//! Programs that wait for nothing of gg's, and what they leave behind (F106, R37): the outer clock, the
//! run's and a cancel end them, threads do not add up, and those that cannot be ended are counted.
//!
//! Only Python has waits of its own: the guest of the other arms has no event loop.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use tests::gateway::{Gate, Request};
use tests::launch::Launch;
use tests::lease::Leased;
use tests::run::{Builder, Run, Running};

use super::many::program_threads;
use super::{ON_FILES, workshop};
use crate::arms::{Arm, Texts, both, coder_of, exactly, finish, submit};
use crate::coders::{cast, told};
use crate::common::CEILING;
use crate::families::{of_root, subagents};

/// A root of JavaScript that starts so many agents of Python, whose programs may run for 0.2 seconds.
fn family(workers: usize) -> Launch {
    let delegates = ["delegation.spawn_subagent", "delegation.wait_for_subagents"];
    let root = coder_of(
        Arm::Javascript,
        "root",
        &[subagents(1)],
        &delegates,
        &["worker"],
    );
    let mut worker = coder_of(Arm::Python, "worker", &workshop(), &ON_FILES, &[]);
    let capabilities = worker["capabilities"].as_array_mut().unwrap();
    for capability in capabilities {
        if capability["id"] == "responses-as-code" {
            capability["params"]["timeoutSecs"] = json!(0.2);
        }
    }
    cast([root, worker]).limit("maxParallel", workers)
}

/// A program that starts so many agents and waits for them.
fn starting(workers: usize) -> Texts {
    both(
        &format!(
            r#"
            for (let number = 0; number < {workers}; number += 1) {{
              delegation.spawnSubagent("worker", `number ${{number}}`);
            }}
            delegation.waitForSubagents();
            "#
        ),
        "",
    )
}

/// A run whose workers submit these programs in turn, and whose root stands at a gate once all have
/// ended.
fn waiting(workers: usize, programs: Vec<String>, gate: &Gate) -> Builder {
    let gate = gate.clone();
    Run::builder()
        .launch(family(workers))
        .answers(move |request: &Request, _: usize| {
            let turn = request.turn();
            if !of_root(request) {
                return programs
                    .get(turn)
                    .map_or_else(|| finish(Arm::Python, "Done."), |text| exactly(text));
            }
            if turn == 0 {
                return submit(Arm::Javascript, &starting(workers));
            }
            gate.reach();
            gate.wait(CEILING);
            finish(Arm::Javascript, "Done.")
        })
}

/// Waits until a process has so many threads on which programs run: one may end a moment after its
/// program was told to have.
#[expect(
    clippy::disallowed_methods,
    reason = "what is waited for is another process, whose clock nobody pauses"
)]
#[track_caller]
fn threads_come_to(pid: u32, count: usize) {
    let end = Instant::now() + CEILING;
    while program_threads(pid) != count {
        let left = program_threads(pid);
        assert!(Instant::now() < end, "{left} threads, not {count}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

#[test]
fn a_hundred_programs_that_wait_leave_no_thread_behind() {
    const WORKERS: usize = 25;
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let programs = vec![
        "import time\ntime.sleep(100_000)".to_owned(),
        format!(
            "import socket, select\ns = socket.create_connection(('127.0.0.1', {port}))\n\
             select.select([s], [], [])"
        ),
        format!("import socket\nsocket.create_connection(('127.0.0.1', {port})).recv(1)"),
        "import time\nwhile True: time.sleep(0.01)".to_owned(),
    ];
    let turns = programs.len();
    let gate = Gate::new();
    let running = waiting(WORKERS, programs, &gate).start();
    assert!(
        gate.wait_reached(1, CEILING),
        "{:?}",
        running.lines().last()
    );
    threads_come_to(running.pid(), 0);
    gate.open();
    let run = running.finish();
    run.ended(0, "completed");
    let stopped = run.outcomes();
    let stopped = stopped.iter().filter(|it| **it == "sandbox_timeout");
    assert_eq!(stopped.count(), WORKERS * turns);
    let errors = told(&run, "Runtime error\n----\n");
    assert!(
        errors
            .iter()
            .any(|it| it.contains("waited outside of any call for longer than the 0.2 seconds")),
        "{errors:?}"
    );
    // For each of those at work at once a thread, and what its waits and files stand on; nothing for
    // those that have ended.
    let quiet = crate::arms::play(Arm::Python, &[], &[], &[both("", "")]);
    let rose = run.peak.threads.saturating_sub(quiet.peak.threads);
    assert!(
        rose <= 3 * WORKERS as u64,
        "{rose} more threads than {}",
        quiet.peak.threads
    );
}

/// A program that reads a file to its end.
fn reads(path: &Path) -> String {
    format!("open({:?}).read()", path.to_str().unwrap())
}

#[test]
fn threads_that_cannot_be_ended_are_left_behind_and_end_when_what_they_wait_for_comes() {
    const WORKERS: usize = 3;
    let gate = Gate::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let leased = Leased::at(&file);
    let running = waiting(WORKERS, vec![reads(&file)], &gate).start();
    assert!(
        gate.wait_reached(1, CEILING),
        "{:?}",
        running.lines().last()
    );
    threads_come_to(running.pid(), WORKERS);
    drop(leased);
    threads_come_to(running.pid(), 0);
    gate.open();
    let run = running.finish();
    run.ended(0, "completed");
    let outcomes = run.outcomes();
    let stopped = outcomes.iter().filter(|it| **it == "sandbox_timeout");
    assert_eq!(stopped.count(), WORKERS);
}

#[test]
fn more_threads_left_behind_than_there_may_be_are_gg_s_defect() {
    // Past eight that are left behind no program is started any more.
    const WORKERS: usize = 10;
    let gate = Gate::new();
    gate.open();
    let builder = Run::builder();
    let file = builder.folder().join("file");
    let _leased = Leased::at(&file);
    // A thread counts as left behind once its program has been over for a second.
    let rest = "import gg\ngg.shell.shell('sleep 1.5')";
    let run = waiting(
        WORKERS,
        vec![reads(&file), rest.to_owned(), "1".to_owned()],
        &gate,
    )
    .run();
    run.ended(1, "internal_error");
    let told = run.logs("error").join("\n");
    assert!(
        told.contains("programs left threads behind") && told.contains("hint: "),
        "{told}"
    );
    assert!(run.peak.threads < 60, "{:?}", run.peak);
}

/// A run whose program says that it began, and then does this with a file that does not open.
fn stuck(launch: Launch, does: impl Fn(&Path) -> String) -> (Running, Leased) {
    let builder = Run::builder();
    let file = builder.folder().join("file");
    let leased = Leased::at(&file);
    let began = both("", "import gg\ngg.files.write_file('began', '')\n");
    let source = format!("{}\n{}", began.of(Arm::Python), does(&file));
    let running = builder
        .launch(launch)
        .answers(move |_: &Request, _: usize| exactly(&source))
        .start();
    (running, leased)
}

#[test]
fn a_cancel_and_the_run_s_clock_end_a_program_whose_thread_cannot_be_ended() {
    let (canceled, _leased) = stuck(super::launch(Arm::Python), reads);
    crate::common::wait_for(&canceled.workspace().join("began"));
    canceled.signal(Signal::TERM);
    let run = canceled.finish();
    run.ended(0, "canceled");
    assert_eq!(run.event("code_execution")["ok"], false);
    let timed = super::launch(Arm::Python).limit("maxRuntimeSecs", 1);
    let (timed, _leased) = stuck(timed, reads);
    timed.finish().ended(3, "timed_out");
}
