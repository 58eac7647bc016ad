//! What an agent may do about its window: written and off is left out, and on changes what is
//! stated and nothing else, byte for byte (02 §12).

use serde_json::{Value, json};
use tests::gateway::{Answer, content_text, script};
use tests::launch::Launch;
use tests::run::Run;

use crate::windowed::{MANAGING, compaction, managed};

/// A first request as it was before any of this existed.
const BEFORE: &str = include_str!("golden/before_holdings.json");

const STRATEGIES: [&str; 5] = [
    "self-summarization",
    "self-compaction",
    "memory-compaction",
    "handoff-summarization",
    "handoff-compaction",
];

/// The first request of a launch, its routing key replaced; and the run.
fn first_request(launch: Launch) -> (String, Run) {
    let run = Run::builder()
        .launch(launch.set("/specFiles", json!(["spec.md"])))
        .file("spec.md", "The specification.\n")
        .answers(script([Answer::finish("Done.")]))
        .run();
    run.ended(0, "completed");
    let key = run.lines[0]["routingKey"].as_str().unwrap();
    let text = run.gateway.as_ref().unwrap().requests()[0].text();
    (text.replace(key, "KEY"), run)
}

fn declarations() -> Vec<Value> {
    let mut all: Vec<Value> = STRATEGIES
        .iter()
        .map(|strategy| compaction(strategy, 0.2, &json!({})))
        .collect();
    all.push(managed(75));
    all.push(json!({ "id": "context-window-override", "enabled": true,
        "params": { "windowLimit": 50_000 } }));
    all.push(json!({ "id": "autoload-specifications", "enabled": true,
        "implementation": "locked", "params": { "images": true } }));
    all
}

fn granted(declaration: &Value) -> Launch {
    let mut tools = vec!["compact"];
    tools.extend(MANAGING);
    Launch::live().granting(declaration.clone(), &tools)
}

#[test]
fn off_is_left_out_byte_for_byte() {
    for declaration in declarations() {
        let id = declaration["id"].as_str().unwrap();
        let launch = granted(&declaration).in_capability(id, "/enabled", false);
        let (off, run) = first_request(launch);
        assert_eq!(off, BEFORE.trim_end(), "{declaration}");
        assert!(run.events("archive_state").is_empty());
        assert_eq!(run.event("context_breakdown")["windowLimit"], 200_000);
    }
}

#[test]
fn repeat_detection_says_nothing_until_a_call_is_repeated() {
    let launch = Launch::live().root("/repeatDetection", json!({ "calls": 2 }));
    assert_eq!(first_request(launch).0, BEFORE.trim_end());
}

#[test]
fn on_only_what_is_stated_differs() {
    let body = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let before = body(BEFORE);
    let system = |body: &Value| content_text(&body["messages"][0]["content"]);
    for mut declaration in declarations() {
        // Its calls are another suite's.
        if declaration["implementation"] == "memory-compaction" {
            continue;
        }
        declaration["enabled"] = true.into();
        let (on, run) = first_request(granted(&declaration));
        let mut on = body(&on);
        let (then, now) = (system(&before), system(&on));
        let gone: Vec<&str> = then
            .lines()
            .filter(|line| !now.lines().any(|new| new == *line))
            .collect();
        let new: Vec<&str> = now
            .lines()
            .filter(|line| !then.lines().any(|old| old == *line))
            .collect();
        let holds = "- Your context window holds ";
        let (limit, expected): (u64, usize) = match declaration["id"].as_str().unwrap() {
            "compaction" => (160_000, 1),
            "context-window-override" => (50_000, 0),
            _ => (200_000, 1),
        };
        assert_eq!(run.event("agent_spawned")["windowLimit"], limit);
        assert_eq!(run.event("context_breakdown")["windowLimit"], limit);
        let others = new.iter().filter(|line| !line.starts_with(holds)).count();
        assert_eq!(others, expected, "{declaration}: {new:?}");
        assert!(gone.iter().all(|line| line.starts_with(holds)), "{gone:?}");
        assert!(
            now.contains(&format!("{holds}{limit} tokens")),
            "{declaration}: {now}"
        );
        // With its words and its calls taken out again, and what it opens on, nothing differs.
        on["messages"][0] = before["messages"][0].clone();
        let names = before["tools"].to_string();
        let more = |tool: &Value| {
            let name = tool["function"]["name"].as_str().unwrap();
            !names.contains(&format!("\"name\":\"{name}\""))
        };
        let offered: Vec<Value> = on["tools"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|tool| more(tool))
            .map(|tool| tool["function"]["name"].clone())
            .collect();
        let calls: &[&str] = match (
            declaration["id"].as_str().unwrap(),
            declaration["implementation"].as_str(),
        ) {
            ("agent-managed-context", _) => &MANAGING,
            ("compaction", Some("self-compaction")) => &["compact"],
            _ => &[],
        };
        let mut sorted: Vec<&str> = offered.iter().map(|name| name.as_str().unwrap()).collect();
        let mut calls = calls.to_vec();
        sorted.sort_unstable();
        calls.sort_unstable();
        assert_eq!(sorted, calls, "{declaration}");
        on["tools"]
            .as_array_mut()
            .unwrap()
            .retain(|tool| !more(tool));
        let opened = usize::from(declaration["id"] == "autoload-specifications") * 2;
        let messages = on["messages"].as_array_mut().unwrap();
        assert_eq!(messages.len(), 2 + opened);
        messages.truncate(2);
        assert_eq!(on.to_string(), before.to_string(), "{declaration}");
    }
}

#[test]
fn a_narrower_window_is_narrowed_again_by_what_a_summary_needs() {
    let launch = Launch::live()
        .granting(
            json!({ "id": "context-window-override", "enabled": true,
            "params": { "windowLimit": 50_001 } }),
            &[],
        )
        .granting(compaction("handoff-summarization", 0.1, &json!({})), &[]);
    let (_, run) = first_request(launch);
    assert_eq!(run.event("agent_spawned")["windowLimit"], 45_000);
}

#[test]
fn an_override_that_is_no_window_is_refused() {
    for bad in [json!(0), json!(200_001), json!(1.5)] {
        let launch = Launch::live().granting(
            json!({ "id": "context-window-override", "enabled": true,
                "params": { "windowLimit": bad } }),
            &[],
        );
        let run = Run::builder()
            .launch(launch)
            .answers(script([Answer::finish("No.")]))
            .run();
        run.ended(1, "launch_refused");
    }
}
