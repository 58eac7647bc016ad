//! What several suites say in the same words.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tests::gateway::{Answer, Reply, Request, Responder, content_text, script};
use tests::run::Run;

/// How long anything may take before it counts as never.
pub(crate) const CEILING: Duration = Duration::from_secs(60);

/// Runs a session whose root gets these replies in order.
#[track_caller]
pub(crate) fn play<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Run {
    Run::builder().answers(script(replies)).run()
}

/// Answers the turns from a list, in order, and then finishes.
pub(crate) fn turns(answers: impl IntoIterator<Item = Answer>) -> impl Responder {
    let answers: Vec<Answer> = answers.into_iter().collect();
    move |request: &Request, _| {
        answers
            .get(request.turn())
            .cloned()
            .unwrap_or_else(|| Answer::finish("Done."))
    }
}

/// Waits for a file that something which runs beside the test makes.
pub(crate) fn wait_for(file: &std::path::Path) {
    while !file.exists() {
        std::thread::yield_now();
    }
}

/// The whole text of the result of the `n`th tool call of a session, as the model got it.
#[track_caller]
pub(crate) fn result_text(run: &Run, n: usize) -> String {
    let gateway = run.gateway.as_ref().unwrap();
    let requests = gateway.requests();
    let messages = requests.last().unwrap().messages();
    let results: Vec<&Value> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .collect();
    let result = results
        .get(n)
        .unwrap_or_else(|| panic!("there is no result {n}\n{}", run.describe()));
    tests::gateway::content_text(&result["content"])
}

/// Asserts that a `tool_result` failed in a class, with these texts in its preview.
#[track_caller]
pub(crate) fn failed(run: &Run, result: &Value, class: &str, texts: &[&str]) {
    assert_eq!(result["ok"], false, "{result}\n{}", run.describe());
    assert_eq!(result["failure"], class, "{result}\n{}", run.describe());
    let preview = result["preview"].as_str().unwrap();
    for text in texts {
        assert!(preview.contains(text), "{text:?} is not in {preview:?}");
    }
}

/// The texts of all retries told to the operator.
pub(crate) fn retries(run: &Run) -> Vec<&str> {
    run.events("log")
        .into_iter()
        .filter(|log| log["level"] == "warn" && log["code"] == "retry")
        .filter_map(|log| log["message"].as_str())
        .collect()
}

/// The `usage` events' sum of one class of tokens.
pub(crate) fn tokens(run: &Run, class: &str) -> u64 {
    let events = run.events("usage");
    let classes = events.iter().map(|event| &event["tokens"][class]);
    classes.filter_map(Value::as_u64).sum()
}

/// The providers that chat requests named, in order, repetitions left out.
pub(crate) fn asked_in_turn(run: &Run) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let mut asked: Vec<String> = requests
        .iter()
        .filter(|request| request.method == "POST")
        .filter_map(|request| {
            request.json()["provider"]["only"][0]
                .as_str()
                .map(str::to_owned)
        })
        .collect();
    asked.dedup();
    asked
}

/// Every move of a run: what was left, what was taken, and why.
pub(crate) fn moves(run: &Run) -> Vec<[&str; 3]> {
    run.events("provider_switch")
        .into_iter()
        .map(|event| ["from", "to", "fault"].map(|field| event[field].as_str().unwrap_or("")))
        .collect()
}

/// Every fault of a provider that stays no failed call: its kind and whose it was.
pub(crate) fn provider_faults(run: &Run) -> Vec<[&str; 2]> {
    run.events("provider_fault")
        .into_iter()
        .map(|event| ["kind", "provider"].map(|field| event[field].as_str().unwrap_or("")))
        .collect()
}

/// The messages of the last request that begin with a block's heading, in order.
pub(crate) fn blocks(run: &Run, heading: &str) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let messages = requests.last().unwrap().messages();
    let texts = messages
        .iter()
        .map(|message| content_text(&message["content"]));
    texts.filter(|text| text.starts_with(heading)).collect()
}

/// The compiler of TypeScript that stands beside the build.
pub(crate) fn compiler() -> PathBuf {
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", "x86_64") => "darwin-x64",
        ("macos", _) => "darwin-arm64",
        (_, "x86_64") => "linux-x64",
        (_, "arm") => "linux-arm",
        _ => "linux-arm64",
    };
    let binary = tests::run::binary();
    let target = binary.parent().unwrap().parent().unwrap();
    target
        .join("toolchains/typescript/node_modules/@typescript")
        .join(format!("typescript-{platform}/lib/tsc"))
}
