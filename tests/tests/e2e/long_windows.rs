//! Five hundred turns in a window of 32,000 tokens under each strategy: parallel calls, pictures,
//! mistakes, blocks that change, and the strict checker on every request.

use serde_json::{Value, json};
use tests::gateway::{Answer, Gateway, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::compaction::scratchpad;
use crate::windowed::{
    MANAGING, breaks, by_turn, compaction, edited, is_asked_to_compact, managed, own_requests,
    prose, texts, window,
};

const TURNS: usize = 500;
const FILES: usize = 24;

fn png(n: usize) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\0\0\0\x02\0".to_vec();
    png.resize(1_000, u8::try_from(n).unwrap());
    png
}

fn spec() -> String {
    format!("The specification.\n{}", prose(99, 500))
}

/// A turn of the session, as a function of its number; `real` counts those of compactions too.
fn turn(n: usize, real: usize) -> Answer {
    let file = |n: usize| json!({ "path": format!("f{}.txt", n % FILES) });
    match n % 8 {
        0 => Answer::call("read_file", file(n)).and_call("read_file", file(n + 1)),
        1 => Answer::call("read_file", json!({ "path": format!("p{}.png", n % 3) }))
            .and_call(
                "shell",
                json!({ "command": format!("echo {n}; cat f{}.txt", n % FILES) }),
            )
            .and_call("read_file", file(n)),
        2 => Answer::call(
            "write_memory",
            json!({ "name": format!("m{}", n / 8), "description": "d",
                "body": format!("Turn {n}.") }),
        )
        .and_call("read_file", file(n)),
        3 => Answer::call(
            "add_task",
            json!({ "id": format!("t{n}"), "title": "To do." }),
        )
        .and_call("read_file", file(n)),
        4 => Answer::call("read_file", json!({ "path": "missing" })).and_call("read_file", file(n)),
        5 => Answer::call("complete_task", json!({ "id": format!("t{}", n - 2) }))
            .and_call("read_file", file(n)),
        6 => Answer::call("search", json!({ "query": "^1", "path": "f1.txt" }))
            .and_call("read_file", file(n))
            .saying("I search.")
            .thinking("Where was it?"),
        _ => Answer::call(
            "evict_file_view",
            json!({ "path": format!("f{}.txt", (n - 1) % FILES) }),
        )
        .and_call(
            "archive_thread",
            json!({ "ranges": [[real.saturating_sub(4), real.saturating_sub(3)]] }),
        )
        .and_call("read_file", file(n)),
    }
}

/// A root with everything that stands in a window or takes something out of it.
fn launch(strategy: &str) -> Launch {
    let tasks = json!({ "mode": "simple", "maxTasks": 0 });
    let tools: &[&str] = match strategy {
        "self-compaction" => &["compact"],
        _ => &[],
    };
    scratchpad(window(32_000))
        .granting(
            json!({ "id": "tasks", "enabled": true, "params": tasks }),
            &["add_task", "complete_task"],
        )
        .granting(managed(40), &MANAGING)
        .granting(
            json!({ "id": "autoload-specifications", "enabled": true, "implementation": "locked",
                "params": { "images": true } }),
            &[],
        )
        .set("/specFiles", json!(["spec.md", "p0.png"]))
        .granting(
            compaction(strategy, 0.25, &json!({ "maxRetries": 1 })),
            tools,
        )
}

/// What the agent answers where it is asked to compact, for the `n`th time.
fn compacts(strategy: &str, n: usize) -> Answer {
    let summary = format!("Summary {n}.");
    match strategy {
        "self-summarization" => Answer::text(summary),
        "self-compaction" => Answer::call(
            "compact",
            json!({ "summary": summary, "files": ["f1.txt", "p1.png"] }),
        ),
        _ => Answer::call(
            "update_memory",
            json!({ "name": "m0", "description": "d", "body": summary }),
        ),
    }
}

