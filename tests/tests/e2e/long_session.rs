//! A hundred turns of edits and commands under the strictest gateway.

use std::path::Path;

use serde_json::{Value, json};
use tests::gateway::{Answer, Request};
use tests::run::{Run, gg};

const TURNS: usize = 100;

/// A turn of a long session, as a function of its number: it writes, edits, reads, searches, runs
/// commands, several at a time, and makes mistakes.
pub(crate) fn turn(n: usize) -> Answer {
    let file = format!("src/file{}.txt", n / 10);
    let line = |n: usize| format!("line {n}: {}", "äöü €".repeat(n % 7));
    match n % 10 {
        0 => Answer::call(
            "write_file",
            json!({ "path": file, "contents": line(n) + "\n" }),
        )
        .saying("I begin a new file."),
        1 => Answer::call("read_file", json!({ "path": file })).thinking("Let me look."),
        2 => Answer::call(
            "edit_file",
            json!({ "path": file, "oldString": line(n - 2), "newString": line(n) }),
        ),
        3 => Answer::shell(&format!("wc -c {file}; echo {n} >> log")),
        4 => Answer::shell("false"),
        5 => Answer::call("search", json!({ "query": "line \\d+", "path": "src" }))
            .and_call("list_dir", json!({ "path": "src" }))
            .and_call("shell", json!({ "command": "tail -n 2 log" })),
        6 => Answer::call(
            "edit_file",
            json!({ "path": file, "oldString": "not there", "newString": "x" }),
        )
        .saying("This will fail."),
        7 => Answer::call("read_file", json!({ "path": "missing" })).in_deltas_of(3),
        8 => Answer::shell(&format!("seq {} | tail -n 50", n * 10)),
        _ => Answer::call("no_such_tool", json!({ "n": n })),
    }
}

#[test]
fn a_hundred_turns() {
    let builder = Run::builder();
    let flow = builder.folder().join("flow.ndjson");
    let run = builder
        .arguments(["--flow".as_ref(), flow.as_os_str()])
        .answers(|request: &Request, n| {
            assert_eq!(request.turn(), n, "no request was asked twice");
            if n + 1 < TURNS {
                turn(n)
            } else {
                Answer::finish("All hundred.")
            }
        })
        .run();
    run.ended(0, "completed");
    let requests = run.gateway.as_ref().unwrap().requests();
    assert_eq!(requests.len(), TURNS);
    assert!(
        requests.iter().all(|request| request.connection == 0),
        "one connection serves a session"
    );
    let summary = run.summary();
    assert_eq!(summary["errors"]["turns"], TURNS);
    assert_eq!(summary["errors"]["errors"], 0);
    assert_eq!(run.events("turn_timing").len(), TURNS);
    assert_eq!(summary["modelCalls"], TURNS);
    assert_eq!(run.events("shell").len(), 40);
    assert_eq!(summary["shellCommands"], 40);
    assert_eq!(run.file("log").lines().count(), 10);
    for n in 0..10 {
        let file = run.file(&format!("src/file{n}.txt"));
        assert!(file.starts_with(&format!("line {}:", 10 * n + 2)), "{file}");
    }
    let cost = summary["cost"].as_f64().unwrap();
    assert!((cost - 0.0001 * TURNS as f64).abs() < 1e-9, "{cost}");
    crate::kill9::agrees(&run);
    accounted(&run, &flow);
}

/// Every message of the flow log is whole, and `gg flow` shows it in three ways.
#[track_caller]
fn accounted(run: &Run, flow: &Path) {
    let text = std::fs::read_to_string(flow).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let end = lines.pop().unwrap();
    assert_eq!(end["end"], true, "{end}");
    assert_eq!(end["messages"], lines.len(), "{end}");
    assert!(end["unhandled"].is_u64(), "{end}");
    for (place, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], place);
        for field in ["ts", "from", "to", "message"] {
            assert!(
                line[field].as_str().is_some_and(|text| !text.is_empty()),
                "{line}"
            );
        }
        for field in ["queuedUs", "handledUs", "depth"] {
            assert!(line[field].is_u64(), "{line}");
        }
        if let Some(displaced) = line.get("displacedUs") {
            assert!(displaced.as_u64() <= line["handledUs"].as_u64(), "{line}");
        }
    }
    let turns = run.events("turn_outcome").len();
    assert!(
        lines.len() >= turns,
        "{} messages in {turns} turns",
        lines.len()
    );
    for (format, sign) in [
        ("table", "Agent"),
        ("mermaid", "sequenceDiagram"),
        ("trace", "\"ph\""),
    ] {
        let output = gg([
            "flow".as_ref(),
            flow.as_os_str(),
            "--format".as_ref(),
            format.as_ref(),
        ]);
        assert_eq!(output.status.code(), Some(0), "{format}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(sign), "{format}: {text}");
    }
}
