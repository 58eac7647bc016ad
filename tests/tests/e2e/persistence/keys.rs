//! Who of a persistent profile runs, and who beside it.

use rustix::process::Signal;
use serde_json::json;
use tests::gateway::{Answer, Request};
use tests::run::Run;

use super::{And, house, house_of, persistent, places, profile, spawn, turn, who};

/// Ends once all these files are there.
fn until(files: &[&str]) -> String {
    let there: Vec<_> = files.iter().map(|file| format!("[ -e {file} ]")).collect();
    format!("until {}; do sleep 0.01; done", there.join(" && "))
}

#[test]
fn of_three_started_one_runs_two_queue_and_others_run_beside() {
    let run = Run::builder()
        .launch(house(16))
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => ["K1", "K2", "K3"]
                    .into_iter()
                    .fold(spawn("helper", "H1"), |all, keeper| {
                        all.and_spawn("keeper", keeper)
                    })
                    .and_spawn("helper", "H2")
                    .and_wait(),
                // Whoever keeps first ends only when those beside it have run.
                ("K1", 0) => Answer::shell(&until(&["H1", "H2"])),
                ("H1" | "H2", 0) => Answer::shell(&format!("touch {}", who(request))),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let keepers: Vec<_> = places(&run)
        .into_iter()
        .filter(|(agent, status)| {
            ["agent-2", "agent-3", "agent-4"].contains(agent) && *status != "queued"
        })
        .collect();
    let one_after_another = [
        ("agent-2", "running"),
        ("agent-2", "done"),
        ("agent-3", "running"),
        ("agent-3", "done"),
        ("agent-4", "running"),
        ("agent-4", "done"),
    ];
    assert_eq!(keepers, one_after_another);
}

#[test]
fn off_or_left_out_there_is_no_key() {
    for more in [vec![persistent(false)], vec![]] {
        let run = Run::builder()
            .launch(house_of(16, profile("keeper", &more)))
            .answers(
                |request: &Request, _| match (who(request).as_str(), turn(request)) {
                    ("root", 0) => spawn("keeper", "K1").and_spawn("keeper", "K2").and_wait(),
                    // Each ends only when the other runs.
                    ("K1", 0) => Answer::shell(&format!("touch K1; {}", until(&["K2"]))),
                    ("K2", 0) => Answer::shell(&format!("touch K2; {}", until(&["K1"]))),
                    _ => Answer::finish("Done."),
                },
            )
            .run();
        run.ended(0, "completed");
    }
}

#[test]
fn one_that_waits_for_a_child_of_its_own_profile_lets_it_run() {
    for cap in [1, 2, 16] {
        let run = Run::builder()
            .launch(house(cap))
            .answers(
                |request: &Request, _| match (who(request).as_str(), turn(request)) {
                    ("root", 0) => spawn("keeper", "1").and_spawn("keeper", "1b").and_wait(),
                    ("1" | "2", 0) => {
                        let level: u8 = who(request).parse().unwrap();
                        spawn("keeper", &(level + 1).to_string()).and_wait()
                    }
                    _ => Answer::finish("Done."),
                },
            )
            .run();
        run.ended(0, "completed");
        assert_eq!(run.summary()["agents"], 5, "{cap}");
        let values = run.results("wait_for_subagents").into_iter();
        let values: Vec<_> = values.map(|it| it["ok"].as_bool()).collect();
        assert_eq!(values, [Some(true); 3], "{cap}");
    }
}

#[test]
fn a_root_of_a_persistent_profile_lets_its_children_of_that_profile_run_while_it_waits() {
    let keeper = profile("keeper", &[persistent(true)]);
    let launch = house(4).set(
        "/capabilitySet/agents",
        json!([keeper, profile("helper", &[])]),
    );
    let run = Run::builder()
        .launch(launch)
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => spawn("keeper", "K1").and_spawn("keeper", "K2").and_wait(),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    let ended = places(&run)
        .into_iter()
        .filter(|(_, status)| *status == "done");
    let ended: Vec<_> = ended.map(|(agent, _)| agent).collect();
    assert_eq!(ended, ["agent-1", "agent-2", "root"]);
}

#[test]
fn a_hundred_of_one_profile_each_run_once_beside_a_hundred_without() {
    let run = Run::builder()
        .launch(house(8))
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => {
                    (1..100).fold(spawn("keeper", "K0").and_spawn("helper", "H0"), |all, n| {
                        all.and_spawn("keeper", &format!("K{n}"))
                            .and_spawn("helper", &format!("H{n}"))
                    })
                }
                ("root", 1) => Answer::call("wait_for_subagents", json!({})),
                _ => Answer::finish("Done."),
            },
        )
        .run();
    run.ended(0, "completed");
    assert_eq!(run.summary()["agents"], 201);
    let ended = places(&run)
        .into_iter()
        .filter(|(_, status)| *status == "done");
    assert_eq!(ended.count(), 201);
}

#[test]
fn a_stop_of_the_run_ends_those_that_queue_for_a_key() {
    let running = Run::builder()
        .launch(house(16))
        .answers(
            |request: &Request, _| match (who(request).as_str(), turn(request)) {
                ("root", 0) => (1..6)
                    .fold(spawn("keeper", "K0"), |all, n| {
                        all.and_spawn("keeper", &format!("K{n}"))
                    })
                    .and_wait(),
                (_, 0) => Answer::shell("touch begun; sleep 90"),
                _ => Answer::finish("Done."),
            },
        )
        .start();
    let begun = running.workspace().join("begun");
    while !begun.exists() {
        std::thread::yield_now();
    }
    running.signal(Signal::TERM);
    let run = running.finish();
    run.ended(0, "canceled");
    let statuses = run.events("agent_status").into_iter();
    let canceled = statuses.filter(|status| status["endedAs"] == "canceled");
    assert_eq!(canceled.count(), 7);
}
