//! An agent that lives within its window: the signal, evicting, archiving, searching, and what
//! each removal costs (02 §7).

use serde_json::{Value, json};
use tests::gateway::{Answer, Family, Gateway, Market, Provider, Request, Strict, content_text};
use tests::launch::{Launch, MODEL};
use tests::run::{Builder, Run};

use crate::compaction::read;
use crate::windowed::{
    MANAGING, breaks, compaction, edited, is_signal, managed, own_requests, prose, texts, window,
};

/// A root that manages a window of 10,000 tokens and is told of its fullness from `threshold` on.
fn launch(threshold: u64) -> Launch {
    window(10_000).granting(managed(threshold), &MANAGING)
}

fn with_files(launch: Launch) -> Builder {
    crate::compaction::with_files(launch)
}

fn signal_of(request: &Request) -> Option<String> {
    let messages = request.messages();
    let last = messages.last().unwrap();
    is_signal(last).then(|| content_text(&last["content"]))
}

/// The strict checker, the prefix rule included: only for runs that take nothing out.
fn strict() -> Strict {
    Strict {
        is_signal,
        ..Strict::default()
    }
}

#[test]
fn the_signal_stands_behind_every_request_from_its_threshold_on_and_in_no_prefix() {
    let run = with_files(launch(50))
        .gateway(Gateway::with_checker(
            Some(strict()),
            |_: &Request, n: usize| {
                if n < 8 {
                    read(n)
                } else {
                    Answer::finish("Done.")
                }
            },
        ))
        .run();
    run.ended(0, "completed");
    crate::kill9::agrees(&run);
    assert_eq!(breaks(&run), [""; 0]);
    let held: Vec<u64> = run
        .events("context_breakdown")
        .iter()
        .map(|it| it["total"].as_u64().unwrap())
        .collect();
    for (request, held) in own_requests(&run).iter().zip(&held) {
        let signal = signal_of(request);
        assert_eq!(signal.is_some(), *held >= 5_000, "{held}");
        if let Some(signal) = signal {
            let overall = format!("- Overall: {:.1}%", *held as f64 / 100.0);
            assert!(signal.contains(&overall), "{signal} at {held}");
        }
    }
    let last = signal_of(own_requests(&run).last().unwrap()).unwrap();
    let lines: Vec<&str> = last.lines().collect();
    let at = |start: &str| {
        lines
            .iter()
            .position(|line| line.starts_with(start))
            .unwrap()
    };
    assert!(at("- System Prompt: ") < at("- Task Prompt: "), "{last}");
    assert!(at("- File Views: ") < at("- Top File Views:"), "{last}");
    let top = at("- Top File Views:");
    assert_eq!(lines[top + 1], "  - `f0.txt`: 10.1%", "{last}");
    assert!(lines[top + 3].starts_with("  - `"), "{last}");
    assert!(
        !lines[top + 4].starts_with("  - `"),
        "at most three: {last}"
    );
    assert!(last.contains("`evict_file_view` frees") && last.contains("`archive_thread` frees"));
    // It is part of the log of messages, of the frame's signal slot, and of no band.
    let breakdowns = run.events("context_breakdown");
    let system = |event: &Value| event["bands"]["system"].clone();
    assert_eq!(system(breakdowns[0]), system(breakdowns[8]));
    let logged = run.events("context_message").into_iter().filter(|message| {
        message["content"]
            .as_str()
            .unwrap()
            .starts_with("Context Usage:")
    });
    assert_eq!(
        logged.count(),
        held.iter().filter(|held| **held >= 5_000).count()
    );
}

