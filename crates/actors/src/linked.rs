//! Linked memories against whole sessions in the process: a second holder of the root's store
//! writes between its boundaries (02 §9.5, §12).
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;

use context::modules::memories::MemoryCall;
use record::rules;
use serde_json::{Value, json};
use vocab::knowledge::MemoryStrategy;
use vocab::outcome::EndStatus;

use crate::memory_store::second;
use crate::nets::{Played, document, session};
use crate::panics::tripping;

/// The words every notice begins with.
const NOTICE: &str = "Another agent that shares your memories";

/// Plays a session of a root with memories. `turns` are its calls, turn by turn; `theirs` is what
/// the second holder writes before each.
fn play(
    strategy: MemoryStrategy,
    turns: impl IntoIterator<Item = Vec<Value>>,
    theirs: impl IntoIterator<Item = Vec<MemoryCall>>,
) -> Played {
    play_with(strategy, &[], turns, theirs)
}

/// The same with more capabilities, each with its calls.
fn play_with(
    strategy: MemoryStrategy,
    more: &[(Value, &[&str])],
    turns: impl IntoIterator<Item = Vec<Value>>,
    theirs: impl IntoIterator<Item = Vec<MemoryCall>>,
) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let mut document = document(folder.path(), false);
    document["modelWindows"]["mock/script"] = json!(32_000);
    let root = &mut document["capabilitySet"]["agents"][0];
    for (declaration, tools) in more {
        let capabilities = root["capabilities"].as_array_mut().unwrap();
        capabilities.push(declaration.clone());
        let tools = tools.iter().map(|tool| json!(tool));
        root["tools"].as_array_mut().unwrap().extend(tools);
    }
    root["capabilities"].as_array_mut().unwrap().push(json!({
        "id": "memories", "enabled": true, "implementation": strategy.as_str(),
        "params": {
            "scope": "shared", "maxCount": 0, "maxLenPerMemory": 0, "maxTotalLen": 0,
            "maxLenIndex": 0, "maxLenDescription": 0, "maxResults": 0,
        },
    }));
    let calls = strategy.calls().iter().map(|tool| json!(tool.as_str()));
    root["tools"].as_array_mut().unwrap().extend(calls);
    let mut replies: Vec<_> = turns
        .into_iter()
        .map(|calls| json!({ "calls": calls }))
        .collect();
    replies.push(json!({ "finish": "done" }));
    second::arm(theirs);
    session(&document, &json!({ "profiles": { "*": replies } }))
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "tool": tool, "arguments": arguments })
}

fn look() -> Vec<Value> {
    vec![call("list_dir", &json!({}))]
}

fn keep(tool: &str, name: &str) -> Value {
    let memory = json!({ "name": name, "description": format!("own {name}"), "body": "mine" });
    call(tool, &memory)
}

fn create(name: &str, body: &str) -> MemoryCall {
    MemoryCall::Create {
        name: name.to_owned(),
        description: Some(format!("about {name}")),
        body: body.to_owned(),
    }
}

fn replace(name: &str, body: &str) -> MemoryCall {
    MemoryCall::Replace {
        name: name.to_owned(),
        description: Some(format!("about {name}")),
        body: body.to_owned(),
    }
}

fn delete(name: &str) -> MemoryCall {
    let name = name.to_owned();
    MemoryCall::Delete { name }
}

/// The session ended well, its stream holds every rule, and no request changed what an earlier one
/// sent.
#[track_caller]
fn sound(played: &Played) {
    let report = played.report.as_ref().unwrap();
    assert_eq!(report.status, EndStatus::Completed, "{}", played.stream);
    assert_eq!(rules::check(&played.stream), []);
    let mut before: Vec<Value> = Vec::new();
    for prompt in played.lines("prompt") {
        let sent = prompt["messages"].as_array().unwrap().clone();
        assert!(sent.starts_with(&before), "turn {}", prompt["turn"]);
        before = sent;
    }
}

/// The texts of a band's messages that begin with some words, in order.
fn texts(played: &Played, band: &str, words: &str) -> Vec<String> {
    let messages = played.lines("context_message").into_iter();
    messages
        .filter(|message| message["band"] == band)
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .filter(|text| text.starts_with(words))
        .collect()
}

