//! The fake gateway: a server on a real socket that stands where a model provider stands.
//!
//! It reads requests whole and keeps them, asks a [`Responder`] what to answer, and sends that
//! byte by byte as the [`Reply`] says. The strict [`check::Checker`] looks at every chat request
//! first: a request that no strict provider would take is answered 400 and kept as a violation.
//!
//! Always true: requests are numbered in the order their last byte arrived; a responder is asked
//! once a request, one at a time; dropping the gateway closes every connection and joins.

pub mod answer;
pub mod cache;
pub mod check;
mod clock;
pub mod crowd;
mod fault;
mod gate;
mod generation;
pub mod lean;
pub mod ledger;
pub mod prices;
mod providers;
mod reply;
mod request;
mod wire;

use std::fmt::Write as _;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub use answer::{Answer, Arguments, Items, usage};
pub use cache::Family;
pub use check::{Checker, Strict};
pub use clock::Clock;
pub use fault::Fault;
pub use gate::Gate;
pub use generation::Lookups;
pub use providers::{Market, Provider};
pub use reply::{End, Framing, Reply, Said, Step};
pub use request::{Request, content_text};

use wire::Connection;

/// How often a silent gateway looks whether its peer has hung up.
const LOOK: Duration = Duration::from_millis(10);

/// Decides what a request is answered with.
pub trait Responder: Send + 'static {
    /// The reply to request `n` (from 0, in order of arrival).
    fn reply(&mut self, request: &Request, n: usize) -> Reply;
}

impl<F, R> Responder for F
where
    F: FnMut(&Request, usize) -> R + Send + 'static,
    R: Into<Reply>,
{
    fn reply(&mut self, request: &Request, n: usize) -> Reply {
        self(request, n).into()
    }
}

/// Answers requests from a list, in order; past its end 500 says so.
pub fn script<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> impl Responder {
    let mut replies: std::collections::VecDeque<Reply> =
        replies.into_iter().map(Into::into).collect();
    move |_: &Request, n: usize| {
        replies
            .pop_front()
            .unwrap_or_else(|| Reply::error(500, &format!("the script has no reply {n}")))
    }
}

/// A running gateway.
pub struct Gateway {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What became of one request.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The request.
    pub request: Arc<Request>,
    /// Whether its reply was sent to its end; `None` while it is under way.
    pub sent_whole: Option<bool>,
}

struct Shared {
    responder: Mutex<Box<dyn Responder>>,
    checker: Mutex<Option<Checker>>,
    log: Mutex<Log>,
    changed: Condvar,
    stopping: AtomicBool,
    connections: AtomicUsize,
}

#[derive(Default)]
struct Log {
    exchanges: Vec<Exchange>,
    violations: Vec<String>,
    sockets: Vec<TcpStream>,
}

impl Gateway {
    /// Starts one with the strict checker, the prefix rule included.
    pub fn start(responder: impl Responder) -> Self {
        Self::with_checker(Some(Strict::default()), responder)
    }

    /// Starts one that takes any request.
    pub fn lenient(responder: impl Responder) -> Self {
        Self::with_checker(None, responder)
    }

    /// Starts one with the checker given.
    pub fn with_checker(strict: Option<Strict>, responder: impl Responder) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            responder: Mutex::new(Box::new(responder)),
            checker: Mutex::new(strict.map(Checker::new)),
            log: Mutex::default(),
            changed: Condvar::new(),
            stopping: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
        });
        let acceptor = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Self {
            address,
            shared,
            acceptor: Some(acceptor),
        }
    }

    /// What `OPENROUTER_BASE_URL` is set to.
    pub fn url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        let log = self.shared.log();
        log.exchanges
            .iter()
            .map(|exchange| Arc::clone(&exchange.request))
            .collect()
    }

    /// Every request so far and what became of it.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.shared.log().exchanges.clone()
    }

    /// Waits until `count` requests have come, at most `ceiling`; true if they have.
    pub fn wait_for(&self, count: usize, ceiling: Duration) -> bool {
        self.until(ceiling, |log| log.exchanges.len() >= count)
    }

    /// Waits until request `n` was answered to its end or its peer was seen to hang up, at most
    /// `ceiling`; whether the reply was sent whole, `None` where neither has happened.
    pub fn sent_whole(&self, n: usize, ceiling: Duration) -> Option<bool> {
        let sent = |log: &Log| {
            log.exchanges
                .get(n)
                .and_then(|exchange| exchange.sent_whole)
        };
        self.until(ceiling, |log| sent(log).is_some());
        sent(&self.shared.log())
    }

    fn until(&self, ceiling: Duration, holds: impl Fn(&Log) -> bool) -> bool {
        let end = Instant::now() + ceiling;
        let mut log = self.shared.log();
        while !holds(&log) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            log = self
                .shared
                .changed
                .wait_timeout(log, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    /// Tells the strict checker that another run begins, with a routing key of its own. What was
    /// found so far stays.
    pub fn next_run(&self) {
        let mut checker = self
            .shared
            .checker
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(checker) = checker.as_mut() {
            checker.next_run();
        }
    }

    /// What the strict checker found so far, a sentence each.
    pub fn violations(&self) -> Vec<String> {
        self.shared.log().violations.clone()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        for socket in &self.shared.log().sockets {
            socket.shutdown(Shutdown::Both).ok();
        }
        // Wakes the acceptor, which then sees that it is to stop.
        TcpStream::connect(self.address).ok();
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().ok();
        }
    }
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut servers = Vec::new();
    while let Ok((socket, _)) = listener.accept() {
        if shared.stopping() {
            break;
        }
        if let Ok(copy) = socket.try_clone() {
            shared.log().sockets.push(copy);
        }
        let number = shared.connections.fetch_add(1, Ordering::SeqCst);
        servers.push(std::thread::spawn({
            let shared = Arc::clone(shared);
            move || serve(Connection::new(socket), number, &shared)
        }));
    }
    for server in servers {
        server.join().ok();
    }
}

