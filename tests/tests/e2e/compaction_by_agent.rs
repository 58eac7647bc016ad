//! Compaction by the agent itself: what it is asked for, what satisfies it, and what is refused
//! until then (02 §6.3).

use serde_json::json;
use tests::gateway::{Answer, Gateway, Request};
use tests::launch::MODEL;

use crate::compaction::{first_turn, launch, read, relieved, scratchpad, with_files};
use crate::windowed::{
    breaks, edited, handoffs, is_asked_to_compact, last_said, own_requests, prose, texts,
};

#[test]
fn an_agent_summarizes_in_plain_text_and_does_nothing_else_until_it_has() {
    let run = with_files(launch("self-summarization", &json!({})))
        .gateway(Gateway::with_checker(
            Some(edited()),
            move |request: &Request, n: usize| {
                let said = last_said(request);
                if is_asked_to_compact(request) {
                    // First it goes on as if nothing were asked of it.
                    return Answer::shell("touch ran")
                        .and_call("read_file", json!({ "path": "f1.txt" }));
                }
                if said.contains("your window is being compacted") {
                    return Answer::text("What I know.");
                }
                if n < 30 {
                    read(n)
                } else {
                    Answer::finish("Done.")
                }
            },
        ))
        .run();
    relieved(&run, "self-summarization");
    assert!(!run.workspace().join("ran").exists());
    let refused: Vec<_> = run
        .events("tool_result")
        .into_iter()
        .filter(|result| result["failure"] == "refused")
        .collect();
    assert_eq!(refused.len(), 2 * run.events("compaction").len());
    for boundary in run.events("compaction") {
        assert_eq!(boundary["summary"], "What I know.");
        assert_eq!(boundary["modelId"], MODEL);
        assert!(boundary["tokens"].is_null());
    }
    assert!(handoffs(&run).is_empty());
    assert_eq!(run.summary()["compactionCost"], 0.0);
}

#[test]
fn an_agent_compacts_by_its_call_asked_or_not() {
    let files: Vec<String> = (0..14).map(|file| format!("f{file}.txt")).collect();
    let few = json!({ "summary": "Few.", "files": ["f1.txt"] });
    let many = json!({ "summary": "Many.", "files": files });
    let run = with_files(launch("self-compaction", &json!({})))
        .file("f5.txt", "short")
        .gateway(Gateway::with_checker(
            Some(edited()),
            move |request: &Request, n: usize| {
                match n {
                    // Unprompted, beside other work, and twice: the last call stands.
                    3 => read(3)
                        .and_call("compact", many.clone())
                        .and_call("compact", few.clone()),
                    _ if is_asked_to_compact(request) => Answer::call("compact", few.clone()),
                    _ if n < 30 => read(n),
                    _ => Answer::finish("Done."),
                }
            },
        ))
        .run();
    run.ended(0, "completed");
    crate::kill9::agrees(&run);
    let own = own_requests(&run);
    let tools = own[0].json()["tools"].to_string();
    assert!(tools.contains("\"name\":\"compact\""), "{tools}");
    let boundaries = run.events("compaction");
    assert!(boundaries.len() >= 3, "{}", run.describe());
    assert_eq!(boundaries[0]["turn"], 4);
    assert!(boundaries[0]["trigger"].as_f64().unwrap() < 0.5);
    assert!(boundaries.iter().all(|it| it["summary"] == "Few."));
    assert!(boundaries.iter().all(|it| it["retained"]["files"] == 1));
    let results = run.results("compact");
    let preview = results[0]["preview"].as_str().unwrap();
    assert!(
        preview.ends_with("not these: f12.txt, f13.txt"),
        "{preview}"
    );
    // What was read beside the call is gone with the conversation.
    assert_eq!(
        texts(&own[4])[2..],
        [
            format!("File: f1.txt\n----\n{}", prose(1, 1_000)),
            "Summary\n----\nFew.".to_owned(),
        ]
    );
    assert_eq!(breaks(&run), vec!["compaction"; boundaries.len()]);
}

