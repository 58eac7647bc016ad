//! What an agent knows and holds (02): which declarations run, and which could never be honoured.

use crate::common::{SPECIFICATION, refusals};
use serde_json::{Value, json};

/// The example of 01 §3 with further capabilities and tools.
fn with(capabilities: &[Value], tools: &[&str]) -> Value {
    let mut document: Value = serde_json::from_str(SPECIFICATION).unwrap();
    let root = &mut document["capabilitySet"]["agents"][0];
    let declared = root["capabilities"].as_array_mut().unwrap();
    declared.extend(capabilities.iter().cloned());
    let granted = root["tools"].as_array_mut().unwrap();
    granted.extend(tools.iter().map(|tool| json!(tool)));
    document
}

#[track_caller]
fn check(capabilities: &[Value], tools: &[&str], expected: &[&str]) {
    let found = refusals(&with(capabilities, tools).to_string());
    assert_eq!(found, expected);
}

fn memories(strategy: &str, scope: Option<&str>) -> Value {
    let mut declared = json!({ "id": "memories", "enabled": true, "implementation": strategy,
        "params": { "maxCount": 0, "maxLenPerMemory": 8192, "maxTotalLen": 0,
            "maxLenIndex": 16384, "maxLenDescription": 256, "maxResults": 25 } });
    if let Some(scope) = scope {
        declared["params"]["scope"] = json!(scope);
    }
    declared
}

fn compaction(strategy: &str) -> Value {
    json!({ "id": "compaction", "enabled": true, "implementation": strategy,
        "params": { "summaryHeadroom": 0.2 } })
}

#[test]
fn memories_run_under_every_strategy_and_scope() {
    for strategy in ["scratchpad", "markdown", "keyword-search"] {
        for scope in [
            None,
            Some("isolated"),
            Some("shared"),
            Some("inherited"),
            Some("read-only"),
        ] {
            check(&[memories(strategy, scope)], &["read_memory"], &[]);
        }
    }
}

#[test]
fn everything_an_agent_holds_runs_together() {
    let mut document = with(
        &[
            json!({ "id": "tasks", "enabled": true, "params": { "mode": "issues", "maxTasks": 0 } }),
            memories("markdown", None),
            json!({ "id": "skills", "enabled": true,
                "params": { "dir": "/srv/skills", "builtIns": { "gg-docs": true } } }),
            json!({ "id": "context-window-override", "enabled": true,
                "params": { "windowLimit": 262_144 } }),
            json!({ "id": "agent-managed-context", "enabled": true, "params": { "topFileViews": 0 } }),
            json!({ "id": "autoload-specifications", "enabled": true, "params": {} }),
            compaction("memory-compaction"),
        ],
        &["create_memory"],
    );
    document["specFiles"] = json!(["SPEC.md", "mockup.png"]);
    document["capabilitySet"]["agents"][0]["repeatDetection"] = json!({ "calls": 3 });
    assert_eq!(refusals(&document.to_string()), [""; 0]);
}

#[test]
fn a_compaction_that_could_never_be_answered_is_refused() {
    check(&[compaction("self-summarization")], &[], &[]);
    check(&[compaction("handoff-summarization")], &[], &[]);
    check(&[compaction("handoff-compaction")], &[], &[]);
    check(&[compaction("self-compaction")], &["compact"], &[]);
    check(
        &[compaction("self-compaction")],
        &[],
        &[
            "agent `root`: capability `compaction`: implementation is \"self-compaction\", but the \
             agent is not granted `compact`\n\
             hint: grant `compact`; a code agent is granted its operation",
        ],
    );
    check(
        &[compaction("memory-compaction")],
        &["create_memory"],
        &[
            "agent `root`: capability `compaction`: implementation is \"memory-compaction\", but \
             the agent's `memories` are off",
        ],
    );
    check(
        &[
            compaction("memory-compaction"),
            memories("markdown", Some("read-only")),
        ],
        &["create_memory"],
        &[
            "agent `root`: capability `compaction`: implementation is \"memory-compaction\", but \
             the agent's memories are read-only",
        ],
    );
    check(
        &[
            compaction("memory-compaction"),
            memories("keyword-search", None),
        ],
        &["read_memory", "delete_memory", "write_memory"],
        &[
            "agent `root`: capability `compaction`: implementation is \"memory-compaction\", but \
             the agent is granted none of `create_memory`, `edit_memory`",
        ],
    );
    check(
        &[
            compaction("memory-compaction"),
            memories("scratchpad", None),
        ],
        &["create_memory"],
        &[
            "agent `root`: capability `compaction`: implementation is \"memory-compaction\", but \
             the agent is granted none of `write_memory`, `update_memory`",
        ],
    );
}

#[test]
fn a_handoff_names_a_model_that_the_launch_has_a_window_and_candidates_for() {
    let named = |strategy: &str, model: &str| {
        let mut declared = compaction(strategy);
        declared["params"]["model"] = json!(model);
        declared
    };
    check(
        &[named("handoff-compaction", "acme/small-1")],
        &[],
        &[
            "modelWindows: model `acme/small-1` is missing; expected its window in tokens: it is \
             bound by agent `root`: capability `compaction`\n\
             hint: the nearest entry is `acme/coder-1`",
            "modelProviders: model `acme/small-1` is missing; expected its candidates: it is bound \
             by agent `root`: capability `compaction`\n\
             hint: the nearest entry is `acme/coder-1`",
        ],
    );
    check(&[named("handoff-summarization", "acme/coder-1")], &[], &[]);
    // Nobody asks it, so nothing is needed of it.
    check(&[named("self-summarization", "acme/small-1")], &[], &[]);
}

#[test]
fn figures_and_words_are_judged_where_they_stand() {
    let document = with(
        &[
            json!({ "id": "tasks", "enabled": true, "implementation": "dag",
                "params": { "mode": "issue", "maxTasks": 1.5 } }),
            json!({ "id": "skills", "enabled": true,
                "params": { "dir": " ", "builtIns": { "gg-shel": true, "gg-docs": 1 } } }),
            json!({ "id": "compaction", "enabled": true, "implementation": "self",
                "params": { "summaryHeadroom": 0.95, "maxRetries": -1, "modelSlot": "small" } }),
            json!({ "id": "context-window-override", "enabled": true,
                "params": { "windowLimit": 262_145 } }),
            json!({ "id": "agent-managed-context", "enabled": true,
                "params": { "topFileViews": 5, "signalThresholdPercent": 101, "ownership": "owned" } }),
            json!({ "id": "autoload-specifications", "enabled": true, "implementation": "lock",
                "params": { "image": true } }),
        ],
        &[],
    );
    insta::assert_snapshot!(refusals(&document.to_string()).join("\n"));
}
