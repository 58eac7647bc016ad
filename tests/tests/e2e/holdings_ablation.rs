//! Tasks, memories and skills: written and off is left out, and on changes what is stated and
//! nothing else, byte for byte (02 §12).

use serde_json::{Value, json};
use tests::gateway::{Answer, content_text, script};
use tests::launch::Launch;
use tests::run::Run;

use crate::memories::{self, memories};
use crate::skills::skills;
use crate::tasks::{self, tasks};

/// A first request as it was before an agent could hold anything but its window.
const BEFORE: &str = include_str!("golden/before_holdings.json");

/// A capability with its tools.
struct Held {
    declaration: Value,
    tools: &'static [&'static str],
}

fn all() -> Vec<Held> {
    let mut all = vec![
        Held {
            declaration: tasks("issues", 9),
            tools: &tasks::TOOLS,
        },
        Held {
            declaration: skills(".gg/skills", &["gg-shell"]),
            tools: &["read_skill"],
        },
    ];
    all.extend(
        ["scratchpad", "markdown", "keyword-search"].map(|strategy| Held {
            declaration: memories(strategy),
            tools: memories::tools(strategy),
        }),
    );
    all
}

/// The first request of a launch, its routing key replaced; and the run.
fn first_request(launch: Launch) -> (String, Run) {
    let run = Run::builder()
        .launch(launch)
        .answers(script([Answer::finish("Done.")]))
        .run();
    run.ended(0, "completed");
    let key = run.lines[0]["routingKey"].as_str().unwrap();
    let text = run.gateway.as_ref().unwrap().requests()[0].text();
    (text.replace(key, "KEY"), run)
}

#[test]
fn nothing_held_is_the_request_from_before_there_was_anything_to_hold() {
    assert_eq!(first_request(Launch::live()).0, BEFORE.trim_end());
}

#[test]
fn off_is_left_out_byte_for_byte() {
    for Held { declaration, tools } in all() {
        let id = declaration["id"].as_str().unwrap().to_owned();
        let launch = Launch::live()
            .granting(declaration, tools)
            .in_capability(&id, "/enabled", false);
        let (off, run) = first_request(launch);
        assert_eq!(off, BEFORE.trim_end(), "{id}");
        let modules = run.event("agent_modules")["modules"].as_array().unwrap();
        let row = modules
            .iter()
            .find(|row| row["kind"] == id.as_str())
            .unwrap();
        assert_eq!(
            (&row["enabled"], &row["store"]),
            (&json!(false), &Value::Null),
            "{id}"
        );
        for state in ["tasks_state", "memory_state", "skills_state"] {
            assert_eq!(run.events(state).len(), 0, "{id}");
        }
        assert!(!run.workspace().join(".gg/skills").exists());
    }
}

#[test]
fn on_only_its_tools_and_its_words_are_added() {
    let body = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let before = body(BEFORE);
    for Held { declaration, tools } in all() {
        let id = declaration["id"].as_str().unwrap().to_owned();
        let (on, _) = first_request(Launch::live().granting(declaration, tools));
        let mut on = body(&on);
        let names = |body: &Value| -> Vec<Value> {
            let tools = body["tools"].as_array().unwrap().iter();
            tools.map(|tool| tool["function"]["name"].clone()).collect()
        };
        let more: Vec<_> = names(&on)
            .into_iter()
            .filter(|name| !names(&before).contains(name))
            .collect();
        let mut expected: Vec<_> = tools.iter().map(|tool| json!(tool)).collect();
        let (mut sorted, by_name) = (more.clone(), |name: &Value| name.to_string());
        sorted.sort_by_key(by_name);
        expected.sort_by_key(by_name);
        assert_eq!(sorted, expected, "{id}");

        // Taken out again, what is left is what was there: every old line of the prompt, in order,
        // and every other byte.
        let prompts = [&before, &on].map(|body| content_text(&body["messages"][0]["content"]));
        let mut new = prompts[1].lines();
        for line in prompts[0].lines() {
            assert!(new.any(|other| other == line), "{id}: {line}");
        }
        assert!(prompts[1].len() > prompts[0].len(), "{id}");
        on["messages"][0] = before["messages"][0].clone();
        let kept = on["tools"].as_array_mut().unwrap();
        kept.retain(|tool| !more.contains(&tool["function"]["name"]));
        assert_eq!(on.to_string(), before.to_string(), "{id}");
    }
}

#[test]
fn held_by_nobody_s_call_is_taught_to_nobody() {
    // On, and none of its calls on the list: nothing to teach.
    for Held { declaration, .. } in all() {
        let id = declaration["id"].as_str().unwrap().to_owned();
        let (text, _) = first_request(Launch::live().granting(declaration, &[]));
        assert_eq!(text, BEFORE.trim_end(), "{id}");
    }
}
