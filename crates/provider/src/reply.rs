//! A reply, assembled from the chunks of a completion stream.
//!
//! [`Assembly`] takes the data of each event, or one whole answer, and gives a [`Reply`] or the
//! [`Fault`] that the chunks amount to. It reads what servers send in the field: texts that are
//! `null` or lists of parts, calls without index or id, arguments that are objects, errors inside
//! a stream of status 200 (R25).
//!
//! Always true: a reply that is given was whole, named no provider but the one asked (R11), and
//! its calls' arguments are JSON (R42). What arrived before a fault is never part of a reply.

mod calls;
mod chunk;
mod reasoning;
mod text;

use std::sync::Arc;

pub(crate) use calls::settle_arguments;
pub use calls::unique_ids;
use serde_json::value::RawValue;
use vocab::ids::{GenerationId, ProviderName};
use vocab::looping::Knobs;
use vocab::message::{Reasoning, ReasoningItem, ToolCall};

use self::calls::Calls;
use self::chunk::{CallDelta, Choice, Chunk, Delta};
use self::reasoning::Items;
use self::text::Text;
use crate::fault::{self, Discarded, Fault, excerpt};
use crate::looping::{Detector, Stream, Trip};
use crate::price::UsageReport;

/// Bytes of chunks that one reply may take.
pub const LARGEST_REPLY: usize = 64 * 1024 * 1024;

/// What a model answered, whole.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Its text; `None` where it has none.
    pub text: Option<Arc<str>>,
    /// Its reasoning as readable text; `None` where none was sent.
    pub reasoning: Option<Arc<str>>,
    /// The items of its reasoning, as they are sent back; empty where none were sent.
    pub reasoning_items: Vec<ReasoningItem>,
    /// Its calls, in order. Ids are as received: [`unique_ids`] makes them fit to be used.
    pub calls: Vec<ToolCall>,
    /// As the provider gave it; `None` where it gave none (F07).
    pub finish_reason: Option<String>,
    /// What the provider accounted.
    pub usage: Option<UsageReport>,
    /// Who served it, where named.
    pub provider: Option<ProviderName>,
    /// The gateway's id of it.
    pub generation: Option<GenerationId>,
}

impl Reply {
    /// What it reasoned, as its message keeps it to be sent back; `None` where that is nothing.
    /// Whoever was asked made it, where the reply names nobody.
    pub fn reasoning_for(&self, asked: Option<&ProviderName>) -> Option<Arc<Reasoning>> {
        let text = self.reasoning.clone();
        let text = text.filter(|text| !text.trim().is_empty());
        if self.reasoning_items.is_empty() && text.is_none() {
            return None;
        }
        Some(Arc::new(Reasoning {
            provider: self.provider.as_ref().or(asked).cloned(),
            items: self.reasoning_items.clone(),
            text,
        }))
    }
}

/// What a piece of an answer brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Content, reasoning or arguments of calls: what restarts the stall clock (F05).
    pub moved: bool,
    /// The end of the stream was announced.
    pub done: bool,
}

/// A reply in the making.
#[derive(Debug, Default)]
pub struct Assembly {
    asked: Option<ProviderName>,
    bytes: usize,
    text: Text,
    refusal: Text,
    reasoning: Text,
    reasoning_aside: Text,
    reasoning_items: Items,
    calls: Calls,
    finish_reason: Option<String>,
    usage: Option<UsageReport>,
    provider: Option<ProviderName>,
    generation: Option<GenerationId>,
    any_choice: bool,
    done: bool,
    detector: Option<Detector>,
}

impl Assembly {
    /// The start of a reply to a request that allowed `asked` alone.
    pub fn new(asked: Option<ProviderName>) -> Self {
        Self {
            asked,
            ..Self::default()
        }
    }

    /// The same, read by a loop detector where there are knobs for one.
    pub(crate) fn watched(mut self, knobs: Option<Knobs>) -> Self {
        self.detector = knobs.map(Detector::new);
        self
    }

    /// Takes the data of one event. After the end was announced, nothing counts any more.
    pub fn push(&mut self, data: &[u8]) -> Result<Progress, Fault> {
        let data = data.trim_ascii();
        let mut moved = false;
        if data == b"[DONE]" {
            self.done = true;
        } else if !data.is_empty() && !self.done {
            self.bytes += data.len();
            if self.bytes > LARGEST_REPLY {
                return Err(self.unreadable(format!("it is larger than {LARGEST_REPLY} bytes")));
            }
            moved = self.chunk(data)?;
        }
        Ok(Progress {
            moved,
            done: self.done,
        })
    }