#[test]
fn another_holder_s_writes_are_told_and_the_block_is_not_rebuilt_for_them() {
    let played = play(
        MemoryStrategy::Markdown,
        [
            vec![keep("create_memory", "own")],
            look(),
            look(),
            vec![keep("create_memory", "later")],
            look(),
        ],
        [
            vec![],
            vec![],
            vec![create("theirs", "a"), create("passing", "b")],
            vec![replace("theirs", "c"), delete("passing")],
            vec![],
        ],
    );
    sound(&played);
    let notices = texts(&played, "system", NOTICE);
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(
        notices[0].contains("- added `passing` — about passing\n- added `theirs` — about theirs")
    );
    assert!(
        notices[0].ends_with("`read_memory` shows what one says now."),
        "{notices:?}"
    );
    assert!(notices[1].contains("- deleted `passing`\n- updated `theirs` — about theirs"));

    // One block a write of its own, each as the store then was.
    let blocks = texts(&played, "memory", "# Your memories");
    assert_eq!(blocks.len(), 2, "{blocks:?}");
    assert!(blocks[0].contains("`own`") && !blocks[0].contains("`theirs`"));
    assert!(blocks[1].contains("`later`") && blocks[1].contains("`theirs`"));
    assert!(!blocks[1].contains("`passing`"));

    // The writer's revisions are its own; a snapshot follows whoever wrote.
    let revised: Vec<_> = played
        .lines("memory_revision")
        .iter()
        .map(|line| line["slug"].clone())
        .collect();
    assert_eq!(revised, ["own", "later"]);
    let counts: Vec<_> = played
        .lines("memory_state")
        .iter()
        .map(|line| line["totals"]["count"].clone())
        .collect();
    assert_eq!(counts, [0, 1, 3, 2, 3]);
}

#[test]
fn under_a_scratchpad_a_notice_carries_the_bodies() {
    let played = play(
        MemoryStrategy::Scratchpad,
        [look(), look()],
        [vec![create("theirs", "first\nsecond")], vec![]],
    );
    sound(&played);
    let notices = texts(&played, "system", NOTICE);
    assert_eq!(notices.len(), 1);
    assert!(notices[0].contains("first\n  second"), "{notices:?}");
    assert!(!notices[0].contains("read_memory"), "{notices:?}");
    assert_eq!(texts(&played, "memory", ""), [""; 0]);
}

#[test]
fn every_write_of_another_is_told_exactly_once_in_a_long_session() {
    const TURNS: usize = 150;
    for strategy in MemoryStrategy::ALL {
        let own = match strategy {
            MemoryStrategy::Scratchpad => "write_memory",
            MemoryStrategy::Markdown | MemoryStrategy::KeywordSearch => "create_memory",
        };
        let turns = (0..TURNS).map(|n| match n % 5 {
            0 => vec![keep(own, &format!("own-{n}")), call("list_dir", &json!({}))],
            _ => look(),
        });
        let theirs = (0..TURNS).map(|n| match n % 3 {
            0 => vec![create(&format!("theirs-{n}."), "x")],
            1 => vec![replace(&format!("theirs-{}.", n - 1), "y")],
            _ => vec![],
        });
        let played = play(*strategy, turns, theirs);
        sound(&played);
        let told = texts(&played, "system", NOTICE).concat();
        for n in (0..TURNS).step_by(3) {
            let name = format!("theirs-{n}.");
            assert_eq!(
                told.matches(&format!("- added `{name}`")).count(),
                1,
                "{name}"
            );
            assert_eq!(
                told.matches(&format!("- updated `{name}`")).count(),
                1,
                "{name}"
            );
        }
        assert!(!told.contains("`own-"), "{strategy}");
        let blocks = texts(&played, "memory", "# Your memories");
        let expected = if strategy.in_window() { TURNS / 5 } else { 0 };
        assert_eq!(blocks.len(), expected, "{strategy}");
    }
}

