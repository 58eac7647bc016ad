//! A compiler kept warm: a process that answers one request after another, and a pool of them
//! (05 §8, R59).
//!
//! It speaks JSON-RPC 2.0 with a `Content-Length` before each message, as language servers do.
//!
//! Always true: a process is lent to one preparation at a time; one that did not answer, or broke off,
//! is killed and never lent again.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Child;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use serde_json::{Value, json};

use super::alive::Mark;
use super::compile::{self, CompilerError, Redirected};

/// Bytes of one message that are read.
const MAX_MESSAGE: u64 = 16 << 20;

/// Requests of one preparation after which a process is replaced, so that what it forgets to let go
/// of does not add up.
const PREPARATIONS: usize = 1000;

/// Why a process gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonError {
    #[error(transparent)]
    Start(#[from] CompilerError),
    #[error("the compiler did not answer `{0}` within {secs} s and was killed", secs = .1.as_secs_f64())]
    Timeout(&'static str, Duration),
    #[error("the compiler ended while it was asked `{0}`{1}")]
    Ended(&'static str, String),
    #[error("the compiler refused `{0}`: {1}")]
    Refused(&'static str, String),
}

/// A process that answers.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    /// Until it is ended.
    mark: Option<Mark>,
    answers: Receiver<Value>,
    errors: Receiver<String>,
    asked: u64,
    preparations: usize,
}

impl Daemon {
    /// Starts one.
    pub(crate) fn start(
        program: &Path,
        arguments: &[&str],
        at: &Redirected,
    ) -> Result<Self, DaemonError> {
        let (mut child, mark) = compile::started(program, arguments, at)?;
        let (told, answers) = unbounded();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                // Whoever asks sees that the channel closed.
                while let Some(message) = message(&mut stdout) {
                    if told.send(message).is_err() {
                        return;
                    }
                }
            });
        }
        let errors = compile::errors_of(&mut child);
        Ok(Self {
            child,
            mark: Some(mark),
            answers,
            errors,
            asked: 0,
            preparations: 0,
        })
    }

    /// Asks, and waits for the answer.
    pub(crate) fn ask(
        &mut self,
        method: &'static str,
        params: Value,
        limit: Duration,
    ) -> Result<Value, DaemonError> {
        self.asked += 1;
        let id = self.asked;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let request = request.to_string();
        let stdin = self.child.stdin.as_mut();
        let sent = stdin.map(|stdin| {
            write!(stdin, "Content-Length: {}\r\n\r\n{request}", request.len())?;
            stdin.flush()
        });
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.ended(method));
        }
        loop {
            let mut answer = match self.answers.recv_timeout(limit) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) => return Err(DaemonError::Timeout(method, limit)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(method)),
            };
            // What it tells unasked is nothing to a preparation.
            if answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(error) = answer.get("error") {
                let said = error.get("message").and_then(Value::as_str);
                let said = said.map_or_else(|| error.to_string(), str::to_owned);
                return Err(DaemonError::Refused(method, said));
            }
            return Ok(answer["result"].take());
        }
    }

    fn ended(&mut self, method: &'static str) -> DaemonError {
        self.end();
        let words = self.errors.recv().unwrap_or_default();
        let words = compile::tail(&words);
        let account = if words.is_empty() {
            String::new()
        } else {
            format!("; it wrote: {words}")
        };
        DaemonError::Ended(method, account)
    }

    fn end(&mut self) {
        // It is killed next, and reaped.
        self.mark = None;
        compile::end(&mut self.child);
    }

    /// The process, for a test that ends it.
    #[cfg(test)]
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}

