//! F93: signals and the cancel file end a run in one way, whatever it is waiting for.

use rustix::process::Signal;
use serde_json::json;
use tests::gateway::{Answer, End, Reply, Request, script};
use tests::run::{Run, Running};

use crate::common::{CEILING, turns, wait_for};

/// What stops a run.
#[derive(Clone, Copy, Debug)]
enum Stop {
    File,
    One(Signal),
    Two(Signal),
}

const STOPS: [Stop; 6] = [
    Stop::File,
    Stop::One(Signal::INT),
    Stop::One(Signal::TERM),
    Stop::One(Signal::HUP),
    Stop::One(Signal::QUIT),
    Stop::Two(Signal::TERM),
];

fn stop(running: &Running, how: Stop) {
    match how {
        Stop::File => {
            std::fs::write(running.workspace().join("../cancel"), "").unwrap();
        }
        Stop::One(signal) => running.signal(signal),
        Stop::Two(signal) => {
            running.signal(signal);
            running.signal(signal);
        }
    }
}

/// Waits for the end and looks at what must be there.
#[track_caller]
fn canceled(running: Running, how: Stop) -> Run {
    let run = running.finish();
    run.ended(0, "canceled");
    assert_eq!(run.events("session_summary").len(), 1, "{how:?}");
    let journal = run.journal_lines();
    assert_eq!(journal.last().unwrap()["t"], "end", "{how:?}");
    run
}

#[test]
fn f93_a_stop_ends_a_running_command() {
    for how in STOPS {
        let builder = Run::builder();
        let cancel = builder.folder().join("cancel").display().to_string();
        let running = builder
            .with(|launch| launch.set("/cancelFile", cancel))
            .answers(turns([Answer::shell("echo begun; sleep 90")]))
            .start();
        running.wait_for_event("tool_call");
        stop(&running, how);
        let run = canceled(running, how);
        let shell = run.events("shell");
        assert!(shell.iter().all(|shell| shell["exitCode"] == -1), "{how:?}");
        assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 1, "{how:?}");
    }
}

#[test]
fn a_stop_ends_a_command_that_ignores_being_told() {
    for how in STOPS {
        let builder = Run::builder();
        let cancel = builder.folder().join("cancel").display().to_string();
        let stubborn = "trap '' TERM INT; echo $$ > begun; while :; do sleep 1; done";
        let running = builder
            .with(|launch| launch.set("/cancelFile", cancel))
            .answers(turns([Answer::shell(stubborn)]))
            .start();
        wait_for(&running.workspace().join("begun"));
        stop(&running, how);
        canceled(running, how);
    }
}

#[test]
fn a_stop_drops_a_model_call_in_flight() {
    for how in STOPS {
        let builder = Run::builder();
        let cancel = builder.folder().join("cancel").display().to_string();
        let held = Reply::from(Answer::text("Let me think"))
            .take(2)
            .ending(End::HoldOpen);
        let running = builder
            .with(|launch| launch.set("/cancelFile", cancel))
            .answers(script([held]))
            .start();
        assert!(running.gateway().wait_for(1, CEILING));
        stop(&running, how);
        let run = canceled(running, how);
        assert_eq!(
            run.gateway.as_ref().unwrap().sent_whole(0, CEILING),
            Some(false),
            "{how:?}"
        );
        assert_eq!(run.events("assistant_message").len(), 0, "{how:?}");
    }
}

#[test]
fn a_stop_ends_a_backoff() {
    for how in STOPS {
        let builder = Run::builder();
        let cancel = builder.folder().join("cancel").display().to_string();
        let running = builder
            .with(|launch| launch.set("/cancelFile", cancel))
            .answers(|_: &Request, _| {
                Reply::error(429, "slow down").with_header("Retry-After", "300")
            })
            .start();
        running.wait_for("a retry", |line| line["code"] == "retry");
        stop(&running, how);
        canceled(running, how);
    }
}

#[test]
fn a_stop_before_anything_happened_is_a_whole_run_all_the_same() {
    let builder = Run::builder();
    let cancel = builder.folder().join("cancel");
    std::fs::write(&cancel, "").unwrap();
    let run = builder
        .with(|launch| launch.set("/cancelFile", cancel.display().to_string()))
        .answers(script([Answer::finish("never")]))
        .run();
    run.ended(0, "canceled");
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 0);
}

#[test]
fn work_done_before_a_stop_stays() {
    let running = Run::builder()
        .answers(turns([
            Answer::call("write_file", json!({ "path": "a.txt", "contents": "kept" })),
            Answer::shell("sleep 90"),
        ]))
        .start();
    running.wait_for("the command's call", |line| {
        line["type"] == "tool_call" && line["tool"] == "shell"
    });
    running.signal(Signal::INT);
    let run = canceled(running, Stop::One(Signal::INT));
    assert_eq!(run.file("a.txt"), "kept");
    assert_eq!(run.results("write_file").len(), 1);
}

#[test]
fn a_hangup_that_was_ignored_from_the_start_stays_ignored() {
    let running = Run::builder()
        .through(["nohup"])
        .answers(turns([Answer::shell("touch begun; sleep 90")]))
        .start();
    wait_for(&running.workspace().join("begun"));
    running.signal(Signal::HUP);
    running.signal(Signal::TERM);
    let run = running.finish();
    run.ended(0, "canceled");
    assert!(run.stdout.contains("SIGTERM"), "{}", run.describe());
    assert!(!run.stdout.contains("SIGHUP"), "{}", run.describe());
}

#[test]
fn a_reader_that_stopped_does_not_keep_the_run_from_ending() {
    use std::process::{Command, Stdio};

    // A pipe holds 64 KiB: more than that is waiting when nobody reads.
    let noisy = json!({ "tool": "shell", "arguments": { "command": "head -c 16000 /dev/zero" } });
    let mut replies = vec![json!({ "calls": vec![noisy; 20] }); 3];
    replies.push(json!({ "delayMs": 600_000, "finish": "never" }));
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.json");
    let document = folder.path().join("launch.json");
    std::fs::write(&script, json!({ "profiles": { "*": replies } }).to_string()).unwrap();
    let launch = tests::launch::Launch::mock("script")
        .set("/workspaceDir", folder.path().display().to_string());
    std::fs::write(&document, launch.json().to_string()).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "a test's own thread may wait, and the harness would read the pipe"
    )]
    let mut gg = Command::new(tests::run::binary())
        .arg("run")
        .arg(&document)
        .arg("--mock-script")
        .arg(&script)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = folder.path().join(".gg/replay.ndjson");
    while std::fs::metadata(&journal).map_or(0, |found| found.len()) < 600_000 {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&gg);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    rustix::process::kill_process(pid, Signal::INT).unwrap();
    // Not `wait_with_output`, which would read.
    let status = gg.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut gg.stderr.take().unwrap(), &mut stderr).unwrap();
    assert!(stderr.contains("not being read"), "{stderr}");
}
