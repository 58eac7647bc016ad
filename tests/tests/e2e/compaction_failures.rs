//! Compaction that fails: nobody summarizes, the window stays full, pictures are in the way
//! (02 §6.4). None of it loops.

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Reply, Request};
use tests::launch::{Launch, MODEL};
use tests::run::Run;

use crate::compaction::{launch, read, with_files};
use crate::windowed::{
    breaks, by_turn, compaction, edited, handoffs, is_asked_to_compact, is_handoff, own_requests,
    prose, texts, window,
};

/// Plays a handoff whose summarizer answers as given, over 20 turns.
fn handed(launch: Launch, summary: impl FnMut(&Request, usize) -> Reply + Send + 'static) -> Run {
    with_files(launch)
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
                summary,
            ),
        ))
        .run()
}

/// A root whose handoff asks a model of its own, with one candidate of its own.
fn to_another(strategy: &str) -> Launch {
    launch(strategy, &json!({ "model": "acme/small" }))
        .set(
            "/modelWindows",
            json!({ MODEL: 16_000, "acme/small": 100_000 }),
        )
        .set(
            "/modelProviders",
            json!({ MODEL: [{ "provider": "Acme", "quantization": "fp8" }],
                "acme/small": [{ "provider": "Acme", "quantization": "fp8" }] }),
        )
        .limit("maxModelRetries", 1)
}

/// The fixed note stood for each summary, and the run went on.
#[track_caller]
fn fell_back(run: &Run, why: &str) {
    run.ended(0, "completed");
    crate::kill9::agrees(run);
    let boundaries = run.events("compaction");
    assert!(!boundaries.is_empty(), "{why}");
    for boundary in &boundaries {
        assert_eq!(boundary["fallback"], true, "{why}: {boundary}");
        let summary = boundary["summary"].as_str().unwrap();
        assert!(summary.contains("no summary of it exists"), "{summary}");
    }
    assert_eq!(run.summary()["compactionFallbacks"], boundaries.len());
    let told = run.logs("warn");
    assert!(
        told.iter()
            .any(|line| line.contains("a fixed note stands for it")),
        "{told:?}"
    );
}

#[test]
fn an_answer_that_cannot_be_used_is_a_note_in_its_place() {
    let unusable: [(&str, &str, Reply); 5] = [
        ("handoff-summarization", "blank", Answer::text(" \n").into()),
        (
            "handoff-compaction",
            "no call",
            Answer::text("A summary.").into(),
        ),
        (
            "handoff-compaction",
            "a blank call",
            Answer::call("compact", json!({ "summary": " " })).into(),
        ),
        (
            "handoff-summarization",
            "refused",
            Reply::error(400, "no such thing"),
        ),
        (
            "handoff-summarization",
            "cut at the cap",
            Answer::text("Half a sum").ending(Some("length")).into(),
        ),
    ];
    for (strategy, why, reply) in unusable {
        for launch in [launch(strategy, &json!({})), to_another(strategy)] {
            let reply = reply.clone();
            let run = handed(launch, move |_, _| reply.clone());
            fell_back(&run, why);
        }
    }
}

#[test]
fn an_own_model_that_fails_to_summarize_is_a_note_in_its_place() {
    let launch = launch("handoff-summarization", &json!({})).limit("maxModelRetries", 1);
    let run = handed(launch, |_, _| Reply::status(503, "overloaded"));
    fell_back(&run, "every candidate spent");
    // What was never answered cost nothing, and is no unpriced call.
    assert!(
        run.events("compaction")
            .iter()
            .all(|it| it["tokens"].is_null())
    );
    assert_eq!(run.summary()["compactionCost"], 0.0);
}

#[test]
fn a_reply_that_was_paid_for_in_vain_is_paid_for_on_its_boundary() {
    let run = handed(launch("handoff-summarization", &json!({})), |_, _| {
        Answer::text("Half a sum").ending(Some("length")).into()
    });
    fell_back(&run, "length");
    let asked = handoffs(&run).len() as f64;
    let apart = run.summary()["compactionCost"].as_f64().unwrap();
    assert!((apart - 0.0001 * asked).abs() < 1e-9, "{apart}");
    // It is no rejected response of the agent's.
    assert_eq!(run.summary()["rejectedResponses"]["count"], 0);
}

#[test]
fn a_named_summarizer_that_nobody_serves_is_a_defect() {
    for reply in [
        Reply::status(503, "overloaded"),
        Reply::status(404, "nobody serves that"),
    ] {
        let run = handed(to_another("handoff-summarization"), move |_, _| {
            reply.clone()
        });
        run.ended(1, "internal_error");
        assert!(run.events("compaction").is_empty());
        let errors = run.logs("error").join("\n");
        assert!(
            errors.contains("`acme/small` cannot be reached"),
            "{errors}"
        );
    }
}

