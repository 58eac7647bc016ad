//! Calls on the run's board: each with success and in each way it fails, by tools and by programs
//! of every arm; and what an agent's waits come to (03 §7.3, §7.7).

mod programs;
mod tools;

use serde_json::{Value, json};
use tests::gateway::{Answer, Reply, Request};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::coders::cast;
use crate::exec::asked_of;
use crate::families::{inline_shell, task};

/// The calls, as tools are named.
pub(crate) const CALLS: [&str; 9] = [
    "create_epic",
    "create_issue",
    "update_issue",
    "set_issue_blocked_by",
    "remove_epic",
    "remove_issue",
    "wait_for_issue",
    "list_issues",
    "read_issue",
];

/// What the reviewer wants of work it sees for the first time.
const ITEM: &str = "It lacks a test.";

/// The declaration by which agents work on a board.
pub(crate) fn board() -> Value {
    json!({ "id": "project-management", "enabled": true, "params": {
        "mergeAgent": "coder", "maxEpics": 2, "maxIssues": 4, "maxRetries": 0 } })
}

/// Whom a root's issues may name.
pub(crate) fn roster() -> Value {
    json!([
        { "agentId": "coder", "description": "Codes.", "scopes": ["implementer"] },
        { "agentId": "quitter", "description": "Does not.", "scopes": ["implementer"] },
        { "agentId": "critic", "description": "Judges.", "scopes": ["reviewer"] },
    ])
}

/// A launch of a root and of those its issues name, on one slot: nothing is begun while the root
/// works.
pub(crate) fn with_workers(mut root: Value) -> Launch {
    root["subagents"] = roster();
    let worker = |slug: &str| {
        json!({
            "slug": slug, "name": slug, "modelId": MODEL,
            "customInstructions": format!("I am {slug}."),
            "capabilities": [inline_shell()], "tools": ["shell"], "operations": [],
        })
    };
    cast([root, worker("coder"), worker("quitter"), worker("critic")]).limit("maxParallel", 1)
}

/// Runs a root whose answers these are, in order, among workers that do as they are called.
#[track_caller]
pub(crate) fn play(root: Value, answers: Vec<Answer>) -> Run {
    play_launch(with_workers(root), answers)
}

/// The same of a launch.
#[track_caller]
pub(crate) fn play_launch(launch: Launch, answers: Vec<Answer>) -> Run {
    let run = Run::builder()
        .launch(launch)
        .answers(move |request: &Request, _: usize| -> Reply {
            match asked_of(request).as_str() {
                "coder" if request.turn() == 0 => {
                    Answer::shell("date +%N > \"$(basename \"$PWD\").txt\"").into()
                }
                "coder" => Answer::finish("Coded.").into(),
                "quitter" => Reply::error(400, "no"),
                "critic" if task(request).contains(ITEM) => {
                    Answer::call("approve", json!({})).into()
                }
                "critic" => Answer::call("request_changes", json!({ "items": [ITEM] })).into(),
                _ => answers[request.turn()].clone().into(),
            }
        })
        .run();
    run.ended(0, "completed");
    run
}

/// The figures of the summary that are the board's, in the order of [06 §7].
pub(crate) fn figures(run: &Run) -> Vec<u64> {
    let keys = [
        "issues",
        "issuesDone",
        "issuesFailed",
        "issuesReopened",
        "reviewRounds",
        "mergeConflicts",
    ];
    let figures = keys.map(|key| run.summary()[key].as_u64().unwrap());
    figures.to_vec()
}

/// What the root waited for, suspension by suspension.
pub(crate) fn waited_on(run: &Run) -> Vec<&Value> {
    run.events("agent_status")
        .into_iter()
        .filter(|it| it["status"] == "blocked")
        .map(|it| &it["waitingOn"])
        .collect()
}
