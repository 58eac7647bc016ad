//! F11, F23–F25, F27–F29, F31: the quirks of providers, with more than one to choose from.

use serde_json::{Value, json};
use tests::gateway::{
    Answer, Family, Fault, Gateway, Items, Market, Provider, Reply, Request, Strict,
};
use tests::launch::Launch;
use tests::run::Run;

use crate::common::{asked_in_turn, moves, provider_faults, retries};
use crate::provider_day::{MODEL, in_stream, play, play_with};

fn provider(name: &str) -> Provider {
    Provider::new(name, Family::OpenAi)
}

fn items(n: usize) -> Value {
    json!([
        { "type": "reasoning.summary", "summary": format!("Summary {n}."), "format": "x-v1",
          "index": 0 },
        { "type": "reasoning.text", "text": format!("Thought {n}: {{\"é\"}}"),
          "signature": format!("sig-{n}+/=="), "format": "x-v1", "index": 1 },
        { "type": "reasoning.encrypted", "data": "QUJD".repeat(2_000), "id": format!("rs_{n}"),
          "index": 2 },
    ])
}

/// Listings with items beside the calls, then the end.
fn thinking(
    turns: usize,
    items_cut: Items,
) -> impl FnMut(&Request, usize) -> Answer + Send + 'static {
    move |request, _| {
        let n = request.turn();
        let answer = if n < turns {
            Answer::call("list_dir", json!({})).with_items(items(n))
        } else {
            Answer::finish("Done.")
        };
        Answer {
            items: items_cut,
            ..answer
        }
    }
}

/// The items that came back on each assistant message of a request.
fn came_back(request: &Request) -> Vec<Value> {
    let messages = request.messages();
    let from_model = messages.iter().filter(|it| it["role"] == "assistant");
    from_model
        .map(|it| it["reasoning_details"].clone())
        .collect()
}

#[test]
fn f23_reasoning_items_go_back_as_they_came() {
    for cut in [Items::Together, Items::Apart, Items::InPieces] {
        let market = Market::new([provider("Acme")]);
        let run = Run::builder()
            .launch(Launch::on(MODEL, &["Acme"]))
            .gateway(Gateway::start(market.serve(thinking(4, cut))))
            .run();
        run.ended(0, "completed");
        let requests = run.gateway.as_ref().unwrap().requests();
        let expected: Vec<Value> = (0..4).map(items).collect();
        assert_eq!(came_back(requests.last().unwrap()), expected, "{cut:?}");
    }
}

#[test]
fn f23_reasoning_counts_as_context_and_is_not_invented() {
    let peak = |with_items: bool| {
        let market = Market::new([provider("Acme")]);
        let mut script = thinking(4, Items::Together);
        let gateway = Gateway::start(market.serve(move |request, n| {
            let mut answer = script(request, n);
            if !with_items {
                answer.reasoning_details = None;
            }
            answer
        }));
        let run = Run::builder()
            .launch(Launch::on(MODEL, &["Acme"]))
            .gateway(gateway)
            .run();
        run.ended(0, "completed");
        let requests = run.gateway.as_ref().unwrap().requests();
        let back = came_back(requests.last().unwrap());
        assert_eq!(back.iter().all(|items| !items.is_null()), with_items);
        assert!(with_items || !requests.last().unwrap().text().contains("reasoning"));
        run.summary()["peakContextTokens"].as_u64().unwrap()
    };
    let (with, without) = (peak(true), peak(false));
    // Four times 8,000 bytes of sealed items.
    assert!(with > without + 4_000, "{with} and {without}");
}

#[test]
fn f23_reasoning_text_goes_back_where_there_are_no_items() {
    let strict = Strict {
        reasoning_text: true,
        ..Strict::default()
    };
    let script = |request: &Request, _: usize| match request.turn() {
        n @ 0..3 => Answer::call("list_dir", json!({}))
            .thinking(&format!("Thought {n}: é"))
            .in_deltas_of(2),
        _ => Answer::finish("Done."),
    };
    let run = Run::builder()
        .gateway(Gateway::with_checker(Some(strict), script))
        .run();
    run.ended(0, "completed");
}

