//! What a run leaves in a provider's cache it reads again: long sessions at each family, held
//! against the gateway's own model of that family's cache.

use std::time::Duration;

use serde_json::{Value, json};
use tests::gateway::ledger::{Account, sums};
use tests::gateway::{Answer, Family, Gateway, Market, Provider, Request};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::tokens;
use crate::long_session::turn;

const TURNS: usize = 200;
const CLAUDE: &str = "anthropic/claude-1";

/// A session of `turns` at a provider of the market, and further sessions of ten; reasoning rides
/// every third reply.
fn script(turns: usize) -> impl FnMut(&Request, usize) -> Answer + Send + 'static {
    move |request, served| {
        let n = request.turn();
        if n + 1 == if served < turns { turns } else { 10 } {
            return Answer::finish("All done.");
        }
        let mut answer = turn(n);
        if n.is_multiple_of(3) {
            answer.reasoning = None;
            answer = answer.with_items(json!([
                { "type": "reasoning.text", "text": format!("Step {n}."), "signature": "s1",
                  "index": 0 },
                { "type": "reasoning.encrypted", "data": format!("{n:064}"), "index": 1 },
            ]));
        }
        answer
    }
}

fn at(family: Family) -> (Market, Launch) {
    let (model, provider) = match family {
        Family::OpenAi => ("openai/gpt-1", "OpenAI"),
        Family::Gemini => ("google/gemini-1", "Google"),
        Family::Anthropic => (CLAUDE, "Anthropic"),
    };
    let market = Market::new([Provider::new(provider, family)]);
    // Long enough that the first request alone is worth caching, whatever the tools take.
    let task = "Do what the script says, step by step. ".repeat(200);
    (market, Launch::on(model, &[provider]).set("/prompt", task))
}

/// Every call from the second turn on read what the one before it left.
#[track_caller]
fn kept_warm(ledger: &[Account]) {
    for account in &ledger[1..] {
        assert!(account.follows, "{account:?}");
        assert!(account.expected > 0, "{account:?}");
        assert!(account.reads_at_least(99), "{account:?}");
    }
    let all = sums(&ledger[1..]);
    assert!(all.tokens.read * 100 >= all.expected * 99, "{all:?}");
}

/// A long session and, at the same gateway, the first turns of another of the same configuration.
#[track_caller]
fn session(family: Family) -> Run {
    let (market, launch) = at(family);
    let run = Run::builder()
        .launch(launch.clone())
        .gateway(Gateway::start(market.serve(script(TURNS))))
        .run();
    run.ended(0, "completed");
    let ledger = market.ledger();
    assert_eq!(ledger.len(), TURNS);
    kept_warm(&ledger);
    assert_eq!(tokens(&run, "cachedInput"), sums(&ledger).tokens.read);
    assert_eq!(run.summary()["providerFaults"]["cacheMiss"], 0);
    for (event, account) in run.events("usage").into_iter().zip(&ledger) {
        assert_eq!(event["tokens"]["cachedInput"], account.tokens.read);
    }
    second_session(run, &market, launch)
}

/// Another run, with another routing key, opens on what the first one left.
#[track_caller]
fn second_session(mut first: Run, market: &Market, launch: Launch) -> Run {
    let gateway = first.gateway.take().unwrap();
    gateway.next_run();
    let run = Run::builder().launch(launch).gateway(gateway).run();
    let ledger = market.ledger();
    let keys = |n: usize| ledger[n].key.clone();
    assert_ne!(keys(0), keys(TURNS));
    let opening = &ledger[TURNS];
    assert!(!opening.follows, "{opening:?}");
    assert!(opening.expected >= 1_024, "{opening:?}");
    assert!(opening.reads_at_least(99), "{opening:?}");
    kept_warm(&ledger[TURNS..]);
    run
}

#[test]
fn a_long_session_keeps_openais_cache_warm() {
    bare(&session(Family::OpenAi));
}

#[test]
fn a_long_session_keeps_geminis_cache_warm() {
    bare(&session(Family::Gemini));
}

/// Families that cache by themselves are sent no marks and no lists in the place of strings.
#[track_caller]
fn bare(run: &Run) {
    for request in run.gateway.as_ref().unwrap().requests() {
        assert!(!request.text().contains("\"cache_control\""));
        for message in request.messages() {
            assert!(!message["content"].is_array(), "{message}");
        }
    }
}

#[test]
fn a_long_session_keeps_anthropics_cache_warm_by_its_marks() {
    let run = session(Family::Anthropic);
    for request in run.gateway.as_ref().unwrap().requests() {
        let messages = request.messages();
        for message in &messages {
            let content = &message["content"];
            assert!(
                content.is_array() || content.is_null() || content == "",
                "{message}"
            );
        }
        let marked: Vec<usize> = marks(&messages).into_iter().map(|(n, _)| n).collect();
        assert_eq!(marked, reference(&messages), "request {}", request.number);
        assert!(marks(&messages).iter().all(|(_, ttl)| ttl.is_null()));
    }
}

/// The messages that carry a mark, and its `ttl`.
fn marks(messages: &[Value]) -> Vec<(usize, Value)> {
    let marked = |(n, message): (usize, &Value)| {
        let parts = message["content"].as_array()?;
        let marks: Vec<&Value> = parts
            .iter()
            .filter_map(|part| part.get("cache_control"))
            .collect();
        assert!(marks.len() <= 1, "{message}");
        let mark = marks.first()?;
        assert_eq!(mark["type"], "ephemeral");
        assert_eq!(
            parts.last().and_then(|part| part.get("cache_control")),
            Some(*mark)
        );
        Some((n, mark["ttl"].clone()))
    };
    messages.iter().enumerate().filter_map(marked).collect()
}

