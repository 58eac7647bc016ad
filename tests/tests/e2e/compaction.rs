//! Compaction by each strategy, over real sockets: when it is due, who answers, what stays
//! (02 §6). How it fails stands in `compaction_failures`.

use rustix::process::Signal;
use serde_json::{Value, json};
use tests::gateway::{Answer, End, Gateway, Reply, Request, content_text};
use tests::launch::{Launch, MODEL};
use tests::run::{Builder, Run};

use crate::windowed::{
    breaks, by_turn, compaction, edited, handoffs, is_asked_to_compact, own_requests, prose, texts,
    window,
};

/// A working window of 12,000 tokens that is compacted from 9,000 on; system prompt and tools take
/// about 1,000.
pub(crate) fn launch(strategy: &str, more: &Value) -> Launch {
    let tools: &[&str] = match strategy {
        "self-compaction" => &["compact"],
        _ => &[],
    };
    window(16_000).granting(compaction(strategy, 0.25, more), tools)
}

/// Reads a file of 1,000 tokens.
pub(crate) fn read(n: usize) -> Answer {
    Answer::call("read_file", json!({ "path": format!("f{}.txt", n % 20) }))
}

/// A run in a workspace of twenty such files.
pub(crate) fn with_files(launch: Launch) -> Builder {
    (0..20).fold(Run::builder().launch(launch), |builder, file| {
        builder.file(&format!("f{file}.txt"), prose(file, 1_000))
    })
}

/// The scratchpad of a root that compacts into it.
pub(crate) fn scratchpad(launch: Launch) -> Launch {
    launch.granting(
        json!({ "id": "memories", "enabled": true, "implementation": "scratchpad",
            "params": { "maxCount": 64, "maxLenPerMemory": 4_096, "maxTotalLen": 0,
                "maxLenIndex": 0, "maxLenDescription": 256, "maxResults": 0 } }),
        &["write_memory", "update_memory", "delete_memory"],
    )
}

/// The turn of a run's first boundary.
#[track_caller]
pub(crate) fn first_turn(run: &Run) -> usize {
    let turn = run.events("compaction")[0]["turn"].as_u64();
    usize::try_from(turn.unwrap()).unwrap()
}

/// What every boundary that worked looks like.
#[track_caller]
pub(crate) fn relieved(run: &Run, strategy: &str) {
    run.ended(0, "completed");
    crate::kill9::agrees(run);
    let boundaries = run.events("compaction");
    assert!(boundaries.len() > 1, "{}", run.describe());
    assert_eq!(breaks(run), vec!["compaction"; boundaries.len()]);
    for boundary in &boundaries {
        assert_eq!(boundary["strategy"], strategy, "{boundary}");
        assert_eq!(boundary["fallback"], false, "{boundary}");
        assert!(boundary["trigger"].as_f64().unwrap() >= 0.75, "{boundary}");
        assert!(boundary["before"]["tokens"].as_u64().unwrap() >= 9_000);
        assert!(boundary["after"]["tokens"].as_u64().unwrap() < 9_000);
        // No band that a compaction sweeps is left; files only where they were named.
        let after = &boundary["after"]["bands"];
        assert_eq!(after["assistant"], 0, "{boundary}");
        assert_eq!(after["tool_output"], 0, "{boundary}");
        assert_eq!(after["file_view"] == 0, boundary["retained"]["files"] == 0);
    }
    assert_eq!(run.summary()["compactions"], boundaries.len());
    assert_eq!(run.summary()["compactionFallbacks"], 0);
    assert_eq!(run.summary()["errors"]["errors"], 0, "{}", run.describe());
}

