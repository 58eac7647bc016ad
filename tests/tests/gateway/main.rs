//! The fake gateway itself, read by a client that knows nothing but sockets.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod market;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use tests::gateway::lean::Lean;
use tests::gateway::{Answer, End, Gate, Gateway, Items, Reply, Request, Step, script};

const CEILING: Duration = Duration::from_secs(20);

fn ask(socket: &mut TcpStream, body: &str) {
    let head = format!(
        "POST /api/v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Note: Ä\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + body).as_bytes()).unwrap();
}

fn connect(gateway: &Gateway) -> TcpStream {
    let socket = TcpStream::connect(gateway.address()).unwrap();
    socket.set_read_timeout(Some(CEILING)).unwrap();
    socket
}

/// Reads until a text has come.
fn read_to(socket: &mut TcpStream, end: &str) -> String {
    let mut all = Vec::new();
    let mut byte = [0];
    while !all.ends_with(end.as_bytes()) {
        match socket.read(&mut byte) {
            Ok(1) => all.push(byte[0]),
            other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&all)),
        }
    }
    String::from_utf8(all).unwrap()
}

#[test]
fn a_request_is_recorded_whole_and_answered_in_exact_chunks() {
    let gateway = Gateway::lenient(script([
        Reply::stream(["data: a\n\n", "da", "ta: b\n\n"]),
        Reply::stream(["x"]),
    ]));
    let mut socket = connect(&gateway);
    ask(&mut socket, "{\"a\":1}");
    let reply = read_to(&mut socket, "\r\n0\r\n\r\n");
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
    assert!(
        reply.ends_with("\r\n\r\n9\r\ndata: a\n\n\r\n2\r\nda\r\n7\r\nta: b\n\n\r\n0\r\n\r\n"),
        "{reply}"
    );
    ask(&mut socket, "");
    read_to(&mut socket, "\r\n0\r\n\r\n");
    let requests = gateway.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(&*requests[0].body, b"{\"a\":1}");
    assert_eq!(requests[0].header("x-note"), Some("Ä"));
    assert_eq!(requests[0].path, "/api/v1/chat/completions");
    assert_eq!((requests[1].number, requests[1].connection), (1, 0));
    assert_eq!(gateway.sent_whole(0, CEILING), Some(true));
}

#[test]
fn chunked_requests_are_read_too() {
    let gateway = Gateway::lenient(|_: &Request, _| Reply::status(200, "{}"));
    let mut socket = connect(&gateway);
    socket
        .write_all(
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        )
        .unwrap();
    read_to(&mut socket, "\r\n\r\n{}");
    assert_eq!(&*gateway.requests()[0].body, b"abcde");
}

#[test]
fn a_reply_can_close_or_reset_in_the_middle() {
    let gateway = Gateway::lenient(script([
        Reply::stream(["abc"]).ending(End::Close),
        Reply::stream(["abc"])
            .then(Step::Pause(Duration::from_millis(50)))
            .ending(End::Reset),
    ]));
    let mut socket = connect(&gateway);
    ask(&mut socket, "{}");
    let mut rest = String::new();
    socket.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("3\r\nabc\r\n"), "{rest}");

    let mut socket = connect(&gateway);
    ask(&mut socket, "{}");
    let error = socket.read_to_string(&mut rest).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn a_held_reply_waits_for_the_test() {
    let gate = Gate::new();
    let held = Reply::stream(["a", "b"]).insert(1, Step::Hold(gate.clone()));
    let gateway = Gateway::lenient(script([held]));
    let mut socket = connect(&gateway);
    ask(&mut socket, "{}");
    read_to(&mut socket, "\r\na\r\n");
    assert!(gate.wait_reached(1, CEILING));
    assert_eq!(gateway.exchanges()[0].sent_whole, None);
    gate.open();
    read_to(&mut socket, "\r\nb\r\n0\r\n\r\n");
}

