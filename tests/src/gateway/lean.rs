//! The lean gateway: reads bodies away, counts their bytes, answers from a prepared list.
//!
//! For benches: it parses nothing, keeps nothing but a length a request, and sends each reply in
//! one write, so that what is measured is the client.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use super::reply::{Reply, Step};
use super::wire::Connection;

/// A running lean gateway.
pub struct Lean {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What a lean gateway saw.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// When the first byte of the first request was there to read.
    pub first_byte: Option<Instant>,
    /// Bytes of each body, in order of arrival.
    pub bodies: Vec<usize>,
    /// When each reply had been sent.
    pub sent: Vec<Instant>,
    /// The first body, whole.
    pub first_body: Vec<u8>,
}

struct Shared {
    replies: Vec<Vec<u8>>,
    seen: Mutex<Seen>,
    sockets: Mutex<Vec<TcpStream>>,
    stopping: AtomicBool,
}

impl Lean {
    /// Starts one that answers request `n` with reply `n`; past the list with its last.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Vec<u8>> = replies.into_iter().map(|reply| prepared(&reply)).collect();
        assert!(!replies.is_empty(), "a lean gateway needs a reply");
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            replies,
            seen: Mutex::default(),
            sockets: Mutex::default(),
            stopping: AtomicBool::new(false),
        });
        let acceptor = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                let mut servers = Vec::new();
                while let Ok((socket, _)) = listener.accept() {
                    if shared.stopping.load(Ordering::SeqCst) {
                        break;
                    }
                    if let Ok(copy) = socket.try_clone() {
                        lock(&shared.sockets).push(copy);
                    }
                    let shared = Arc::clone(&shared);
                    servers.push(std::thread::spawn(move || {
                        serve(Connection::new(socket), &shared);
                    }));
                }
                for server in servers {
                    server.join().ok();
                }
            }
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

    /// What it saw so far.
    pub fn seen(&self) -> Seen {
        lock(&self.shared.seen).clone()
    }
}

impl Drop for Lean {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        for socket in lock(&self.shared.sockets).iter() {
            socket.shutdown(Shutdown::Both).ok();
        }
        TcpStream::connect(self.address).ok();
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().ok();
        }
    }
}

/// A reply as the bytes of one write, with a length.
pub(super) fn prepared(reply: &Reply) -> Vec<u8> {
    assert!(
        reply
            .steps
            .iter()
            .all(|step| matches!(step, Step::Bytes(_))),
        "a lean gateway neither pauses nor holds"
    );
    let body = reply.bytes();
    let mut bytes = format!(
        "HTTP/1.1 {} OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n",
        reply.status,
        body.len()
    )
    .into_bytes();
    bytes.extend(body);
    bytes
}

fn serve(mut connection: Connection, shared: &Shared) {
    let mut scratch = Vec::new();
    let mut byte = [0];
    // The clock of a start stops here, before anything of the request is parsed.
    if connection.socket().peek(&mut byte).is_ok_and(|got| got > 0) {
        lock(&shared.seen)
            .first_byte
            .get_or_insert_with(Instant::now);
    }
    while let Ok(Some(head)) = connection.read_head() {
        let first = lock(&shared.seen).bodies.is_empty();
        let body = if first {
            connection.read_body(&head).map(|body| {
                let length = body.len();
                lock(&shared.seen).first_body = body;
                length
            })
        } else {
            connection.drain_body(&head, &mut scratch)
        };
        let Ok(length) = body else {
            return;
        };
        let number = {
            let mut seen = lock(&shared.seen);
            seen.bodies.push(length);
            seen.bodies.len() - 1
        };
        let reply = &shared.replies[number.min(shared.replies.len() - 1)];
        if connection.write(reply).is_err() {
            return;
        }
        lock(&shared.seen).sent.push(Instant::now());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
