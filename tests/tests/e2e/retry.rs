//! F25, F27, F28: failed calls and the waits between them.

use std::time::{Duration, SystemTime};

use tests::gateway::{Answer, Reply, Request, script};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::retries;

fn unavailable() -> Reply {
    Reply::status(
        502,
        r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"error_type":"provider_unavailable"}}}"#,
    )
}

#[test]
fn f25_a_provider_that_is_unavailable_twice_is_retried_twice() {
    let run = Run::builder()
        .answers(script([
            unavailable(),
            unavailable(),
            Answer::finish("Done.").into(),
        ]))
        .run();
    run.ended(0, "completed");
    let retries = retries(&run);
    assert_eq!(retries.len(), 2, "{}", run.describe());
    for (n, retry) in retries.iter().enumerate() {
        assert!(retry.contains("502"), "{retry}");
        assert!(retry.contains(&format!("{} of ", n + 1)), "{retry}");
    }
    // Retries are the client's; the turn is one, and no error.
    assert_eq!(run.outcomes(), ["finished"]);
    assert_eq!(run.summary()["modelRetries"], 2);
    let requests = run.gateway.as_ref().unwrap().requests();
    assert!(
        requests
            .iter()
            .all(|request| request.body == requests[0].body)
    );
}

/// What is waited between a 429 with this header and the next attempt.
fn waited(retry_after: &str) -> Duration {
    let run = Run::builder()
        .answers(script([
            Reply::error(429, "slow down").with_header("Retry-After", retry_after),
            Answer::finish("Done.").into(),
        ]))
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    assert_eq!(requests.len(), 2, "{retry_after}");
    requests[1].arrived - requests[0].arrived
}

#[test]
fn f27_retry_after_is_honoured_in_every_form_and_junk_is_not() {
    let date = |ahead: i64| {
        let offset = Duration::from_secs(ahead.unsigned_abs());
        let time = if ahead < 0 {
            SystemTime::now() - offset
        } else {
            SystemTime::now() + offset
        };
        httpdate::fmt_http_date(time)
    };
    // A timer never fires early, so only the least is asserted; a date has whole seconds, and a
    // slow start of gg eats into the wait until it. The schedule's own wait is one second.
    let least = |header: &str| {
        let waited = waited(header);
        assert!(waited < Duration::from_secs(60), "{header}: {waited:?}");
        waited.as_secs_f64()
    };
    assert!(least("1.5") >= 1.45);
    assert!(least("3") >= 2.9);
    for ignored in [date(-30).as_str(), "soon", "-3", "", "1e3s", "0"] {
        assert!(least(ignored) >= 0.9, "{ignored}");
    }
    let ahead = date(8);
    assert!(least(&ahead) >= 2.0, "{ahead}");
}

#[test]
fn f27_the_record_keeps_status_and_body_of_the_last_attempt() {
    let run = Run::builder()
        .with(|launch| launch.limit("maxModelRetries", 1))
        .answers(|_: &Request, n| {
            Reply::error(429, &format!("slow down, attempt {n}")).with_header("Retry-After", "soon")
        })
        .run();
    run.ended(1, "model_error");
    let journal = run.journal_lines();
    let errors: Vec<String> = journal
        .iter()
        .filter(|line| line["kind"] == "model_error")
        .map(|line| line["error"].to_string())
        .collect();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].contains("429"), "{errors:?}");
    assert!(errors[0].contains("slow down, attempt 1"), "{errors:?}");
    assert!(errors[0].contains("retry_exhausted"), "{errors:?}");
}

/// A 429 that asks for a wait of that many seconds, for ever.
fn asks_for(seconds: &'static str) -> impl tests::gateway::Responder {
    move |_: &Request, _: usize| Reply::error(429, "slow down").with_header("Retry-After", seconds)
}

#[test]
fn f28_a_wait_past_the_clock_or_past_ten_minutes_is_not_begun() {
    let clocked = Launch::live().limit("maxRuntimeSecs", 20);
    for (launch, seconds) in [
        (clocked.clone(), "86400"),
        (clocked, "60"),
        (Launch::live(), "601"),
    ] {
        let run = Run::builder()
            .launch(launch)
            .answers(asks_for(seconds))
            .run();
        run.ended(1, "model_error");
        assert_eq!(run.outcomes(), ["model_retry_exhausted"], "{seconds}");
        assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 1);
        assert!(run.stderr.contains(seconds), "{}", run.stderr);
    }
}

#[test]
fn f28_the_cancel_file_ends_a_wait() {
    let builder = Run::builder();
    let cancel = builder.folder().join("cancel");
    let running = builder
        .with(|launch| launch.set("/cancelFile", cancel.display().to_string()))
        .answers(asks_for("300"))
        .start();
    running.wait_for("a retry", |line| line["code"] == "retry");
    std::fs::write(&cancel, "").unwrap();
    // That it ends at all says so: the wait alone is longer than the harness waits.
    running.finish().ended(0, "canceled");
}

#[test]
fn f28_the_clock_ends_a_wait_that_was_begun_in_time() {
    // Each wait fits the time left when it is begun, until the clock is up.
    let run = Run::builder()
        .with(|launch| {
            launch
                .limit("maxRuntimeSecs", 3)
                .limit("maxModelRetries", 100)
        })
        .answers(|_: &Request, _| Reply::error(503, "overloaded"))
        .run();
    assert!(
        [(Some(3), "timed_out"), (Some(1), "model_error")]
            .contains(&(run.code, run.last()["status"].as_str().unwrap())),
        "{}",
        run.describe()
    );
}
