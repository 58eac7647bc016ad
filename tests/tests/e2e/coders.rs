//! What the suites on agents that answer with programs say in the same words.

use serde_json::{Value, json};
use tests::gateway::{Answer, Request, content_text};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::arms::JAVASCRIPT;

/// The declaration by which agents answer with programs in JavaScript.
pub(crate) fn code() -> Value {
    json!({ "id": "responses-as-code", "enabled": true, "params": {
        "language": "javascript", "timeoutSecs": 20, "maxMemoryBytes": 268_435_456_u64,
        "docViewTypes": false } })
}

/// The declaration by which programs are kept.
pub(crate) fn library(keep: u64) -> Value {
    json!({ "id": "program-library", "enabled": true,
        "params": { "keep": keep, "idLength": 4 } })
}

/// The operations of [`library`].
pub(crate) const PROGRAMS: [&str; 3] = ["programs.history", "programs.get", "programs.rerun"];

/// A profile that answers with programs, with these capabilities beside that.
pub(crate) fn coder(
    slug: &str,
    capabilities: &[Value],
    operations: &[&str],
    roster: &[&str],
) -> Value {
    let roster: Vec<Value> = roster
        .iter()
        .map(|slug| json!({ "agentId": slug, "description": "", "scopes": ["subagent"] }))
        .collect();
    let capabilities = [capabilities, &[code()]].concat();
    json!({
        "slug": slug, "name": slug, "modelId": MODEL, "customInstructions": format!("I am {slug}."),
        "capabilities": capabilities, "tools": [], "operations": operations, "subagents": roster,
        "openingTurn": { "modules": [], "functions": [], "tree": { "include": false, "depth": 1 } },
    })
}

/// A launch of these profiles, the first of which is the root.
pub(crate) fn cast(profiles: impl IntoIterator<Item = Value>) -> Launch {
    let profiles: Vec<Value> = profiles.into_iter().collect();
    Launch::live().set("/capabilitySet/agents", json!(profiles))
}

/// A program with what programs of JavaScript begin with before it.
pub(crate) fn program(body: &str) -> String {
    format!("{JAVASCRIPT}{body}")
}

/// An answer that submits a program.
pub(crate) fn submit(body: &str) -> Answer {
    Answer::call("submit_program", json!({ "program": program(body) }))
}

/// An answer that ends the session.
pub(crate) fn finish(summary: &str) -> Answer {
    submit(&format!("session.finish({});", json!(summary)))
}

/// What a gateway answers with.
pub(crate) type Script = Box<dyn Fn(&Request, usize) -> Answer + Send + Sync>;

/// Answers the turns with these programs, in order, and then finishes.
pub(crate) fn programs<'a>(bodies: impl IntoIterator<Item = &'a str>) -> Script {
    let answers: Vec<Answer> = bodies.into_iter().map(submit).collect();
    Box::new(move |request: &Request, _| {
        let next = answers.get(request.turn()).cloned();
        next.unwrap_or_else(|| finish("Done."))
    })
}

/// Runs a root of one profile, whose turns are these programs.
#[track_caller]
pub(crate) fn play<'a>(
    capabilities: &[Value],
    operations: &[&str],
    bodies: impl IntoIterator<Item = &'a str>,
) -> Run {
    Run::builder()
        .launch(cast([coder("root", capabilities, operations, &[])]))
        .answers(programs(bodies))
        .run()
}

/// What a program showed under a label, as the last request has it.
#[track_caller]
pub(crate) fn shown(run: &Run, label: &str) -> Value {
    let head = format!("View: {label}\n----\n");
    let requests = run.gateway.as_ref().unwrap().requests();
    let chats = requests.iter().filter(|it| it.method == "POST");
    let texts = chats.flat_map(|request| {
        let messages = request.messages();
        let texts = messages.iter().map(|it| content_text(&it["content"]));
        texts.collect::<Vec<_>>()
    });
    let bodies: Vec<String> = texts
        .filter_map(|text| text.strip_prefix(&head).map(str::to_owned))
        .collect();
    let body = bodies
        .last()
        .unwrap_or_else(|| panic!("no view `{label}` was shown\n{}", run.describe()));
    serde_json::from_str(body).unwrap()
}

/// Asserts that a call failed in a class, with these texts in its message.
#[track_caller]
pub(crate) fn refused(out: &Value, name: &str, class: &str, operation: &str, texts: &[&str]) {
    let failure = &out[name];
    assert_eq!(failure["code"], class, "{name}: {out:#}");
    assert_eq!(failure["operation"], operation, "{name}: {out:#}");
    let message = failure["message"].as_str().unwrap();
    for text in texts {
        assert!(
            message.contains(text),
            "{name}: {text:?} is not in {message:?}"
        );
    }
}

/// What the agent that ended last handed in.
#[track_caller]
pub(crate) fn handed_in(run: &Run) -> &str {
    let ended = run.events("agent_status");
    let last = ended.iter().rfind(|it| it["endedAs"] == "completed");
    last.and_then(|it| it["result"].as_str())
        .unwrap_or_else(|| panic!("no agent ended with a result\n{}", run.describe()))
}

/// Every message of every request of the model's that begins so, each once.
pub(crate) fn told(run: &Run, head: &str) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let mut found: Vec<String> = Vec::new();
    for request in requests.iter().filter(|it| it.method == "POST") {
        for message in request.messages() {
            let text = content_text(&message["content"]);
            if text.starts_with(head) && !found.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}