#[test]
fn a_handoff_summarizes_between_turns_and_is_offered_no_tool() {
    let run = with_files(launch("handoff-summarization", &json!({})))
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(
                |_, n| {
                    if n < 30 {
                        read(n)
                    } else {
                        Answer::finish("Done.")
                    }
                },
                |_, n| Answer::text(format!("Summary {n}.")),
            ),
        ))
        .run();
    relieved(&run, "handoff-summarization");
    let asked = handoffs(&run);
    assert_eq!(asked.len(), run.events("compaction").len());
    let own = own_requests(&run);
    for (n, request) in asked.iter().enumerate() {
        let body = request.json();
        assert!(body.get("tools").is_none() && body.get("tool_choice").is_none());
        for field in ["model", "session_id", "prompt_cache_key", "provider"] {
            assert_eq!(body[field], own[0].json()[field], "{field}");
        }
        let messages = request.messages();
        assert!(
            messages[1..]
                .iter()
                .all(|message| message["role"] == "user")
        );
        let texts = texts(request);
        assert!(texts[1].starts_with("Task\n----\n"), "{}", texts[1]);
        let labelled = |label: &str| texts.iter().any(|text| text.starts_with(label));
        assert!(labelled("Assistant\n----\nread_file {"), "{texts:?}");
        assert!(labelled("File: f"), "{texts:?}");
        assert_eq!(labelled("Summary\n----\nSummary"), n > 0);
        assert!(texts.last().unwrap().contains("summary in plain text"));
    }
    // The request behind the first boundary: system prompt, task, summary.
    let restarted = &own[first_turn(&run) - 1];
    assert_eq!(texts(restarted)[2..], ["Summary\n----\nSummary 0."]);
    outside_the_totals(&run);
}

/// A summarizer's replies are paid for beside the run's totals.
#[track_caller]
fn outside_the_totals(run: &Run) {
    let summary = run.summary();
    let own = own_requests(run).len() as f64;
    let cost = summary["cost"].as_f64().unwrap();
    assert!((cost - 0.0001 * own).abs() < 1e-9, "{cost} of {own} calls");
    let apart = summary["compactionCost"].as_f64().unwrap();
    let asked = handoffs(run).len() as f64;
    assert!((apart - 0.0001 * asked).abs() < 1e-9, "{apart}");
    assert_eq!(summary["modelCalls"], own_requests(run).len());
}

#[test]
fn another_model_compacts_by_the_one_call_it_is_offered_and_names_files() {
    let other = "acme/small";
    let launch = launch("handoff-compaction", &json!({ "model": other }))
        .set("/modelWindows", json!({ MODEL: 16_000, other: 100_000 }))
        .set(
            "/modelProviders",
            json!({ MODEL: [{ "provider": "Acme", "quantization": "fp8" }],
                other: [{ "provider": "Bolt", "quantization": "fp4" }] }),
        )
        .root("/reasoning", json!({ "effort": "high" }));
    let run = with_files(launch)
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(
                |_, n| {
                    if n < 30 {
                        read(n)
                    } else {
                        Answer::finish("Done.")
                    }
                },
                |_, n| {
                    Answer::call(
                        "compact",
                        json!({ "summary": format!("Compacted {n}."),
                            "files": ["f3.txt", "gone.txt"] }),
                    )
                    .served_by(Some("Bolt"))
                },
            ),
        ))
        .run();
    relieved(&run, "handoff-compaction");
    for request in handoffs(&run) {
        let body = request.json();
        assert_eq!(body["model"], other);
        assert_eq!(body["provider"]["only"], json!(["Bolt"]));
        assert_eq!(body["tool_choice"]["function"]["name"], "compact");
        assert_eq!(body["tools"].as_array().unwrap().len(), 1);
        // Its provider's own reasoning: nothing is sent.
        assert!(body.get("reasoning").is_none());
    }
    let own = own_requests(&run);
    assert_eq!(own[0].json()["reasoning"]["effort"], "high");
    let boundary = run.events("compaction")[0];
    assert_eq!(boundary["modelId"], other);
    assert_eq!(boundary["summary"], "Compacted 0.");
    assert_eq!(boundary["retained"]["files"], 1);
    let restarted = texts(&own[first_turn(&run) - 1]);
    let file = format!("File: f3.txt\n----\n{}", prose(3, 1_000));
    assert_eq!(restarted[2], file);
    assert!(restarted[3].starts_with("Summary\n----\nCompacted 0.\n\nNot read again:"));
    assert!(restarted[3].contains("`gone.txt`: "), "{}", restarted[3]);
    outside_the_totals(&run);
}