#[test]
fn over_many_compactions_nothing_pinned_is_lost_and_nothing_is_told_twice() {
    const TURNS: usize = 500;
    const EVERY: usize = 20;
    let more: [(Value, &[&str]); 2] = [
        (
            json!({ "id": "compaction", "enabled": true, "implementation": "self-compaction",
                "params": { "summaryHeadroom": 0.2 } }),
            &["compact"],
        ),
        (
            json!({ "id": "tasks", "enabled": true,
                "params": { "mode": "simple", "maxTasks": 0 } }),
            &["add_task"],
        ),
    ];
    let turns = (0..TURNS).map(|n| match n % EVERY {
        0 => {
            let task = json!({ "id": format!("t{n}"), "title": "More" });
            let own = keep("create_memory", &format!("own-{n}."));
            vec![own, call("add_task", &task), call("list_dir", &json!({}))]
        }
        19 => vec![call(
            "compact",
            &json!({ "summary": format!("Up to {n}.") }),
        )],
        _ => look(),
    });
    let theirs = (0..TURNS).map(|n| match n % 7 {
        0 => vec![create(&format!("theirs-{n}."), "x")],
        _ => vec![],
    });
    let played = play_with(MemoryStrategy::Markdown, &more, turns, theirs);
    let report = played.report.as_ref().unwrap();
    assert_eq!(report.status, EndStatus::Completed);
    assert_eq!(rules::check(&played.stream), []);
    let boundaries = played.lines("compaction");
    assert_eq!(boundaries.len(), TURNS / EVERY);
    let told = texts(&played, "system", NOTICE).concat();
    for n in (0..TURNS).step_by(7) {
        let line = format!("- added `theirs-{n}.`");
        assert_eq!(told.matches(&line).count(), 1, "{line}");
    }
    // What the window restarts on shows both modules as they were then, whoever wrote.
    let mut messages = HashMap::new();
    for message in played.lines("context_message") {
        let id = message["id"].as_str().unwrap().to_owned();
        messages.insert(id, message["content"].as_str().unwrap().to_owned());
    }
    let prompts = played.lines("prompt");
    for n in (EVERY..TURNS).step_by(EVERY) {
        let sent = prompts[n]["messages"].as_array().unwrap();
        let sent: Vec<_> = sent
            .iter()
            .map(|id| messages[id.as_str().unwrap()].as_str())
            .collect();
        let block = |heading: &str| {
            let blocks: Vec<_> = sent
                .iter()
                .filter(|text| text.starts_with(heading))
                .collect();
            assert_eq!(blocks.len(), 1, "turn {n}: {sent:#?}");
            blocks[0]
                .lines()
                .filter(|line| line.starts_with("- "))
                .count()
        };
        // The notice of what came since stands apart.
        assert_eq!(block("# Your tasks"), n / EVERY);
        assert_eq!(
            block("# Your memories"),
            n / EVERY + (n - 1) / 7 + 1,
            "turn {n}"
        );
    }
}

#[test]
fn a_store_that_dies_ends_the_run_as_gg_s_defect() {
    tripping::arm("store");
    let played = play(
        MemoryStrategy::Markdown,
        [vec![keep("create_memory", "own")], look()],
        [],
    );
    let report = played.report.as_ref().unwrap();
    assert_eq!(
        (report.status, report.exit_code),
        (EndStatus::InternalError, 1)
    );
    let error = report.error.as_deref().unwrap();
    assert!(error.contains("tripped in store"), "{error}");
    assert_eq!(rules::check(&played.stream), [], "{}", played.stream);
    assert_eq!(played.lines("memory_revision").len(), 0);
}

/// An answered turn is judged, also where what it asked for ends its agent.
#[test]
fn a_store_that_dies_in_an_agent_s_own_compaction_leaves_its_turn_an_outcome() {
    let compaction = json!({
        "id": "compaction", "enabled": true, "implementation": "self-compaction",
        "params": { "summaryHeadroom": 0.5 },
    });
    // The window has opened with the block when the compaction asks for it again.
    tripping::arm_behind("shown", 1);
    let summary = json!({ "summary": "What there is to know.", "files": [] });
    let played = play_with(
        MemoryStrategy::Markdown,
        &[(compaction, &["compact"])],
        [look(), vec![call("compact", &summary)]],
        [],
    );
    let report = played.report.as_ref().unwrap();
    assert_eq!(report.status, EndStatus::InternalError, "{}", played.stream);
    assert_eq!(rules::check(&played.stream), []);
    let outcomes = played.lines("turn_outcome");
    let outcomes: Vec<_> = outcomes.iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, ["progressed", "fatal"]);
}