/// Messages between two points of the grid.
const GRID: usize = 8;
/// Content blocks that a mark sees, its own included.
const LOOK_BACK: usize = 20;

/// Where the marks of a request stand, by the rule alone: the anchor before the model's first
/// word, the tail, and between them two points of the grid, the first of: the last before the
/// tail, the first from which the end of the request before can be seen, the last before that end,
/// the last but one before the tail. What cannot carry a mark hands it to the nearest before it.
fn reference(messages: &[Value]) -> Vec<usize> {
    let carries = |n: &usize| {
        let last = messages[*n]["content"].as_array().and_then(|it| it.last());
        last.is_some_and(|part| {
            part["type"] != "text" || !part["text"].as_str().unwrap().trim().is_empty()
        })
    };
    let carrier = |n: usize| (0..=n).rev().find(carries);
    let is_model = |message: &Value| message["role"] == "assistant";
    let before = |n: usize| n.checked_sub(1);
    let tail = carrier(messages.len() - 1).unwrap();
    let first = messages.iter().position(is_model);
    let anchor = first.map_or(Some(tail), |n| before(n).and_then(carrier));
    let asked = messages
        .iter()
        .rposition(is_model)
        .and_then(before)
        .and_then(carrier);

    let floor = |n: usize| before(n).map(|n| n - n % GRID);
    let sees = |from: usize, entry: usize| blocks(messages, entry, from) < LOOK_BACK;
    let front = floor(tail);
    let bridge = asked.map(|asked| asked.div_ceil(GRID) * GRID).filter(|n| {
        *n < tail
            && carrier(*n).is_some_and(|from| from >= asked.unwrap() && sees(from, asked.unwrap()))
    });
    let wanted = [
        front,
        bridge,
        asked.and_then(floor),
        front.and_then(|n| n.checked_sub(GRID)),
    ];
    let mut points: Vec<usize> = Vec::new();
    for point in wanted.into_iter().flatten().filter_map(carrier) {
        let between = anchor.is_none_or(|anchor| anchor < point) && point < tail;
        if between && points.len() < 2 && !points.contains(&point) {
            points.push(point);
        }
    }
    points.extend(anchor);
    points.push(tail);
    points.sort_unstable();
    points.dedup();
    points
}

/// Content blocks from behind the mark of one message up to the mark of another.
fn blocks(messages: &[Value], from: usize, to: usize) -> usize {
    let count = |value: &Value| match value {
        Value::Array(items) => items.len(),
        Value::String(text) => usize::from(!text.is_empty()),
        _ => 0,
    };
    let up_to_mark = |n: usize| {
        let message = &messages[n];
        let reasoning = match &message["reasoning_details"] {
            Value::Null => count(&message["reasoning"]),
            details => count(details),
        };
        reasoning + count(&message["content"])
    };
    let whole = |n: usize| up_to_mark(n) + count(&messages[n]["tool_calls"]);
    let before = |n: usize| (0..n).map(whole).sum::<usize>();
    before(to) + up_to_mark(to) - before(from) - up_to_mark(from)
}

/// A session of turns of so many calls.
fn broad(calls: usize) -> Vec<Account> {
    let many = move |n: usize| {
        (0..calls).fold(Answer::default(), |answer, call| {
            answer.and_call("shell", json!({ "command": format!("echo {n} {call}") }))
        })
    };
    let (market, launch) = at(Family::Anthropic);
    let run = Run::builder()
        .launch(launch)
        .gateway(Gateway::start(market.serve(
            move |request, _| match request.turn() {
                n @ 0..8 => many(n),
                _ => Answer::finish("Done."),
            },
        )))
        .run();
    run.ended(0, "completed");
    market.ledger()
}

#[test]
fn turns_of_many_calls_do_not_lose_the_cache() {
    // Twelve calls and their results are 24 blocks, more than the mark at the tail sees: a point
    // of the grid in between reads for it.
    kept_warm(&broad(12));
    // No mark behind thirty calls sees what lies before them. The grid's last point before them
    // was marked by the request before, and loses less than eight results.
    let ledger = broad(30);
    for account in &ledger[1..] {
        assert!(account.follows && account.expected > 0, "{account:?}");
        assert!(account.reads_at_least(90), "{account:?}");
    }
}

/// A session in which every turn takes six minutes at the provider.
fn slow(ttl: &str) -> (Run, Vec<Account>) {
    let (market, launch) = at(Family::Anthropic);
    let clock = market.clock().clone();
    let mut script = script(40);
    let run = Run::builder()
        .launch(launch.root("/promptCacheTtl", ttl))
        .gateway(Gateway::start(market.serve(move |request, n| {
            clock.advance(Duration::from_secs(6 * 60));
            script(request, n)
        })))
        .run();
    run.ended(0, "completed");
    (run, market.ledger())
}

#[test]
fn an_hour_outlives_slow_turns_and_five_minutes_do_not() {
    let (_, ledger) = slow("default");
    assert!(ledger.iter().all(|account| account.tokens.read == 0));
    assert!(
        ledger
            .iter()
            .all(|account| account.tokens.written_long == 0)
    );

    let (run, ledger) = slow("extended");
    for account in &ledger[1..] {
        assert!(account.tokens.read >= 1_024, "{account:?}");
    }
    // All but what stands behind the grid's last point.
    let all = sums(&ledger[20..]);
    assert!(all.tokens.read * 100 >= all.expected * 75, "{all:?}");
    for request in run.gateway.as_ref().unwrap().requests() {
        let marks = marks(&request.messages());
        let (tail, long) = marks.split_last().unwrap();
        assert!(long.iter().all(|(_, ttl)| ttl == "1h"), "{marks:?}");
        assert_eq!(tail.1 == "1h", long.is_empty(), "{marks:?}");
    }
}
