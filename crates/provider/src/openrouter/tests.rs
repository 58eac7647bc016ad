//! Attempts against a server that sends what it is told, byte for byte.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use vocab::candidate::Candidate;
use vocab::ids::{ModelId, RoutingKey};
use vocab::message::Message;

use super::*;
use crate::degraded::RoutingFields;
use crate::request::{CacheLifetime, Head, ModelRequest, Thread, ToolChoice, body, toolset};

/// What the server does with a request, in order.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Send(Vec<u8>),
    Pause(u64),
    /// Keeps the connection open and silent.
    Hold,
    /// Closes the connection in order.
    Close,
    /// Resets the connection.
    Reset,
}

pub(super) use Act::{Close, Hold, Pause, Reset, Send};

/// A server that plays one script a request, and what it saw.
pub(super) struct Server {
    base: String,
    pub(super) seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
pub(super) struct Seen {
    connections: usize,
    pub(super) requests: Vec<(String, Vec<u8>)>,
}

impl Server {
    pub(super) async fn start(scripts: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/api/v1", listener.local_addr().unwrap());
        let seen = Arc::<Mutex<Seen>>::default();
        let scripts = Arc::new(Mutex::new(scripts.into_iter()));
        let server = Self {
            base,
            seen: Arc::clone(&seen),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                seen.lock().unwrap().connections += 1;
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&scripts)));
            }
        });
        server
    }

    pub(super) fn endpoint(&self) -> Endpoint {
        Endpoint::new(&self.base, Credential::new("sk-secret")).unwrap()
    }

    async fn ask(&self, http: &reqwest::Client, limits: AttemptLimits) -> Result<Reply, Fault> {
        attempt(
            http,
            &self.endpoint(),
            request(),
            Terms {
                asked: Some(&"Acme".into()),
                limits,
                knobs: Some(KNOBS),
            },
        )
        .await
    }

    async fn ask_once(&self) -> Result<Reply, Fault> {
        self.ask(&client(&self.endpoint()).unwrap(), LIMITS).await
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Seen>>,
    scripts: Arc<Mutex<std::vec::IntoIter<Vec<Act>>>>,
) {
    loop {
        let Some(request) = read_request(&mut stream).await else {
            return;
        };
        seen.lock().unwrap().requests.push(request);
        let script = scripts
            .lock()
            .unwrap()
            .next()
            .expect("a script for every request");
        for act in script {
            match act {
                Send(bytes) => {
                    // A client that went away is a test's business, not the server's.
                    if stream.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                Pause(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                Hold => std::future::pending().await,
                Close => return,
                Reset => return stream.set_zero_linger().unwrap(),
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec())
        .unwrap()
        .to_lowercase();
    let length: usize = if head.starts_with("get ") {
        0
    } else {
        head.lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .expect("an exact length")
            .parse()
            .unwrap()
    };
    while bytes.len() < head_end + length {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0);
    }
    assert_eq!(bytes.len(), head_end + length);
    Some((head, bytes.split_off(head_end)))
}

const LIMITS: AttemptLimits = AttemptLimits {
    whole: Duration::from_secs(60),
    idle: Duration::from_secs(30),
};

const KNOBS: Knobs = Knobs {
    window_words: 256,
    repeat_threshold: 32,
    min_offenders: 2,
    min_saturated_run: 3000,
    max_response_chars: 250_000,
};

const UNARMED: Terms<'_> = Terms {
    asked: None,
    limits: LIMITS,
    knobs: None,
};

/// Long enough to be sealed and sent in several parts.
fn request() -> Body {
    let mut thread = Thread::new();
    for length in [10, 50_000, 40_000, 10] {
        thread.push(&Message::System {
            text: "é".repeat(length).into(),
        });
    }
    let request = ModelRequest {
        thread: thread.snapshot(),
        signal: None,
        toolset: Arc::new(toolset(&[])),
        tool_choice: ToolChoice::Auto,
        rewritten: None,
    };
    let candidate = Candidate {
        provider: "Acme".into(),
        quantization: "fp8".to_owned(),
    };
    let head = Head {
        model: &ModelId::from("acme/coder-1"),
        candidate: Some(&candidate),
        routing_key: &RoutingKey::from("k3"),
        reasoning: None,
        lifetime: CacheLifetime::Default,
        dropped: RoutingFields::default(),
    };
    body(&head, &request)
}

fn send(text: &str) -> Act {
    Send(text.as_bytes().to_vec())
}

/// A response head for a stream whose end is told by chunked framing.
fn head() -> Act {
    send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
}

fn piece(text: &str) -> Act {
    send(&format!("{:x}\r\n{text}\r\n", text.len()))
}

fn last() -> Act {
    send("0\r\n\r\n")
}

fn event(data: &Value) -> Act {
    piece(&format!("data: {data}\n\n"))
}

fn content(text: &str) -> Act {
    event(&json!({ "provider": "Acme", "choices": [{ "delta": { "content": text } }] }))
}

fn stop() -> Act {
    event(&json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }))
}

