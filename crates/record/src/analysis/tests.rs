//! Streams by hand, and what they come to.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn stream(lines: &[Value]) -> Analysis {
    let text: Vec<_> = lines.iter().map(Value::to_string).collect();
    Analysis::read(text.join("\n").as_bytes()).unwrap()
}

fn of(agent: &str, turn: u32, line: Value) -> Value {
    let mut line = line;
    line["agentId"] = json!(agent);
    line["turn"] = json!(turn);
    line
}

fn message(id: u64, band: &str, tokens: u64) -> Value {
    of(
        "agent-1",
        1,
        json!({ "type": "context_message", "id": format!("{id:016x}"), "role": "user",
                "band": band, "tokens": tokens, "content": "text" }),
    )
}

fn prompt(turn: u32, ids: &[u64]) -> Value {
    let ids: Vec<_> = ids.iter().map(|id| format!("{id:016x}")).collect();
    of(
        "agent-1",
        turn,
        json!({ "type": "prompt", "messages": ids }),
    )
}

fn usage(turn: u32, uncached: u64, cached: Value, expected: Value) -> Value {
    of(
        "agent-1",
        turn,
        json!({ "type": "usage", "modelId": "a/b", "provider": "Acme", "profileId": "root",
                "tokens": { "uncachedInput": uncached, "cachedInput": cached },
                "cost": { "actual": 0.5, "comparable": null },
                "expectedCachedTokens": expected }),
    )
}

fn started(prices: Value) -> Value {
    json!({ "type": "session_started", "sessionId": "s", "modelPrices": prices })
}

#[test]
fn expected_and_got_are_summed_over_the_calls_that_report() {
    let analysis = stream(&[
        started(json!({ "a/b": { "uncachedInput": 3.0, "cachedInput": 1.0, "output": 9.0 } })),
        usage(1, 8_000, json!(0), json!(null)),
        usage(2, 1_000, json!(6_000), json!(8_000)),
        usage(3, 1_000, json!(null), json!(9_000)),
        usage(4, 100, json!(9_900), json!(9_000)),
        of(
            "agent-1",
            5,
            json!({ "type": "provider_fault", "modelId": "a/b",
                                 "provider": "acme", "kind": "cache_miss" }),
        ),
        of(
            "agent-1",
            5,
            json!({ "type": "prefix_broken", "modelId": "a/b", "message": 3,
                                 "byte": 77, "act": "evict_file_view", "lostTokens": 500 }),
        ),
    ]);
    let [row] = analysis.cache.rows() else {
        panic!("one agent, one provider: {:?}", analysis.cache.rows());
    };
    assert_eq!((row.calls, row.unreported, row.misses), (4, 1, 1));
    assert_eq!(
        (row.expected, row.got, row.cached),
        (17_000, 15_000, 15_900)
    );
    assert_eq!(analysis.cache.lost(row), Lost::Usd(0.004));
    assert_eq!(analysis.cache.breaks().len(), 1);
    assert_eq!(analysis.cache.breaks()[0].act, "evict_file_view");
}

#[test]
fn without_list_prices_a_shortfall_has_no_price_and_none_costs_nothing() {
    let analysis = stream(&[started(json!({})), usage(2, 1, json!(1), json!(2))]);
    assert_eq!(
        analysis.cache.lost(&analysis.cache.rows()[0]),
        Lost::Unpriced
    );
    let analysis = stream(&[started(json!({})), usage(2, 1, json!(2), json!(2))]);
    assert_eq!(
        analysis.cache.lost(&analysis.cache.rows()[0]),
        Lost::Usd(0.0)
    );
}

#[test]
fn a_break_that_no_act_explains_is_read_like_any_other() {
    let broken = json!({ "type": "prefix_broken", "modelId": "a/b", "message": 3, "byte": 77,
                         "act": null, "sharedTokens": 9, "lostTokens": 500 });
    let analysis = stream(&[started(json!({})), of("agent-1", 5, broken)]);
    assert_eq!(analysis.damaged, []);
    let [broken] = analysis.cache.breaks() else {
        panic!("one break: {:?}", analysis.cache.breaks());
    };
    assert_eq!((broken.message, broken.act.as_str()), (3, "unknown"));
}

#[test]
fn turns_are_an_agent_s_own_where_their_numbers_run_on() {
    let judged = |agent: &str, turn: u64| json!({ "type": "turn_outcome", "agentId": agent, "turn": turn, "outcome": "progressed", "turns": turn });
    let analysis = stream(&[
        judged("root", 1),
        judged("root", 2),
        judged("agent-1", 3),
        judged("agent-1", 4),
        judged("agent-1", 5),
    ]);
    let figures: Vec<_> = analysis
        .agents
        .iter()
        .map(|it| (it.turns, it.last_turn))
        .collect();
    assert_eq!(figures, [(2, 2), (3, 5)]);
}

