//! Five hundred turns in a window of 32,000 tokens under each strategy: parallel calls, pictures,
//! mistakes, blocks that change, another holder of the memories who writes all the while, and the
//! strict checker on every request.

use serde_json::{Value, json};
use tests::gateway::{Answer, Gate, Gateway, Reply, Request, Step};
use tests::launch::{Launch, MODEL, PROVIDER};
use tests::run::Run;

use crate::compaction::scratchpad;
use crate::families::{DELEGATING, profile, start, subagents, task, wait};
use crate::memories::{memories, tools};
use crate::windowed::{
    MANAGING, breaks, by_turn, compaction, edited, handoffs, is_asked_to_compact, is_of_child,
    managed, own_requests, prose, texts, window,
};

const TURNS: usize = 500;
const FILES: usize = 24;
/// What the other holder writes, one memory a turn, each when the root has come further by
/// [`EVERY`] turns.
const NOTES: usize = 90;
const EVERY: usize = 5;
/// The model of the other holder, whose window never fills.
const WIDE: &str = "acme/coder-2";
/// The turn before which the root waits for the other holder.
const LAST: usize = TURNS - 10;

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
    let compacting: &[&str] = match strategy {
        "self-compaction" => &["compact"],
        _ => &[],
    };
    let mut keeping = memories("scratchpad");
    keeping["params"]["scope"] = json!("inherited");
    let mut writer = profile("writer", &[keeping], tools("scratchpad"), &[]);
    writer["modelId"] = json!(WIDE);
    let candidates = json!([{ "provider": PROVIDER, "quantization": "fp8" }]);
    scratchpad(window(32_000))
        .in_capability("memories", "/params/maxCount", 0)
        .set("/modelWindows", json!({ MODEL: 32_000, WIDE: 2_000_000 }))
        .set(
            "/modelProviders",
            json!({ MODEL: candidates, WIDE: candidates }),
        )
        .set("/capabilitySet/agents/1", writer)
        .root(
            "/subagents",
            json!([{ "agentId": "writer", "description": "Writes.", "scopes": ["subagent"] }]),
        )
        .granting(subagents(1), &DELEGATING)
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
            compacting,
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

/// The other holder: it writes each memory when the root has come to a turn of its own, so that it
/// writes at every stage of the root's window.
struct Writer {
    gates: Vec<Gate>,
}

impl Writer {
    fn new() -> Self {
        let gates = (0..NOTES).map(|_| Gate::new()).collect();
        Self { gates }
    }

    /// The root asks for its `n`th turn.
    fn come_to(&self, n: usize) {
        let due = if n >= LAST { NOTES } else { n / EVERY };
        self.gates.iter().take(due).for_each(Gate::open);
    }

    /// Every third write replaces the one before.
    fn reply(&self, turn: usize) -> Reply {
        let Some(gate) = self.gates.get(turn) else {
            return Answer::finish("All is noted.").into();
        };
        let (tool, of) = match turn % 3 {
            2 => ("update_memory", turn - 1),
            _ => ("write_memory", turn),
        };
        let answer = Answer::call(
            tool,
            json!({ "name": format!("theirs-{of}."), "description": "d",
                "body": format!("Note {turn}.") }),
        );
        Reply::from(answer).insert(0, Step::Hold(gate.clone()))
    }
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
    let (mut asked, mut made, mut waited) = (0, 0, false);
    let (writer, mut noted) = (Writer::new(), 0);
    let mut roots = 0;
    let own = move |request: &Request, _: usize| -> Reply {
        if is_of_child(request) {
            noted += 1;
            return writer.reply(noted - 1);
        }
        let n = roots;
        roots += 1;
        writer.come_to(n);
        let answer = if n == 0 {
            start("writer", "Note what you see.")
        } else if n + 1 >= TURNS {
            Answer::finish("All of it.")
        } else if is_asked_to_compact(request) {
            asked += 1;
            compacts(strategy, asked)
        } else if n >= LAST && !waited {
            waited = true;
            wait(&[])
        } else {
            made += 1;
            turn(made - 1, n + 1)
        };
        answer.into()
    };
    let run = builder
        .gateway(Gateway::with_checker(
            Some(edited()),
            by_turn(own, |request, n| Reply::from(summarizes(request, n))),
        ))
        .run();
    run.ended(0, "completed");
    crate::kill9::agrees(&run);
    let summary = run.summary();
    assert_eq!(summary["errors"]["turns"], TURNS + NOTES + 1);
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
    noticed(&run);
}

/// What the other holder wrote was told to the root once, however its window was cut, and stands
/// in its block since its own next write.
#[track_caller]
fn noticed(run: &Run) {
    let told: Vec<&str> = run
        .events("context_message")
        .into_iter()
        .filter(|message| message["agentId"] == "root")
        .filter_map(|message| message["content"].as_str())
        .filter(|text| text.starts_with("Another agent that shares your memories"))
        .collect();
    // They came one by one, not in a heap at the end.
    assert!(told.len() > NOTES / 2, "{} notices", told.len());
    let told = told.concat();
    // A notice that came at the boundary of a handoff was told to whoever summarized alone.
    let summarized: Vec<String> = handoffs(run).iter().map(|it| it.text()).collect();
    for n in (0..NOTES).filter(|n| n % 3 < 2) {
        let line = format!("- added `theirs-{n}.`");
        match told.matches(&line).count() {
            0 => assert!(summarized.iter().any(|text| text.contains(&line)), "{line}"),
            count => assert_eq!(count, 1, "{line}"),
        }
    }
    let writers = run.events("memory_revision");
    let theirs = writers.iter().filter(|line| line["agentId"] == "agent-1");
    assert_eq!(theirs.count(), NOTES);
    let own = own_requests(run);
    let asked: Vec<_> = own.iter().map(|request| task(request)).collect();
    assert_eq!(
        asked.len(),
        TURNS,
        "every turn of the root's begins with its task"
    );
    let blocks = texts(own.last().unwrap());
    let block = blocks
        .iter()
        .rfind(|text| text.starts_with("# Your memories"))
        .unwrap();
    for n in (0..NOTES).filter(|n| n % 3 < 2) {
        assert!(block.contains(&format!("`theirs-{n}.`")), "{n}\n{block}");
    }
    let waits = run.results("wait_for_subagents");
    let value = waits[0]["preview"].as_str().unwrap();
    assert!(value.ends_with("finished:\nAll is noted."), "{value}");
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
