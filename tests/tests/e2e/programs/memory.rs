//! The memory a launch gives programs: what none of its language can begin in, and what none can have, is
//! refused at its place with the figure that would do; the least that is accepted runs.

use sandbox::arms;
use serde_json::json;
use tests::gateway::{Answer, Request};
use tests::run::{Builder, Run};

use super::{answers, launch, workshop};
use crate::arms::{Arm, both, coder_of, finish, on_each, submit};
use crate::coders::cast;

const MOST: u64 = arms::MOST_MEMORY_BYTES;

/// A run of one agent whose programs have this much.
fn having(arm: Arm, bytes: u64) -> Builder {
    let launch = launch(arm).in_capability("responses-as-code", "/params/maxMemoryBytes", bytes);
    Run::builder().launch(launch)
}

#[test]
fn programs_run_in_the_least_memory_that_a_launch_may_give_and_in_the_most() {
    on_each(|arm| {
        for bytes in [arms::of(arm).least_memory_bytes(), MOST] {
            let shows = both(
                "views.openText(\"fine\", \"yes\");",
                "views.open_text(\"fine\", \"yes\")",
            );
            let run = having(arm, bytes)
                .answers(answers([submit(arm, &shows), finish(arm, "Done.")]))
                .run();
            run.ended(0, "completed");
            assert_eq!(run.outcomes(), ["progressed", "finished"], "{bytes}");
        }
    });
}

#[test]
fn memory_that_no_program_can_begin_in_or_have_refuses_the_launch() {
    on_each(|arm| {
        let least = arms::of(arm).least_memory_bytes();
        for (bytes, bound) in [
            (1, format!("expected {least} or more")),
            (least - 1, format!("expected {least} or more")),
            (MOST + 1, format!("expected {MOST} or less")),
        ] {
            let run = having(arm, bytes)
                .answers(|_: &Request, _: usize| Answer::text("never asked"))
                .run();
            run.ended(1, "launch_refused");
            let told = run.logs("error").join("\n");
            for part in [
                "agent `root`: capability `responses-as-code`: params.maxMemoryBytes",
                &format!("is {bytes}; "),
                &bound,
                "hint: give at ",
            ] {
                assert!(told.contains(part), "{part:?} is not in {told}");
            }
        }
    });
}

#[test]
fn the_memory_of_every_agent_is_refused_at_once_and_among_the_other_bad_values() {
    let starved = |arm: Arm| {
        let mut agent = coder_of(arm, arm.as_str(), &workshop(), &[], &[]);
        for capability in agent["capabilities"].as_array_mut().unwrap() {
            if capability["id"] == "responses-as-code" {
                capability["params"]["maxMemoryBytes"] = json!(65_536);
            }
        }
        agent
    };
    let launch = cast(Arm::ALL.iter().map(|arm| starved(*arm)));
    let run = Run::builder()
        .launch(launch.set("/specFiles", json!(7)))
        .answers(|_: &Request, _: usize| Answer::text("never asked"))
        .run();
    run.ended(1, "launch_refused");
    let told = run.logs("error");
    assert_eq!(told.len(), Arm::ALL.len() + 1, "{told:#?}");
}