fn done() -> Act {
    piece("data: [DONE]\n\n")
}

fn good(text: &str) -> Vec<Act> {
    vec![head(), content(text), stop(), done(), last()]
}

pub(super) fn status(line: &str, headers: &str, body: &str) -> Vec<Act> {
    vec![send(&format!(
        "HTTP/1.1 {line}\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    ))]
}

#[tokio::test]
async fn turns_share_one_connection_and_send_exact_lengths() {
    let mut scripts = vec![good("one"), good("two")];
    // The end of the stream may come a moment after its announcement.
    scripts[0].insert(4, Pause(60));
    scripts.push(status("500 Oops", "", "busy"));
    scripts.push(good("three"));
    let server = Server::start(scripts).await;
    let http = client(&server.endpoint()).unwrap();
    assert_eq!(
        server.ask(&http, LIMITS).await.unwrap().text.as_deref(),
        Some("one")
    );
    // The command a turn runs: time in which the connection comes back.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(
        server.ask(&http, LIMITS).await.unwrap().text.as_deref(),
        Some("two")
    );
    assert_eq!(
        server.ask(&http, LIMITS).await.unwrap_err().status(),
        Some(500)
    );
    assert_eq!(
        server.ask(&http, LIMITS).await.unwrap().text.as_deref(),
        Some("three")
    );
    let seen = server.seen.lock().unwrap();
    assert_eq!(seen.connections, 1);
    for (head, body) in &seen.requests {
        assert!(
            head.starts_with("post /api/v1/chat/completions http/1.1\r\n"),
            "{head}"
        );
        assert!(
            head.contains("\r\nauthorization: bearer sk-secret\r\n"),
            "{head}"
        );
        assert!(!head.contains("transfer-encoding"), "{head}");
        assert_eq!(*body, request().to_vec());
        assert!(serde_json::from_slice::<Value>(body).is_ok());
    }
}

#[tokio::test]
async fn characters_cut_between_writes_arrive_whole() {
    let chunk = json!({ "choices": [{ "delta": { "content": "日𝄞" } }] });
    let text = format!("data: {chunk}\r\n\r\ndata: [DONE]\r\n\r\n");
    let mut script = vec![head()];
    for byte in text.bytes() {
        script.push(Send(vec![b'1', b'\r', b'\n', byte, b'\r', b'\n']));
        script.push(Pause(0));
    }
    script.push(last());
    let reply = Server::start(vec![script]).await.ask_once().await.unwrap();
    assert_eq!(reply.text.as_deref(), Some("日𝄞"));
}

const SHORT: AttemptLimits = AttemptLimits {
    whole: Duration::from_secs(30),
    idle: Duration::from_millis(300),
};

async fn ask_within(script: Vec<Act>, limits: AttemptLimits) -> Result<Reply, Fault> {
    let server = Server::start(vec![script]).await;
    server
        .ask(&client(&server.endpoint()).unwrap(), limits)
        .await
}

fn keep_alive(mut script: Vec<Act>, act: &Act) -> Vec<Act> {
    for _ in 0..400 {
        script.extend([act.clone(), Pause(50)]);
    }
    script
}

#[tokio::test]
async fn comments_do_not_end_a_silence() {
    let script = keep_alive(vec![head(), content("half")], &piece(": keepalive\n\n"));
    let fault = ask_within(script, SHORT).await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "stalled: nothing of a reply for 1 s from `Acme`"
    );
    let fault = ask_within(vec![Hold], SHORT).await.unwrap_err();
    assert!(
        matches!(fault, Fault::Stall { provider: None, .. }),
        "{fault:?}"
    );
    let fault = ask_within(vec![head(), Hold], SHORT).await.unwrap_err();
    assert!(matches!(fault, Fault::Stall { .. }), "{fault:?}");
}

#[tokio::test]
async fn content_restarts_the_silence_but_not_the_whole_call() {
    let script = keep_alive(vec![head()], &content("on and on "));
    let limits = AttemptLimits {
        whole: Duration::from_millis(1200),
        ..SHORT
    };
    let fault = ask_within(script, limits).await.unwrap_err();
    let Fault::Timeout { secs, provider } = fault else {
        panic!("{fault:?}")
    };
    assert_eq!((secs, provider), (2, Some("Acme".into())));
}

#[tokio::test]
async fn behind_the_finish_reason_nothing_can_spoil_a_reply() {
    for end in [Hold, Reset, Close] {
        let script = vec![head(), content("hi"), stop(), Pause(100), end.clone()];
        let reply = ask_within(script, SHORT).await.unwrap();
        assert_eq!(reply.text.as_deref(), Some("hi"), "{end:?}");
    }
    let script = vec![head(), content("hi"), done(), Hold];
    assert!(ask_within(script, SHORT).await.is_ok());
}

#[tokio::test]
async fn a_connection_that_ends_inside_a_reply_is_a_transport_fault() {
    for end in [Reset, Close, last(), send("zz\r\n")] {
        let script = vec![head(), content("half"), Pause(100), end.clone(), Close];
        let fault = ask_within(script, LIMITS).await.unwrap_err();
        let Fault::Transport { provider, .. } = &fault else {
            panic!("{end:?}: {fault:?}")
        };
        assert_eq!(provider, &Some("Acme".into()), "{end:?}");
    }
    for script in [vec![Close], vec![Reset], vec![send("junk\r\n\r\n"), Close]] {
        let fault = ask_within(script.clone(), LIMITS).await.unwrap_err();
        assert!(
            matches!(fault, Fault::Transport { .. }),
            "{script:?}: {fault:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_ended_by_closing_is_read() {
    let data = json!({ "choices": [{ "delta": { "content": "hi" }, "finish_reason": "stop" }] });
    let text = format!("HTTP/1.0 200 OK\r\n\r\ndata: {data}\n\n");
    let reply = ask_within(vec![send(&text), Close], LIMITS).await.unwrap();
    assert_eq!(reply.text.as_deref(), Some("hi"));
}

#[tokio::test]
async fn nobody_listening_is_a_transport_fault_that_names_the_place() {
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", Credential::new("k")).unwrap();
    let http = client(&endpoint).unwrap();
    let fault = attempt(&http, &endpoint, request(), UNARMED)
        .await
        .unwrap_err();
    assert_eq!(
        fault.to_string(),
        "transport failure: no connection to `127.0.0.1:1`: Connection refused (os error 111)"
    );
}

#[tokio::test]
async fn without_a_credential_nothing_is_sent() {
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", None).unwrap();
    let http = client(&endpoint).unwrap();
    let fault = attempt(&http, &endpoint, request(), UNARMED)
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::MissingCredential));
}

#[tokio::test]
async fn a_refusal_keeps_status_body_and_wait() {
    let wait = |header: &str, line: &str| {
        let script = status(line, &format!("retry-after: {header}\r\n"), "slow down");
        async move {
            let fault = ask_within(script, LIMITS).await.unwrap_err();
            assert_eq!(fault.body(), Some("slow down"));
            fault.retry_after()
        }
    };
    assert_eq!(wait("7", "429 Slow").await, Some(Duration::from_secs(7)));
    assert_eq!(
        wait("1.5", "503 Busy").await,
        Some(Duration::from_millis(1500))
    );
    assert_eq!(wait("soon", "429 Slow").await, None);
    assert_eq!(wait("-3", "429 Slow").await, None);
    assert_eq!(
        wait("7", "500 Oops").await,
        None,
        "only where the header has a meaning"
    );
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(60));
    let left = wait(&date, "429 Slow").await.unwrap();
    assert!((50..=60).contains(&left.as_secs()), "{left:?}");
}

