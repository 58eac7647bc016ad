//! The window: what one agent sends with every request, and what it costs.
//!
//! Two slots and a list of items: the system prompt, the items in order, the context-usage
//! signal. Each message is serialized once, into the provider's request thread, when it is
//! pushed; a request is a snapshot of that thread. Tokens are counted once an item, and only when
//! somebody asks, so that the first request can leave before its prompt has been counted.
//!
//! Always true:
//! - The serialized messages of a request, without the signal, are a byte prefix of the next
//!   request's, unless [`Window::rebuild`] or a change of the system prompt came between.
//! - The bands' sums are the sums of the items; the signal is in none of them. The tool schemas
//!   are a fixed part of the `system` band (R31).
//! - Equal messages have equal ids, and are reported once.
//!
//! It leaves to others what an item says, when a signal is due, and every decision to remove.

mod fingerprint;
mod item;

use std::collections::HashSet;
use std::sync::Arc;

use provider::request::{Shape, Snapshot, Thread};
use vocab::band::{Band, BandTokens};
use vocab::ids::{CallId, MessageId};
use vocab::message::{Image, Message};

pub use fingerprint::fingerprint;
pub use item::{Cursor, Delta, Item, LoggedMessage, NewItem, Region, Retention, Row, Slot};

use crate::tokens;

/// One agent's window.
pub struct Window {
    limit: u64,
    toolset: Toolset,
    system: Option<Item>,
    items: Vec<Item>,
    signal: Option<Item>,
    shape: Shape,
    /// System and items, serialized.
    thread: Thread,
    /// Ids of system and items.
    ids: Vec<MessageId>,
    calls: HashSet<CallId>,
    bands: BandTokens,
    /// Items before this one are counted in `bands`.
    settled: usize,
    pool: HashSet<MessageId>,
    /// Items before this one have been looked at for the log.
    logged: usize,
    /// Counts what breaks the append-only rule, so that cursors notice.
    generation: u64,
    /// Bytes of the encoded pictures among the items.
    picture_bytes: u64,
}

/// The offered tools as sent, until somebody asks what they cost.
enum Toolset {
    Sent(Arc<str>),
    Counted(u64),
}

impl Window {
    /// An empty window.
    ///
    /// `limit` is the working window in tokens, the denominator of every figure of fullness.
    /// `toolset` is the tools array as it is sent, empty where a request offers none. `shape` is
    /// how the model's family is written to.
    pub fn new(limit: u64, toolset: impl Into<Arc<str>>, shape: Shape) -> Self {
        Self {
            limit,
            toolset: Toolset::Sent(toolset.into()),
            system: None,
            items: Vec::new(),
            signal: None,
            shape,
            thread: Thread::of(shape),
            ids: Vec::new(),
            calls: HashSet::new(),
            bands: BandTokens::default(),
            settled: 0,
            pool: HashSet::new(),
            logged: 0,
            generation: 0,
            picture_bytes: 0,
        }
    }

    /// The working window, tokens.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Fills the system slot. The same text again changes nothing; another one, or a first one
    /// after items were pushed, serializes the window anew.
    pub fn set_system(&mut self, text: impl Into<Arc<str>>) {
        let text = text.into();
        if self
            .system
            .as_ref()
            .is_some_and(|item| item.message.text() == &*text)
        {
            return;
        }
        let mut item = admit(NewItem::new(Band::System, 0, Message::System { text }));
        item.retention = Retention::Pinned;
        if self.system.is_none() && self.items.is_empty() {
            self.thread.push(&item.message);
            self.ids.push(item.id);
            self.system = Some(item);
        } else {
            self.system = Some(item);
            self.rebuild();
        }
    }

    /// Appends an item, and answers its message's id.
    pub fn push(&mut self, item: NewItem) -> MessageId {
        let item = admit(item);
        let id = item.id;
        self.thread.push(&item.message);
        self.ids.push(id);
        self.calls
            .extend(item.message.calls().iter().map(|call| call.id.clone()));
        self.picture_bytes += pictures(&item.message);
        self.items.push(item);
        id
    }

    /// Sets or empties the signal slot. A signal is a message of the log like any other; it costs
    /// no band anything.
    pub fn set_signal(&mut self, message: Option<Arc<Message>>) {
        self.signal = message.map(|message| admit(NewItem::new(Band::System, 0, message)));
    }

    /// The signal, sent after the thread.
    pub fn signal(&self) -> Option<&Arc<Message>> {
        self.signal.as_ref().map(|item| &item.message)
    }

    /// The system slot's item, where it is filled.
    pub const fn system(&self) -> Option<&Item> {
        self.system.as_ref()
    }

    /// The items in order, without the slots.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The serialized messages of a request, without the signal. Cheap.
    pub fn request_thread(&self) -> Snapshot {
        self.thread.snapshot()
    }

    /// Ids of a request's messages: system, items, signal.
    pub fn ids(&self) -> Vec<MessageId> {
        let mut ids = Vec::with_capacity(self.ids.len() + 1);
        ids.extend_from_slice(&self.ids);
        ids.extend(self.signal.as_ref().map(|item| item.id));
        ids
    }

    /// Whether a call of that id was requested in this window.
    pub fn has_call(&self, id: &CallId) -> bool {
        self.calls.contains(id)
    }

