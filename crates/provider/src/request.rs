//! The body of a chat completion request, built by appending to bytes already serialized.
//!
//! A [`Thread`] holds the messages of one window as JSON, comma separated. Full stretches are
//! sealed as shared segments; a [`Snapshot`] shares them and copies only the open tail, so the
//! cost of a turn does not grow with the window. [`body`] puts a head before the snapshot and a
//! bracket behind it, and knows its exact length.
//!
//! Always true: `messages` is the last key of the body, and the messages of a snapshot, without
//! the signal, are a byte prefix of every later snapshot of the same thread (R57).

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use serde_json::json;
use serde_json::value::RawValue;
pub use vocab::candidate::Candidate;
use vocab::ids::{ModelId, RoutingKey};
use vocab::message::Message;
use vocab::tools::Definition;

use crate::message;

/// Bytes after which the open tail is sealed. One segment a turn would double the CPU of sending,
/// one segment for all would be copied every turn.
const SEGMENT: usize = 32 * 1024;

/// The serialized messages of one window; append-only.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    sealed: Vec<Bytes>,
    sealed_bytes: usize,
    tail: Vec<u8>,
    messages: usize,
}

impl Thread {
    /// A thread without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one message.
    pub fn push(&mut self, message: &Message) {
        if self.messages > 0 {
            self.tail.push(b',');
        }
        message::write(message, &mut self.tail);
        self.messages += 1;
        if self.tail.len() >= SEGMENT {
            self.seal();
        }
    }

    fn seal(&mut self) {
        self.sealed_bytes += self.tail.len();
        let segment = if self.tail.len() < 2 * SEGMENT {
            // The exact copy keeps the tail's buffer for the next stretch and wastes no capacity.
            let segment = Bytes::copy_from_slice(&self.tail);
            self.tail.clear();
            segment
        } else {
            let mut large = std::mem::take(&mut self.tail);
            large.shrink_to_fit();
            Bytes::from(large)
        };
        self.sealed.push(segment);
    }

    /// Bytes of all messages with the commas between them.
    pub fn len_bytes(&self) -> usize {
        self.sealed_bytes + self.tail.len()
    }

    /// How many messages were pushed.
    pub const fn messages(&self) -> usize {
        self.messages
    }

    /// The messages as they stand now, unmoved by later pushes.
    pub fn snapshot(&self) -> Snapshot {
        let mut segments = Vec::with_capacity(self.sealed.len() + 1);
        segments.extend_from_slice(&self.sealed);
        if !self.tail.is_empty() {
            segments.push(Bytes::copy_from_slice(&self.tail));
        }
        Snapshot {
            segments: segments.into(),
            bytes: self.len_bytes(),
        }
    }
}

impl<'a> FromIterator<&'a Message> for Thread {
    fn from_iter<I: IntoIterator<Item = &'a Message>>(messages: I) -> Self {
        let mut thread = Self::new();
        for message in messages {
            thread.push(message);
        }
        thread
    }
}

/// The messages of a thread at one moment. Cheap to clone and to send.
#[derive(Clone, Debug)]
pub struct Snapshot {
    segments: Arc<[Bytes]>,
    bytes: usize,
}

impl Snapshot {
    /// Bytes of all messages with the commas between them.
    pub const fn len_bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes in order; empty where there is no message.
    pub fn segments(&self) -> &[Bytes] {
        &self.segments
    }

    /// All bytes joined, for tests and checks.
    pub fn to_vec(&self) -> Vec<u8> {
        self.segments.concat()
    }
}

/// The tools a request offers, serialized once.
#[derive(Clone, Debug)]
pub struct Toolset {
    /// The `tools` array of the body.
    pub json: Arc<RawValue>,
    /// How many tools it offers; a request with none sends neither `tools` nor `tool_choice`
    /// (R55).
    pub len: usize,
}

/// Serializes definitions as the `tools` array, in order.
pub fn toolset(definitions: &[Definition]) -> Toolset {
    let tools: Vec<_> = definitions
        .iter()
        .map(|tool| {
            json!({
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            })
        })
        .collect();
    let json = serde_json::value::to_raw_value(&tools).expect("JSON values serialize");
    Toolset {
        json: Arc::from(json),
        len: definitions.len(),
    }
}

/// What the model may answer with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// Text, calls or both.
    Auto,
    /// At least one call.
    Required,
    /// A call of this tool.
    Named(String),
}

