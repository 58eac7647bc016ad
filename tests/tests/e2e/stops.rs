//! A run of two hundred agents stopped at a random moment, in each way there is (R36, R38).
//!
//! Commands run and processes are left in the background as the stop comes. However it comes,
//! everybody ends once, the record is whole, and no process of the run survives; what holds after
//! any run is checked by the harness. Moments come of a seed, as a number of lines of the stream;
//! `GG_STOPS` says how many are tried in each way.

use rustix::process::Signal;
use serde_json::json;
use tests::gateway::{Answer, Request};
use tests::launch::Launch;
use tests::run::{Builder, Run, Running};

use crate::families::{And, DELEGATING, ended, profile, start, subagents, task, wait};

/// Agents below the root, and those below each of them.
const MIDDLES: usize = 20;
const LEAVES: usize = 9;

/// A moment is one of the first lines; a run that nobody stops has far more.
const LINES: usize = 2_500;

fn launch() -> Launch {
    let shell = json!({ "id": "shell", "enabled": true, "implementation": "inline",
        "params": { "maxLines": 20, "maxChars": 2000 } });
    let tools = [&["shell"][..], &DELEGATING].concat();
    let agent = |slug| profile(slug, &[shell.clone(), subagents(2)], &tools, &["worker"]);
    Launch::live().limit("maxParallel", 16).set(
        "/capabilitySet/agents",
        json!([agent("root"), agent("worker")]),
    )
}

/// Starts `count` agents and waits for them all.
fn fan(count: usize, brief: impl Fn(usize) -> String) -> Answer {
    let first = start("worker", &brief(0));
    (1..count)
        .fold(first, |answer, n| answer.and_start("worker", &brief(n)))
        .and_wait(&[])
}

/// Every leaf leaves a process in the background and runs `command`.
fn reply(request: &Request, command: &str) -> Answer {
    let task = task(request);
    match (task.split(' ').next().unwrap_or_default(), request.turn()) {
        ("Do", 0) => fan(MIDDLES, |n| format!("Middle {n}")),
        ("Middle", 0) => fan(LEAVES, |n| format!("Leaf {n} of {task}")),
        ("Leaf", 0) => Answer::shell(&format!("sleep 90 > /dev/null 2>&1 & {command}")),
        ("Leaf", 1) => wait(&[]),
        ("Leaf", 2) => Answer::shell("echo again"),
        _ => Answer::finish("Done."),
    }
}

fn family(command: &'static str) -> Builder {
    Run::builder()
        .launch(launch())
        .answers(move |request: &Request, _| reply(request, command))
}

/// The moments of a way to stop, each in its own part of the run.
fn moments(way: usize) -> impl Iterator<Item = usize> {
    let count = std::env::var("GG_STOPS").ok();
    let count = count.map_or(2, |count| count.parse().expect("GG_STOPS is a number"));
    (0..count).map(move |n| {
        let part = LINES / count;
        n * part + (way * 7_919 + n * 104_729) % part
    })
}

/// What holds of a stopped run beside what the harness checks.
#[track_caller]
fn stopped(run: &Run, code: i32, status: &str, moment: usize) {
    assert_eq!(
        (run.code, run.last()["status"].as_str()),
        (Some(code), Some(status)),
        "moment {moment}\n{}",
        run.describe()
    );
    crate::kill9::agrees(run);
    let spawned = run.events("agent_spawned").len();
    let statuses = run.events("agent_status").into_iter();
    let ends = statuses.filter(|status| !status["endedAs"].is_null());
    assert_eq!(ends.count(), spawned, "moment {moment}");
    assert!(ended(run, status).contains(&"root"), "moment {moment}");
    assert_eq!(run.journal_lines().last().unwrap()["t"], "end");
}

/// Cancels a run at each moment in a way.
#[track_caller]
fn canceled(way: usize, stop: impl Fn(&Running)) {
    for moment in moments(way) {
        let builder = family("sleep 0.05; echo here");
        let cancel = builder.folder().join("cancel").display().to_string();
        let running = builder
            .with(|launch| launch.set("/cancelFile", cancel))
            .start();
        running.wait_for_lines(moment);
        stop(&running);
        stopped(&running.finish(), 0, "canceled", moment);
    }
}

#[test]
fn nobody_stops_a_run_of_two_hundred() {
    let run = family("echo here").run();
    run.ended(0, "completed");
    assert_eq!(ended(&run, "completed").len(), 1 + MIDDLES * (1 + LEAVES));
    assert!(run.lines.len() > LINES, "{}", run.lines.len());
    let left = run.events("log").into_iter();
    let left = left.filter(|log| log["code"] == "left_running");
    assert_eq!(left.count(), MIDDLES * LEAVES);
}

#[test]
fn a_cancel_file_ends_everything_at_any_moment() {
    canceled(0, |running| {
        std::fs::write(running.workspace().join("../cancel"), "").unwrap();
    });
}

#[test]
fn sigterm_ends_everything_at_any_moment() {
    canceled(1, |running| running.signal(Signal::TERM));
}

#[test]
fn sigint_ends_everything_at_any_moment() {
    canceled(2, |running| running.signal(Signal::INT));
}

#[test]
fn a_second_signal_ends_everything_at_any_moment() {
    canceled(3, |running| {
        running.signal(Signal::TERM);
        running.signal(Signal::TERM);
    });
}

#[test]
fn a_spent_clock_ends_everything() {
    for seconds in 1..=2 {
        let run = family("sleep 90")
            .with(|launch| launch.limit("maxRuntimeSecs", seconds))
            .run();
        stopped(&run, 3, "timed_out", 0);
    }
}

#[test]
fn spent_money_ends_everything_at_any_moment() {
    for moment in moments(4) {
        // Each reply costs 0.0001, and there are about ten lines to each.
        let cost = 0.0001 * (moment / 10 + 2) as f64;
        let run = family("sleep 0.05; echo here")
            .with(|launch| launch.limit("maxCost", cost))
            .run();
        stopped(&run, 3, "limit_exceeded", moment);
    }
}

#[test]
fn a_defect_ends_everything_at_any_moment() {
    for (n, moment) in moments(5).enumerate() {
        let place = ["turn", "scheduler_release", "child", "queued"][n % 4];
        // Each is passed about 200 times in a run that nobody stops.
        let run = family("sleep 0.05; echo here")
            .tripping(&format!("{place}@{}", moment / 20 + 1))
            .run();
        stopped(&run, 1, "internal_error", moment);
    }
}
