//! The board in a launch document: what it needs, and what of it is the run's (03 §7.1).

use serde_json::{Value, json};

use crate::common::{MOCK, refusals};

/// A board with these params in place of sound ones; `null` takes one away.
fn board(params: &Value) -> Value {
    let mut all = json!({ "mergeAgent": "root", "maxEpics": 5, "maxIssues": 20, "maxRetries": 0 });
    for (key, value) in params.as_object().unwrap() {
        if value.is_null() {
            all.as_object_mut().unwrap().remove(key);
        } else {
            all[key] = value.clone();
        }
    }
    json!({ "id": "project-management", "enabled": true, "params": all })
}

fn roster(scopes: &[&str]) -> Value {
    json!([{ "agentId": "root", "description": "", "scopes": scopes }])
}

/// An agent with a board; its root has a shell.
fn agent(slug: &str, params: &Value, scopes: &[&str]) -> Value {
    let document: Value = serde_json::from_str(MOCK).unwrap();
    let mut agent = document["capabilitySet"]["agents"][0].clone();
    agent["slug"] = json!(slug);
    let held = agent["capabilities"].as_array_mut().unwrap();
    held.push(
        json!({ "id": "shell", "enabled": true, "implementation": "inline",
            "params": { "maxLines": 9, "maxChars": 99 } }),
    );
    held.push(board(params));
    let tools = agent["tools"].as_array_mut().unwrap();
    tools.extend([json!("create_issue"), json!("list_issues")]);
    if !scopes.is_empty() {
        agent["subagents"] = roster(scopes);
    }
    agent
}

fn refused(agents: &[Value]) -> Vec<String> {
    let mut document: Value = serde_json::from_str(MOCK).unwrap();
    document["capabilitySet"]["agents"] = json!(agents);
    refusals(&document.to_string())
}

#[test]
fn the_run_s_board_is_the_first_profile_s_that_has_one() {
    let mut off = agent("root", &json!({ "maxEpics": 9 }), &[]);
    let held = off["capabilities"].as_array_mut().unwrap();
    held.last_mut().unwrap()["enabled"] = json!(false);
    let files = agent("files", &json!({}), &["implementer"]);
    let reads = agent(
        "reads",
        &json!({ "reviewers": true }),
        &["implementer", "reviewer"],
    );
    let mut document: Value = serde_json::from_str(MOCK).unwrap();
    document["capabilitySet"]["agents"] = json!([off, files, reads]);
    let checked = config::parse(&document.to_string()).unwrap().check();
    assert_eq!(checked.refusals, []);
    let launch = checked.launch.unwrap();
    let board = launch.board().unwrap();
    assert_eq!(board.merge_agent.as_str(), "root");
    assert_eq!(
        (board.max_epics, board.max_issues, board.max_retries),
        (5, 20, 0)
    );
    let profile = |slug: &str| launch.profile(&slug.into()).unwrap();
    assert!(!profile("files").requires_reviewers());
    assert!(profile("reads").requires_reviewers());
    assert_eq!(profile("reads").reviewers().len(), 1);
    assert_eq!(profile("root").implementers().len(), 0, "its board is off");
}

#[test]
fn a_board_that_is_on_states_its_four_figures() {
    for key in ["mergeAgent", "maxEpics", "maxIssues", "maxRetries"] {
        let found = refused(&[agent("root", &json!({ key: null }), &["implementer"])]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains(&format!("params.{key} is missing")),
            "{found:?}"
        );
    }
    let found = refused(&[agent(
        "root",
        &json!({ "ownership": "owned" }),
        &["implementer"],
    )]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("ownership is not a known key"),
        "{found:?}"
    );
    for (key, value) in [
        ("maxEpics", json!(-1)),
        ("maxIssues", json!(1.5)),
        ("maxRetries", json!("1")),
        ("reviewers", json!("yes")),
        ("mergeAgent", json!(3)),
    ] {
        let found = refused(&[agent("root", &json!({ key: value }), &["implementer"])]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(&format!("params.{key} is")), "{found:?}");
    }
}

#[test]
fn a_later_board_says_what_the_first_says() {
    let first = agent("root", &json!({}), &["implementer"]);
    for (key, value) in [
        ("maxEpics", json!(6)),
        ("maxIssues", json!(0)),
        ("maxRetries", json!(2)),
        ("mergeAgent", json!("other")),
    ] {
        let other = agent("other", &json!({ key: value }), &["implementer"]);
        let found = refused(&[first.clone(), other]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("the figure is the run's"), "{found:?}");
    }
    let same = agent("other", &json!({ "reviewers": false }), &["implementer"]);
    assert_eq!(
        refused(&[first, same]),
        [""; 0],
        "`reviewers` is the agent's own"
    );
}

#[test]
fn who_files_needs_somebody_to_name() {
    let found = refused(&[agent("root", &json!({}), &["subagent", "reviewer"])]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("the roster holds no `implementer`"),
        "{found:?}"
    );
    let found = refused(&[agent(
        "root",
        &json!({ "reviewers": true }),
        &["implementer"],
    )]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("the roster holds no `reviewer`"),
        "{found:?}"
    );
    let mut reads = agent("root", &json!({ "reviewers": true }), &[]);
    reads["tools"]
        .as_array_mut()
        .unwrap()
        .retain(|tool| tool != "create_issue");
    assert_eq!(
        refused(&[reads]),
        [""; 0],
        "whoever files nothing names nobody"
    );
}

#[test]
fn a_merge_agent_is_declared_and_has_a_shell() {
    let at = |merger: &str, change: fn(&mut Value)| {
        let mut root = agent("root", &json!({ "mergeAgent": merger }), &["implementer"]);
        change(&mut root);
        let found = refused(&[root]);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    assert!(at("rot", |_| {}).contains("the nearest is `root`"));
    let mute = at("root", |root| {
        let held = root["capabilities"].as_array_mut().unwrap();
        held.retain(|capability| capability["id"] != "shell");
    });
    assert!(mute.contains("whose `shell` is off"), "{mute}");
}