    /// Counts what has not been counted yet.
    pub fn settle(&mut self) {
        if let Toolset::Sent(text) = &self.toolset {
            let tokens = tokens::count(text);
            self.toolset = Toolset::Counted(tokens);
            self.bands.add(Band::System, tokens);
        }
        if let Some(item) = &mut self.system
            && item.tokens.is_none()
        {
            let tokens = item.count();
            self.bands.add(Band::System, tokens);
        }
        for item in &mut self.items[self.settled..] {
            let tokens = item.count();
            self.bands.add(item.band, tokens);
        }
        self.settled = self.items.len();
    }

    /// Tokens per band and their sum: tool schemas, system slot, items.
    pub fn breakdown(&mut self) -> (BandTokens, u64) {
        self.settle();
        (self.bands, self.bands.total())
    }

    /// The messages not reported yet, each distinct one once, in order.
    pub fn unlogged(&mut self) -> Vec<LoggedMessage> {
        self.settle();
        if let Some(signal) = &mut self.signal {
            signal.count();
        }
        let mut fresh = Vec::new();
        // The system slot is cheap to look at each time, so that it needs no state of its own.
        let items = self
            .system
            .iter()
            .chain(&self.items[self.logged..])
            .chain(&self.signal);
        for item in items {
            if self.pool.insert(item.id) {
                fresh.push(LoggedMessage {
                    id: item.id,
                    role: item.message.role(),
                    band: item.band,
                    tokens: item.tokens.unwrap_or_default(),
                    label: item.selector.clone(),
                    message: item.message.clone(),
                });
            }
        }
        self.logged = self.items.len();
        fresh
    }

    /// What the list of system and items has become since a cursor. While the window only grows,
    /// the rows are the new ones; after it was rebuilt they are all.
    pub fn since(&self, cursor: Cursor) -> Delta {
        let keep = if cursor.generation == self.generation {
            cursor.rows
        } else {
            0
        };
        // Both by slice: walking over what is kept would cost every turn the whole window.
        let slot = self.system.as_slice();
        let system = slot.get(keep..).unwrap_or_default();
        let items = &self.items[keep.saturating_sub(slot.len())..];
        let system = system.iter().map(|item| item.row(Slot::System));
        let items = items.iter().map(|item| item.row(Slot::Thread));
        Delta {
            keep,
            rows: system.chain(items).collect(),
            cursor: Cursor {
                rows: self.ids.len(),
                generation: self.generation,
            },
        }
    }

    /// The signal's row, where one is set.
    pub fn signal_row(&self) -> Option<Row> {
        self.signal.as_ref().map(|item| item.row(Slot::Signal))
    }

    /// Bytes of encoded pictures a request carries (R32).
    pub const fn picture_bytes(&self) -> u64 {
        self.picture_bytes
    }

    /// Takes every picture out and keeps each message's pairing; `reworded` makes the text that
    /// stays of the one that stood beside it. One of the few edits of what was sent (02 §1.3).
    pub fn strip_pictures<E>(
        &mut self,
        reworded: impl Fn(&str) -> Result<String, E>,
    ) -> Result<(), E> {
        for item in &mut self.items {
            let bare = match &*item.message {
                Message::Tool { call, text, images } if !images.is_empty() => Message::Tool {
                    call: call.clone(),
                    text: reworded(text)?.into(),
                    images: Vec::new(),
                },
                Message::User { text, images } if !images.is_empty() => Message::User {
                    text: reworded(text)?.into(),
                    images: Vec::new(),
                },
                _ => continue,
            };
            item.id = fingerprint(&bare);
            item.message = bare.into();
            item.tokens = None;
        }
        self.rebuild();
        Ok(())
    }

    /// Serializes the window anew from its system slot and items, and sums it up again; what was
    /// counted stays counted, what was reported stays reported. For the exceptions to the
    /// append-only rule.
    pub fn rebuild(&mut self) {
        self.thread = Thread::of(self.shape);
        self.ids.clear();
        self.calls.clear();
        self.picture_bytes = 0;
        for item in self.system.iter().chain(&self.items) {
            self.thread.push(&item.message);
            self.ids.push(item.id);
            self.calls
                .extend(item.message.calls().iter().map(|call| call.id.clone()));
            self.picture_bytes += pictures(&item.message);
        }
        self.bands = BandTokens::default();
        if let Toolset::Counted(tokens) = self.toolset {
            self.bands.add(Band::System, tokens);
        }
        if let Some(tokens) = self.system.as_ref().and_then(|item| item.tokens) {
            self.bands.add(Band::System, tokens);
        }
        self.settled = 0;
        self.logged = 0;
        self.generation += 1;
    }
}

impl Item {
    /// Its tokens, counted at the first asking.
    fn count(&mut self) -> u64 {
        *self
            .tokens
            .get_or_insert_with(|| tokens::of_message(&self.message))
    }

    fn row(&self, slot: Slot) -> Row {
        Row {
            slot,
            band: self.band,
            retention: self.retention,
            turn: self.turn,
            region: self.region,
            id: self.id,
            message: self.message.clone(),
        }
    }
}

fn pictures(message: &Message) -> u64 {
    message.images().iter().map(Image::encoded_len).sum()
}

fn admit(new: NewItem) -> Item {
    Item {
        id: fingerprint(&new.message),
        band: new.band,
        message: new.message,
        retention: new.retention,
        selector: new.selector,
        region: new.region,
        turn: new.turn,
        tokens: new.tokens,
    }
}