#[test]
fn f24_on_a_move_nobody_is_sent_anothers_sealed_items() {
    let market = Market::new([
        provider("Acme").faults([2, 3], &Fault::status(503, "overloaded")),
        provider("Bolt"),
    ]);
    let launch = Launch::on(MODEL, &["Acme", "Bolt"]).limit("maxModelRetries", 1);
    let run = Run::builder()
        .launch(launch)
        // That no request carries what another sealed is the checker's.
        .gateway(Gateway::start(market.serve(thinking(6, Items::InPieces))))
        .run();
    run.ended(0, "completed");
    assert_eq!(moves(&run), [["Acme", "Bolt", "failed_call"]]);
    assert_eq!([market.asked("Acme"), market.asked("Bolt")], [4, 5]);
    let requests = run.gateway.as_ref().unwrap().requests();
    let back = came_back(requests.last().unwrap());
    for (n, back) in back.iter().enumerate() {
        let made = items(n);
        let readable = json!([made[0]]);
        assert_eq!(*back, if n < 2 { readable } else { made }, "reply {n}");
    }
    let told: Vec<&str> = run
        .logs("warn")
        .into_iter()
        .filter(|text| text.contains("reasoning"))
        .collect();
    assert_eq!(told.len(), 1, "{:?}", run.logs("warn"));
    assert!(
        told[0].contains("Bolt") || told[0].contains("Acme"),
        "{told:?}"
    );
    assert_eq!(provider_faults(&run), Vec::<[&str; 2]>::new());
    assert_eq!(run.summary()["providerFaults"]["cacheMiss"], 0);
}

#[test]
fn f11_an_error_in_a_stream_twice_is_the_next_candidates_turn() {
    for code in [502, 429, 500] {
        let market = Market::new([
            provider("Acme").faults([1, 2], &in_stream(code)),
            provider("Bolt"),
        ]);
        let run = play(&["Acme", "Bolt"], &market, 4);
        run.ended(0, "completed");
        assert_eq!(moves(&run), [["Acme", "Bolt", "failed_call"]], "{code}");
        let retries = retries(&run);
        assert_eq!(retries.len(), 1, "{retries:?}");
        assert!(retries[0].contains("Acme"), "{retries:?}");
        assert_eq!(run.summary()["modelRetries"], 1);
        // Nothing of the broken replies entered the window.
        assert_eq!(run.outcomes().len(), 4);
    }
    let text = json!({ "error": { "code": "404", "message": "gone" }, "choices": [] }).to_string();
    let gone = Fault::Reply(tests::gateway::answer::events([text]));
    let market = Market::new([provider("Acme").always(gone), provider("Bolt")]);
    let run = play(&["Acme", "Bolt"], &market, 4);
    run.ended(0, "completed");
    assert_eq!(moves(&run), [["Acme", "Bolt", "unavailable"]]);
    assert_eq!(retries(&run).len(), 0);
}

#[test]
fn f25_a_provider_that_recovers_within_its_schedule_is_kept() {
    let body = r#"{"error":{"code":502,"metadata":{"error_type":"provider_unavailable"}}}"#;
    let down = Fault::Reply(Reply::status(502, body));
    let market = Market::new([provider("Acme").faults([1, 2], &down), provider("Bolt")]);
    let run = play_with(&["Acme", "Bolt"], &market, 4, |launch| {
        launch.limit("maxModelRetries", 2)
    });
    run.ended(0, "completed");
    assert_eq!(retries(&run).len(), 2);
    assert_eq!(moves(&run), Vec::<[&str; 3]>::new());
    assert_eq!(market.asked("Bolt"), 0);
}

