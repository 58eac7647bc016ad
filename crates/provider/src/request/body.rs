//! The body of one request: a head before the snapshot's bytes, a bracket behind them, and what a
//! request adds to its messages or leaves out of them.
//!
//! Cache markers are inserted and foreign reasoning is left out by cutting the shared segments, so
//! that neither copies a message. The cost is that of the cuts, not of the messages.
//!
//! Always true: the body's exact length is known before its first byte is sent; a body without its
//! markers holds the snapshot's bytes, but for reasoning left out.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{Head, ModelRequest, ReasoningSetting, Snapshot, ToolChoice};
use crate::degraded::RoutingField;
use crate::markers::markers;
use crate::message;

const MARKER: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;
const LASTING_MARKER: &[u8] = br#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;

/// A change to the bytes of one segment.
struct Cut {
    segment: usize,
    from: usize,
    to: usize,
    put: Bytes,
}

/// The whole body of one request.
pub fn body(head: &Head<'_>, request: &ModelRequest) -> Body {
    let thread = &request.thread;
    let candidate = head.candidate.map(|candidate| &candidate.provider);
    let mut left_out = 0;
    let mut cuts: Vec<Cut> = Vec::new();
    for (segment, foreign) in thread.foreign([candidate, None]) {
        left_out += foreign.items;
        cuts.push(Cut {
            segment,
            from: foreign.span.start,
            to: foreign.span.end,
            put: foreign.readable.clone(),
        });
    }
    for marker in markers(thread, head.lifetime) {
        if let Some((segment, at)) = thread.mark(marker.message) {
            cuts.push(Cut {
                segment,
                from: at,
                to: at,
                put: Bytes::from_static(if marker.extended {
                    LASTING_MARKER
                } else {
                    MARKER
                }),
            });
        }
    }
    // Few, or sorted already: the markers stand in order, and so does what is left out.
    cuts.sort_by_key(|cut| (cut.segment, cut.from));

    let mut end = Vec::new();
    if let Some(signal) = &request.signal {
        if thread.messages() > 0 {
            end.push(b',');
        }
        message::write(signal, thread.shape(), &mut end);
    }
    end.extend_from_slice(b"]}");

    let mut parts = Vec::with_capacity(thread.segments().len() + 2 + 2 * cuts.len());
    parts.push(Bytes::from(start(head, request)));
    cut(thread, &cuts, &mut parts);
    parts.push(Bytes::from(end));
    let left = parts.iter().map(|part| part.len() as u64).sum();
    Body {
        parts: parts.into(),
        next: 0,
        left,
        left_out,
    }
}

/// Everything before the first message.
fn start(head: &Head<'_>, request: &ModelRequest) -> Vec<u8> {
    let mut start = Vec::with_capacity(512 + request.toolset.json.get().len());
    let text = message::string;
    start.extend_from_slice(b"{\"model\":");
    text(head.model.as_str(), &mut start);
    start.extend_from_slice(b",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
    if let Some(candidate) = head.candidate
        && !head.dropped.contains(RoutingField::Provider)
    {
        start.extend_from_slice(b",\"provider\":{\"only\":[");
        text(candidate.provider.as_str(), &mut start);
        start.extend_from_slice(b"],\"quantizations\":[");
        text(&candidate.quantization, &mut start);
        start.extend_from_slice(b"],\"allow_fallbacks\":false}");
    }
    if let Some(setting) = head.reasoning {
        start.extend_from_slice(b",\"reasoning\":{");
        match setting {
            ReasoningSetting::Effort(effort) => {
                start.extend_from_slice(b"\"effort\":");
                text(effort, &mut start);
            }
            ReasoningSetting::MaxTokens(tokens) => {
                start.extend_from_slice(format!("\"max_tokens\":{tokens}").as_bytes());
            }
        }
        start.push(b'}');
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
    if !head.dropped.contains(RoutingField::SessionId) {
        start.extend_from_slice(b",\"session_id\":");
        text(head.routing_key.as_str(), &mut start);
    }
    if !head.dropped.contains(RoutingField::PromptCacheKey) {
        start.extend_from_slice(b",\"prompt_cache_key\":");
        text(head.routing_key.as_str(), &mut start);
    }
    start.extend_from_slice(b",\"messages\":[");
    start
}

/// Appends the bytes of the messages, changed by the cuts, which are in order.
fn cut(thread: &Snapshot, cuts: &[Cut], parts: &mut Vec<Bytes>) {
    let mut cuts = cuts.iter().peekable();
    for (at, bytes) in thread.segments().enumerate() {
        let mut from = 0;
        while let Some(cut) = cuts.next_if(|cut| cut.segment == at) {
            parts.push(bytes.slice(from..cut.from));
            if !cut.put.is_empty() {
                parts.push(cut.put.clone());
            }
            from = cut.to;
        }
        parts.push(bytes.slice(from..));
    }
}

/// A request body of known length, handed out part by part without joining.
#[derive(Clone, Debug)]
pub struct Body {
    parts: Arc<[Bytes]>,
    next: usize,
    left: u64,
    left_out: usize,
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

    /// How many items of reasoning are not sent because another provider made them (R26).
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// The parts that are still to be handed out.
    #[cfg(test)]
    pub(super) fn parts(&self) -> impl Iterator<Item = &Bytes> {
        self.parts[self.next..].iter()
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