#[test]
fn a_threshold_of_zero_shows_it_always_and_no_marker_ends_on_it() {
    let model = "anthropic/claude-test";
    let market =
        Market::new([Provider::new("Anthropic", Family::Anthropic)]).with_signal(is_signal);
    let launch = Launch::on(model, &["Anthropic"])
        .set("/modelWindows", json!({ model: 20_000 }))
        .granting(managed(0), &MANAGING);
    let run = with_files(launch)
        .gateway(Gateway::with_checker(
            Some(strict()),
            market.serve(|_: &Request, n: usize| {
                if n < 8 {
                    read(n)
                } else {
                    Answer::finish("Done.")
                }
            }),
        ))
        .run();
    run.ended(0, "completed");
    for request in own_requests(&run) {
        assert!(signal_of(&request).is_some());
        let messages = request.messages();
        let (signal, rest) = messages.split_last().unwrap();
        assert!(!signal.to_string().contains("cache_control"), "{signal}");
        assert!(rest.last().unwrap().to_string().contains("cache_control"));
    }
    // What each request left, the next one reads.
    assert_eq!(
        crate::common::provider_faults(&run),
        Vec::<[&str; 2]>::new()
    );
    let cached = crate::common::tokens(&run, "cachedInput");
    let uncached = crate::common::tokens(&run, "uncachedInput");
    assert!(cached > 2 * uncached, "{cached} of {uncached}");
}

#[test]
fn evicting_leaves_a_line_under_each_call_and_takes_the_signal_away() {
    let run = with_files(launch(50))
        .gateway(Gateway::with_checker(
            Some(edited()),
            |_: &Request, n: usize| match n {
                0 => read(0).and_call("read_file", json!({ "path": "f1.txt", "limit": 1 })),
                1..5 => read(n),
                5 => Answer::call("evict_file_view", json!({ "path": "./f1.txt" })),
                6 => Answer::call("evict_file_view", json!({})),
                7 => Answer::call("evict_file_view", json!({}))
                    .and_call("evict_file_view", json!({ "path": " " })),
                _ => Answer::finish("Done."),
            },
        ))
        .run();
    run.ended(0, "completed");
    crate::kill9::agrees(&run);
    assert_eq!(breaks(&run), ["evict_file_view"; 2]);
    let events = run.events("context_managed");
    assert_eq!(events.len(), 2, "an eviction of nothing is none");
    assert!(events.iter().all(|it| it["action"] == "evict_file_views"));
    assert_eq!(events[0]["detail"], "f1.txt");
    assert_eq!(events[0]["items"], 2, "both pages of it");
    // The message of the earliest view among those of the request.
    assert_eq!(events[0]["firstIndex"], 4, "{}", events[0]);
    assert_eq!(events[1]["detail"], "f0.txt, f2.txt, f3.txt, f4.txt");
    assert_eq!(events[1]["firstIndex"], 3, "{}", events[1]);
    let breakdowns = run.events("context_breakdown");
    let held = |turn: usize| breakdowns[turn]["total"].as_u64().unwrap();
    let reclaimed = events[1]["reclaimedTokens"].as_u64().unwrap();
    assert!(
        held(7) + reclaimed > held(6) && held(7) < 3_000,
        "{} {reclaimed}",
        held(7)
    );
    let own = own_requests(&run);
    assert!(signal_of(&own[5]).is_some() && signal_of(&own[7]).is_none());
    // Every call still has its result, in its place.
    let (before, after) = (own[6].messages(), own[7].messages());
    for (before, after) in before
        .iter()
        .zip(&after)
        .filter(|(it, _)| it["role"] == "tool")
    {
        assert_eq!(before["tool_call_id"], after["tool_call_id"]);
    }
    let texts = texts(&own[7]);
    assert!(
        texts[3].contains("f0.txt") && texts[3].len() < 300,
        "{}",
        texts[3]
    );
    let results = run.results("evict_file_view");
    assert!(
        results[2]["preview"]
            .as_str()
            .unwrap()
            .starts_with("no file view was evicted")
    );
    assert_eq!(results[3]["failure"], "invalid-argument");
    assert_eq!(run.summary()["evictions"], 2);
    assert_eq!(run.summary()["prefixBreaks"], 2);
}

