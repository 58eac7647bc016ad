//! A compiler kept warm: a process that answers one request after another (05 §8, R59).
//!
//! It speaks JSON-RPC 2.0 with a `Content-Length` before each message, as language servers do.
//!
//! Always true: an answer goes to the question it answers, in whatever order they come, and no number
//! is given to two; a process that broke off is reaped, with what it wrote on standard error; one that is
//! dropped is killed with all it started.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use serde_json::{Value, json};

use super::alive::Mark;
use super::compile::{self, CompilerError, Redirected};

/// Bytes of one message that are read.
const MAX_MESSAGE: u64 = 16 << 20;

/// Why a process gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DaemonError {
    #[error(transparent)]
    Start(#[from] CompilerError),
    #[error(
        "the compiler {program} did not answer `{method}` within {secs} s and was killed",
        secs = .limit.as_secs_f64()
    )]
    Timeout {
        program: PathBuf,
        method: &'static str,
        limit: Duration,
    },
    #[error("the compiler {program} ended while it was asked `{method}`{account}")]
    Ended {
        program: PathBuf,
        method: &'static str,
        account: String,
    },
    #[error("the compiler {program} refused `{method}`: {message}")]
    Refused {
        program: PathBuf,
        method: &'static str,
        message: String,
    },
}

/// A question that was put.
#[derive(Debug)]
pub(crate) struct Asked {
    id: u64,
    method: &'static str,
}

