//! `gg show` by the real binary: a real run, and streams that something has happened to.

use std::fs;

use serde_json::{Value, json};
use tests::gateway::{Answer, Family, Fault, Gateway, Market, Provider, Request};
use tests::launch::Launch;
use tests::run::Run;

use super::{Said, folder, said, text};

const MODEL: &str = "acme/coder-1";

/// Five turns; at the third the provider passes its cache over.
fn run(change: impl FnOnce(Launch) -> Launch) -> Run {
    let provider = Provider::new("Acme", Family::OpenAi).fault(2, Fault::Miss);
    let market = Market::new([provider]);
    let script = |request: &Request, _: usize| match request.turn() {
        0 => Answer::call("read_file", json!({ "path": "long.txt" })),
        1..4 => Answer::call("list_dir", json!({})),
        _ => Answer::finish("Done."),
    };
    let run = Run::builder()
        .file("long.txt", format!("{}\n", "word ".repeat(40)).repeat(200))
        .launch(change(Launch::on(MODEL, &["Acme"])))
        .gateway(Gateway::start(market.serve(script)))
        .run();
    run.ended(0, "completed");
    fs::write(run.folder().join("telemetry.ndjson"), &run.stdout).unwrap();
    run
}

fn prices() -> Value {
    json!({ MODEL: { "uncachedInput": 3.0, "cachedInput": 0.5, "output": 15.0 } })
}

fn show(run: &Run, more: &[&str]) -> Said {
    let mut line = vec!["show", text(run.folder())];
    line.extend(more);
    said(line)
}

/// A table's row: what stands in the columns of the line that holds these words.
#[track_caller]
fn row<'a>(page: &'a str, words: &[&str]) -> Vec<&'a str> {
    let line = page.lines().find(|line| {
        words
            .iter()
            .all(|word| line.split_whitespace().any(|it| it == *word))
    });
    line.unwrap_or_else(|| panic!("{words:?} in\n{page}"))
        .split_whitespace()
        .collect()
}

fn figure(cell: &str) -> u64 {
    cell.replace(',', "").parse().unwrap()
}