/// What an agent asks: its messages and what may be answered.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The window's messages, the system message first.
    pub thread: Snapshot,
    /// The context signal: behind the messages of this request, never part of the thread.
    pub signal: Option<Message>,
    /// The tools offered.
    pub toolset: Arc<Toolset>,
    /// What may be answered with; not sent where no tool is offered.
    pub tool_choice: ToolChoice,
}

/// What the run adds to an agent's request.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The model asked.
    pub model: &'a ModelId,
    /// Who shall serve it; `None` sends no routing at all.
    pub candidate: Option<&'a Candidate>,
    /// The run's key, sent as `session_id` and `prompt_cache_key`.
    pub routing_key: &'a RoutingKey,
}

/// The whole body of one request.
pub fn body(head: &Head<'_>, request: &ModelRequest) -> Body {
    let mut start = Vec::with_capacity(512 + request.toolset.json.get().len());
    let text = message::string;
    start.extend_from_slice(b"{\"model\":");
    text(head.model.as_str(), &mut start);
    start.extend_from_slice(b",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    if let Some(candidate) = head.candidate {
        start.extend_from_slice(b",\"provider\":{\"only\":[");
        text(candidate.provider.as_str(), &mut start);
        start.extend_from_slice(b"],\"quantizations\":[");
        text(&candidate.quantization, &mut start);
        start.extend_from_slice(b"],\"allow_fallbacks\":false}");
    }
    if request.toolset.len > 0 {
        start.extend_from_slice(b",\"tools\":");
        start.extend_from_slice(request.toolset.json.get().as_bytes());
        start.extend_from_slice(b",\"tool_choice\":");
        match &request.tool_choice {
            ToolChoice::Auto => start.extend_from_slice(b"\"auto\""),
            ToolChoice::Required => start.extend_from_slice(b"\"required\""),
            ToolChoice::Named(name) => {
                start.extend_from_slice(b"{\"type\":\"function\",\"function\":{\"name\":");
                text(name, &mut start);
                start.extend_from_slice(b"}}");
            }
        }
    }
    // What differs from run to run stands as late as it may.
    start.extend_from_slice(b",\"session_id\":");
    text(head.routing_key.as_str(), &mut start);
    start.extend_from_slice(b",\"prompt_cache_key\":");
    text(head.routing_key.as_str(), &mut start);
    start.extend_from_slice(b",\"messages\":[");

    let mut end = Vec::new();
    if let Some(signal) = &request.signal {
        if request.thread.bytes > 0 {
            end.push(b',');
        }
        message::write(signal, &mut end);
    }
    end.extend_from_slice(b"]}");

    let segments = &request.thread.segments;
    let mut parts = Vec::with_capacity(segments.len() + 2);
    parts.push(Bytes::from(start));
    parts.extend_from_slice(segments);
    parts.push(Bytes::from(end));
    let left = parts.iter().map(|part| part.len() as u64).sum();
    Body {
        parts: parts.into(),
        next: 0,
        left,
    }
}

/// A request body of known length, handed out part by part without joining.
#[derive(Clone, Debug)]
pub struct Body {
    parts: Arc<[Bytes]>,
    next: usize,
    left: u64,
}

impl Body {
    /// Bytes still to be handed out; before the first, the whole body.
    pub const fn len(&self) -> u64 {
        self.left
    }

