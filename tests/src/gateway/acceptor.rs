//! A listening socket that serves each connection on a thread of its own.
//!
//! Always true: with its end every connection is shut down and every thread has ended.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::wire::Connection;

/// See the module.
pub(super) struct Acceptor {
    address: SocketAddr,
    open: Arc<Open>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Open {
    sockets: Mutex<Vec<TcpStream>>,
    stopping: AtomicBool,
}

impl Open {
    fn sockets(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.sockets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Acceptor {
    /// A free port of the loopback.
    pub(super) fn listener() -> TcpListener {
        TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port")
    }

    /// Serves every connection to a listener.
    pub(super) fn start(
        listener: TcpListener,
        serve: impl Fn(Connection) + Send + Sync + 'static,
    ) -> Self {
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let open = Arc::new(Open::default());
        let thread = std::thread::spawn({
            let (open, serve) = (Arc::clone(&open), Arc::new(serve));
            move || {
                let mut servers = Vec::new();
                while let Ok((socket, _)) = listener.accept() {
                    if open.stopping.load(Ordering::SeqCst) {
                        break;
                    }
                    if let Ok(copy) = socket.try_clone() {
                        open.sockets().push(copy);
                    }
                    let serve = Arc::clone(&serve);
                    servers.push(std::thread::spawn(move || serve(Connection::new(socket))));
                }
                for server in servers {
                    server.join().ok();
                }
            }
        });
        Self {
            address,
            open,
            thread: Some(thread),
        }
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What `OPENROUTER_BASE_URL` is set to.
    pub(super) fn url(&self) -> String {
        format!("http://{}/api/v1", self.address)
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        self.open.stopping.store(true, Ordering::SeqCst);
        for socket in self.open.sockets().iter() {
            socket.shutdown(Shutdown::Both).ok();
        }
        // The acceptor looks up from its wait and ends.
        TcpStream::connect(self.address).ok();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
