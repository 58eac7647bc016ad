//! The same call with the same result, turn after turn (R39, F115).

use serde_json::json;
use tests::gateway::{Answer, Gateway, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::windowed::{own_requests, texts};

/// Always the same failing read, under another id each time.
fn stuck(_: &Request, _: usize) -> Answer {
    Answer::call("read_file", json!({ "path": "missing.txt" }))
}

fn armed(calls: u64) -> Launch {
    Launch::live().root("/repeatDetection", json!({ "calls": calls }))
}

#[test]
fn f115_a_repeated_call_gets_a_notice_then_is_an_error_then_meets_the_ceilings() {
    let run = Run::builder()
        .launch(
            armed(3)
                .limit("maxErrorRate", 0.25)
                .limit("errorRateWindow", 8),
        )
        .gateway(Gateway::start(stuck))
        .run();
    run.ended(3, "limit_exceeded");
    crate::kill9::agrees(&run);
    let good = ["progressed"; 5];
    let expected = [
        &good[..],
        &["repeated_call"],
        &good[..2],
        &["repeated_call"],
        &good[..2],
        &["repeated_call"],
    ];
    assert_eq!(run.outcomes(), expected.concat()[..run.outcomes().len()]);
    assert_eq!(
        run.summary()["errors"]["byType"]["repeated_call"],
        run.summary()["errors"]["errors"]
    );
    assert_eq!(run.summary()["limitHit"]["limit"], "error_rate");
    let notices: Vec<(usize, String)> = texts(own_requests(&run).last().unwrap())
        .into_iter()
        .enumerate()
        .filter(|(_, text)| text.starts_with("You have now called"))
        .collect();
    assert!(
        notices[0]
            .1
            .contains("`read_file` with the same arguments 3 times"),
        "{notices:?}"
    );
    assert!(!notices[0].1.contains("counted as an error"));
    assert!(notices[1].1.contains("6 times") && notices[1].1.contains("counted as an error"));
    // Behind the third result: system, task, three times call and result.
    assert_eq!(notices[0].0, 8);
}

#[test]
fn f115_without_the_setting_the_turns_ceiling_ends_it() {
    let run = Run::builder()
        .launch(Launch::live().limit("maxTurns", 20))
        .gateway(Gateway::start(stuck))
        .run();
    run.ended(3, "exhausted");
    assert_eq!(run.outcomes(), ["progressed"; 20]);
    let text = own_requests(&run).last().unwrap().text();
    assert!(!text.contains("You have now called"));
}

#[test]
fn calls_of_one_turn_count_and_any_other_call_or_result_starts_anew() {
    let date = |n: usize| Answer::shell(&format!("echo {n} > n; cat n"));
    let run = Run::builder()
        .launch(armed(3))
        .gateway(Gateway::start(move |_: &Request, n: usize| match n {
            // Twice, then another, then twice again: never three in a row.
            0 => stuck_twice().and_call("list_dir", json!({})),
            1 => stuck_twice(),
            2 => date(2),
            // The same command, but its result changes.
            3..7 => Answer::shell("echo x >> log; wc -l < log"),
            // Three in one turn.
            7 => stuck_twice().and_call("read_file", json!({ "path": "missing.txt" })),
            _ => Answer::finish("Done."),
        }))
        .run();
    run.ended(0, "completed");
    let texts = texts(own_requests(&run).last().unwrap());
    let notices: Vec<&String> = texts
        .iter()
        .filter(|text| text.starts_with("You have now"))
        .collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    // Behind all results of the turn.
    assert_eq!(texts.last().unwrap(), notices[0]);
    assert_eq!(run.summary()["errors"]["errors"], 0);
}

fn stuck_twice() -> Answer {
    Answer::call("read_file", json!({ "path": "missing.txt" }))
        .and_call("read_file", json!({ "path": "missing.txt" }))
}

#[test]
fn a_turn_header_makes_no_result_another_one() {
    let launch = armed(2).granting(crate::windowed::managed(100), &crate::windowed::MANAGING);
    let run = Run::builder()
        .launch(launch)
        .gateway(Gateway::start(|_: &Request, n: usize| {
            if n < 2 {
                stuck_twice()
            } else {
                Answer::finish("Done.")
            }
        }))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["progressed", "repeated_call", "finished"]);
}

#[test]
fn an_ending_beside_a_repeated_call_ends() {
    let run = Run::builder()
        .launch(armed(1))
        .gateway(Gateway::start(|_: &Request, n: usize| {
            let answer = stuck_twice();
            if n == 0 {
                answer
            } else {
                answer.and_call("finish", json!({ "summary": "Done." }))
            }
        }))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["repeated_call", "finished"]);
}