    /// Takes an answer that is one JSON object instead of a stream.
    pub fn push_whole(&mut self, body: &[u8]) -> Result<(), Fault> {
        self.push(body)?;
        if !self.any_choice {
            return Err(self.unreadable(format!("it holds no choice: {}", excerpt(body))));
        }
        self.done = true;
        Ok(())
    }

    /// Whether everything a reply needs has arrived: its finish reason or the announced end.
    pub const fn is_whole(&self) -> bool {
        self.done || self.finish_reason.is_some()
    }

    /// Who serves it, once named.
    pub const fn provider(&self) -> Option<&ProviderName> {
        self.provider.as_ref()
    }

    /// The end of the answer.
    ///
    /// An answer that ends without finish reason and without `[DONE]` was cut: what it holds may
    /// be half of what was said.
    pub fn finish(mut self) -> Result<Reply, Fault> {
        if !self.is_whole() || !self.any_choice {
            let why = if self.any_choice {
                "the stream ended before the reply did"
            } else {
                "the stream ended without a reply"
            };
            return Err(Fault::Transport {
                why: why.to_owned(),
                provider: self.provider,
            });
        }
        match self.finish_reason.as_deref() {
            Some("length") => return Err(Fault::LengthCapped(Box::new(self.discard()))),
            Some("error") => {
                return Err(Fault::Server {
                    status: 500,
                    retry_after: None,
                    body: "the finish reason is `error`".to_owned(),
                    provider: self.provider,
                });
            }
            _ => {}
        }
        let calls = match std::mem::take(&mut self.calls) {
            calls if calls.is_empty() => Vec::new(),
            calls => match calls.clone().settle() {
                Ok(settled) => settled,
                Err(why) => {
                    self.calls = calls;
                    return Err(self.unreadable(why));
                }
            },
        };
        let first_of = |texts: [Text; 2]| {
            let text = texts.into_iter().find(|text| !text.is_empty());
            text.map(|text| Arc::from(text.into_string()))
        };
        Ok(Reply {
            text: first_of([self.text, self.refusal]),
            reasoning: first_of([self.reasoning, self.reasoning_aside]),
            reasoning_items: self.reasoning_items.settle(),
            calls,
            finish_reason: self.finish_reason,
            usage: self.usage,
            provider: self.provider,
            generation: self.generation,
        })
    }

