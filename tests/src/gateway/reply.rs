//! What the gateway sends, byte by byte: status, headers, writes with pauses between them, and a
//! way to end.
//!
//! Nothing here knows what the bytes mean; [`super::answer`] builds replies that mean something.

use std::time::Duration;

use super::gate::Gate;

/// One reply as bytes.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status of its head.
    pub status: u16,
    /// Headers beside those of its framing.
    pub headers: Vec<(String, String)>,
    /// How its end is known.
    pub framing: Framing,
    /// What is sent, in order; each [`Step::Bytes`] is one chunk, one write, flushed.
    pub steps: Vec<Step>,
    /// How it ends.
    pub end: End,
    /// What the model said in it, for the checker; `None` for replies nobody may accept.
    pub said: Option<Said>,
}

/// How a reader knows where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Chunked: each write is a chunk.
    Chunked,
    /// `Content-Length`.
    Length,
    /// Until the connection closes.
    Close,
    /// No head at all: the steps are everything that goes over the wire.
    Bare,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// Write these bytes and flush.
    Bytes(Vec<u8>),
    /// Stay silent.
    Pause(Duration),
    /// Stay silent until the test opens the gate (or the peer hangs up).
    Hold(Gate),
}

/// How a reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As its framing says; the connection lives on where it can.
    Complete,
    /// The connection is closed where it stands, the framing unfinished.
    Close,
    /// The connection is reset (`SO_LINGER` 0).
    Reset,
    /// Nothing more is sent; the connection stays open until the peer hangs up.
    HoldOpen,
}

/// What a reply will have put into the conversation, where it is accepted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// Ids of its calls, in order.
    pub calls: Vec<String>,
    /// Its text.
    pub text: String,
    /// Its `reasoning_details`, which must come back unchanged to whoever made them.
    pub reasoning_details: Option<serde_json::Value>,
    /// Its reasoning as readable text.
    pub reasoning: Option<String>,
    /// Who said it; `None` where nobody is named.
    pub maker: Option<String>,
}

impl Reply {
    /// A 200 event stream of these writes.
    pub fn stream<B: Into<Vec<u8>>>(writes: impl IntoIterator<Item = B>) -> Self {
        Self {
            status: 200,
            headers: vec![header("Content-Type", "text/event-stream")],
            framing: Framing::Chunked,
            steps: writes.into_iter().map(|w| Step::Bytes(w.into())).collect(),
            end: End::Complete,
            said: None,
        }
    }

    /// A JSON body under a status.
    pub fn status(status: u16, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: vec![header("Content-Type", "application/json")],
            framing: Framing::Length,
            steps: vec![Step::Bytes(body.into().into_bytes())],
            end: End::Complete,
            said: None,
        }
    }

    /// An error as OpenRouter words it.
    pub fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({ "error": { "code": status, "message": message } });
        Self::status(status, body.to_string())
    }

    /// Nothing but the end of the connection.
    pub fn hang_up(end: End) -> Self {
        Self {
            status: 0,
            headers: Vec::new(),
            framing: Framing::Bare,
            steps: Vec::new(),
            end,
            said: None,
        }
    }

    /// Adds a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push(header(name, value));
        self
    }

    /// Ends it otherwise.
    pub fn ending(mut self, end: End) -> Self {
        self.end = end;
        self
    }

    /// Appends a step.
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Puts a step before the one at `place`.
    pub fn insert(mut self, place: usize, step: Step) -> Self {
        self.steps.insert(place.min(self.steps.len()), step);
        self
    }

    /// Keeps the first `count` steps.
    pub fn take(mut self, count: usize) -> Self {
        self.steps.truncate(count);
        self
    }

    /// All its bytes in one write.
    pub fn joined(self) -> Self {
        let all = self.bytes();
        self.with_writes(vec![all])
    }

    /// All its bytes in writes of `size`.
    pub fn cut_each(self, size: usize) -> Self {
        let writes = self.bytes().chunks(size).map(<[u8]>::to_vec).collect();
        self.with_writes(writes)
    }

    /// All its bytes in two writes, cut before byte `place`.
    pub fn cut_at(self, place: usize) -> Self {
        let all = self.bytes();
        let (head, tail) = all.split_at(place.min(all.len()));
        let writes = vec![head.to_vec(), tail.to_vec()];
        self.with_writes(writes)
    }

    /// Every line feed written as `line_end`.
    pub fn line_ends(mut self, line_end: &str) -> Self {
        for step in &mut self.steps {
            if let Step::Bytes(bytes) = step {
                let text = String::from_utf8_lossy(bytes).replace('\n', line_end);
                *bytes = text.into_bytes();
            }
        }
        self
    }

    /// All the bytes of its writes, joined.
    pub fn bytes(&self) -> Vec<u8> {
        self.steps
            .iter()
            .filter_map(|step| match step {
                Step::Bytes(bytes) => Some(bytes.as_slice()),
                Step::Pause(_) | Step::Hold(_) => None,
            })
            .flatten()
            .copied()
            .collect()
    }

    fn with_writes(mut self, writes: Vec<Vec<u8>>) -> Self {
        self.steps = writes.into_iter().map(Step::Bytes).collect();
        self
    }
}

fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