#[test]
fn f27_a_spent_schedule_keeps_the_last_status_and_moves() {
    let market = Market::new([
        provider("Acme").always(Fault::slow_down("0.1")),
        provider("Bolt"),
    ]);
    let run = play(&["Acme", "Bolt"], &market, 3);
    run.ended(0, "completed");
    assert_eq!(moves(&run), [["Acme", "Bolt", "failed_call"]]);
    let retries = retries(&run);
    assert!(retries[0].contains("429"), "{retries:?}");
}

#[test]
fn f28_a_wait_that_is_too_long_is_not_begun_where_another_candidate_is_left() {
    for (seconds, clock) in [("86400", 20), ("60", 20), ("601", 86_400)] {
        let market = Market::new([
            provider("Acme").always(Fault::slow_down(seconds)),
            provider("Bolt"),
        ]);
        let run = play_with(&["Acme", "Bolt"], &market, 3, |launch| {
            launch
                .limit("maxModelRetries", 5)
                .limit("maxRuntimeSecs", clock)
        });
        run.ended(0, "completed");
        assert_eq!(moves(&run), [["Acme", "Bolt", "failed_call"]], "{seconds}");
        assert_eq!(market.asked("Acme"), 1, "{seconds}");
        let told = run.logs("warn");
        assert!(told.iter().any(|line| line.contains(seconds)), "{told:?}");
    }
}

#[test]
fn f29_a_provider_without_tool_choice_serves_a_tool_agent() {
    for status in [404, 400] {
        let market = Market::new([provider("Acme").refusing_tool_choice(status)]);
        let run = play(&["Acme"], &market, 4);
        run.ended(0, "completed");
        let requests = run.gateway.as_ref().unwrap().requests();
        let refused = requests.len() - market.ledger().len();
        // What a tool agent asks for first is its own affair; it is refused once at most.
        assert!(refused <= 1, "{refused}");
        let choices = requests[refused..]
            .iter()
            .map(|request| request.json()["tool_choice"].clone());
        assert!(choices.into_iter().all(|choice| choice == "auto"));
        let told = run.logs("warn");
        let told = told
            .iter()
            .filter(|text| text.contains("tool_choice"))
            .count();
        assert_eq!(told, refused);
        assert_eq!(moves(&run), Vec::<[&str; 3]>::new());
    }
}

#[test]
fn r14_fields_that_a_server_does_not_know_are_dropped_once() {
    let strict = Strict {
        routing: false,
        keys: false,
        ..Strict::default()
    };
    let unknown = ["provider", "session_id", "prompt_cache_key"];
    let market = Market::new([provider("Acme").not_knowing(unknown)]);
    let script = |request: &Request, _: usize| match request.turn() {
        0..3 => Answer::call("list_dir", json!({})),
        _ => Answer::finish("Done."),
    };
    let run = Run::builder()
        .launch(Launch::on(MODEL, &["Acme"]))
        .gateway(Gateway::with_checker(Some(strict), market.serve(script)))
        .run();
    run.ended(0, "completed");
    assert_eq!(market.asked("Acme"), 3 + 4, "each is refused once");
    let requests = run.gateway.as_ref().unwrap().requests();
    for field in unknown {
        assert!(requests[0].json().get(field).is_some(), "{field}");
        let told = run.logs("warn");
        let told = told.iter().filter(|text| text.contains(field)).count();
        assert_eq!(told, 1, "{field}: {:?}", run.logs("warn"));
        for request in &requests[3..] {
            assert!(request.json().get(field).is_none(), "{field}");
        }
    }
    assert_eq!(run.summary()["modelRetries"], 0);
    assert_eq!(run.outcomes().len(), 4);
}

#[test]
fn r14_a_word_for_a_key_hides_nothing_of_what_a_server_says() {
    let strict = Strict {
        routing: false,
        keys: false,
        ..Strict::default()
    };
    let market = Market::new([provider("Acme").not_knowing(["prompt_cache_key"])]);
    let run = Run::builder()
        .environment("OPENROUTER_API_KEY", "key")
        .launch(Launch::on(MODEL, &["Acme"]))
        .gateway(Gateway::with_checker(
            Some(strict),
            market.serve(|_: &Request, _: usize| Answer::finish("Done.")),
        ))
        .run();
    run.ended(0, "completed");
    let told = run.logs("warn").join("\n");
    assert!(told.contains("is sent no `prompt_cache_key`"), "{told}");
}

