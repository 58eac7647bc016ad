//! What several suites say in the same words.

use std::time::Duration;

use serde_json::Value;
use tests::gateway::{Answer, Reply, Request, Responder, script};
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