/// A process that answers.
#[derive(Debug)]
pub(crate) struct Daemon {
    program: PathBuf,
    child: Child,
    /// Until it is ended.
    mark: Option<Mark>,
    answers: Receiver<Value>,
    errors: Receiver<String>,
    asked: u64,
    /// Answers to what was asked behind the one that is waited for.
    early: BTreeMap<u64, Value>,
    /// What it has been told to do that nobody has waited for.
    owed: Vec<Asked>,
    /// What stays open in it between preparations, and what it said.
    holds: Option<(PathBuf, String)>,
    /// Preparations it has served.
    pub(super) preparations: usize,
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
            program: program.to_owned(),
            child,
            mark: Some(mark),
            answers,
            errors,
            asked: 0,
            early: BTreeMap::new(),
            owed: Vec::new(),
            holds: None,
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
        let asked = self.put(method, params)?;
        self.answer(asked, limit)
    }

    /// Puts a question, whose answer is waited for later.
    pub(crate) fn put(
        &mut self,
        method: &'static str,
        params: Value,
    ) -> Result<Asked, DaemonError> {
        self.asked += 1;
        let id = self.asked;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let request = request.to_string();
        // In one piece, so that it wakes its reader once.
        let message = format!("Content-Length: {}\r\n\r\n{request}", request.len());
        let stdin = self.child.stdin.as_mut();
        let sent = stdin.map(|stdin| stdin.write_all(message.as_bytes()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.ended(method));
        }
        Ok(Asked { id, method })
    }

    /// Waits for the answer to a question that was put.
    pub(crate) fn answer(&mut self, asked: Asked, limit: Duration) -> Result<Value, DaemonError> {
        let Asked { id, method } = asked;
        let mut answer = loop {
            if let Some(early) = self.early.remove(&id) {
                break early;
            }
            let answer = match self.answers.recv_timeout(limit) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(DaemonError::Timeout {
                        program: self.program.clone(),
                        method,
                        limit,
                    });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended(method)),
            };
            // What it tells unasked is nothing to a preparation.
            if let Some(id) = answer.get("id").and_then(Value::as_u64) {
                self.early.insert(id, answer);
            }
        };
        if let Some(error) = answer.get("error") {
            let said = error.get("message").and_then(Value::as_str);
            let said = said.map_or_else(|| error.to_string(), str::to_owned);
            return Err(DaemonError::Refused {
                program: self.program.clone(),
                method,
                message: said,
            });
        }
        Ok(answer["result"].take())
    }

    /// Has something done that nobody waits for; [`settle`](Self::settle) says whether it was.
    pub(crate) fn owe(&mut self, method: &'static str, params: Value) -> Result<(), DaemonError> {
        let asked = self.put(method, params)?;
        self.owed.push(asked);
        Ok(())
    }

    /// Waits until all is done that nobody waited for.
    pub(crate) fn settle(&mut self, limit: Duration) -> Result<(), DaemonError> {
        for asked in std::mem::take(&mut self.owed) {
            self.answer(asked, limit)?;
        }
        Ok(())
    }

    /// The file it was last told to hold, and what that said then.
    pub(crate) fn holds(&self) -> Option<(&Path, &str)> {
        let (path, said) = self.holds.as_ref()?;
        Some((path, said))
    }

    /// Remembers what it is told to hold.
    pub(crate) fn hold(&mut self, path: &Path, says: &str) {
        self.holds = Some((path.to_owned(), says.to_owned()));
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
        DaemonError::Ended {
            program: self.program.clone(),
            method,
            account,
        }
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

#[cfg(test)]
pub(super) mod tests {
    use std::io::Cursor;

    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    /// A process that answers every request alike, after what it says unasked.
    pub(in crate::prepare) fn parrot(script: &str) -> Result<Daemon, DaemonError> {
        let root = PathBuf::from("/");
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
        assert_eq!(told, "the compiler /bin/sh refused `x`: no");
        let mut dies = parrot("read one; echo dying >&2; exit 1").unwrap();
        let told = dies.ask("x", json!(null), SOON).unwrap_err().to_string();
        assert_eq!(
            told,
            "the compiler /bin/sh ended while it was asked `x`; it wrote: dying"
        );
        let mut hangs = parrot("exec sleep 600").unwrap();
        let told = hangs.ask("x", json!(null), Duration::from_millis(50));
        assert!(matches!(
            told,
            Err(DaemonError::Timeout { method: "x", .. })
        ));
        let pid = hangs.child().id();
        drop(hangs);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn questions_put_together_have_their_answers_in_whatever_order_they_come() {
        let answers = [(3, "c"), (1, "a"), (2, "b")];
        let answers =
            answers.map(|(id, word)| says(&format!(r#"{{"id":{id},"result":"{word}"}}"#)));
        let mut daemon = parrot(&format!("{} read forever", answers.concat())).unwrap();
        let asked = ["a", "b", "c"].map(|word| (word, daemon.put("x", json!(word)).unwrap()));
        for (word, asked) in asked {
            assert_eq!(daemon.answer(asked, SOON).unwrap(), json!(word));
        }
        assert!(daemon.early.is_empty());
    }

    #[test]
    fn an_answer_nobody_waited_for_is_nobody_elses() {
        let answers = [(1, "released"), (2, "mine")];
        let answers =
            answers.map(|(id, word)| says(&format!(r#"{{"id":{id},"result":"{word}"}}"#)));
        let mut daemon = parrot(&format!("{} read forever", answers.concat())).unwrap();
        daemon.owe("release", json!(null)).unwrap();
        assert_eq!(daemon.ask("x", json!(null), SOON).unwrap(), json!("mine"));
        daemon.settle(SOON).unwrap();
        assert!(daemon.owed.is_empty() && daemon.early.is_empty());
    }

    #[test]
    fn what_was_owed_and_not_done_is_told() {
        let refusal = says(r#"{"id":1,"error":{"message":"no"}}"#);
        let mut refuses = parrot(&format!("{refusal} read forever")).unwrap();
        refuses.owe("release", json!(null)).unwrap();
        let told = refuses.settle(SOON);
        assert!(matches!(
            told,
            Err(DaemonError::Refused {
                method: "release",
                ..
            })
        ));
        let mut dies = parrot("read one; exit 1").unwrap();
        dies.owe("release", json!(null)).unwrap();
        let told = dies.settle(SOON);
        assert!(matches!(
            told,
            Err(DaemonError::Ended {
                method: "release",
                ..
            })
        ));
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
}