/// The next message of a stream; `None` at its end, or where it is none.
fn message(stream: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let length = length.filter(|length| *length <= MAX_MESSAGE)?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    stream.read_exact(&mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Warm processes, as many as can work at once.
#[derive(Debug)]
pub(crate) struct CompilerPool {
    state: Mutex<State>,
    freed: Condvar,
    size: usize,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Daemon>,
    lent: usize,
}

/// A process that is lent; dropped without being given back, it is not lent again.
pub(crate) struct Lent<'a> {
    pool: &'a CompilerPool,
    daemon: Option<Daemon>,
}

impl CompilerPool {
    /// A pool of at most that many.
    pub(crate) fn new(size: usize) -> Self {
        Self {
            state: Mutex::default(),
            freed: Condvar::new(),
            size: size.max(1),
        }
    }

    /// Lends a process, one that is there or a new one; waits where all are lent.
    pub(crate) fn checkout(
        &self,
        start: impl FnOnce() -> Result<Daemon, DaemonError>,
    ) -> Result<Lent<'_>, DaemonError> {
        let mut state = self.state();
        while state.lent >= self.size {
            state = self
                .freed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.lent += 1;
        let idle = state.idle.pop();
        drop(state);
        let mut lent = Lent {
            pool: self,
            daemon: idle,
        };
        if lent.daemon.is_none() {
            lent.daemon = Some(start()?);
        }
        Ok(lent)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent<'_> {
    /// The process.
    pub(crate) fn daemon(&mut self) -> &mut Daemon {
        self.daemon
            .as_mut()
            .expect("it leaves only when it is given back")
    }

    /// Gives it back, to be lent again.
    pub(crate) fn give_back(mut self) {
        if let Some(daemon) = &mut self.daemon {
            daemon.preparations += 1;
        }
        let daemon = self
            .daemon
            .take_if(|daemon| daemon.preparations < PREPARATIONS);
        self.pool.state().idle.extend(daemon);
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.pool.state().lent -= 1;
        self.pool.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    /// A process that answers every request alike, after what it says unasked.
    fn parrot(script: &str) -> Result<Daemon, DaemonError> {
        let root = std::path::PathBuf::from("/");
        let at = Redirected {
            cwd: root.clone(),
            home: root.clone(),
            temporary: root,
            alive: super::super::alive::Alive::default(),
        };
        Daemon::start(Path::new("/bin/sh"), &["-c", script], &at)
    }

    fn says(message: &str) -> String {
        format!(
            "printf 'Content-Length: {}\\r\\n\\r\\n{message}';",
            message.len()
        )
    }

    #[test]
    fn an_answer_is_told_apart_from_what_is_said_unasked() {
        let unasked = says(r#"{"jsonrpc":"2.0","method":"log"}"#);
        let answer = says(r#"{"jsonrpc":"2.0","id":1,"result":7}"#);
        let mut daemon = parrot(&format!("{unasked} {answer} read forever")).unwrap();
        assert_eq!(daemon.ask("x", json!(null), SOON).unwrap(), json!(7));
    }

    #[test]
    fn each_way_not_to_answer_is_told() {
        let refusal = says(r#"{"id":1,"error":{"message":"no"}}"#);
        let mut refuses = parrot(&format!("{refusal} read forever")).unwrap();
        let told = refuses.ask("x", json!(null), SOON).unwrap_err().to_string();
        assert_eq!(told, "the compiler refused `x`: no");
        let mut dies = parrot("read one; echo dying >&2; exit 1").unwrap();
        let told = dies.ask("x", json!(null), SOON).unwrap_err().to_string();
        assert_eq!(
            told,
            "the compiler ended while it was asked `x`; it wrote: dying"
        );
        let mut hangs = parrot("exec sleep 600").unwrap();
        let told = hangs.ask("x", json!(null), Duration::from_millis(50));
        assert!(matches!(told, Err(DaemonError::Timeout("x", _))));
        let pid = hangs.child().id();
        drop(hangs);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn messages_that_are_none_end_the_stream() {
        let read = |text: &str| message(&mut Cursor::new(text.to_owned()));
        assert_eq!(read("content-length: 1\r\n\r\n7"), Some(json!(7)));
        for broken in [
            "",
            "\r\n7",
            "Content-Length: 9\r\n\r\n7",
            "Content-Length: 1\r\n\r\n{",
        ] {
            assert_eq!(read(broken), None, "{broken:?}");
        }
        assert_eq!(read("Content-Length: 99999999999\r\n\r\n7"), None);
    }

    #[test]
    fn a_pool_lends_each_process_to_one_at_a_time() {
        let pool = CompilerPool::new(2);
        let (started, at_work, most) = (
            AtomicUsize::new(0),
            AtomicUsize::new(0),
            AtomicUsize::new(0),
        );
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let lent = pool.checkout(|| {
                        started.fetch_add(1, Ordering::SeqCst);
                        parrot("read forever")
                    });
                    let lent = lent.unwrap();
                    let now = at_work.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    std::thread::yield_now();
                    at_work.fetch_sub(1, Ordering::SeqCst);
                    lent.give_back();
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert!(started.into_inner() <= 2);
    }

    #[test]
    fn what_was_not_given_back_is_not_lent_again() {
        let pool = CompilerPool::new(1);
        let mut lent = pool.checkout(|| parrot("read forever")).unwrap();
        let first = lent.daemon().child().id();
        drop(lent);
        let mut lent = pool.checkout(|| parrot("read forever")).unwrap();
        let second = lent.daemon().child().id();
        assert_ne!(first, second);
        lent.give_back();
        let mut lent = pool.checkout(|| unreachable!("one is there")).unwrap();
        assert_eq!(lent.daemon().child().id(), second);
        let failing = CompilerPool::new(1);
        for _ in 0..2 {
            let told =
                failing.checkout(|| Err(DaemonError::Start(CompilerError::Lost("x".to_owned()))));
            assert!(told.is_err());
        }
    }
}