    fn chunk(&mut self, data: &[u8]) -> Result<bool, Fault> {
        // A derived struct would take an array for an object.
        let parsed = if data.starts_with(b"{") {
            serde_json::from_slice::<Chunk<'_>>(data).map_err(|error| error.to_string())
        } else {
            Err("a chunk is no JSON object".to_owned())
        };
        let chunk = match parsed {
            Ok(chunk) => chunk,
            Err(why) => return Err(self.unreadable(format!("{why}: {}", excerpt(data)))),
        };
        if self.generation.is_none() {
            self.generation = chunk::word(chunk.id).map(GenerationId::from);
        }
        if let Some(name) = chunk::word(chunk.provider) {
            self.served_by(name)?;
        }
        if let Some(error) = chunk::error(chunk.error) {
            return Err(fault::of_error_object(error, self.provider.clone()));
        }
        if chunk::word(chunk.object).as_deref() == Some("error") {
            let whole: &RawValue = match serde_json::from_slice(data) {
                Ok(whole) => whole,
                Err(error) => return Err(self.unreadable(error.to_string())),
            };
            return Err(fault::of_error_object(whole, self.provider.clone()));
        }
        if let Some(usage) = chunk.usage.and_then(UsageReport::read) {
            self.usage = Some(usage);
        }
        let Some(choices) = chunk.choices else {
            return Ok(false);
        };
        let choices: Vec<Choice<'_>> = match serde_json::from_str(choices.get()) {
            Ok(choices) => choices,
            Err(error) => {
                return Err(self.unreadable(format!("its choices: {error}: {}", excerpt(data))));
            }
        };
        let mut moved = false;
        for choice in choices {
            // One answer is asked for; a server that sends more is heard on the first.
            if chunk::index(choice.index).unwrap_or(0) == 0 {
                moved |= self.choice(&choice)?;
            }
        }
        Ok(moved)
    }

    fn served_by(&mut self, name: String) -> Result<(), Fault> {
        if self
            .provider
            .as_ref()
            .is_some_and(|known| known.as_str() == name)
        {
            return Ok(());
        }
        let served = ProviderName::from(name);
        if let Some(asked) = &self.asked
            && !asked.same_as(&served)
        {
            return Err(Fault::ProviderMismatch {
                asked: asked.clone(),
                served,
            });
        }
        self.provider = Some(served);
        Ok(())
    }

    fn choice(&mut self, choice: &Choice<'_>) -> Result<bool, Fault> {
        if let Some(error) = chunk::error(choice.error) {
            return Err(fault::of_error_object(error, self.provider.clone()));
        }
        self.any_choice = true;
        let mut moved = false;
        if let Some(delta) = choice.delta {
            moved = self.delta(delta, false)?;
        } else if let Some(message) = choice.message
            && self.text.is_empty()
            && self.calls.is_empty()
        {
            // Beside deltas a whole message would say everything twice.
            moved = self.delta(message, true)?;
        }
        if self.finish_reason.is_none() {
            self.finish_reason = chunk::word(choice.finish_reason);
        }
        Ok(moved)
    }

    fn delta(&mut self, delta: &RawValue, whole: bool) -> Result<bool, Fault> {
        let delta: Delta<'_> = match serde_json::from_str(delta.get()) {
            Ok(delta) => delta,
            Err(error) => {
                let at = excerpt(delta.get().as_bytes());
                return Err(self.unreadable(format!("a delta: {error}: {at}")));
            }
        };
        let before = self.heard();
        // A whole message beside pieces would say everything twice.
        if (!whole || self.reasoning_items.is_empty())
            && let Err(why) = self.reasoning_items.add(delta.reasoning_details)
        {
            return Err(self.unreadable(why));
        }
        let mut moved = chunk::add_text(delta.content, &mut self.text);
        moved |= chunk::add_text(delta.refusal, &mut self.refusal);
        // The same thought may be sent under two names; the first name counts.
        if !chunk::add_text(delta.reasoning, &mut self.reasoning)
            && !chunk::add_text(delta.reasoning_content, &mut self.reasoning)
        {
            chunk::add_text(delta.reasoning_details, &mut self.reasoning_aside);
            moved |= chunk::holds_anything(delta.reasoning_details);
        } else {
            moved = true;
        }
        self.watch(before)?;
        if let Some(calls) = delta.tool_calls {
            let entries: Vec<CallDelta<'_>> = match serde_json::from_str(calls.get()) {
                Ok(entries) => entries,
                Err(error) => {
                    let at = excerpt(calls.get().as_bytes());
                    return Err(self.unreadable(format!("its tool calls: {error}: {at}")));
                }
            };
            let (detector, mut trip) = (&mut self.detector, None);
            let added = self.calls.add(&entries, whole, &mut |call, piece| {
                if let Some(detector) = detector {
                    trip = detector.feed(Stream::Arguments(call), piece);
                }
            });
            self.pass(trip)?;
            match added {
                Ok(grew) => moved |= grew,
                Err(why) => return Err(self.unreadable(why)),
            }
        }
        Ok(moved)
    }

    /// Every text but those of calls, in the order in which a model says them.
    const fn spoken(&self) -> [(Stream, &Text); 4] {
        [
            (Stream::Reasoning, &self.reasoning),
            (Stream::Reasoning, &self.reasoning_aside),
            (Stream::Content, &self.text),
            (Stream::Content, &self.refusal),
        ]
    }

    /// How long those texts are.
    fn heard(&self) -> [usize; 4] {
        self.spoken().map(|(_, text)| text.bytes().len())
    }

    /// Hands the detector what they have gained since.
    fn watch(&mut self, before: [usize; 4]) -> Result<(), Fault> {
        let Some(mut detector) = self.detector.take() else {
            return Ok(());
        };
        let mut trip = None;
        for ((stream, text), before) in self.spoken().into_iter().zip(before) {
            trip = detector.feed(stream, &text.bytes()[before..]);
        }
        self.detector = Some(detector);
        self.pass(trip)
    }

    /// Ends a reply that has tripped its detector.
    fn pass(&mut self, trip: Option<Trip>) -> Result<(), Fault> {
        let Some(trip) = trip else { return Ok(()) };
        Err(Fault::Looped {
            words: trip.words,
            chars: trip.chars,
            generation: self.generation.take(),
            provider: self.provider.clone(),
        })
    }

    /// The fault of an answer that cannot be read, with what had arrived.
    pub(crate) fn unreadable(&mut self, why: String) -> Fault {
        Fault::Parse {
            why,
            discarded: Box::new(self.discard()),
        }
    }

    fn discard(&mut self) -> Discarded {
        let mut content = std::mem::take(&mut self.text).into_string();
        self.calls.write_arguments(&mut content);
        Discarded {
            content,
            usage: self.usage.take(),
            provider: self.provider.clone(),
            generation: self.generation.take(),
        }
    }
}

#[cfg(test)]
mod tests;