#[test]
fn a_message_is_billed_by_its_share_in_every_request_that_carried_it() {
    let analysis = stream(&[
        message(1, "system", 100),
        message(2, "user_prompt", 300),
        prompt(1, &[1, 2]),
        usage(1, 800, json!(0), json!(null)),
        message(3, "tool_output", 400),
        prompt(2, &[1, 2, 3]),
        usage(2, 800, json!(800), json!(null)),
    ]);
    let agent = "agent-1".into();
    let first = analysis.spend.window(&agent, 1).unwrap();
    let billed: Vec<_> = first.messages.iter().map(|it| it.billed_tokens).collect();
    assert_eq!(billed, [200.0, 600.0]);
    let second = analysis.spend.window(&agent, 2).unwrap();
    let billed: Vec<_> = second
        .messages
        .iter()
        .map(|it| (it.billed_tokens, it.requests))
        .collect();
    assert_eq!(billed, [(400.0, 2), (1_200.0, 2), (800.0, 1)]);
    assert!((second.messages[2].billed_usd - 0.25).abs() < 1e-12);
    assert_eq!(analysis.spend.turns(&agent), Some((1, 2)));
    assert!(analysis.spend.window(&agent, 3).is_none());
}

#[test]
fn equal_messages_of_a_request_are_items_of_their_own() {
    let analysis = stream(&[
        message(1, "user_prompt", 100),
        message(2, "system", 50),
        prompt(1, &[1, 2]),
        usage(1, 150, json!(null), json!(null)),
        prompt(2, &[1, 2, 2]),
        usage(2, 200, json!(null), json!(null)),
    ]);
    let view = analysis.spend.window(&"agent-1".into(), 2).unwrap();
    let billed: Vec<_> = view
        .messages
        .iter()
        .map(|it| (it.billed_tokens, it.requests))
        .collect();
    assert_eq!(billed, [(200.0, 2), (100.0, 2), (50.0, 1)]);
}

#[test]
fn a_superseded_block_is_history_and_fullness_is_the_turn_s_own() {
    let fullness = |turn: u32, list: u64| {
        let fields = json!({ "type": "context_breakdown", "windowLimit": 1_000, "total": 90 + list,
                             "bands": { "system": 90, "task_list": list } });
        of("agent-1", turn, fields)
    };
    let analysis = stream(&[
        message(1, "task_list", 30),
        message(2, "task_list", 40),
        fullness(1, 30),
        prompt(1, &[1]),
        fullness(2, 30),
        // The list went back to what it was.
        prompt(2, &[1, 2, 1]),
        fullness(3, 0),
        prompt(3, &[1, 2, 1]),
        prompt(4, &[1, 2]),
    ]);
    let window = |turn| analysis.spend.window(&"agent-1".into(), turn).unwrap();
    let bands = |turn| -> Vec<String> {
        let messages = window(turn).messages;
        messages.into_iter().map(|it| it.band).collect()
    };
    assert_eq!(bands(1), ["task_list"]);
    assert_eq!(bands(2), ["history", "history", "task_list"]);
    assert_eq!(bands(3), ["history"; 3], "the list is empty");
    assert_eq!(bands(4), ["history", "task_list"]);
    assert_eq!(window(2).fullness.unwrap().total, 120);
    assert!(window(4).fullness.is_none());
}

#[test]
fn a_reply_that_was_discarded_pays_for_no_window() {
    let analysis = stream(&[
        message(1, "system", 100),
        prompt(1, &[1]),
        usage(1, 50, json!(null), json!(null)),
        usage(1, 999, json!(null), json!(null)),
    ]);
    let window = analysis.spend.window(&"agent-1".into(), 1).unwrap();
    assert_eq!(
        (window.input, window.messages[0].billed_tokens),
        (Some(50), 50.0)
    );
}

#[test]
fn damage_is_counted_with_its_place_and_the_rest_is_read() {
    let text = format!(
        "{}\n{{\"type\":\"usage\",\"tokens\":3}}\nhalf",
        started(json!({}))
    );
    let analysis = Analysis::read(text.as_bytes()).unwrap();
    let places: Vec<_> = analysis.damaged.iter().map(|it| it.number).collect();
    assert_eq!(places, [2, 3]);
    assert_eq!(analysis.session, Some("s".into()));
}

