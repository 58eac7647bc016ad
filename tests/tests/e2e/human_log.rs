//! What gg says on stderr about itself, and how `RUST_LOG` asks for less or more.

use serde_json::json;
use tests::launch::Launch;
use tests::run::Run;

fn stderr_under(filter: &str) -> String {
    let script = json!({ "profiles": { "*": [{ "fault": "panic" }] } });
    let run = Run::builder()
        .launch(Launch::mock("script"))
        .mock_script(&script)
        .environment("RUST_LOG", filter)
        .run();
    run.ended(1, "internal_error");
    run.stderr
}

#[test]
fn a_panic_is_told_with_its_place() {
    let said = stderr_under("");
    assert!(said.contains("ERROR"), "{said}");
    assert!(said.contains("provider_client/source.rs:"), "{said}");
}

#[test]
fn the_log_can_be_switched_off_and_the_closing_sentence_stays() {
    let said = stderr_under("off");
    assert!(!said.contains("ERROR"), "{said}");
    assert!(said.contains("internal_error"), "{said}");
}

#[test]
fn at_debug_every_message_handled_is_a_line_with_its_actor() {
    let said = stderr_under("actors=debug");
    for span in [
        "Begin{actor=\"supervisor\"}",
        "Boundary{actor=\"supervisor\"}",
    ] {
        assert!(said.contains(span), "{span} is not in:\n{said}");
    }
}
