//! A capability that is written and off is a capability that is left out.

use tests::gateway::{Answer, script};
use tests::launch::Launch;
use tests::run::Run;

/// The first request of a launch, its routing key replaced.
fn first_request(launch: Launch) -> String {
    let run = Run::builder()
        .launch(launch)
        .answers(script([Answer::finish("Done.")]))
        .run();
    run.ended(0, "completed");
    let key = run.lines[0]["routingKey"].as_str().unwrap().to_owned();
    let text = run.gateway.as_ref().unwrap().requests()[0].text();
    assert_eq!(text.matches(&key).count(), 2, "{text}");
    text.replace(&key, "KEY")
}

const BUILT: [&str; 6] = [
    "shell",
    "read-file",
    "write-file",
    "edit-file",
    "list-dir",
    "search",
];

#[test]
fn off_is_left_out_byte_for_byte() {
    let all = first_request(Launch::live());
    for capability in BUILT {
        let off = first_request(Launch::live().in_capability(capability, "/enabled", false));
        let out = first_request(Launch::live().without_capability(capability));
        assert_eq!(off, out, "{capability}");
        assert_ne!(off, all, "{capability} changes nothing");
        let tool = format!("\"name\":\"{}\"", capability.replace('-', "_"));
        assert!(all.contains(&tool) && !off.contains(&tool), "{capability}");
    }
}

#[test]
fn everything_off_leaves_the_ending() {
    let launch = BUILT.iter().fold(Launch::live(), |launch, capability| {
        launch.without_capability(capability)
    });
    let text = first_request(launch);
    assert_eq!(text.matches("\"name\":\"").count(), 1, "{text}");
    assert!(text.contains("\"name\":\"finish\""));
}

#[test]
fn a_tool_that_is_not_allowed_is_not_offered() {
    let launch = Launch::live().root("/tools", serde_json::json!(["read_file"]));
    let text = first_request(launch);
    assert!(text.contains("\"name\":\"read_file\""));
    assert!(!text.contains("\"name\":\"shell\""));
}

#[test]
fn capabilities_of_a_later_build_leave_no_trace_while_off() {
    let all = first_request(Launch::live());
    let launch = Launch::live()
        .root(
            "/capabilities/6",
            serde_json::json!({ "id": "skills", "enabled": false, "params": {} }),
        )
        .root(
            "/capabilities/7",
            serde_json::json!({ "id": "fork", "enabled": false, "params": {} }),
        );
    assert_eq!(first_request(launch), all);
}

#[test]
fn nothing_that_differs_between_runs_stands_before_the_task() {
    let opening = |text: &str| {
        let body: serde_json::Value = serde_json::from_str(text).unwrap();
        (body["tools"].to_string(), body["messages"][0].to_string())
    };
    let one = first_request(Launch::live());
    let other = first_request(
        Launch::live()
            .set("/sessionId", "another-session")
            .set("/prompt", "Something else."),
    );
    assert_eq!(opening(&one), opening(&other));
}
