//! The board by tools.

use serde_json::{Value, json};
use tests::gateway::{Answer, Reply, Request};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use super::{CALLS, board, figures, play, waited_on};
use crate::coders::cast;
use crate::exec::asked_of;
use crate::families::{previews, subagents};

/// A root that calls tools and may do all there is to do to a board.
fn root(slug: &str, capabilities: &[Value], tools: &[&str]) -> Value {
    let capabilities = [capabilities, &[board()]].concat();
    let tools = [&CALLS[..], tools].concat();
    json!({
        "slug": slug, "name": slug, "modelId": MODEL,
        "customInstructions": format!("I am {slug}."),
        "capabilities": capabilities, "tools": tools, "operations": [],
        "subagents": super::roster(),
    })
}

fn issue(agent: &str, more: &Value) -> Value {
    let mut all = json!({ "title": "A thing", "inScope": "this", "outOfScope": "that",
        "completionCriteria": "it is there", "agent": agent });
    for (key, value) in more.as_object().unwrap() {
        all[key] = value.clone();
    }
    all
}

/// One answer that makes all of these calls.
fn calls(calls: &[(&str, Value)]) -> Answer {
    let (first, rest) = calls.split_first().unwrap();
    rest.iter().fold(
        Answer::call(first.0, first.1.clone()),
        |answer, (tool, arguments)| answer.and_call(tool, arguments.clone()),
    )
}

fn id(id: &str) -> Value {
    json!({ "id": id })
}

/// The class of each call's failure, `ok` where it has none, call by call of a root.
fn classes(run: &Run) -> Vec<(&str, &str)> {
    let results = run.events("tool_result").into_iter();
    results
        .filter(|it| it["agentId"] == "root")
        .map(|it| {
            (
                it["tool"].as_str().unwrap(),
                it["failure"].as_str().unwrap_or("ok"),
            )
        })
        .collect()
}