#[test]
fn an_agent_saves_its_memories_in_one_whole_reply_before_its_window_restarts() {
    let write = |name: &str, body: &str| json!({ "name": name, "description": "d", "body": body });
    let mut asked = 0;
    let run = with_files(scratchpad(launch("memory-compaction", &json!({}))))
        .gateway(Gateway::with_checker(
            Some(edited()),
            move |request: &Request, n: usize| {
                if is_asked_to_compact(request) {
                    asked += 1;
                    // One of the two fails, so that the reply does not count.
                    return Answer::call("write_memory", write(&format!("m{asked}"), "Saved."))
                        .and_call("delete_memory", json!({ "name": "absent" }));
                }
                // The memory block stands behind the result.
                let texts = texts(request);
                if texts[texts.len() - 2].starts_with("`delete_memory` failed") {
                    return Answer::call("write_memory", write(&format!("n{asked}"), "Saved too."));
                }
                if n < 30 {
                    read(n)
                } else {
                    Answer::finish("Done.")
                }
            },
        ))
        .run();
    relieved(&run, "memory-compaction");
    let boundaries = run.events("compaction");
    for (n, boundary) in boundaries.iter().enumerate() {
        assert_eq!(boundary["retained"]["memories"], 2 * (n + 1), "{boundary}");
    }
    let own = own_requests(&run);
    let restarted = texts(&own[first_turn(&run)]);
    assert!(restarted[2].contains("Saved.") && restarted[2].contains("Saved too."));
    assert!(
        restarted[3].contains("no summary of it exists"),
        "{}",
        restarted[3]
    );
    assert!(
        restarted[3].contains("by your memories"),
        "{}",
        restarted[3]
    );
}

#[test]
fn a_reply_that_does_nothing_of_a_pending_compaction_is_an_error_and_is_asked_again() {
    for (strategy, lacking, good) in [
        (
            "self-compaction",
            Answer::text("Later."),
            Answer::call("compact", json!({ "summary": "S" })),
        ),
        ("self-summarization", Answer::text("  "), Answer::text("S")),
    ] {
        let run = with_files(launch(strategy, &json!({})))
            .gateway(Gateway::with_checker(
                Some(edited()),
                move |request: &Request, n: usize| {
                    let said = last_said(request);
                    if said.starts_with("Your reply") {
                        return good.clone();
                    }
                    match n {
                        _ if is_asked_to_compact(request) => lacking.clone(),
                        _ if n < 12 => read(n),
                        _ => Answer::finish("Done."),
                    }
                },
            ))
            .run();
        run.ended(0, "completed");
        let outcomes = run.outcomes();
        let errors = outcomes
            .iter()
            .filter(|it| **it != "progressed" && **it != "finished");
        assert_eq!(
            errors.collect::<Vec<_>>(),
            [&"missing_completion_compaction"],
            "{strategy}"
        );
        assert_eq!(run.events("compaction").len(), 1, "{strategy}");
        assert_eq!(run.event("compaction")["summary"], "S");
        assert_eq!(run.summary()["errors"]["missingCompletion"], 1);
    }
}

#[test]
fn a_model_that_never_complies_is_stopped_by_the_ceilings() {
    let launch = launch("self-compaction", &json!({})).limit("maxConsecutiveErrors", 3);
    let run = with_files(launch)
        .gateway(Gateway::with_checker(
            Some(edited()),
            |request: &Request, n: usize| {
                let pending = texts(request)
                    .iter()
                    .any(|text| text.contains("is nearly full, so the"));
                if pending {
                    Answer::text("No.")
                } else {
                    read(n)
                }
            },
        ))
        .run();
    run.ended(3, "limit_exceeded");
    assert_eq!(
        run.summary()["errors"]["byType"]["missing_completion_compaction"],
        3
    );
    assert!(run.events("compaction").is_empty());
}

#[test]
fn a_session_can_end_while_a_compaction_is_pending() {
    for strategy in ["self-summarization", "self-compaction"] {
        let run = with_files(launch(strategy, &json!({})))
            .gateway(Gateway::with_checker(
                Some(edited()),
                |request: &Request, n: usize| {
                    if is_asked_to_compact(request) {
                        Answer::finish("Done.")
                    } else {
                        read(n)
                    }
                },
            ))
            .run();
        run.ended(0, "completed");
        assert!(run.events("compaction").is_empty());
    }
}

#[test]
fn plain_text_that_nobody_asked_for_is_no_summary() {
    let run = with_files(launch("self-summarization", &json!({})))
        .gateway(Gateway::with_checker(
            Some(edited()),
            |_: &Request, n: usize| match n {
                0 => Answer::text("All that I know."),
                _ => Answer::finish("Done."),
            },
        ))
        .run();
    run.ended(0, "completed");
    assert_eq!(run.outcomes(), ["missing_completion_no_call", "finished"]);
    assert!(run.events("compaction").is_empty());
}