#[test]
fn a_reply_by_another_provider_ends_the_run_whoever_asked() {
    let run = handed(launch("handoff-summarization", &json!({})), |_, _| {
        Answer::text("S").served_by(Some("Elsewhere")).into()
    });
    run.ended(1, "model_error");
    assert!(run.last()["error"].as_str().unwrap().contains("Elsewhere"));
}

#[test]
fn a_summary_that_does_not_relieve_is_asked_for_again_and_then_is_a_failure() {
    for (tokens, grows) in [(8_600, false), (14_000, true)] {
        let launch = launch("handoff-summarization", &json!({ "maxRetries": 2 }));
        let run = handed(launch, move |_, n| Answer::text(prose(n, tokens)).into());
        run.ended(1, "compaction_failed");
        crate::kill9::agrees(&run);
        let boundaries = run.events("compaction");
        assert_eq!(boundaries.len(), 3, "{}", run.describe());
        assert_eq!(handoffs(&run).len(), 3);
        // At once: all before one turn.
        assert!(
            boundaries
                .iter()
                .all(|it| it["turn"] == boundaries[0]["turn"])
        );
        let reclaimed = boundaries[0]["reclaimedTokens"].as_i64().unwrap();
        assert_eq!(reclaimed < 0, grows, "{reclaimed}");
        let errors = run.logs("error").join("\n");
        assert!(
            errors.contains("after 3 compaction(s) in a row"),
            "{errors}"
        );
        assert!(
            errors.contains("the rest is what the compactions left"),
            "{errors}"
        );
    }
}

#[test]
fn an_agent_whose_summaries_do_not_relieve_is_asked_at_its_next_boundaries() {
    for strategy in ["self-summarization", "self-compaction"] {
        let run = with_files(launch(strategy, &json!({ "maxRetries": 1 })))
            .gateway(Gateway::with_checker(
                Some(edited()),
                move |request: &Request, n: usize| {
                    let summary = prose(n, 8_600);
                    match is_asked_to_compact(request) {
                        false => read(n),
                        true if strategy == "self-compaction" => {
                            Answer::call("compact", json!({ "summary": summary }))
                        }
                        true => Answer::text(summary),
                    }
                },
            ))
            .run();
        run.ended(1, "compaction_failed");
        crate::kill9::agrees(&run);
        let turns: Vec<_> = run
            .events("compaction")
            .iter()
            .map(|it| it["turn"].as_u64().unwrap())
            .collect();
        assert_eq!(turns.len(), 2, "{strategy}");
        assert_eq!(turns[1], turns[0] + 1, "{strategy}");
        // The turn whose close failed is one that was answered.
        assert_eq!(run.outcomes().last(), Some(&"progressed"));
        assert_eq!(
            run.events("turn_timing").len(),
            run.events("turn_outcome").len()
        );
    }
}

#[test]
fn a_summary_that_relieves_clears_the_count_of_those_that_did_not() {
    let launch = launch("handoff-summarization", &json!({ "maxRetries": 1 }));
    let run = handed(launch, |_, n| {
        Answer::text(if n % 2 == 0 {
            prose(n, 8_600)
        } else {
            "Short.".to_owned()
        })
        .into()
    });
    run.ended(0, "completed");
    assert_eq!(run.events("compaction").len() % 2, 0);
    assert!(run.events("compaction").len() >= 4, "{}", run.describe());
}

#[test]
fn f57_a_pinned_specification_that_fills_the_window_ends_the_agent() {
    for (strategy, answer) in [
        ("handoff-summarization", Answer::text("A good summary.")),
        ("self-summarization", Answer::text("A good summary.")),
    ] {
        let launch = window(8_000)
            .granting(compaction(strategy, 0.0, &json!({ "maxRetries": 2 })), &[])
            .granting(
                json!({ "id": "autoload-specifications", "enabled": true,
                    "implementation": "locked", "params": {} }),
                &[],
            )
            .set("/specFiles", json!(["spec.md"]));
        let run = with_files(launch)
            .file("spec.md", prose(5, 7_500))
            .gateway(Gateway::with_checker(
                Some(edited()),
                move |request: &Request, n: usize| {
                    if is_handoff(request) || is_asked_to_compact(request) {
                        answer.clone()
                    } else {
                        read(n)
                    }
                },
            ))
            .run();
        run.ended(1, "compaction_failed");
        assert_eq!(run.events("compaction").len(), 3, "{strategy}");
        assert!(
            run.events("compaction")
                .iter()
                .all(|it| it["retained"]["specs"] == 1)
        );
        let errors = run.logs("error").join("\n");
        assert!(errors.contains("the pinned part alone takes"), "{errors}");
        assert!(errors.contains("fills the window"), "{errors}");
    }
}