    /// Whether everything was handed out.
    pub const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// What is still to be handed out, joined, for tests and checks.
    pub fn to_vec(&self) -> Vec<u8> {
        self.parts[self.next..].concat()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(part) = self.parts.get(self.next).cloned() else {
            return Poll::Ready(None);
        };
        self.next += 1;
        self.left -= part.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use vocab::message::{Image, ImageFormat, ToolCall};

    use super::*;

    fn message() -> impl Strategy<Value = Message> {
        let text = prop_oneof![
            ".{0,40}",
            Just("x".repeat(20_000)),
            Just("é".repeat(40_000))
        ];
        let images = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..50), 0..2);
        (0..4, text, images, ".{1,8}").prop_map(|(role, text, images, id)| {
            let images = images
                .into_iter()
                .map(|bytes| Image {
                    format: ImageFormat::Webp,
                    bytes: bytes.into(),
                    dimensions: None,
                })
                .collect();
            let text: Arc<str> = text.into();
            match role {
                0 => Message::System { text },
                1 => Message::User { text, images },
                2 => Message::Tool {
                    call: id.into(),
                    text,
                    images,
                },
                _ => Message::Assistant {
                    text: Some(text.clone()),
                    calls: vec![ToolCall {
                        id: id.into(),
                        name: "shell".to_owned(),
                        arguments: text,
                    }],
                    reasoning: None,
                },
            }
        })
    }

    /// The obvious way: every message a value, the whole body serialized at once.
    fn naive(head: &Head<'_>, request: &ModelRequest, messages: &[Message]) -> Vec<u8> {
        let mut values = Vec::new();
        for message in messages.iter().chain(&request.signal) {
            let mut bytes = Vec::new();
            message::write(message, &mut bytes);
            values.push(serde_json::from_slice::<Value>(&bytes).unwrap());
        }
        let candidate = head.candidate.unwrap();
        serde_json::to_vec(&json!({
            "model": head.model,
            "stream": true,
            "stream_options": { "include_usage": true },
            "provider": {
                "only": [candidate.provider],
                "quantizations": [candidate.quantization],
                "allow_fallbacks": false,
            },
            "tools": serde_json::from_str::<Value>(request.toolset.json.get()).unwrap(),
            "tool_choice": "auto",
            "session_id": head.routing_key,
            "prompt_cache_key": head.routing_key,
            "messages": values,
        }))
        .unwrap()
    }

    fn tools() -> Arc<Toolset> {
        Arc::new(toolset(&[Definition {
            name: "list_dir",
            description: "List.".to_owned(),
            parameters: json!({ "type": "object" }),
        }]))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_body_is_the_plain_serialization_and_extends_the_one_before(
            messages in proptest::collection::vec(message(), 1..12),
            signal in proptest::option::of(message()),
        ) {
            let candidate = Candidate { provider: "Acme \"1\"".into(), quantization: "fp8".to_owned() };
            let (model, key) = (ModelId::from("acme/coder-1"), RoutingKey::from("k3"));
            let head = Head { model: &model, candidate: Some(&candidate), routing_key: &key };
            let mut thread = Thread::new();
            let mut before = Vec::new();
            for (count, message) in messages.iter().enumerate() {
                thread.push(message);
                let request = ModelRequest {
                    thread: thread.snapshot(),
                    signal: signal.clone(),
                    toolset: tools(),
                    tool_choice: ToolChoice::Auto,
                };
                let body = body(&head, &request);
                let bytes = body.to_vec();
                prop_assert_eq!(body.len(), bytes.len() as u64);
                prop_assert_eq!(&bytes, &naive(&head, &request, &messages[..=count]));
                let now = request.thread.to_vec();
                prop_assert_eq!(now.len(), thread.len_bytes());
                prop_assert!(now.starts_with(&before));
                before = now;
            }
            prop_assert_eq!(thread.messages(), messages.len());
            for segment in thread.snapshot().segments() {
                prop_assert!(segment.len() < 8 * SEGMENT);
            }
        }
    }

    #[test]
    fn a_snapshot_is_unmoved_by_later_pushes() {
        let said = |text: &str| Message::System { text: text.into() };
        let mut thread: Thread = [&said("a")].into_iter().collect();
        let first = thread.snapshot();
        thread.push(&said(&"b".repeat(100_000)));
        assert_eq!(first.to_vec(), br#"{"role":"system","content":"a"}"#);
        assert_eq!(first.len_bytes(), first.to_vec().len());
    }

    #[test]
    fn without_tools_neither_tools_nor_a_choice_are_sent() {
        let (model, key) = (ModelId::from("m"), RoutingKey::from("k"));
        let request = ModelRequest {
            thread: Thread::new().snapshot(),
            signal: None,
            toolset: Arc::new(toolset(&[])),
            tool_choice: ToolChoice::Required,
        };
        let head = Head {
            model: &model,
            candidate: None,
            routing_key: &key,
        };
        assert_eq!(
            String::from_utf8(body(&head, &request).to_vec()).unwrap(),
            r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"session_id":"k","prompt_cache_key":"k","messages":[]}"#
        );
    }

    #[test]
    fn a_pinned_tool_is_named() {
        let (model, key) = (ModelId::from("m"), RoutingKey::from("k"));
        let request = ModelRequest {
            thread: Thread::new().snapshot(),
            signal: None,
            toolset: tools(),
            tool_choice: ToolChoice::Named("submit_program".to_owned()),
        };
        let head = Head {
            model: &model,
            candidate: None,
            routing_key: &key,
        };
        let value: Value = serde_json::from_slice(&body(&head, &request).to_vec()).unwrap();
        assert_eq!(value["tool_choice"]["function"]["name"], "submit_program");
        assert_eq!(value["tools"][0]["function"]["name"], "list_dir");
    }
}