#[test]
fn what_nobody_reads_again_is_not_written_into_a_cache() {
    let model = "anthropic/claude-test";
    let launch = Launch::on(model, &["Anthropic"])
        .set("/modelWindows", json!({ model: 16_000 }))
        .granting(compaction("handoff-summarization", 0.25, &json!({})), &[]);
    let run = with_files(launch)
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(
                |_, n| {
                    if n < 20 {
                        read(n)
                    } else {
                        Answer::finish("Done.")
                    }
                    .served_by(Some("Anthropic"))
                },
                |_, _| Answer::text("S").served_by(Some("Anthropic")),
            ),
        ))
        .run();
    relieved(&run, "handoff-summarization");
    let marked = |request: &Request| request.text().contains("cache_control");
    assert!(own_requests(&run).iter().all(|it| marked(it)));
    assert!(!handoffs(&run).iter().any(|it| marked(it)));
}

#[test]
fn a_summarizer_that_cannot_be_pinned_is_asked_again_on_auto() {
    let run = with_files(launch("handoff-compaction", &json!({})))
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(
                |_, n| -> Reply {
                    if n < 20 {
                        read(n).into()
                    } else {
                        Answer::finish("Done.").into()
                    }
                },
                |request: &Request, n| -> Reply {
                    if request.json()["tool_choice"] == "auto" {
                        Answer::call("compact", json!({ "summary": format!("Auto {n}.") })).into()
                    } else {
                        Reply::error(400, "tool_choice is not supported by this model")
                    }
                },
            ),
        ))
        .run();
    relieved(&run, "handoff-compaction");
    let asked = handoffs(&run);
    assert_eq!(asked.len(), run.events("compaction").len() + 1);
    let warned = run.logs("warn");
    let told = warned.iter().filter(|line| line.contains("tool_choice"));
    assert_eq!(told.count(), 1, "{warned:?}");
}

#[test]
fn f59_results_of_parallel_calls_that_cross_the_threshold_stay_with_their_calls() {
    for strategy in [
        "self-summarization",
        "handoff-summarization",
        "self-compaction",
    ] {
        let run = with_files(launch(strategy, &json!({})))
            .gateway(Gateway::with_checker(
                Some(edited()),
                by_turn(
                    |request, n| {
                        if is_asked_to_compact(request) {
                            let tools = request.json()["tools"].to_string();
                            return if tools.contains("\"compact\"") {
                                Answer::call("compact", json!({ "summary": "S" }))
                            } else {
                                Answer::text("S")
                            };
                        }
                        match n {
                            0..6 | 7..10 => read(n),
                            // 7,000 tokens are held; the first of the three crosses.
                            6 => Answer::call(
                                "shell",
                                json!({ "command": "cat f1.txt f2.txt f3.txt" }),
                            )
                            .and_call("read_file", json!({ "path": "f4.txt" }))
                            .and_call("read_file", json!({ "path": "f5.txt" })),
                            _ => Answer::finish("Done."),
                        }
                    },
                    |_, _| Answer::text("S"),
                ),
            ))
            .run();
        run.ended(0, "completed");
        // The three results were recorded before the compaction, and every request was taken.
        let at = |kind: &str| {
            run.lines
                .iter()
                .position(|line| line["type"] == kind)
                .unwrap()
        };
        let third = run.events("tool_result")[8]["seq"].clone();
        let boundary = run.lines[at("compaction")]["seq"].clone();
        assert!(third.as_u64() < boundary.as_u64(), "{strategy}");
        assert_eq!(breaks(&run), ["compaction"], "{strategy}");
    }
}