#[tokio::test]
async fn a_refusal_that_never_ends_is_still_what_its_head_says() {
    let script = vec![
        send("HTTP/1.1 503 Busy\r\ncontent-length: 99\r\n\r\nhalf"),
        Hold,
    ];
    let fault = ask_within(script, SHORT).await.unwrap_err();
    assert_eq!((fault.status(), fault.body()), (Some(503), Some("half")));
}

#[tokio::test]
async fn the_credential_is_masked_where_a_server_echoes_it() {
    let script = status("401 No", "", "bad key: Bearer sk-secret");
    let fault = ask_within(script, LIMITS).await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "credential refused (401): bad key: Bearer [credential]"
    );
}

#[tokio::test]
async fn a_redirect_is_named_and_not_followed() {
    let script = status(
        "302 Found",
        "location: https://elsewhere.example/v1\r\n",
        "",
    );
    let fault = ask_within(script, LIMITS).await.unwrap_err();
    assert!(
        matches!(fault, Fault::Rejected { status: 302, .. }),
        "{fault:?}"
    );
    assert!(
        fault
            .body()
            .unwrap()
            .contains("`https://elsewhere.example/v1`")
    );
}

#[tokio::test]
async fn json_instead_of_a_stream_is_read_as_what_it_is() {
    let error = r#"{"error":{"code":429,"message":"slow down"}}"#;
    let fault = ask_within(status("200 OK", "", error), LIMITS)
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::RateLimited { .. }), "{fault:?}");
    let whole = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let reply = ask_within(status("200 OK", "", whole), LIMITS)
        .await
        .unwrap();
    assert_eq!(reply.text.as_deref(), Some("hi"));
    let page = "<!doctype html><title>Sign in</title>";
    let fault = ask_within(status("200 OK", "", page), LIMITS)
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::Parse { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_reply_that_loops_is_dropped_unread_with_its_size_and_id() {
    let opening = json!({
        "id": "gen-7", "provider": "Acme", "choices": [{ "delta": { "reasoning": "I see." } }],
    });
    let said = |text: &str| json!({ "choices": [{ "delta": { "content": text } }] });
    let mut script = vec![head(), event(&opening)];
    script.extend(std::iter::repeat_n(event(&said("void 0;\n")), 1532));
    script.extend([event(&said("void")), event(&said(" "))]);
    // What is never read, on a connection that is never ended.
    script.extend([event(&said("and on")), Hold]);
    let server = Server::start(vec![script, good("better")]).await;
    let http = client(&server.endpoint()).unwrap();
    let fault = server.ask(&http, LIMITS).await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "looping reply from `Acme` abandoned after 3067 words, 12267 characters"
    );
    let Fault::Looped { generation, .. } = fault else {
        panic!("{fault:?}")
    };
    assert_eq!(generation, Some("gen-7".into()));
    let again = server.ask(&http, LIMITS).await.unwrap();
    assert_eq!(again.text.as_deref(), Some("better"));
    assert_eq!(server.seen.lock().unwrap().connections, 2);
}

#[tokio::test]
async fn another_provider_ends_the_attempt_at_once() {
    let other = event(&json!({ "provider": "Other", "choices": [] }));
    let fault = ask_within(vec![head(), other, Hold], LIMITS)
        .await
        .unwrap_err();
    assert!(matches!(fault, Fault::ProviderMismatch { .. }), "{fault:?}");
}

#[tokio::test]
async fn dropping_an_attempt_closes_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let endpoint = Endpoint::new(&base, Credential::new("k")).unwrap();
    let http = client(&endpoint).unwrap();
    let asking = tokio::spawn(async move {
        attempt(&http, &endpoint, request(), UNARMED)
            .await
            .map(|_| ())
    });
    let (mut stream, _) = listener.accept().await.unwrap();
    read_request(&mut stream).await.unwrap();
    asking.abort();
    let mut rest = Vec::new();
    // End of file, or a reset: either way the exchange is over.
    let ended = timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
    assert!(ended.is_ok());
}