#[test]
fn f62_a_window_that_tools_alone_fill_is_told_of_and_its_overflow_has_a_name() {
    let overflow = json!({ "error": { "code": 400, "message":
        "This endpoint's maximum context length is 1000 tokens. You requested 1200." } });
    let launch = window(1_000).granting(compaction("handoff-summarization", 0.2, &json!({})), &[]);
    let run = Run::builder()
        .launch(launch)
        .answers(move |_: &Request, _: usize| Reply::status(400, overflow.to_string()))
        .run();
    run.ended(1, "model_error");
    assert_eq!(run.outcomes(), ["model_rejected"]);
    assert_eq!(run.gateway.as_ref().unwrap().requests().len(), 1);
    assert_eq!(run.summary()["ranOutOfContext"], true);
    // The schemas are counted, so the window is full before anything was said.
    let held = run.event("context_breakdown");
    assert!(held["bands"]["system"].as_u64().unwrap() > 800, "{held}");
    assert!(
        held["total"].as_u64() > held["windowLimit"].as_u64(),
        "{held}"
    );
    let told = run.logs("warn");
    let pinned = told
        .iter()
        .filter(|line| line.contains("nothing that a compaction can take"));
    assert_eq!(pinned.count(), 1, "{told:?}");
}

#[test]
fn f62_a_window_that_just_fits_its_tools_is_worked_in_until_it_is_compacted_in_vain() {
    // 940 tokens of system prompt and tools in a working window that is compacted at 1,000.
    let launch = window(1_250).granting(compaction("handoff-summarization", 0.0, &json!({})), &[]);
    let run = Run::builder()
        .launch(launch)
        .file("f0.txt", prose(0, 1_000))
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(|_, _| read(0), |_, n| Answer::text(prose(n, 600))),
        ))
        .run();
    run.ended(1, "compaction_failed");
    assert_eq!(run.events("compaction").len(), 1);
}

/// A picture of a megabyte that costs few tokens.
fn picture() -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x10\0\0\0\x10".to_vec();
    png.resize(1_000_000, 7);
    png
}

#[test]
fn f64_a_summarizer_that_refuses_the_pictures_is_asked_again_without_them() {
    const MOST: usize = 4_000_000;
    let looks = |n: usize| Answer::call("read_file", json!({ "path": format!("p{}.png", n % 3) }));
    let too_large = |request: &Request, most: usize| {
        (request.body.len() > most).then(|| Reply::error(413, "request entity too large"))
    };
    let mut builder = with_files(launch("handoff-summarization", &json!({})));
    for n in 0..3 {
        builder = builder.file(&format!("p{n}.png"), picture());
    }
    let run = builder
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(
                move |request, n| -> Reply {
                    match n {
                        // 40 reads of a picture; the gateway takes 30 MB.
                        _ if request.body.len() > 30_000_000 => {
                            Reply::error(413, "request entity too large")
                        }
                        0..40 => looks(n).into(),
                        40..50 => read(n).into(),
                        _ => Answer::finish("Done.").into(),
                    }
                },
                move |request, _| -> Reply {
                    too_large(request, MOST).unwrap_or_else(|| Answer::text("S").into())
                },
            ),
        ))
        .run();
    run.ended(0, "completed");
    crate::kill9::agrees(&run);
    // The budget of a request kept every request of the agent's below the gateway's bound.
    assert_eq!(run.summary()["errors"]["errors"], 0);
    let most = own_requests(&run)
        .iter()
        .map(|it| it.body.len())
        .max()
        .unwrap();
    assert!((20_000_000..22_000_000).contains(&most), "{most}");
    let asked = handoffs(&run);
    assert!(asked[0].body.len() > MOST, "{}", asked[0].body.len());
    assert!(asked[1].body.len() < MOST);
    assert!(!asked[1].text().contains("data:image/"));
    assert!(
        texts(&asked[1])
            .iter()
            .any(|text| text.starts_with("File: p1.png"))
    );
    assert!(
        run.events("compaction")
            .iter()
            .all(|it| it["fallback"] == false)
    );
    let blind = run.logs("warn");
    assert!(
        blind
            .iter()
            .any(|line| line.contains("sent no more pictures")),
        "{blind:?}"
    );
    assert_eq!(breaks(&run)[0], "compaction");
}

/// What a compaction's journal holds beside the agent's own calls.
#[test]
fn a_summarizer_s_exchange_is_journaled_under_its_role() {
    let run = handed(launch("handoff-summarization", &json!({})), |_, _| {
        Answer::text("S").into()
    });
    let lines: Vec<Value> = run.journal_lines();
    let text = lines
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    let roles = text.matches("\"role\":\"compaction\"").count();
    assert_eq!(
        roles,
        run.events("compaction").len(),
        "{}",
        &text[..2_000.min(text.len())]
    );
}
