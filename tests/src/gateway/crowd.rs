//! The crowd's gateway: serves a family of agents at a latency, for benches of many agents.
//!
//! Like the lean gateway it parses no JSON: who asks is read off the bytes of the body. The root
//! is who may start others; a worker is known by its turn, which is the number of replies its
//! window holds. A bare loop says so itself, in the first bytes of a body that is no JSON.
//!
//! Always true: a reply leaves no earlier than the latency after its request's last byte; what is
//! held leaves when it is let go, or with the gateway's end.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Answer;
use super::lean::prepared;
use super::wire::Connection;

/// Connections that may wait to be accepted: a crowd opens hundreds at one moment.
const BACKLOG: i32 = 8_192;

/// What is played.
#[derive(Clone, Debug)]
pub struct Play {
    /// Workers the root starts in its first reply.
    pub workers: usize,
    /// Requests of each worker.
    pub turns: usize,
    /// From a request's last byte to its reply.
    pub latency: Duration,
    /// The command of every worker's turn but the last; without one it reads a file.
    pub command: Option<String>,
    /// Where the last request of every worker is held: the agents that the root then starts, one a
    /// turn.
    pub newcomers: Option<usize>,
}

/// Who sent a request, and how many replies it had before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Root(usize),
    Worker(usize),
    Newcomer,
}

/// What a crowd's gateway saw. Times are milliseconds from its start.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Requests.
    pub requests: usize,
    /// When the last byte of the first request was there.
    pub first: f64,
    /// When the last reply had been sent.
    pub last: f64,
    /// When each of the root's replies had been sent.
    pub root_sent: Vec<f64>,
    /// When the last byte of each newcomer's first request was there.
    pub newcomers: Vec<f64>,
    /// Bytes of the root's bodies, by turn.
    pub root_bodies: Vec<usize>,
    /// Bytes of a worker's bodies, by turn: the first that came.
    pub worker_bodies: Vec<usize>,
    /// Bytes of the messages in a worker's last body: its window.
    pub window: usize,
    /// Most requests between their last byte and their reply.
    pub in_flight: usize,
}

#[derive(Debug, Default)]
struct State {
    seen: Seen,
    in_flight: usize,
    held: usize,
    let_go: bool,
}

struct Shared {
    play: Play,
    begun: Instant,
    root: Vec<Vec<u8>>,
    worker: Vec<Vec<u8>>,
    state: Mutex<State>,
    changed: Condvar,
    sockets: Mutex<Vec<TcpStream>>,
    stopping: AtomicBool,
}

/// A running gateway for a crowd. Its threads end with the process.
pub struct Crowd {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Crowd {
    /// Starts one.
    ///
    /// # Panics
    ///
    /// Where this machine has no loopback port to listen on.
    pub fn start(play: Play) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        rustix::net::listen(&listener, BACKLOG).expect("a listening socket may listen longer");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            root: root_replies(&play),
            worker: worker_replies(&play),
            play,
            begun: Instant::now(),
            state: Mutex::default(),
            changed: Condvar::new(),
            sockets: Mutex::default(),
            stopping: AtomicBool::new(false),
        });
        std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                while let Ok((socket, _)) = listener.accept() {
                    if shared.stopping.load(Ordering::SeqCst) {
                        break;
                    }
                    if let Ok(copy) = socket.try_clone() {
                        lock(&shared.sockets).push(copy);
                    }
                    let shared = Arc::clone(&shared);
                    std::thread::spawn(move || serve(Connection::new(socket), &shared));
                }
            }
        });
        Self { address, shared }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What `OPENROUTER_BASE_URL` is set to.
    pub fn url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }

    /// Waits until every worker is held and every newcomer has asked.
    pub fn all_held(&self) {
        let newcomers = self.shared.play.newcomers.unwrap_or_default();
        let mut state = lock(&self.shared.state);
        while state.held < self.shared.play.workers || state.seen.newcomers.len() < newcomers {
            state = wait(&self.shared.changed, state);
        }
    }

    /// Lets go what is held.
    pub fn let_go(&self) {
        lock(&self.shared.state).let_go = true;
        self.shared.changed.notify_all();
    }

    /// What it saw so far.
    pub fn seen(&self) -> Seen {
        lock(&self.shared.state).seen.clone()
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        self.let_go();
        for socket in lock(&self.shared.sockets).iter() {
            socket.shutdown(Shutdown::Both).ok();
        }
        // The acceptor looks up from its wait and ends.
        TcpStream::connect(self.address).ok();
    }
}

/// The root's replies by turn: everybody, then the newcomers one by one, then the end.
fn root_replies(play: &Play) -> Vec<Vec<u8>> {
    let spawn = |answer: Answer, n: usize, task: &str| {
        let arguments = json!({ "agent": "worker", "prompt": task }).to_string();
        answer.and_call_as(&format!("spawn_{n}"), "spawn_subagent", &arguments)
    };
    let everybody = (0..play.workers).fold(Answer::default(), |answer, n| {
        spawn(answer, n, &format!("You are worker {n}."))
    });
    let wait = |answer: Answer| answer.and_call_as("wait", "wait_for_subagents", "{}");
    let finish = Answer::default().and_call_as("end", "finish", "{\"summary\":\"Done.\"}");
    let mut replies = Vec::new();
    match play.newcomers {
        None => replies.push(wait(everybody)),
        Some(newcomers) => {
            replies.push(everybody);
            for n in 0..newcomers {
                replies.push(spawn(Answer::default(), n, NEWCOMER));
            }
            replies.push(wait(Answer::default()));
        }
    }
    replies.push(finish);
    replies.into_iter().map(|it| prepared(&it.into())).collect()
}

