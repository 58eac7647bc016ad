//! Providers, caches, prices and look-ups, over the wire.

use serde_json::{Value, json};
use tests::gateway::{
    Answer, Family, Fault, Gateway, Lookups, Market, Provider, Request, ledger::sums,
};

use crate::{connect, read_to};

/// Sends a request and reads the whole reply.
fn ask(gateway: &Gateway, body: &Value) -> String {
    let mut socket = connect(gateway);
    crate::ask(&mut socket, &body.to_string());
    read_reply(&mut socket)
}

fn look_up(gateway: &Gateway, id: &str) -> String {
    use std::io::Write as _;
    let mut socket = connect(gateway);
    let head = format!("GET /api/v1/generation?id={id} HTTP/1.1\r\nHost: x\r\n\r\n");
    socket.write_all(head.as_bytes()).unwrap();
    read_reply(&mut socket)
}

fn read_reply(socket: &mut std::net::TcpStream) -> String {
    let head = read_to(socket, "\r\n\r\n");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map(|length| length.parse::<usize>().unwrap());
    let rest = match length {
        Some(length) => {
            let mut body = vec![0; length];
            std::io::Read::read_exact(socket, &mut body).unwrap();
            String::from_utf8(body).unwrap()
        }
        None => read_to(socket, "\r\n0\r\n\r\n"),
    };
    head + &rest
}

fn body(provider: Option<&str>, text: &str) -> Value {
    let mut body = json!({
        "model": "acme/coder-1", "tools": [], "session_id": "k", "prompt_cache_key": "k",
    });
    if let Some(provider) = provider {
        body["provider"] = json!({
            "only": [provider], "quantizations": ["fp8"], "allow_fallbacks": false,
        });
    }
    body["messages"] = json!([{ "role": "user", "content": text }]);
    body
}

/// The usage object of a streamed reply.
fn usage(reply: &str) -> Value {
    let line = reply
        .lines()
        .find(|line| line.contains("\"usage\""))
        .unwrap_or_else(|| panic!("no usage in {reply}"));
    let chunk: Value = serde_json::from_str(line.trim_start_matches("data: ")).unwrap();
    chunk["usage"].clone()
}

fn market(providers: impl IntoIterator<Item = Provider>) -> (Market, Gateway) {
    let market = Market::new(providers);
    let gateway = Gateway::lenient(market.serve(|_: &Request, _| Answer::text("Well.")));
    (market, gateway)
}

#[test]
fn a_request_goes_to_the_provider_it_names_and_each_has_its_own_cache() {
    let (market, gateway) = market([
        Provider::new("Acme", Family::OpenAi),
        Provider::new("Z.AI", Family::OpenAi).saying("z-ai"),
    ]);
    let text = "x".repeat(8_000);
    let reply = ask(&gateway, &body(Some("Acme"), &text));
    assert!(reply.contains("\"provider\":\"Acme\""), "{reply}");
    let reply = ask(&gateway, &body(Some("zai"), &text));
    assert!(reply.contains("\"provider\":\"z-ai\""), "{reply}");
    assert_eq!(usage(&reply)["prompt_tokens_details"]["cached_tokens"], 0);
    let reply = ask(&gateway, &body(Some("Z.AI"), &text));
    assert_eq!(
        usage(&reply)["prompt_tokens_details"]["cached_tokens"],
        1_920
    );
    // Without a name the gateway picks.
    let reply = ask(&gateway, &body(None, &text));
    assert!(reply.contains("\"provider\":\"Acme\""), "{reply}");
    assert_eq!((market.asked("Acme"), market.asked("Z.AI")), (2, 2));
}