proptest! {
    #[test]
    fn what_messages_are_billed_sums_to_what_was_reported(
        sizes in proptest::collection::vec(1_u64..5_000, 1..8),
        more in proptest::collection::vec(any::<proptest::sample::Index>(), 0..4),
        inputs in proptest::collection::vec(0_u64..100_000, 1..10),
    ) {
        let mut lines: Vec<_> = (0..).zip(&sizes).map(|(id, size)| message(id, "b", *size)).collect();
        let mut ids: Vec<_> = (0..sizes.len() as u64).collect();
        ids.extend(more.iter().map(|it| it.index(sizes.len()) as u64));
        for (turn, input) in (1..).zip(&inputs) {
            lines.push(prompt(turn, &ids));
            lines.push(usage(turn, *input, json!(null), json!(null)));
        }
        let analysis = stream(&lines);
        let last = inputs.len() as u32;
        let messages = analysis.spend.window(&"agent-1".into(), last).unwrap().messages;
        let billed: f64 = messages.iter().map(|it| it.billed_tokens).sum();
        let usd: f64 = messages.iter().map(|it| it.billed_usd).sum();
        let reported: u64 = inputs.iter().sum();
        prop_assert!((billed - reported as f64).abs() < 1e-6 * (1.0 + reported as f64));
        prop_assert!((usd - 0.5 * inputs.len() as f64).abs() < 1e-6);
    }
}

#[test]
fn figures_that_no_count_can_hold_stop_at_the_largest() {
    let most = u64::MAX;
    let analysis = stream(&[
        started(json!({})),
        message(1, "system", most),
        message(2, "user_prompt", most),
        prompt(1, &[1, 2]),
        usage(1, most, json!(most), json!(most)),
        usage(1, most, json!(most), json!(most)),
    ]);
    assert_eq!(analysis.cache.rows()[0].expected, most);
    assert_eq!(analysis.cache.rows()[0].cached, most);
    let agent = analysis.agents.iter().next().unwrap();
    assert_eq!(agent.tokens.input(), Some(most));
    let view = analysis.spend.window(&"agent-1".into(), 1).unwrap();
    assert_eq!(view.input, Some(most));
    assert!(view.messages[0].billed_tokens > 0.0);
}

#[test]
fn prices_of_an_older_build_price_nothing_and_hide_no_session() {
    for prices in [
        json!(null),
        json!({ "a/b": { "input": 1.0 } }),
        json!({ "a/b": 3 }),
    ] {
        let analysis = stream(&[started(prices), usage(2, 1, json!(1), json!(2))]);
        assert_eq!(analysis.session, Some("s".into()));
        assert!(analysis.damaged.is_empty(), "{:?}", analysis.damaged);
        assert_eq!(
            analysis.cache.lost(&analysis.cache.rows()[0]),
            Lost::Unpriced
        );
    }
}

#[test]
fn a_stream_whose_first_line_is_damaged_is_still_one() {
    let text = format!(
        "{{\"type\":\"session_st\n{}",
        json!({ "type": "session_ended", "sessionId": "s", "status": "completed", "exitCode": 0 })
    );
    let analysis = Analysis::read(text.as_bytes()).unwrap();
    assert_eq!(analysis.session, Some("s".into()));
    assert_eq!(analysis.damaged.len(), 1);
}

#[test]
fn lines_of_another_session_count_for_nothing() {
    let mut other = usage(2, 9, json!(9), json!(9));
    other["sessionId"] = json!("other");
    let mut ended = json!({ "type": "session_ended", "status": "completed", "exitCode": 0 });
    ended["sessionId"] = json!("other");
    let analysis = stream(&[
        started(json!({})),
        usage(1, 5, json!(0), json!(null)),
        other,
        ended,
    ]);
    let agent = analysis.agents.iter().next().unwrap();
    assert_eq!(agent.tokens.input(), Some(5));
    assert_eq!(analysis.ended, None);
    let places: Vec<_> = analysis.damaged.iter().map(|it| it.number).collect();
    assert_eq!(places, [3, 4]);
}

#[test]
fn a_file_that_is_no_stream_is_not_read_to_its_end() {
    let text = "no event\n".repeat(5 * NO_STREAM);
    let analysis = Analysis::read(text.as_bytes()).unwrap();
    assert_eq!(analysis.session, None);
    assert_eq!(analysis.damaged.len(), NO_STREAM);
}

#[test]
fn a_late_price_pays_for_no_window() {
    let mut late = usage(1, 700, json!(0), json!(null));
    late.as_object_mut().unwrap().remove("turn");
    let analysis = stream(&[
        started(json!({})),
        message(1, "system", 10),
        prompt(1, &[1]),
        late,
    ]);
    let view = analysis.spend.window(&"agent-1".into(), 1).unwrap();
    assert_eq!((view.input, view.cost), (None, None));
}