#[test]
fn a_run_is_shown_with_what_its_cache_lost_at_list_prices() {
    let run = run(|launch| launch.set("/modelPrices", prices()));
    assert_eq!(run.event("session_started")["modelPrices"], prices());
    let shown = show(&run, &[]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    let page = &shown.stdout;
    assert!(
        page.starts_with("Session test-session: completed, exit code 0\n"),
        "{page}"
    );
    let agent = row(page, &["root", "completed"]);
    assert_eq!(agent[3], "5", "{agent:?}");

    // Expected and got are the sums of the stream, and lost is their difference at list prices.
    let usages = run.events("usage");
    let sum = |pointer: &str| -> u64 {
        let figures = usages
            .iter()
            .filter(|it| it["expectedCachedTokens"].is_u64());
        figures.filter_map(|it| it.pointer(pointer)?.as_u64()).sum()
    };
    let expected = sum("/expectedCachedTokens");
    let got: u64 = usages
        .iter()
        .map(|it| {
            let expected = it["expectedCachedTokens"].as_u64().unwrap_or(0);
            expected.min(it["tokens"]["cachedInput"].as_u64().unwrap())
        })
        .sum();
    assert!(expected > got && got > 0, "{expected}, {got}");
    let cache = row(page, &["root", "Acme"]);
    let [_, _, _, calls, wanted, had, _, misses, lost] = cache[..] else {
        panic!("{cache:?}");
    };
    assert_eq!((figure(calls), figure(misses)), (5, 1));
    assert_eq!((figure(wanted), figure(had)), (expected, got));
    let usd = (expected - got) as f64 * 2.5 / 1e6;
    assert_eq!(lost, format!("${usd:.6}"));
}

#[test]
fn without_list_prices_what_was_lost_is_told_in_tokens() {
    let run = run(|launch| launch);
    assert!(run.event("session_started").get("modelPrices").is_none());
    let page = show(&run, &[]).stdout;
    assert!(page.contains("tokens (no list price)"), "{page}");
}

#[test]
fn a_window_is_shown_as_the_model_saw_it_at_a_turn() {
    let run = run(|launch| launch);
    for (line, turn) in [
        (&["--turn", "3"] as &[&str], 3),
        (&["--agent", "root"], 5),
        (&["--agent", "root", "--turn", "1"], 1),
    ] {
        let shown = show(&run, line);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        let prompt = run
            .events("prompt")
            .into_iter()
            .find(|it| it["turn"] == turn)
            .unwrap();
        let messages = prompt["messages"].as_array().unwrap().len();
        let head = format!("Window of root at turn {turn}: {messages} messages, ");
        assert!(shown.stdout.starts_with(&head), "{head}\n{}", shown.stdout);
        let (_, items) = shown.stdout.split_once("\nItems, in order").unwrap();
        assert_eq!(items.lines().count(), 2 + messages, "{items}");
        assert_eq!(items.contains("[long.txt]"), turn > 1, "{items}");
    }
}

#[test]
fn what_a_run_does_not_hold_is_named_beside_what_it_does() {
    let run = run(|launch| launch);
    for (line, why) in [
        (&["--turn", "0"] as &[&str], "it did from 1 to 5"),
        (&["--turn", "6"], "it did from 1 to 5"),
        (&["--turn", "4294967295"], "it did from 1 to 5"),
        (&["--agent", "agent-9"], "the stream holds root"),
        (&["--turn", "4294967296"], "is not in"),
    ] {
        let shown = show(&run, line);
        assert_eq!(
            (shown.code, shown.stdout.as_str()),
            (Some(1), ""),
            "{line:?}"
        );
        assert!(shown.stderr.contains(why), "{why} in {}", shown.stderr);
    }
}

#[test]
fn a_damaged_stream_is_shown_for_what_it_holds() {
    let run = run(|launch| launch);
    let whole = show(&run, &[]).stdout;
    let lines: Vec<&str> = run.stdout.lines().collect();
    // Its first line torn, a line of another session in the middle, its end cut in a line.
    let foreign = lines[lines.len() / 2].replace("\"test-session\"", "\"other\"");
    let mut damaged = vec![&lines[0][..lines[0].len() / 2]];
    damaged.extend(&lines[1..lines.len() / 2]);
    damaged.push(&foreign);
    damaged.extend(&lines[lines.len() / 2..lines.len() - 1]);
    let mut bytes = damaged.join("\n").into_bytes();
    bytes.extend(b"\n{\"type\":\"session_ended\xff");
    fs::write(run.folder().join("telemetry.ndjson"), bytes).unwrap();
    let shown = show(&run, &[]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert_eq!(shown.stderr.lines().count(), 3, "{}", shown.stderr);
    assert!(shown.stderr.contains("it is of another session"));
    let (head, rest) = shown.stdout.split_once('\n').unwrap();
    assert!(head.contains("no last line"), "{head}");
    assert_eq!(rest, whole.split_once('\n').unwrap().1);
}

/// What gg says of a file of these bytes.
fn shown(bytes: &[u8]) -> Said {
    let folder = folder();
    let file = folder.path().join("stream");
    fs::write(&file, bytes).unwrap();
    said(["show", text(&file)])
}

#[test]
fn a_file_that_is_no_stream_is_one_sentence() {
    let garbage: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for bytes in [
        b"" as &[u8],
        b"\n\n",
        b"hello\n",
        b"{\"type\":\"log\"}\n",
        &garbage,
    ] {
        let said = shown(bytes);
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        assert!(
            said.stderr.contains("is no stream of a session"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn a_file_without_line_ends_is_read_to_a_bound() {
    for command in ["show", "flow"] {
        let said = said([command, "/dev/zero"]);
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (Some(1), ""),
            "{command}"
        );
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        assert!(
            said.stderr.contains("its line 1 is longer than"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn a_stream_of_an_older_build_is_shown() {
    let lines = [
        json!({ "type": "session_started", "sessionId": "s", "modelProviders": { "a/b": "Acme" },
                "modelPrices": { "a/b": { "input": 1 } } }),
        json!({ "type": "agent_spawned", "sessionId": "s", "agentId": "root", "modelId": "a/b" }),
        json!({ "type": "usage", "sessionId": "s", "agentId": "root", "modelId": "a/b",
                "provider": "Acme\u{1b}[2J", "tokens": { "uncachedInput": u64::MAX,
                "cachedInput": u64::MAX }, "expectedCachedTokens": u64::MAX }),
        json!({ "type": "unheard_of", "sessionId": "s", "agentId": 7 }),
    ];
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let said = shown(text.join("\n").as_bytes());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stdout.contains("18,446,744,073,709,551,615"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout
            .contains("1 call of 18,446,744,073,709,551,615 tokens without a price")
    );
    assert!(!said.stdout.contains('\u{1b}'), "{}", said.stdout);
}