fn serve(mut connection: Connection, number: usize, shared: &Shared) {
    while let Ok(Some(head)) = connection.read_head() {
        let Ok(body) = connection.read_body(&head) else {
            break;
        };
        let request = {
            let mut log = shared.log();
            let request = Arc::new(Request {
                number: log.exchanges.len(),
                connection: number,
                method: head.method,
                path: head.path,
                headers: head.headers,
                body: body.into(),
                arrived: Instant::now(),
            });
            log.exchanges.push(Exchange {
                request: Arc::clone(&request),
                sent_whole: None,
            });
            request
        };
        shared.changed.notify_all();
        let reply = answer_to(&request, shared);
        let sent = send(&mut connection, &reply, shared);
        shared.log().exchanges[request.number].sent_whole = Some(sent.is_ok());
        shared.changed.notify_all();
        let lives = reply.end == End::Complete
            && matches!(reply.framing, Framing::Chunked | Framing::Length);
        if reply.end == End::Reset {
            connection.reset_on_close();
        }
        if sent.is_err() || !lives || shared.stopping() {
            // The copy kept for stopping would hold the socket open past its drop here.
            let address = connection.socket().peer_addr().ok();
            let mut log = shared.log();
            log.sockets
                .retain(|socket| socket.peer_addr().ok() != address);
            if reply.end != End::Reset {
                connection.socket().shutdown(Shutdown::Both).ok();
            }
            return;
        }
    }
}

fn answer_to(request: &Request, shared: &Shared) -> Reply {
    let mut checker = shared
        .checker
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(checker) = checker.as_mut()
        && request.path.ends_with("/chat/completions")
    {
        let faults = checker.request(&request.body);
        if !faults.is_empty() {
            let faults: Vec<String> = faults
                .into_iter()
                .map(|fault| format!("request {}: {fault}", request.number))
                .collect();
            let reply = Reply::error(400, &faults.join("; "));
            shared.log().violations.extend(faults);
            return reply;
        }
    }
    let reply = {
        let mut responder = shared
            .responder
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let asked = AssertUnwindSafe(|| responder.reply(request, request.number));
        catch_unwind(asked).unwrap_or_else(|panic| {
            // An assertion in a script must fail its test, which stands on another thread.
            let why = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_default();
            let fault = format!("request {}: the script panicked: {why}", request.number);
            shared.log().violations.push(fault.clone());
            Reply::error(400, &fault)
        })
    };
    if let (Some(checker), Some(said)) = (checker.as_mut(), &reply.said) {
        checker.said(said);
    }
    reply
}

fn send(connection: &mut Connection, reply: &Reply, shared: &Shared) -> std::io::Result<()> {
    if reply.framing != Framing::Bare {
        connection.write(head_of(reply).as_bytes())?;
    }
    for step in &reply.steps {
        match step {
            Step::Bytes(bytes) if reply.framing == Framing::Chunked => {
                connection.write_chunk(bytes)?;
            }
            Step::Bytes(bytes) => connection.write(bytes)?,
            Step::Pause(time) => silence(connection, shared, Some(*time), None)?,
            Step::Hold(gate) => {
                gate.reach();
                silence(connection, shared, None, Some(gate))?;
            }
        }
    }
    match reply.end {
        End::Complete if reply.framing == Framing::Chunked => connection.write(b"0\r\n\r\n"),
        End::HoldOpen => silence(connection, shared, None, None),
        End::Complete | End::Close | End::Reset => Ok(()),
    }
}

fn head_of(reply: &Reply) -> String {
    let mut head = format!("HTTP/1.1 {} {}\r\n", reply.status, reason(reply.status));
    for (name, value) in &reply.headers {
        write!(head, "{name}: {value}\r\n").ok();
    }
    match reply.framing {
        Framing::Chunked => head.push_str("Transfer-Encoding: chunked\r\n"),
        Framing::Length => {
            write!(head, "Content-Length: {}\r\n", reply.bytes().len()).ok();
        }
        Framing::Close | Framing::Bare => head.push_str("Connection: close\r\n"),
    }
    head.push_str("\r\n");
    head
}

/// Sends nothing for a time, or until a gate opens, or for ever; an error once the peer hung up.
fn silence(
    connection: &Connection,
    shared: &Shared,
    time: Option<Duration>,
    gate: Option<&Gate>,
) -> std::io::Result<()> {
    let end = time.map(|time| Instant::now() + time);
    loop {
        let left = end.map_or(LOOK, |end| {
            end.saturating_duration_since(Instant::now()).min(LOOK)
        });
        if left.is_zero() {
            return Ok(());
        }
        match gate {
            Some(gate) if gate.wait(left) => return Ok(()),
            Some(_) => {}
            None => std::thread::sleep(left),
        }
        if shared.stopping() || connection.peer_gone() {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Payload Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