/// What another model answers.
fn summarizes(request: &Request, n: usize) -> Answer {
    let summary = format!("Summary {n}.");
    if request.json().get("tools").is_none() {
        return Answer::text(summary);
    }
    Answer::call(
        "compact",
        json!({ "summary": summary, "files": ["f1.txt"] }),
    )
}

#[track_caller]
fn session(strategy: &'static str) {
    let mut builder = Run::builder()
        .launch(launch(strategy))
        .file("spec.md", spec());
    for file in 0..FILES {
        builder = builder.file(&format!("f{file}.txt"), prose(file, 900));
    }
    for picture in 0..3 {
        builder = builder.file(&format!("p{picture}.png"), png(picture));
    }
    let (mut asked, mut made) = (0, 0);
    let own = move |request: &Request, n: usize| {
        if n + 1 >= TURNS {
            return Answer::finish("All of it.");
        }
        if is_asked_to_compact(request) {
            asked += 1;
            return compacts(strategy, asked);
        }
        made += 1;
        turn(made - 1, n + 1)
    };
    let run = builder
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(own, summarizes),
        ))
        .run();
    run.ended(0, "completed");
    crate::kill9::agrees(&run);
    let summary = run.summary();
    assert_eq!(summary["errors"]["turns"], TURNS);
    assert_eq!(summary["errors"]["errors"], 0);
    let boundaries = run.events("compaction");
    assert!(boundaries.len() >= 20, "{} boundaries", boundaries.len());
    assert!(
        boundaries
            .iter()
            .all(|it| it["strategy"] == strategy && it["fallback"] == false)
    );
    let count = |key: &str| summary[key].as_u64().unwrap();
    assert!(
        count("evictions") > 10 && count("archivals") > 10,
        "{summary}"
    );
    let acts = breaks(&run);
    assert!(
        acts.iter()
            .all(|act| ["compaction", "evict_file_view", "archive_thread"].contains(&act.as_str()))
    );
    // Nobody lost a cache but by an act of the agent's own.
    assert_eq!(summary["providerFaults"]["cacheMiss"], 0);
    kept(&run, boundaries.len());
}

/// What is pinned stood in every request; what was summarized last, too.
#[track_caller]
fn kept(run: &Run, boundaries: usize) {
    let spec = spec();
    let own = own_requests(run);
    for request in &own {
        let texts = texts(request);
        assert_eq!(texts[1], "Do what the script says.");
        assert_eq!(texts.iter().filter(|text| text.contains(&spec)).count(), 1);
        assert!(request.text().contains("data:image/png;base64,"));
    }
    let last = texts(own.last().unwrap());
    let live = |heading: &str| last.iter().filter(|text| text.starts_with(heading)).count();
    assert!(
        live("# Your tasks") >= 1,
        "no task list in the last request"
    );
    for boundary in run.events("compaction") {
        assert_eq!(boundary["retained"]["specs"], 2, "{boundary}");
        assert!(
            boundary["after"]["tokens"].as_u64().unwrap() < 18_000,
            "{boundary}"
        );
    }
    let tasks = run.events("compaction")[boundaries - 1]["retained"]["tasks"].as_u64();
    assert!(tasks > Some(40), "{tasks:?}");
    let signals = own.iter().filter(|request| {
        request
            .messages()
            .last()
            .is_some_and(crate::windowed::is_signal)
    });
    assert!(signals.count() > 50);
    let archive: &Value = run.events("archive_state").last().copied().unwrap();
    assert!(archive["entries"].as_array().unwrap().len() > 20);
}

#[test]
fn five_hundred_turns_with_self_summarization() {
    session("self-summarization");
}

#[test]
fn five_hundred_turns_with_self_compaction() {
    session("self-compaction");
}

#[test]
fn five_hundred_turns_with_memory_compaction() {
    session("memory-compaction");
}

#[test]
fn five_hundred_turns_with_handoff_summarization() {
    session("handoff-summarization");
}

#[test]
fn five_hundred_turns_with_handoff_compaction() {
    session("handoff-compaction");
}