#[test]
fn every_call_succeeds_and_fails_as_it_may() {
    let rows = [
        (
            "create_epic",
            json!({ "prefix": "web", "title": "Surface" }),
            "ok",
        ),
        (
            "create_epic",
            json!({ "prefix": "WEB", "title": "Again" }),
            "conflict",
        ),
        (
            "create_epic",
            json!({ "prefix": "a1", "title": "Bad" }),
            "invalid-argument",
        ),
        (
            "create_epic",
            json!({ "prefix": "api", "title": "Other" }),
            "ok",
        ),
        (
            "create_epic",
            json!({ "prefix": "doc", "title": "Third" }),
            "limit-exceeded",
        ),
        (
            "create_issue",
            issue("coder", &json!({ "epic": "web", "reviewers": ["critic"] })),
            "ok",
        ),
        (
            "create_issue",
            issue("coder", &json!({ "blockedBy": ["WEB-1"] })),
            "ok",
        ),
        (
            "create_issue",
            issue("critic", &json!({})),
            "invalid-argument",
        ),
        (
            "create_issue",
            issue("coder", &json!({ "reviewers": ["coder"] })),
            "invalid-argument",
        ),
        (
            "create_issue",
            issue("coder", &json!({ "prio": 1 })),
            "invalid-argument",
        ),
        (
            "create_issue",
            issue("coder", &json!({ "epic": "XYZ" })),
            "not-found",
        ),
        (
            "create_issue",
            issue("coder", &json!({ "blockedBy": ["XYZ-1"] })),
            "not-found",
        ),
        ("create_issue", issue("quitter", &json!({})), "ok"),
        ("create_issue", issue("coder", &json!({})), "ok"),
        ("create_issue", issue("coder", &json!({})), "limit-exceeded"),
        (
            "update_issue",
            json!({ "id": "issue-1", "title": "Two" }),
            "ok",
        ),
        (
            "update_issue",
            json!({ "id": "XYZ-1", "title": "x" }),
            "not-found",
        ),
        (
            "update_issue",
            json!({ "id": "ISSUE-1", "status": "done" }),
            "invalid-argument",
        ),
        (
            "set_issue_blocked_by",
            json!({ "id": "ISSUE-3", "blockedBy": ["ISSUE-2"] }),
            "ok",
        ),
        (
            "set_issue_blocked_by",
            json!({ "id": "WEB-1", "blockedBy": ["ISSUE-1"] }),
            "conflict",
        ),
        (
            "set_issue_blocked_by",
            json!({ "id": "WEB-1", "blockedBy": ["XYZ-1"] }),
            "not-found",
        ),
        (
            "set_issue_blocked_by",
            json!({ "id": "WEB-1" }),
            "invalid-argument",
        ),
        ("remove_epic", id("WEB"), "refused"),
        ("remove_epic", id("XYZ"), "not-found"),
        ("remove_epic", id("API"), "ok"),
        ("remove_issue", id("WEB-1"), "refused"),
        ("list_issues", json!({}), "ok"),
        (
            "list_issues",
            json!({ "status": "open", "epic": "web" }),
            "ok",
        ),
        ("list_issues", json!({ "epic": "XYZ" }), "not-found"),
        (
            "list_issues",
            json!({ "status": "closed" }),
            "invalid-argument",
        ),
        ("remove_issue", id("ISSUE-3"), "ok"),
        ("remove_issue", id("ISSUE-3"), "not-found"),
        ("read_issue", id("ISSUE-3"), "not-found"),
        ("wait_for_issue", id("ISSUE-3"), "not-found"),
        ("wait_for_issue", id(" "), "invalid-argument"),
        ("wait_for_issue", id("ISSUE-1"), "ok"),
        ("wait_for_issue", id("web-1"), "ok"),
        ("wait_for_issue", id("ISSUE-2"), "ok"),
        ("read_issue", id("WEB-1"), "ok"),
        (
            "update_issue",
            json!({ "id": "WEB-1", "title": "x" }),
            "refused",
        ),
        (
            "create_issue",
            issue("coder", &json!({ "blockedBy": ["ISSUE-2"] })),
            "ok",
        ),
        ("wait_for_issue", id("ISSUE-4"), "refused"),
        (
            "update_issue",
            json!({ "id": "ISSUE-2", "agent": "coder", "status": "open" }),
            "ok",
        ),
        ("wait_for_issue", id("ISSUE-4"), "ok"),
    ];
    let made: Vec<_> = rows
        .iter()
        .map(|(tool, arguments, _)| (*tool, arguments.clone()))
        .collect();
    let run = play(
        root("root", &[], &[]),
        vec![calls(&made), Answer::finish("Done.")],
    );
    let expected: Vec<_> = rows
        .iter()
        .map(|(tool, _, class)| (*tool, *class))
        .collect();
    let mut found = classes(&run);
    assert_eq!(found.pop(), Some(("finish", "ok")));
    assert_eq!(found, expected);
    for tool in CALLS {
        assert!(expected.contains(&(tool, "ok")), "{tool}");
    }
    assert_eq!(figures(&run), [4, 4, 0, 1, 2, 0]);
    assert_eq!(
        previews(&run, "list_issues")[0],
        "WEB-1 [open] A thing (agent coder; reviewers critic)\n\
         ISSUE-1 [open] Two (agent coder; blocked by WEB-1)\n\
         ISSUE-2 [open] A thing (agent quitter)\n\
         ISSUE-3 [open] A thing (agent coder; blocked by ISSUE-2)"
    );
    let waits = previews(&run, "wait_for_issue");
    assert_eq!(
        (&*waits[2], &*waits[3], &*waits[4], &*waits[6]),
        (
            "`ISSUE-1` is done",
            "`WEB-1` is done",
            "`ISSUE-2` is failed",
            "`ISSUE-4` is done"
        )
    );
    assert!(previews(&run, "read_issue")[1].ends_with("Review 2 by critic: approved"));
    // What had ended by the call gave nothing up.
    assert_eq!(waited_on(&run)[0], &json!({ "issue": "ISSUE-1" }));
    assert_eq!(
        waited_on(&run).last(),
        Some(&&json!({ "issue": "ISSUE-4" }))
    );
    let states = run.events("board_state");
    assert_eq!(states.len(), 2);
    assert_eq!(states[1]["turn"], 1);
}

/// The first request of a root alone, its routing key replaced; and the run.
fn first_request(root: Value) -> (Value, Run) {
    let run = Run::builder()
        .launch(super::with_workers(root))
        .answers(|_: &Request, _: usize| Answer::finish("Done."))
        .run();
    run.ended(0, "completed");
    let key = run.lines[0]["routingKey"].as_str().unwrap();
    let text = run.gateway.as_ref().unwrap().requests()[0].text();
    (
        serde_json::from_str(&text.replace(key, "KEY")).unwrap(),
        run,
    )
}