#[test]
fn f61_what_a_provider_reports_never_feeds_the_trigger() {
    let usage = tests::gateway::usage(100_000, 95_000, 20, Some(0.0001));
    let launch =
        window(200_000).granting(compaction("handoff-summarization", 0.2, &json!({})), &[]);
    let run = with_files(launch)
        .gateway(Gateway::start(move |_: &Request, n: usize| {
            let calls = (0..9).fold(read(10 * n), |answer, k| {
                answer.and_call("read_file", json!({ "path": format!("f{k}.txt") }))
            });
            let answer = if n < 2 {
                calls
            } else {
                Answer::finish("Done.")
            };
            answer.using(Some(usage.clone()))
        }))
        .run();
    run.ended(0, "completed");
    assert!(run.events("compaction").is_empty());
    let held = run.events("context_breakdown").last().unwrap()["total"]
        .as_u64()
        .unwrap();
    assert!((20_000..23_000).contains(&held), "{held}");
}

#[test]
fn a_run_is_stopped_while_another_model_summarizes() {
    let running = with_files(launch("handoff-summarization", &json!({})))
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(
                |_, n| -> Reply { read(n).into() },
                |_, _| -> Reply { Reply::stream([": wait\n\n"]).ending(End::HoldOpen) },
            ),
        ))
        .start();
    running.wait_for("the turn before the compaction", |line| {
        line["type"] == "turn_timing" && line["turn"] == 9
    });
    while !running
        .gateway()
        .requests()
        .iter()
        .any(|it| crate::windowed::is_handoff(it))
    {
        std::thread::yield_now();
    }
    running.signal(Signal::TERM);
    let run = running.finish();
    run.ended(0, "canceled");
    assert!(run.events("compaction").is_empty());
}

#[test]
fn what_a_compaction_keeps_is_what_its_request_shows() {
    // A task list and a memory block stand behind the task and outlive the boundary.
    let launch = scratchpad(launch("handoff-summarization", &json!({}))).granting(
        json!({ "id": "tasks", "enabled": true, "params": { "mode": "simple", "maxTasks": 0 } }),
        &["add_task", "complete_task"],
    );
    let run = with_files(launch)
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(
                |_, n| match n {
                    0 => Answer::call("add_task", json!({ "id": "a", "title": "First" })).and_call(
                        "write_memory",
                        json!({ "name": "m", "description": "d", "body": "Remember." }),
                    ),
                    1..14 => read(n),
                    _ => Answer::finish("Done."),
                },
                |_, _| Answer::text("S"),
            ),
        ))
        .run();
    run.ended(0, "completed");
    let boundary = run.event("compaction");
    assert_eq!(boundary["retained"]["tasks"], 1);
    assert_eq!(boundary["retained"]["memories"], 1);
    let own = own_requests(&run);
    let restarted = texts(&own[first_turn(&run) - 1]);
    let kept: Vec<&str> = restarted[2..]
        .iter()
        .map(|text| text.lines().next().unwrap())
        .collect();
    assert_eq!(kept.len(), 3, "{kept:?}");
    assert!(restarted[2].contains("# Your tasks"), "{}", restarted[2]);
    assert!(restarted[3].contains("Remember."), "{}", restarted[3]);
    assert_eq!(restarted[4], "Summary\n----\nS");
    // The summarizer is told of the tasks, and not of the memories.
    let told = texts(&handoffs(&run)[0]);
    assert!(told.iter().any(|text| text.contains("# Your tasks")));
    assert!(
        !told
            .iter()
            .any(|text| text.contains("# Your memories") || text.starts_with("Memories"))
    );
    assert_eq!(
        content_text(&own[0].messages()[1]["content"]),
        "Do what the script says."
    );
}