#[test]
fn a_peer_that_hangs_up_is_noticed() {
    let gateway = Gateway::lenient(script([Reply::stream(["a"]).ending(End::HoldOpen)]));
    let mut socket = connect(&gateway);
    ask(&mut socket, "{}");
    read_to(&mut socket, "\r\na\r\n");
    drop(socket);
    assert_eq!(gateway.sent_whole(0, CEILING), Some(false));
}

#[test]
fn a_request_no_strict_provider_takes_is_answered_400_and_kept() {
    let gateway = Gateway::start(|_: &Request, _| Answer::text("never"));
    let mut socket = connect(&gateway);
    ask(&mut socket, &json!({ "messages": [] }).to_string());
    let reply = read_to(&mut socket, "}}");
    assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
    assert!(!gateway.violations().is_empty());
}

#[test]
fn deltas_are_cut_as_asked() {
    let answer = Answer::text("äbc")
        .and_call_as("a", "shell", "{\"x\":1}")
        .and_call_as("b", "shell", "{}")
        .in_deltas_of(2);
    let payloads = answer.payloads();
    let texts: Vec<&String> = payloads
        .iter()
        .filter(|p| p.contains("\"content\":\""))
        .collect();
    assert_eq!(texts.len(), 3, "role, then two pieces of text: {texts:?}");
    assert!(
        payloads
            .iter()
            .any(|p| p.contains(r#""id":"a","type":"function""#))
    );
    assert_eq!(
        payloads
            .iter()
            .filter(|p| p.contains(r#""index":0,"id":"a""#))
            .count(),
        1
    );
    let every = Answer {
        indexed: false,
        ids_everywhere: true,
        ..answer
    };
    let payloads = every.payloads();
    assert_eq!(
        payloads
            .iter()
            .filter(|p| p.contains(r#""id":"a""#))
            .count(),
        4
    );
    assert!(
        !payloads
            .iter()
            .any(|p| p.contains(r#"[{"index""#) && p.contains("tool_calls\":[{\"index"))
    );
}

#[test]
fn reasoning_items_are_cut_as_asked() {
    let item = json!({ "type": "reasoning.text", "text": "äbcdefg", "signature": "s", "index": 0 });
    let deltas = |items: Items| {
        let answer = Answer {
            items,
            ..Answer::text("x").with_items(json!([item]))
        };
        let payloads = answer.payloads();
        payloads
            .iter()
            .filter_map(|payload| serde_json::from_str::<serde_json::Value>(payload).ok())
            .map(|chunk| chunk["choices"][0]["delta"]["reasoning_details"][0].clone())
            .filter(|item| !item.is_null())
            .collect::<Vec<_>>()
    };
    assert_eq!(deltas(Items::Together), std::slice::from_ref(&item));
    assert_eq!(deltas(Items::Apart), std::slice::from_ref(&item));
    assert_eq!(
        deltas(Items::InPieces),
        [
            json!({ "type": "reasoning.text", "text": "äbcde", "index": 0 }),
            json!({ "type": "reasoning.text", "text": "fg", "index": 0 }),
            json!({ "type": "reasoning.text", "signature": "s", "index": 0 }),
        ]
    );
}

#[test]
fn the_lean_gateway_counts_and_answers_in_order() {
    let lean = Lean::start([Reply::stream(["one"]), Reply::stream(["two"])]);
    let mut socket = TcpStream::connect(lean.address()).unwrap();
    socket.set_read_timeout(Some(CEILING)).unwrap();
    for (body, reply) in [("{}", "one"), ("{\"a\":1}", "two"), ("x", "two")] {
        ask(&mut socket, body);
        read_to(&mut socket, &format!("\r\n\r\n{reply}"));
    }
    let seen = lean.seen();
    assert_eq!(seen.bodies, [2, 7, 1]);
    assert!(seen.first_byte.is_some());
    assert_eq!(seen.first_body, b"{}");
}