#[test]
fn archived_turns_leave_the_window_and_their_results_are_found_again() {
    let run = with_files(launch(100))
        .file("src/needle.txt", "a NEEDLE in it\n")
        .gateway(Gateway::with_checker(
            Some(edited()),
            |_: &Request, n: usize| match n {
                0..3 => read(n),
                3 => Answer::call("read_file", json!({ "path": "src/needle.txt" }))
                    .and_call("shell", json!({ "command": "echo out; exit 3" })),
                4 => Answer::call("read_file", json!({ "path": "absent.txt" })),
                5 => Answer::call(
                    "archive_thread",
                    json!({ "ranges": [[4, 5], [2, 2], [6, 9]] }),
                ),
                6 => Answer::call("search_archive", json!({ "query": "needle" }))
                    .and_call("search_archive", json!({ "query": "exit 3" }))
                    .and_call("search_archive", json!({ "query": "nowhere" }))
                    .and_call("archive_thread", json!({ "ranges": [[3, 1]] }))
                    .and_call("archive_thread", json!({ "ranges": vec![[1, 1]; 33] })),
                7 => Answer::call("archive_thread", json!({ "ranges": [[1, 100]] })),
                _ => Answer::finish("Done."),
            },
        ))
        .run();
    run.ended(0, "completed");
    crate::kill9::agrees(&run);
    assert_eq!(breaks(&run), ["archive_thread"; 2]);
    let own = own_requests(&run);
    // Each result is headed by its turn and its tokens, a failure too.
    let headed = texts(&own[5]);
    assert!(
        headed[3].starts_with("Turn #1\n1,000 tokens\n----\n"),
        "{}",
        headed[3]
    );
    assert!(headed[12].starts_with("Turn #5\n"), "{}", headed[12]);
    assert!(headed[12].contains("failed (not-found)"));
    let after = texts(&own[6]);
    let heads: Vec<&str> = after
        .iter()
        .filter_map(|text| text.lines().next())
        .collect();
    assert!(
        !heads.contains(&"Turn #2") && !heads.contains(&"Turn #4"),
        "{heads:?}"
    );
    assert!(
        heads.contains(&"Turn #1") && heads.contains(&"Turn #6"),
        "{heads:?}"
    );
    let archived = &run.results("archive_thread");
    let told = archived[0]["preview"].as_str().unwrap();
    assert!(told.contains("archived turns 2, 4-5"), "{told}");
    assert!(
        told.contains("4 results stored, 4 in the archive"),
        "{told}"
    );
    assert!(told.contains("not in your window: 7-9"), "{told}");
    assert_eq!(archived[1]["failure"], "invalid-argument");
    assert_eq!(archived[2]["failure"], "limit-exceeded");
    let found: Vec<String> = own[7].results();
    let needle = &found[found.len() - 5];
    assert!(needle.contains("#2 of turn 4, file_view, read_file {\"path\":\"src/needle.txt\"}"));
    assert!(
        needle.ends_with("\n----\na NEEDLE in it\n") && needle.starts_with("Turn #7\n"),
        "a match is told without the header it had: {needle}"
    );
    assert!(found[found.len() - 4].contains("shell {\"command\":\"echo out; exit 3\"}"));
    assert!(found[found.len() - 3].contains("nothing in the archive holds that"));
    // The archive as the agent opens, and after each archival.
    let states = run.events("archive_state");
    let sizes: Vec<usize> = states
        .iter()
        .map(|it| it["entries"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    assert_eq!(sizes[..2], [0, 4]);
    assert_eq!(states[0]["module_id"], "archive-0");
    assert!(states[0]["turn"].is_null());
    let entry = &states[1]["entries"][1];
    assert_eq!(
        (&entry["ordinal"], &entry["band"], &entry["role"]),
        (&json!(2), &json!("file_view"), &json!("tool"))
    );
    assert!(entry.get("text").is_none());
    assert!(entry["preview"].as_str().unwrap().chars().count() <= 160);
    assert_eq!(run.summary()["archivals"], 2);
    // The calling turn never goes.
    assert!(
        texts(&own[8])
            .iter()
            .any(|text| text.starts_with("Turn #8\n"))
    );
}

#[test]
fn a_removal_is_what_the_next_request_is_expected_to_pay_for() {
    let market = Market::new([Provider::new("Acme", Family::OpenAi)]).with_signal(is_signal);
    let launch = Launch::on(MODEL, &["Acme"])
        .set("/modelWindows", json!({ MODEL: 200_000 }))
        .granting(managed(100), &MANAGING);
    let long = |n: usize| Answer::call("read_file", json!({ "path": format!("long{n}.txt") }));
    let builder = (0..6).fold(Run::builder().launch(launch), |builder, n| {
        builder.file(&format!("long{n}.txt"), prose(n, 6_000))
    });
    let run = builder
        .gateway(Gateway::with_checker(
            Some(edited()),
            market.serve(move |_: &Request, n: usize| match n {
                0..6 => long(n),
                6 => Answer::call("evict_file_view", json!({ "path": "long3.txt" })),
                7 | 8 => Answer::call("list_dir", json!({})),
                9 => Answer::call("archive_thread", json!({ "ranges": [[2, 2]] })),
                _ => Answer::finish("Done."),
            }),
        ))
        .run();
    run.ended(0, "completed");
    assert_eq!(breaks(&run), ["evict_file_view", "archive_thread"]);
    // A cache that was cut by the agent's own act has missed nothing.
    assert_eq!(
        crate::common::provider_faults(&run),
        Vec::<[&str; 2]>::new()
    );
    let usage = run.events("usage");
    let expected = |n: usize| usage[n]["expectedCachedTokens"].as_u64().unwrap();
    let cached = |n: usize| usage[n]["tokens"]["cachedInput"].as_u64().unwrap();
    let [evicted, archived] = run.events("prefix_broken")[..] else {
        panic!("two breaks");
    };
    for (n, broken) in [(7, evicted), (10, archived)] {
        assert_eq!(
            expected(n),
            broken["sharedTokens"].as_u64().unwrap(),
            "{broken}"
        );
        assert!(broken["lostTokens"].as_u64().unwrap() > 5_000, "{broken}");
        assert!(expected(n) < expected(n - 1), "{n}");
        assert!(
            cached(n) * 2 > expected(n),
            "{} of {}",
            cached(n),
            expected(n)
        );
    }
    // Behind it the window only grows again.
    assert!(expected(8) > expected(7) && cached(8) * 2 > expected(8));
}

#[test]
fn locked_specifications_are_evicted_and_archived_by_nothing() {
    let launch = launch(0)
        .granting(
            json!({ "id": "autoload-specifications", "enabled": true, "implementation": "locked",
                "params": {} }),
            &[],
        )
        .set("/specFiles", json!(["spec.md"]));
    let run = with_files(launch)
        .file("spec.md", "The specification.\n")
        .gateway(Gateway::with_checker(
            Some(edited()),
            |_: &Request, n: usize| match n {
                0 => read(0),
                1 => Answer::call("evict_file_view", json!({})),
                2 => Answer::call("archive_thread", json!({ "ranges": [[1, 9]] })),
                _ => Answer::finish("Done."),
            },
        ))
        .run();
    run.ended(0, "completed");
    let own = own_requests(&run);
    let signal = signal_of(&own[1]).unwrap();
    assert!(
        signal.contains("`f0.txt`") && !signal.contains("spec.md"),
        "{signal}"
    );
    // Turn 0 has no header, and stays.
    assert_eq!(texts(own.last().unwrap())[3], "The specification.\n");
    assert_eq!(run.events("context_managed")[0]["detail"], "f0.txt");
}

#[test]
fn a_compaction_empties_the_signal_and_leaves_the_archive() {
    let launch = window(10_000)
        .granting(managed(0), &MANAGING)
        .granting(compaction("self-compaction", 0.2, &json!({})), &["compact"]);
    let run = with_files(launch)
        .gateway(Gateway::with_checker(
            Some(edited()),
            |_: &Request, n: usize| match n {
                0..3 => read(n),
                3 => Answer::call("archive_thread", json!({ "ranges": [[1, 1]] })),
                4 => Answer::call("compact", json!({ "summary": "S" })),
                5 => Answer::call("search_archive", json!({ "query": "f0.txt" })),
                _ => Answer::finish("Done."),
            },
        ))
        .run();
    run.ended(0, "completed");
    assert_eq!(breaks(&run), ["archive_thread", "compaction"]);
    let own = own_requests(&run);
    let signal = signal_of(&own[5]).unwrap();
    assert!(!signal.contains("File Views"), "{signal}");
    assert!(own[6].results().last().unwrap().contains("#1 of turn 1"));
}