#[test]
fn what_is_reported_is_what_the_ledger_says() {
    let (market, gateway) = market([Provider::new("Acme", Family::OpenAi)]);
    let text = "x".repeat(8_000);
    for _ in 0..2 {
        let reply = ask(&gateway, &body(Some("Acme"), &text));
        let account = market.ledger().pop().unwrap();
        let usage = usage(&reply);
        assert_eq!(usage["prompt_tokens"], account.tokens.prompt);
        assert_eq!(usage["completion_tokens"], account.tokens.completion);
        assert_eq!(usage["cost"], account.cost);
    }
    let ledger = market.ledger();
    // 2,007 tokens of input at 1 USD a million, 13 of output at 4; the second reads 1,920 at 0.1.
    assert!((ledger[0].cost - 2_059e-6).abs() < 1e-12, "{ledger:?}");
    assert!((ledger[1].cost - 331e-6).abs() < 1e-12, "{ledger:?}");
    assert_eq!((ledger[0].expected, ledger[0].follows), (0, false));
    assert_eq!((ledger[1].expected, ledger[1].follows), (1_920, true));
    assert!(ledger[1].reads_at_least(100));
    let all = sums(&ledger);
    assert_eq!((all.calls, all.tokens.prompt), (2, 2 * 2_007));
}

#[test]
fn what_breaks_the_prefix_reads_less_than_was_expected() {
    let (market, gateway) = market([Provider::new("Acme", Family::OpenAi)]);
    let mut first = body(Some("Acme"), "Go.");
    let told = |text: &str| {
        json!([
            { "role": "user", "content": "Go." },
            { "role": "tool", "content": text.repeat(8_000) },
        ])
    };
    first["messages"] = told("x");
    ask(&gateway, &first);
    let mut second = first.clone();
    second["messages"] = told("y");
    ask(&gateway, &second);
    let account = market.ledger().pop().unwrap();
    assert!(account.follows);
    assert!(account.expected > 1_800, "{account:?}");
    assert_eq!((account.tokens.read, account.common), (0, 0));
    assert!(!account.reads_at_least(99));
}

#[test]
fn nobody_serves_a_name_or_a_level_that_is_not_there() {
    let (market, gateway) = market([Provider::new("Acme", Family::OpenAi).at("bf16")]);
    for provider in ["Acme", "Nobody"] {
        let reply = ask(&gateway, &body(Some(provider), "x"));
        assert!(reply.starts_with("HTTP/1.1 404 "), "{reply}");
        assert!(reply.contains("No allowed providers"), "{reply}");
    }
    assert_eq!(market.asked("Acme"), 0);
    assert_eq!(market.ledger(), []);
}

#[test]
fn faults_happen_by_the_number_of_the_request_there() {
    let (market, gateway) = market([
        Provider::new("Acme", Family::OpenAi)
            .fault(1, Fault::slow_down("3"))
            .fault(2, Fault::bad_gateway_page())
            .fault(3, Fault::Miss)
            .fault(4, Fault::ServedBy("Bolt".to_owned()))
            .fault(5, Fault::NoCacheDetails)
            .fault(
                6,
                Fault::InStream {
                    code: 502,
                    message: "fell over".to_owned(),
                },
            ),
        Provider::new("Bolt", Family::OpenAi).always(Fault::excluded()),
    ]);
    let text = "x".repeat(8_000);
    let acme = || ask(&gateway, &body(Some("Acme"), &text));
    assert!(acme().contains("Well."));
    let reply = acme();
    assert!(reply.starts_with("HTTP/1.1 429 "), "{reply}");
    assert!(reply.contains("Retry-After: 3\r\n"), "{reply}");
    let reply = acme();
    assert!(reply.starts_with("HTTP/1.1 502 "), "{reply}");
    assert!(reply.contains("Content-Type: text/html"), "{reply}");
    assert_eq!(usage(&acme())["prompt_tokens_details"]["cached_tokens"], 0);
    assert!(acme().contains("\"provider\":\"Bolt\""));
    let reply = acme();
    assert_eq!(usage(&reply)["prompt_tokens_details"], Value::Null);
    let reply = acme();
    assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
    assert!(reply.contains("fell over") && !reply.contains("Well."));
    let reply = ask(&gateway, &body(Some("Bolt"), &text));
    assert!(reply.contains("data policy"), "{reply}");
    assert_eq!((market.asked("Acme"), market.asked("Bolt")), (7, 1));
    // Refused and broken calls are not charged.
    let ledger = market.ledger();
    assert_eq!(ledger.len(), 4, "{ledger:?}");
    assert_eq!(ledger[1].tokens.read, 0);
    assert_eq!(ledger[1].common, 1_920);
    assert_eq!(ledger[3].tokens.read, 1_920);
}