#[test]
fn a_board_that_is_off_is_left_out_and_one_that_is_on_is_in_its_calls_alone() {
    let on = root("root", &[], &[]);
    let mut off = on.clone();
    off["capabilities"][0]["enabled"] = json!(false);
    let mut absent = on.clone();
    absent["capabilities"] = json!([]);
    let (absent, _) = first_request(absent);
    let (off, quiet) = first_request(off);
    assert_eq!(off, absent);
    for kind in ["board_state", "issue_status", "worktree_merged"] {
        assert_eq!(quiet.events(kind).len(), 0, "{kind}");
    }
    let modules = quiet.event("agent_modules")["modules"].as_array().unwrap();
    let row = modules.iter().find(|row| row["kind"] == "board").unwrap();
    assert_eq!(
        (&row["origin"], &row["store"]),
        (&json!("absent"), &Value::Null)
    );
    assert!(
        !quiet.workspace().join(".git").exists(),
        "nothing of the board's is made"
    );

    let (on, told) = first_request(on);
    assert_eq!(on["messages"], off["messages"]);
    let names = |request: &Value| -> Vec<String> {
        let tools = request["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&off), ["finish"]);
    assert_eq!(names(&on), [&CALLS[..], &["finish"]].concat());
    let surface = told.event("agent_surface");
    assert_eq!(surface["tools"], json!(names(&on)));
    assert!(told.workspace().join(".git").exists());
}

/// Agents that work for an issue: the implementer, whom it starts, its copy, and whoever takes its
/// place. Each waits for that issue, and for one behind it.
#[test]
fn nobody_who_works_for_an_issue_waits_for_it() {
    let plain = |name: &str| json!({ "id": name, "enabled": true, "params": {} });
    let delegating = ["spawn_subagent", "wait_for_subagents", "exec", "fork"];
    let hand = |slug: &str| {
        let mut hand = root(
            slug,
            &[subagents(2), plain("exec"), plain("fork")],
            &delegating,
        );
        let mut roster = super::roster();
        for entry in roster.as_array_mut().unwrap() {
            entry["agentId"] = json!("hand");
        }
        let own = json!({ "agentId": "hand", "description": "", "scopes": ["subagent"] });
        roster.as_array_mut().unwrap().push(own);
        hand["subagents"] = roster;
        let held = hand["capabilities"].as_array_mut().unwrap();
        held.push(crate::families::inline_shell());
        held.iter_mut()
            .filter(|it| it["id"] == "project-management")
            .for_each(|it| it["params"]["mergeAgent"] = json!("hand"));
        hand
    };
    let waits = |answer: Answer| {
        answer
            .and_call("wait_for_issue", id("ISSUE-1"))
            .and_call("wait_for_issue", id("ISSUE-2"))
    };
    let launch: Launch = cast([hand("root"), hand("hand")]).limit("maxParallel", 2);
    let run = Run::builder()
        .launch(launch)
        .answers(move |request: &Request, _: usize| -> Reply {
            let list = || Answer::call("list_issues", json!({}));
            let told = crate::exec::last_told(request);
            if asked_of(request) == "root" {
                return match request.turn() {
                    0 => calls(&[
                        ("create_issue", issue("hand", &json!({}))),
                        (
                            "create_issue",
                            issue("hand", &json!({ "blockedBy": ["ISSUE-1"] })),
                        ),
                        ("wait_for_issue", id("ISSUE-2")),
                    ]),
                    _ => Answer::finish("Done."),
                }
                .into();
            }
            if told.contains("Carry on alone.") || told.contains("Help.") || told.contains("Copy.")
            {
                // Its first request ends on what it was told.
                let messages = request.messages();
                let begins = messages.last().is_some_and(|last| last["role"] == "user");
                return if begins {
                    waits(list())
                } else {
                    Answer::finish("Seen.")
                }
                .into();
            }
            match request.turn() {
                0 if told.contains("ISSUE-1") => waits(list())
                    .and_call(
                        "spawn_subagent",
                        json!({ "agent": "hand", "prompt": "Help." }),
                    )
                    .and_call("wait_for_subagents", json!({}))
                    .and_call("fork", json!({ "prompt": "Copy." }))
                    .and_call(
                        "exec",
                        json!({ "agent": "hand", "prompt": "Carry on alone." }),
                    ),
                _ => Answer::finish("Second."),
            }
            .into()
        })
        .run();
    run.ended(0, "completed");
    assert_eq!(figures(&run), [2, 2, 0, 0, 0, 0]);
    let results = run.results("wait_for_issue");
    let refused: Vec<_> = results.iter().filter(|it| it["ok"] == false).collect();
    // Four agents, two waits each.
    assert_eq!(refused.len(), 8, "{}", run.describe());
    for result in refused {
        let told = result["preview"].as_str().unwrap();
        assert!(
            told.contains("(invalid-argument): `ISSUE-1` is the issue you work for")
                || told.contains("(refused): `ISSUE-2` needs the issue you work for"),
            "{told}"
        );
    }
}