/// The task of a newcomer, by which it is known.
const NEWCOMER: &str = "You are a newcomer.";

fn worker_replies(play: &Play) -> Vec<Vec<u8>> {
    let call = |turn: usize| {
        let id = format!("call_{turn}");
        match &play.command {
            Some(command) => {
                let arguments = json!({ "command": command }).to_string();
                Answer::default().and_call_as(&id, "shell", &arguments)
            }
            None => Answer::default().and_call_as(&id, "read_file", "{\"path\":\"notes.txt\"}"),
        }
    };
    let finish = Answer::default().and_call_as("end", "finish", "{\"summary\":\"Done.\"}");
    let calls = (1..play.turns).map(call);
    calls
        .chain([finish])
        .map(|it| prepared(&it.into()))
        .collect()
}

fn serve(mut connection: Connection, shared: &Shared) {
    while let Ok(Some(head)) = connection.read_head() {
        let Ok(body) = connection.read_body(&head) else {
            return;
        };
        let arrived = Instant::now();
        let who = who(&body);
        arrive(shared, who, &body, arrived);
        // The body is gone before the wait: a thousand of them would be held here.
        drop(body);
        std::thread::sleep(shared.play.latency.saturating_sub(arrived.elapsed()));
        hold(shared, who);
        let (replies, turn) = match who {
            Who::Root(turn) => (&shared.root, turn),
            Who::Worker(turn) => (&shared.worker, turn),
            Who::Newcomer => (&shared.worker, shared.worker.len()),
        };
        if connection
            .write(&replies[turn.min(replies.len() - 1)])
            .is_err()
        {
            return;
        }
        let mut state = lock(&shared.state);
        state.in_flight -= 1;
        let now = millis(shared.begun);
        state.seen.last = now;
        if matches!(who, Who::Root(_)) {
            state.seen.root_sent.push(now);
        }
    }
}

fn arrive(shared: &Shared, who: Who, body: &[u8], arrived: Instant) {
    let at = arrived.duration_since(shared.begun).as_secs_f64() * 1e3;
    let mut state = lock(&shared.state);
    if state.seen.requests == 0 {
        state.seen.first = at;
    }
    state.seen.requests += 1;
    state.in_flight += 1;
    state.seen.in_flight = state.seen.in_flight.max(state.in_flight);
    let seen = &mut state.seen;
    match who {
        Who::Root(_) => seen.root_bodies.push(body.len()),
        Who::Worker(turn) if turn == seen.worker_bodies.len() => {
            seen.worker_bodies.push(body.len());
            let messages = find(body, b"\"messages\":").unwrap_or(body.len());
            seen.window = body.len() - messages;
        }
        Who::Worker(_) => {}
        Who::Newcomer => {
            seen.newcomers.push(at);
            shared.changed.notify_all();
        }
    }
}

/// Holds the last request of a worker until it is let go, and the root's second until all are held.
fn hold(shared: &Shared, who: Who) {
    if shared.play.newcomers.is_none() {
        return;
    }
    let mut state = lock(&shared.state);
    match who {
        Who::Worker(turn) if turn + 1 >= shared.play.turns => {
            state.held += 1;
            shared.changed.notify_all();
            while !state.let_go {
                state = wait(&shared.changed, state);
            }
        }
        Who::Root(turn) if turn > 0 => {
            while state.held < shared.play.workers && !state.let_go {
                state = wait(&shared.changed, state);
            }
        }
        _ => {}
    }
}

fn who(body: &[u8]) -> Who {
    let turn = |text: &[u8]| {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0, |turn, byte| turn * 10 + usize::from(byte - b'0'))
    };
    match body.first() {
        Some(b'R') => return Who::Root(turn(&body[1..])),
        Some(b'W') => return Who::Worker(turn(&body[1..])),
        Some(b'N') => return Who::Newcomer,
        _ => {}
    }
    let replies = count(body, b"\"role\":\"assistant\"");
    if find(body, b"\"spawn_subagent\"").is_some() {
        Who::Root(replies)
    } else if find(body, NEWCOMER.as_bytes()).is_some() {
        Who::Newcomer
    } else {
        Who::Worker(replies)
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let first = needle[0];
    let mut from = 0;
    while let Some(at) = haystack[from..].iter().position(|byte| *byte == first) {
        if haystack[from + at..].starts_with(needle) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

fn count(haystack: &[u8], needle: &[u8]) -> usize {
    let (mut rest, mut count) = (haystack, 0);
    while let Some(at) = find(rest, needle) {
        count += 1;
        rest = &rest[at + needle.len()..];
    }
    count
}

fn millis(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'a, T>(changed: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_read_off_the_body() {
        let worker = br#"{"tools":[{"name":"shell"}],"messages":[{"role":"user","content":"x"},{"role":"assistant"},{"role":"tool"},{"role":"assistant"}]}"#;
        assert_eq!(who(worker), Who::Worker(2));
        let root = br#"{"tools":[{"name":"spawn_subagent"}],"messages":[]}"#;
        assert_eq!(who(root), Who::Root(0));
        let newcomer = br#"{"messages":[{"role":"user","content":"You are a newcomer."}]}"#;
        assert_eq!(who(newcomer), Who::Newcomer);
        assert_eq!(who(b"W12 "), Who::Worker(12));
        assert_eq!(who(b"R1"), Who::Root(1));
    }
}