#[test]
fn a_stall_says_one_thing_and_stays() {
    let (_market, gateway) = market([Provider::new("Acme", Family::OpenAi).fault(0, Fault::Stall)]);
    let mut socket = connect(&gateway);
    crate::ask(&mut socket, &body(Some("Acme"), "x").to_string());
    read_to(&mut socket, "Let me think");
    assert_eq!(gateway.exchanges()[0].sent_whole, None);
    drop(socket);
    assert_eq!(gateway.sent_whole(0, crate::CEILING), Some(false));
}

#[test]
fn a_generation_is_found_after_a_while_or_never() {
    for (lookups, found) in [
        (Lookups::After(0), 0),
        (Lookups::After(2), 2),
        (Lookups::Never, usize::MAX),
    ] {
        let market = Market::new([Provider::new("Acme", Family::OpenAi)]).with_lookups(lookups);
        let gateway = Gateway::lenient(market.serve(|_: &Request, _| Answer::text("Well.")));
        ask(&gateway, &body(Some("Acme"), "x"));
        let account = market.ledger().pop().unwrap();
        for n in 0..4 {
            let reply = look_up(&gateway, &account.generation);
            let status = if n < found { "404" } else { "200" };
            assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{reply}");
            if n >= found {
                let whole: Value =
                    serde_json::from_str(reply.split_once("\r\n\r\n").unwrap().1).unwrap();
                assert_eq!(whole["data"]["total_cost"], account.cost);
                assert_eq!(whole["data"]["provider_name"], "Acme");
                assert_eq!(
                    whole["data"]["native_tokens_completion"],
                    account.tokens.completion
                );
            }
        }
        assert_eq!(market.looked_up(), vec![account.generation; 4]);
        assert!(look_up(&gateway, "gen-unknown").starts_with("HTTP/1.1 404 "));
    }
}

#[test]
fn a_tool_choice_and_unknown_fields_are_refused_by_name() {
    let (market, gateway) = market([
        Provider::new("Acme", Family::OpenAi).refusing_tool_choice(404),
        Provider::new("Bolt", Family::OpenAi).not_knowing(["session_id", "prompt_cache_key"]),
    ]);
    let mut chosen = body(Some("Acme"), "x");
    chosen["tool_choice"] = json!("required");
    let reply = ask(&gateway, &chosen);
    assert!(reply.starts_with("HTTP/1.1 404 "), "{reply}");
    assert!(reply.contains("'tool_choice'"), "{reply}");
    chosen["tool_choice"] = json!("auto");
    assert!(ask(&gateway, &chosen).contains("Well."));

    let mut bolt = body(Some("Bolt"), "x");
    for field in ["session_id", "prompt_cache_key"] {
        let reply = ask(&gateway, &bolt);
        assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
        assert!(reply.contains(&format!("supplied: {field}")), "{reply}");
        bolt.as_object_mut().unwrap().shift_remove(field);
    }
    assert!(ask(&gateway, &bolt).contains("Well."));
    assert_eq!(market.ledger().len(), 2);
}

#[test]
fn marks_are_refused_and_served_as_anthropic_does() {
    let (market, gateway) = market([Provider::new("Anthropic", Family::Anthropic)]);
    let marked = |marks: usize| {
        let mut body = body(Some("Anthropic"), "");
        let messages: Vec<Value> = (0..6)
            .map(|n| {
                let mut part = json!({ "type": "text", "text": "x".repeat(2_000) });
                if n < marks {
                    part["cache_control"] = json!({ "type": "ephemeral" });
                }
                json!({ "role": "user", "content": [part] })
            })
            .collect();
        body["messages"] = json!(messages);
        body
    };
    let reply = ask(&gateway, &marked(5));
    assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
    assert!(reply.contains("Found 5."), "{reply}");
    let first = usage(&ask(&gateway, &marked(4)));
    let written = first["prompt_tokens_details"]["cache_write_tokens"].clone();
    assert!(written.as_u64().unwrap() > 2_000, "{first}");
    let second = usage(&ask(&gateway, &marked(4)));
    assert_eq!(second["prompt_tokens_details"]["cached_tokens"], written);
    assert_eq!(second["prompt_tokens_details"]["cache_write_tokens"], 0);
    // Six parts could be repeated; four were marked.
    assert!(!market.ledger()[1].reads_at_least(99));
}
