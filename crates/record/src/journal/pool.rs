//! The three pools: every body once, by the address of its whole content (06 §8.2).
//!
//! Only addresses and indexes are held in memory. A new body is appended to the batch of the
//! entry that needs it, so that no reader meets an index before its line.
//!
//! Always true: indexes count from 0 in the order of the lines; a message never refers to a
//! clipped text, because what a model saw is recorded exactly.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use vocab::message::{Image, Message, Reasoning};

use super::line::{
    Call, Clip, ImageDescriptor, MessageBody, PoolLine, ReasoningBody, ReasoningItem, Text,
};
use super::writer::Batch;
use crate::text;

/// Texts up to this many bytes stand where they are used.
const INLINE_BYTES: usize = 256;

/// The address of a body: SHA-256 cut to 128 bits.
type Address = [u8; 16];

#[derive(Default)]
pub(super) struct Pools {
    messages: HashMap<Address, u32>,
    toolsets: HashMap<Address, u32>,
    texts: HashMap<Address, PooledText>,
    texts_minted: u32,
    /// The toolset interned last: a run offers the same one turn after turn.
    last_toolset: Option<(Arc<RawValue>, u32)>,
}

#[derive(Clone, Copy)]
struct PooledText {
    index: u32,
    clipped: bool,
}

impl Pools {
    /// A text of which the last `ceiling` bytes are enough.
    pub(super) fn clipped_text(&mut self, body: &str, ceiling: usize, batch: &mut Batch) -> Text {
        self.text(body, Some(ceiling), batch)
    }

    /// A text that has to stay whole.
    pub(super) fn whole_text(&mut self, body: &str, batch: &mut Batch) -> Text {
        self.text(body, None, batch)
    }

    fn text(&mut self, body: &str, ceiling: Option<usize>, batch: &mut Batch) -> Text {
        if body.len() <= INLINE_BYTES {
            return Text::Inline(body.into());
        }
        let address = address_of(&[body.as_bytes()]);
        Text::Pooled(self.pooled_text(address, body, ceiling, batch))
    }

    fn pooled_text(
        &mut self,
        address: Address,
        body: &str,
        ceiling: Option<usize>,
        batch: &mut Batch,
    ) -> u32 {
        if let Some(known) = self.texts.get(&address)
            && (ceiling.is_some() || !known.clipped)
        {
            return known.index;
        }
        let kept = ceiling.map_or(body, |ceiling| text::tail_bytes(body, ceiling));
        let clipped = kept.len() < body.len();
        let index = self.texts_minted;
        self.texts_minted += 1;
        self.texts.insert(address, PooledText { index, clipped });
        let line = if clipped {
            PoolLine {
                index,
                id: hex(&address_of(&[kept.as_bytes()])),
                body: kept,
                clip: Some(Clip {
                    bytes: body.len() as u64,
                    id: hex(&address),
                }),
            }
        } else {
            PoolLine {
                index,
                id: hex(&address),
                body: kept,
                clip: None,
            }
        };
        batch.line("text", &line);
        index
    }

    /// A tools array.
    pub(super) fn toolset(&mut self, toolset: &Arc<RawValue>, batch: &mut Batch) -> u32 {
        if let Some((last, index)) = &self.last_toolset
            && Arc::ptr_eq(last, toolset)
        {
            return *index;
        }
        let address = address_of(&[toolset.get().as_bytes()]);
        let next = self.toolsets.len() as u32;
        let index = *self.toolsets.entry(address).or_insert(next);
        if index == next {
            let line = PoolLine {
                index,
                id: hex(&address),
                body: toolset,
                clip: None,
            };
            batch.line("toolset", &line);
        }
        self.last_toolset = Some((Arc::clone(toolset), index));
        index
    }

    /// A message.
    pub(super) fn message(&mut self, message: &Message, batch: &mut Batch) -> u32 {
        let mut hasher = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        part(message.role().as_str().as_bytes());
        part(&[u8::from(has_text(message))]);
        part(message.text().as_bytes());
        let images: Vec<ImageDescriptor> = message.images().iter().map(describe).collect();
        part(&images.len().to_le_bytes());
        for image in &images {
            part(image.media_type.as_bytes());
            part(image.id.as_bytes());
        }
        part(&message.calls().len().to_le_bytes());
        for call in message.calls() {
            part(call.id.as_str().as_bytes());
            part(call.name.as_bytes());
            part(call.arguments.as_bytes());
        }
        part(message.answers().map_or("", |id| id.as_str()).as_bytes());
        if let Some(reasoning) = message.reasoning() {
            let provider = reasoning.provider.as_ref();
            part(&[u8::from(provider.is_some())]);
            part(provider.map_or("", |name| name.as_str()).as_bytes());
            part(&reasoning.items.len().to_le_bytes());
            for item in &reasoning.items {
                part(&[u8::from(item.sealed)]);
                part(item.json.as_bytes());
            }
            part(&[u8::from(reasoning.text.is_some())]);
            part(reasoning.text.as_deref().unwrap_or_default().as_bytes());
        }
        let address = truncate(hasher);
        if let Some(index) = self.messages.get(&address) {
            return *index;
        }
        let body = MessageBody {
            role: message.role(),
            text: has_text(message).then(|| self.whole_text(message.text(), batch)),
            images,
            calls: message
                .calls()
                .iter()
                .map(|call| Call {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    arguments: self.whole_text(&call.arguments, batch),
                })
                .collect(),
            answers: message.answers().cloned(),
            reasoning: message
                .reasoning()
                .map(|reasoning| self.reasoning(reasoning, batch)),
        };
        let index = self.messages.len() as u32;
        self.messages.insert(address, index);
        let line = PoolLine {
            index,
            id: hex(&address),
            body,
            clip: None,
        };
        batch.line("message", &line);
        index
    }

    fn reasoning(&mut self, reasoning: &Reasoning, batch: &mut Batch) -> ReasoningBody {
        ReasoningBody {
            provider: reasoning.provider.clone(),
            items: reasoning
                .items
                .iter()
                .map(|item| ReasoningItem {
                    json: self.whole_text(&item.json, batch),
                    sealed: item.sealed,
                })
                .collect(),
            text: reasoning
                .text
                .as_deref()
                .map(|text| self.whole_text(text, batch)),
        }
    }
}

/// A picture as the journal has it.
pub(super) fn describe(image: &Image) -> ImageDescriptor {
    ImageDescriptor {
        media_type: image.format.as_str().to_owned(),
        bytes: image.bytes.len() as u64,
        id: hex(&address_of(&[&image.bytes])),
    }
}

const fn has_text(message: &Message) -> bool {
    !matches!(message, Message::Assistant { text: None, .. })
}

fn address_of(parts: &[&[u8]]) -> Address {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    truncate(hasher)
}

fn truncate(hasher: Sha256) -> Address {
    let mut address = Address::default();
    address.copy_from_slice(&hasher.finalize()[..16]);
    address
}

fn hex(address: &Address) -> String {
    use std::fmt::Write as _;

    let mut text = String::with_capacity(32);
    for byte in address {
        write!(text, "{byte:02x}").expect("a string takes any text");
    }
    text
}