/// The turns of F31: five without details, one that read nothing, then good ones.
fn f31() -> (Run, Market) {
    let market = Market::new([
        provider("Acme")
            .faults(0..5, &Fault::NoCacheDetails)
            .fault(5, Fault::Miss),
        provider("Bolt"),
    ]);
    (play(&["Acme", "Bolt"], &market, 9), market)
}

#[test]
fn f31_what_is_not_reported_is_null_and_no_miss() {
    let (run, market) = f31();
    run.ended(0, "completed");
    let cached: Vec<Value> = run
        .events("usage")
        .iter()
        .map(|event| event["tokens"]["cachedInput"].clone())
        .collect();
    assert!(cached[..5].iter().all(Value::is_null), "{cached:?}");
    assert_eq!(cached[5], 0);
    let ledger = market.ledger();
    for (cached, account) in cached.iter().zip(&ledger).skip(6) {
        assert_eq!(*cached, account.tokens.read);
        assert!(account.tokens.read > 4_096);
    }
    assert_eq!(provider_faults(&run), [["cache_miss", "Acme"]]);
    assert_eq!(moves(&run), Vec::<[&str; 3]>::new());
    assert_eq!(run.summary()["providerFaults"]["cacheMiss"], 1);
    assert_eq!(asked_in_turn(&run), ["Acme"]);
}

#[test]
fn what_was_expected_from_the_cache_stands_beside_what_was_read() {
    let (run, market) = f31();
    run.ended(0, "completed");
    let ledger = market.ledger();
    for (event, account) in run.events("usage").into_iter().zip(&ledger).skip(1) {
        let expected = event["expectedCachedTokens"].as_u64().unwrap();
        // gg estimates in tokens what the gateway counts in whole blocks.
        let least = account.expected.saturating_sub(256);
        assert!(
            expected >= least * 9 / 10 && expected <= account.tokens.prompt,
            "{expected} beside {account:?}"
        );
    }
    assert_eq!(run.events("prefix_broken").len(), 0);
}

#[test]
fn reasoning_settings_are_sent_as_declared() {
    for (declared, sent) in [
        (json!({ "effort": "low" }), json!({ "effort": "low" })),
        (
            json!({ "maxTokens": 2_000 }),
            json!({ "max_tokens": 2_000 }),
        ),
    ] {
        let market = Market::new([provider("Acme")]);
        let run = play_with(&["Acme"], &market, 3, |launch| {
            launch.root("/reasoning", declared)
        });
        run.ended(0, "completed");
        for request in run.gateway.as_ref().unwrap().requests() {
            assert_eq!(request.json()["reasoning"], sent);
        }
    }
}

#[test]
fn every_request_names_the_one_candidate_in_force() {
    let market = Market::new([
        provider("Acme").faults([1, 2], &Fault::status(503, "overloaded")),
        provider("Bolt").at("bf16"),
    ]);
    let run = play_with(&[], &market, 5, |launch| {
        launch.set(
            "/modelProviders",
            json!({ MODEL: [
                { "provider": "Acme", "quantization": "fp8" },
                { "provider": "Bolt", "quantization": "bf16" },
            ]}),
        )
    });
    run.ended(0, "completed");
    assert_eq!(moves(&run), [["Acme", "Bolt", "failed_call"]]);
    for (n, request) in run.gateway.as_ref().unwrap().requests().iter().enumerate() {
        let (name, level) = if n < 3 {
            ("Acme", "fp8")
        } else {
            ("Bolt", "bf16")
        };
        assert_eq!(
            request.json()["provider"],
            json!({ "only": [name], "quantizations": [level], "allow_fallbacks": false }),
        );
    }
}
