//! What an agent that answers with programs opens on and what it loads: its opening turn, the files of
//! its brief, its profile's desk, the code of skills and memories, and what a compaction leaves of it
//! (04 §8.5, §8.6; 02 §4, §6, §9.6, §10).

mod arms;
mod compacting;
mod memories;
mod opening;
mod skills;

use serde_json::{Value, json};
use tests::gateway::{Answer, Request, content_text};
use tests::launch::Launch;
use tests::run::Run;

use crate::coders::Script;

/// The texts of the n-th request of the model's, in order.
fn request(run: &Run, n: usize) -> Vec<String> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let mut chats = requests.iter().filter(|it| it.method == "POST");
    let messages = chats.nth(n).unwrap().messages();
    messages
        .iter()
        .map(|message| content_text(&message["content"]))
        .collect()
}

/// The messages of the first request of the model's.
fn first(run: &Run) -> Vec<Value> {
    let requests = run.gateway.as_ref().unwrap().requests();
    let mut chats = requests.iter().filter(|it| it.method == "POST");
    chats.next().unwrap().messages()
}

/// The program that a message submits.
#[track_caller]
fn submitted(message: &Value) -> String {
    let call = &message["tool_calls"][0]["function"];
    assert_eq!(call["name"], "submit_program", "{message}");
    let arguments = call["arguments"].as_str().unwrap();
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    arguments["program"].as_str().unwrap().to_owned()
}

/// An answer that submits these bytes as they are.
fn exactly(source: impl Into<String>) -> Answer {
    Answer::call("submit_program", json!({ "program": source.into() }))
}

/// Answers the turns of the model's own with these programs, and then finishes.
fn by_turn<'a>(bodies: impl IntoIterator<Item = &'a str>) -> Script {
    let answers: Vec<_> = bodies.into_iter().map(str::to_owned).collect();
    Box::new(move |_: &Request, n: usize| match answers.get(n) {
        Some(body) => exactly(body.as_str()),
        None => exactly("import { session } from \"gg\";\nsession.finish(\"Done.\");"),
    })
}

/// Sets the opening turn of the first profile.
fn opens_on(launch: Launch, modules: &[&str], functions: &[&str], tree: Option<u64>) -> Launch {
    launch.root(
        "/openingTurn",
        json!({
            "modules": modules, "functions": functions,
            "tree": { "include": tree.is_some(), "depth": tree.unwrap_or(1) },
        }),
    )
}

/// The place of the first text that begins so.
#[track_caller]
fn place(texts: &[String], head: &str) -> usize {
    let found = texts.iter().position(|text| text.starts_with(head));
    found.unwrap_or_else(|| panic!("no message begins with {head:?}: {texts:#?}"))
}
